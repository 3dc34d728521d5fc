"""An exercise in a few lines: its checks, its trials, what it refuses, and NumPy on both sides."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from grader.declare.drawn import and_more, drawn, drawn_layer, given, integers, then, where_given
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler
from grader.declare.short_form import exercise
from grader.explain.diagnose import diagnose, wrong_answer
from grader.judge.plan import plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge_trials, verdict_of
from grader.records import Outcome


def scaled(table: Tensor, factors: Tensor) -> Tensor:
    return table * factors


def column_sums(table: np.ndarray) -> np.ndarray:
    return table.sum(axis=-2)


def counted(words: list[str], least: int) -> dict[str, float]:
    return {"share": sum(len(word) >= least for word in words) / len(words)}


SCALED = exercise("1.1 Scaled columns", scaled, points=10, table="* rows columns", factors="columns", mistakes="""
    added: The factors are added. Multiply.
        table * factors  →  table + factors
""")  # fmt: skip
SUMS = exercise("1.2 Sums of columns", column_sums, points=10, table="* rows columns")
WORDS = [dict(words=["a", "cat"], least=2), dict(words=["no", "way", "out"], least=3)]
COUNTED = exercise("1.3 Counted", counted, points=10, words=given("words"), least=given("least"), sizes=WORDS)
LESSON = Lesson(assignment="1-short", title="Short", exercises=(SCALED, SUMS, COUNTED))


def verdict(declared: Exercise, answer: object):
    """Judge an answer as the grader does, without a sandbox."""
    planned = plan_exercise(declared, "secret", "somebody")
    names = {declared.defines[0]: answer}
    evidence = {one.key: run_here(one.check, {**LESSON.reference, **names}, one.inputs, one.key) for one in planned}
    results = ReferenceResults(LESSON.reference)
    tried = judge_trials(planned, evidence, results)
    judged = verdict_of(declared, tried, results)
    return diagnose(judged, wrong_answer(declared, judged, tried, results))


def test_it_has_the_checks_that_its_shapes_ask_for() -> None:
    assert [(check.name, check.points) for check in SCALED.checks] == [
        ("values", 8.0),
        ("batch", 1.0),
        ("conduct", 1.0),
    ]
    assert [check.name for check in COUNTED.checks] == ["values", "conduct"]
    assert "gradients" in SCALED.checks[2].title
    assert "gradients" not in SUMS.checks[2].title
    assert all(len(set(one.sizes.values())) == 2 for one in SCALED.checks[0].trials)  # a swapped axis shows


@pytest.mark.parametrize(
    ("declared", "answer", "points"),
    [
        (SCALED, lambda table, factors: factors * table, 10.0),
        (SCALED, lambda table, factors: table + factors, 0.0),
        (SCALED, lambda table, factors: table.mul_(factors), 9.0),
        (SUMS, lambda table: np.einsum("...rc->...c", table), 10.0),
        (SUMS, lambda table: table.sum(axis=-1), 0.0),
        (SUMS, lambda table: table.sum(axis=0), 9.0),
        (SUMS, lambda table: table.tolist(), 0.0),
        (COUNTED, lambda words, least: {"share": np.mean([len(word) >= least for word in words]).item()}, 10.0),
        (COUNTED, lambda words, least: {"share": 1}, 0.0),
    ],
)  # fmt: skip
def test_answers_are_judged(declared: Exercise, answer: object, points: float) -> None:
    assert verdict(declared, answer).points == points


def test_an_answer_gets_arrays_where_the_reference_does() -> None:
    seen = []
    verdict(SUMS, lambda table: seen.append(type(table)) or table.sum(axis=-2))
    assert set(seen) == {np.ndarray}
    assert verdict(SUMS, lambda table: np.array([None, "x"])).outcome is Outcome.FAILED


def test_a_changed_array_is_seen() -> None:
    def changes(table: np.ndarray) -> np.ndarray:
        table += 0.0
        table[..., 0, 0] = 7.0
        return table.sum(axis=-2)

    def writes_afterwards(table: np.ndarray) -> np.ndarray:
        sums = table.sum(axis=-2)
        table[..., 0, 0] = 7.0
        return sums

    assert verdict(SUMS, changes).points == 0.0
    assert verdict(SUMS, writes_afterwards).points == 9.0


@pytest.mark.parametrize(
    ("heading", "options", "message"),
    [
        ("Means", dict(table="rows columns"), "begin the heading with the id"),
        ("1.1 Means", dict(), "say the shape of table"),
        ("1.1 Means", dict(table="rows columns", tabel="rows"), "has no parameter tabel"),
        ("1.1 Means", dict(table=integers(0, 9, "rows columns")), "give sizes="),
        ("1.1 Means", dict(table="rows", sizes=[dict(rows=2)]), "two trials or more"),
        ("1.1 Means", dict(table="rows columns", sizes=[dict(rows=2), dict(rows=3)]), "exercise 1.1: a trial lacks the size 'columns'; it gives rows. Give each size in each trial"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_line(heading: str, options: dict, message: str) -> None:
    def means(table: Tensor) -> Tensor:
        return table.mean(-1)

    with pytest.raises(DeclarationError, match=message):
        exercise(heading, means, points=1, **options)


def test_a_reference_that_does_not_run_is_named() -> None:
    def product(left: Tensor, right: Tensor) -> Tensor:
        return left @ right

    with pytest.raises(DeclarationError, match="product does not run on the public trial"):
        exercise("1.1 Product", product, points=1, left="rows columns", right="rows columns")


def test_shapes_say_what_is_drawn() -> None:
    draw = drawn(
        tokens="* count heads·width",
        place=integers(0, "count", "*"),
        bias=where_given("bias", "bias"),
        least=given("least", 1),
    )
    inputs = draw(InputSampler("key"), batch_shape=(2,), count=3, heads=2, width=5, dtype=torch.float64)
    assert [*inputs] == ["tokens", "place", "least"]
    assert inputs["tokens"].shape == (2, 3, 10)
    assert inputs["tokens"].dtype == torch.float64
    assert inputs["place"].shape == (2,)
    assert draw(InputSampler("key"), count=3, heads=2, width=5, bias=4)["bias"].shape == (4,)


def test_more_is_drawn_after_the_rest_and_made_of_what_is_drawn() -> None:
    first = drawn(tokens="* count")
    inputs = and_more(first, direction=then("* count", torch.Tensor.abs))(
        InputSampler("key"), batch_shape=(2,), count=3
    )
    sampler = InputSampler("key")
    assert [*inputs] == ["tokens", "direction"]
    assert torch.equal(inputs["tokens"], first(sampler, batch_shape=(2,), count=3)["tokens"])
    assert torch.equal(inputs["direction"], sampler.normal(2, 3).abs())


def test_a_layer_is_drawn_with_its_weights() -> None:
    draw = drawn_layer(torch.nn.Linear, dict(in_features="d", out_features="heads·d"), tokens="* d")
    inputs = draw(InputSampler("key"), batch_shape=(5,), d=3, heads=2)
    assert inputs["sizes"] == {"in_features": 3, "out_features": 6}
    assert {name: tuple(weight.shape) for name, weight in inputs["weights"].items()} == {"weight": (6, 3), "bias": (6,)}
    assert inputs["arguments"]["tokens"].shape == (5, 3)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda table: table.sum(axis=-2).tolist(), "A Python list came back for the result, where an array is due: `np.array(…)` makes one."),
        (lambda table: list(table.sum(axis=-2)[..., None]), "array is due"),
        (lambda table: table.sum(axis=-2).astype(np.float32), "`dtype=np.float32` gives that."),
    ],
)  # fmt: skip
def test_a_lesson_about_arrays_speaks_of_arrays(answer: object, hint: str) -> None:
    told = verdict(SUMS, answer)
    assert hint in told.hint
    assert "tensor" not in f"{told.message} {told.hint} {[check.message for check in told.checks]}"
