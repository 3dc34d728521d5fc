"""An exercise and its checks: what students read of them, what is refused in a line, and functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from grader.declare.drawn import drawn, given
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.declare.probes import inputs_unchanged
from grader.declare.sampler import InputSampler
from grader.declare.trial import sizes, trials
from grader.declare.written_exercise import CheckSpec, written_exercise
from grader.explain.diagnose import diagnose, wrong_answer
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge_trials, verdict_of
from grader.records import Outcome, Value


def scaled(table: Tensor, factors: Tensor) -> Tensor:
    return table * factors


def halved(table: Tensor) -> Tensor:
    return table / 2


def table_alone(scaled, table: Tensor, factors: Tensor) -> Mapping[str, Value]:
    return {"table": scaled(table, factors)}


draw_table = drawn(table="* rows columns", factors="columns")
CHECKS = (
    CheckSpec(
        "values",
        6,
        "each column has its factor",
        examples=[sizes(rows=2, columns=3)],
        trials=[sizes(rows=5, columns=7), sizes(rows=1, columns=2)],
    ),
    CheckSpec("large", 1.5, "any number of rows", needs=(), trials=[sizes(rows=53, columns=2)]),
    CheckSpec(
        "batch",
        2,
        examples=[sizes(batch_shape=(2,), rows=2, columns=3), sizes(batch_shape=(2, 3), rows=2, columns=3)],
        trials=[sizes(batch_shape=(), rows=2, columns=3)],
    ),
    CheckSpec("conduct", 0.5, needs=("values", "large"), trials=[sizes(rows=3, columns=5, dtype=torch.float64)]),
)


def declared(*checks: CheckSpec, **more: Any) -> Exercise:
    return written_exercise(
        "9.1 Scaled columns", scaled, checks or CHECKS, draw=draw_table, difficulty=1, minutes=1, **more
    )


def changed(**more: dict[str, Any]) -> list[CheckSpec]:
    """CHECKS, some of them changed: by name, the fields."""
    return [replace(check, **more.get(check.name, {})) for check in CHECKS]


def test_the_checks_say_what_students_read() -> None:
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


def test_students_read_the_sizes_of_a_trial() -> None:
    values, _, batch, conduct = declared().checks
    assert [one.describe for one in values.trials] == ["5 rows, 7 columns", "1 row, 2 columns"]
    assert [one.describe for one in batch.examples] == ["batch 2, 2 rows, 3 columns", "batch 2 × 3, 2 rows, 3 columns"]
    assert conduct.trials[0].describe == "3 rows, 5 columns, float64"


def test_a_check_may_say_more() -> None:
    _, large, _, conduct = declared(*changed(large=dict(rtol=3.0), conduct=dict(returns=("table",)))).checks
    assert large.rtol == 3.0
    assert list(conduct.trials[0].draw(InputSampler("key"))["grad_outputs"]) == ["table"]


def test_a_probe_is_that_of_all_checks_but_conduct() -> None:
    checks = declared(*changed(large=dict(probe=halved)), probe=table_alone).checks
    assert [check.probe.__name__ for check in checks] == ["table_alone", "halved", "table_alone", "function_gradients"]


def test_a_check_may_be_of_another_definition_or_made_elsewhere() -> None:
    half = CheckSpec("half", 1, "half", trials=[sizes(rows=2)], reference=halved, draw=drawn(table="rows 3"))
    checks = CheckSpec("whole", 1, "all", trials=[sizes(rows=2, columns=3)]), half
    made = Check(name="more", title="", points=3, probe=halved, trials=trials(draw_table, sizes(rows=2, columns=3)))
    exercise = written_exercise(
        "9.1 Two", (scaled, halved), checks, draw=draw_table, also=(made,), difficulty=1, minutes=1
    )
    assert [dict(check.names) for check in exercise.checks] == [{"function": "scaled"}, {"function": "halved"}, {}]
    assert exercise.points == 5
    assert exercise.defines == ("scaled", "halved")


def test_mistakes_may_be_a_text() -> None:
    [mistake] = declared(mistakes="added: The factors are added.\n    table * factors  →  table + factors").mistakes
    assert (mistake.name, [*mistake.replaces]) == ("added", ["scaled"])


SIZES = sizes(rows=2, columns=3)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (CheckSpec("values", 1, trials=[SIZES]), "check 'values' of scaled: give a title"),
        (CheckSpec("values", 1, "all", examples=[SIZES], trials=[]), "'values' has no hidden trial"),
        (CheckSpec("values", 1, "all", needs=("value",), trials=[SIZES]), "'values' needs value; there are values"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_exercise(check: CheckSpec, message: str) -> None:
    with pytest.raises(DeclarationError, match=f"exercise 9.1[:,].*({message})"):
        declared(check)


def test_a_reference_is_a_definition() -> None:
    with pytest.raises(
        DeclarationError, match=r"exercise 9\.1, reference: 'scaled' is no function or class with a name"
    ):
        written_exercise("9.1 Scaled columns", "scaled", CHECKS, draw=draw_table, difficulty=1, minutes=1)


def test_a_heading_begins_with_the_id() -> None:
    with pytest.raises(DeclarationError, match="begin the heading with the id"):
        written_exercise("Scaled", scaled, CHECKS, draw=draw_table, difficulty=1, minutes=1)


# ---------------------------------------------------------------- functions of NumPy's arrays, and of other values


def column_sums(table: np.ndarray) -> np.ndarray:
    return table.sum(axis=-2)


def counted(words: list[str], least: int) -> dict[str, float]:
    return {"share": sum(len(word) >= least for word in words) / len(words)}


SUMS = written_exercise(
    "1.1 Sums of columns",
    column_sums,
    (
        CheckSpec(
            "values",
            8,
            "the right values",
            examples=[sizes(rows=2, columns=3)],
            trials=[sizes(rows=5, columns=7), sizes(rows=3, columns=2)],
        ),
        CheckSpec("batch", 1, trials=[sizes(batch_shape=(3,), rows=5, columns=7)]),
        CheckSpec("conduct", 1, trials=[sizes(rows=5, columns=7), sizes(rows=3, columns=2)]),
    ),
    draw=drawn(table="* rows columns"),
    difficulty=1,
    minutes=1,
)
NO, WAY = sizes(words=["no", "way", "out"], least=3), sizes(words=["a", "way"], least=2)
COUNTED = written_exercise(
    "1.2 Counted",
    counted,
    (
        CheckSpec("values", 8, "the right values", examples=[NO], trials=[WAY]),
        CheckSpec("conduct", 2, "the inputs stay as they are", trials=[WAY], probe=inputs_unchanged),
    ),
    draw=drawn(words=given("words"), least=given("least")),
    difficulty=1,
    minutes=1,
)
LESSON = Lesson(assignment="1-arrays", title="Arrays", exercises=(SUMS, COUNTED))


def verdict(exercise: Exercise, answer: object):
    """Judge an answer as the grader does, without a sandbox."""
    planned = plan_exercise(exercise, "secret", "somebody")
    names = {exercise.defines[0]: answer}
    evidence = {one.key: run_here(one.check, {**LESSON.reference, **names}, one.inputs, one.key) for one in planned}
    results = ReferenceResults(LESSON.reference)
    tried = judge_trials(planned, evidence, results)
    judged = verdict_of(exercise, tried, results)
    return diagnose(judged, wrong_answer(exercise, judged, tried, results))


@pytest.mark.parametrize(
    ("exercise", "answer", "points"),
    [
        (SUMS, lambda table: np.einsum("...rc->...c", table), 10.0),
        (SUMS, lambda table: table.sum(axis=-1), 0.0),
        (SUMS, lambda table: table.sum(axis=0), 9.0),
        (SUMS, lambda table: table.tolist(), 0.0),
        (COUNTED, lambda words, least: {"share": np.mean([len(word) >= least for word in words]).item()}, 10.0),
        (COUNTED, lambda words, least: {"share": 1}, 0.0),
    ],
)  # fmt: skip
def test_answers_are_judged(exercise: Exercise, answer: object, points: float) -> None:
    assert verdict(exercise, answer).points == points


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
    ("answer", "hint"),
    [
        (lambda table: table.sum(axis=-2).tolist(), "Expected an array for the result, but got a Python list. `np.array(…)` makes an array."),
        (lambda table: list(table.sum(axis=-2)[..., None]), "Expected one array"),
        (lambda table: table.sum(axis=-2).astype(np.float32), "Is there a `dtype=np.float32`?"),
    ],
)  # fmt: skip
def test_a_lesson_about_arrays_speaks_of_arrays(answer: object, hint: str) -> None:
    told = verdict(SUMS, answer)
    assert hint in told.hint
    assert "tensor" not in f"{told.message} {told.hint} {[check.message for check in told.checks]}"
