"""Checks as students read them: what a text says of them, and what is refused in a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.declare.drawn import drawn
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise
from grader.declare.sampler import InputSampler
from grader.declare.trial import describe, trials
from grader.declare.written_exercise import read_sizes, written_exercise
from grader.records import Value


def scaled(table: Tensor, factors: Tensor) -> Tensor:
    return table * factors


def halved(table: Tensor) -> Tensor:
    return table / 2


def table_alone(scaled, table: Tensor, factors: Tensor) -> Mapping[str, Value]:
    return {"table": scaled(table, factors)}


draw_table = drawn(table="* rows columns", factors="columns")
TEXT = """
    values 6: each column has its factor
        e.g. 2 rows, 3 columns
        5 rows, 7 columns; 1 row, 2 columns  # a single one
    large 1.5 after nothing: any number of rows
        53 rows, 2 columns
    batch 2
        e.g. batch 2, 2 rows, 3 columns
        e.g. batch 2 × 3, 2 rows, 3 columns
        no batch, 2 rows, 3 columns
    conduct 0.5 after values, large
        3 rows, 5 columns, float64
"""


def declared(text: str = TEXT, **more: Any) -> Exercise:
    return written_exercise("9.1 Scaled columns", scaled, text, draw=draw_table, difficulty=1, minutes=1, **more)


def test_a_text_says_what_students_read() -> None:
    exercise = declared()
    assert (exercise.id, exercise.title, exercise.reference) == ("9.1", "Scaled columns", (scaled,))
    assert repr(exercise.points) == "10"
    assert [(check.name, check.points, check.needs) for check in exercise.checks] == [
        ("values", 6, ()),
        ("large", 1.5, ()),
        ("batch", 2, ("values",)),
        ("conduct", 0.5, ("values", "large")),
    ]
    titles = [check.title for check in exercise.checks]
    assert titles[0] == "each column has its factor"
    assert "batch dimensions" in titles[2]
    assert "gradients" in titles[3]


def test_a_trial_is_hidden_unless_it_is_an_example() -> None:
    values, _, batch, conduct = declared().checks
    assert [one.sizes for one in values.examples] == [dict(rows=2, columns=3)]
    assert [one.sizes for one in values.trials] == [dict(rows=5, columns=7), dict(rows=1, columns=2)]
    assert [one.sizes["batch_shape"] for one in batch.examples + batch.trials] == [(2,), (2, 3), ()]
    drawn_inputs = conduct.trials[0].draw(InputSampler("key"))
    assert drawn_inputs["arguments"]["table"].shape == (3, 5)
    assert drawn_inputs["arguments"]["table"].dtype == torch.float64
    assert "grad_outputs" in drawn_inputs


def test_details_say_what_the_text_does_not() -> None:
    details = {"large": dict(rtol=3.0), "conduct": dict(returns=("table",))}
    _, large, _, conduct = declared(details=details).checks
    assert large.rtol == 3.0
    assert list(conduct.trials[0].draw(InputSampler("key"))["grad_outputs"]) == ["table"]


def test_a_probe_is_that_of_all_checks_but_conduct() -> None:
    checks = declared(probe=table_alone, details={"large": dict(probe=halved)}).checks
    assert [check.probe.__name__ for check in checks] == ["table_alone", "halved", "table_alone", "function_gradients"]


def test_a_check_may_be_of_another_definition_or_made_elsewhere() -> None:
    text = "whole 1: all\n    2 rows, 3 columns\nhalf 1: half\n    2 rows"
    details = {"half": dict(reference=halved, draw=drawn(table="rows 3"))}
    made = Check(name="more", title="", points=3, probe=halved, trials=trials(draw_table, dict(rows=2, columns=3)))
    exercise = written_exercise(
        "9.1 Two", (scaled, halved), text, draw=draw_table, details=details, also=(made,), difficulty=1, minutes=1
    )
    assert [dict(check.names) for check in exercise.checks] == [{"function": "scaled"}, {"function": "halved"}, {}]
    assert exercise.points == 5
    assert exercise.defines == ("scaled", "halved")


def test_mistakes_may_be_a_text() -> None:
    [mistake] = declared(mistakes="added: The factors are added.\n    table * factors  →  table + factors").mistakes
    assert (mistake.name, [*mistake.replaces]) == ("added", ["scaled"])


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("values: all\n    2 rows", {}, "'values: all' is no `name points: title`, and no trial of a check"),
        ("    2 rows, 3 columns", {}, "'2 rows, 3 columns' is no `name points"),
        ("values 1: all\n    rows=2", {}, "'rows=2' is no size of a trial: write `5 queries`"),
        ("values 1: all\n    1 rows, 3 columns", {}, "'1 rows, 3 columns' would read '1 row, 3 columns'"),
        ("values 1: all\n    2 rows, 3 columns", dict(details={"valeus": {}}), "details of valeus: there is no such check"),
        ("values 1\n    2 rows, 3 columns", {}, "check 'values' of scaled: give a title"),
        ("values 1: all\n    e.g. 2 rows, 3 columns", {}, "'values' has no hidden trial"),
        ("values 1 after value: all\n    2 rows, 3 columns", {}, "'values' needs value; there are values"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_the_exercise(text: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=f"exercise 9.1[:,].*({message})"):
        declared(text, **more)


def test_a_reference_is_a_definition() -> None:
    with pytest.raises(
        DeclarationError, match=r"exercise 9\.1, reference: 'scaled' is no function or class with a name"
    ):
        written_exercise("9.1 Scaled columns", "scaled", TEXT, draw=draw_table, difficulty=1, minutes=1)


def test_a_heading_begins_with_the_id() -> None:
    with pytest.raises(DeclarationError, match="begin the heading with the id"):
        written_exercise("Scaled", scaled, TEXT, draw=draw_table, difficulty=1, minutes=1)


@pytest.mark.parametrize(
    "sizes",
    [
        dict(queries=5, keys=1, d_k=3),
        dict(batch_shape=(2, 3), patches=1, queries=1, dtype=torch.float64),
        dict(batch_shape=(), scale=100.0, mask="one for all"),
        dict(shape=(2, 3), dim=-1),
        dict(pieces=[1, 5], cross=False, layers=[]),
        dict(n=8, dtype=torch.int32, zeros=True),
    ],
)
def test_sizes_are_read_as_they_are_described(sizes: dict[str, Any]) -> None:
    read = read_sizes(describe(sizes))
    assert read == sizes
    assert [*read] == [*sizes]
