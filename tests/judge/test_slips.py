"""One slip alone keeps half of the points; two do not, nor does one beside another fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.probes import named
from grader.declare.sampler import InputSampler
from grader.declare.standard_checks import StandardChecks
from grader.declare.trial import trials
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import SLIP_NOTE, judge
from grader.records import Finding, Inputs, Outcome, Verdict


def share(x: Tensor) -> tuple[Tensor, Tensor]:
    weights = x.softmax(-1)
    return weights * 2, weights > 0.3


def off_by_one(x: Tensor) -> tuple[Tensor, Tensor]:
    first, second = share(x)
    return first + 1, second


def doubled(x: Tensor) -> tuple[Tensor, Tensor]:
    first, second = share(x)
    return 2 * first, second


def draw_x(sampler: InputSampler, *, rows: int, dtype: torch.dtype = torch.float32) -> Inputs:
    return {"x": sampler.normal(rows, 3, dtype=dtype)}


def judged_by_hand(share, x: Tensor):
    return named(share(x), ["first", "second"])


CHECKS = StandardChecks(reference=share, returns=("first", "second"), draw=draw_x)
EXERCISE = Exercise(
    id="9.1",
    title="Share",
    reference=(share,),
    points=10,
    difficulty=1,
    minutes=1,
    checks=(
        CHECKS.check("values", 4, "x", only="first", trials=[dict(rows=2), dict(rows=5)]),
        CHECKS.check("second", 3, "x", only="second", needs=("values",), trials=[dict(rows=2)]),
        CHECKS.check("large", 2, "x", needs=("values",), trials=[dict(rows=2, dtype=torch.float64)]),
        Check(
            name="judged",
            title="",
            points=1,
            probe=judged_by_hand,
            trials=trials(draw_x, dict(rows=2)),
            judge=lambda case: Finding(passed="second" in case.got and case.got["second"].dtype == torch.bool),
        ),
    ),
    mistakes=(
        Mistake("off_by_one", {"share": off_by_one}, "The first is larger by 1.", slip=True),
        Mistake("doubled", {"share": doubled}, "The first is twice as large."),
    ),
)


def verdict(answer: Any, exercise: Exercise = EXERCISE) -> Verdict:
    planned = plan_exercise(exercise, "secret", "sha")
    (name,) = exercise.defines
    evidence = {one.key: run_here(one.check, {name: answer}, one.inputs, one.key) for one in planned}
    return judge(exercise, planned, evidence, ReferenceResults({name: exercise.reference[0]}))


def then(change: Callable[[Tensor, Tensor], Any]) -> Callable[[Tensor], Any]:
    return lambda x: change(*share(x))


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (share, [4, 3, 2, 1]),
        (then(lambda first, second: (second, first)), [2, 1.5, 1, 0]),
        (then(lambda first, second: [second, first]), [2, 1.5, 1, 0]),
        (then(lambda first, second: (first.double(), second)), [2, 3, 2, 1]),
        (then(lambda first, second: (first.float(), second)), [4, 3, 1, 1]),
        (then(lambda first, second: (first, second.float())), [4, 1.5, 1, 0]),
        (then(lambda first, second: (first, second.long())), [4, 1.5, 1, 0]),
        (then(lambda first, second: (first + 1, second)), [2, 3, 1, 1]),
    ],
)
def test_one_slip_keeps_half_of_what_it_breaks(answer: Callable, points: list[float]) -> None:
    got = verdict(answer)
    assert [check.points for check in got.checks] == points
    assert got.points == sum(points)
    assert got.outcome is (Outcome.PASSED if got.points == 10 else Outcome.FAILED)
    assert got.notes == (() if got.points == 10 else (SLIP_NOTE,))


@pytest.mark.parametrize(
    "answer",
    [
        then(lambda first, second: (first.half(), second)),
        then(lambda first, second: (first.double() + 1e-3, second)),
        then(lambda first, second: (first * (1 + 5e-5), second)),  # nearly right is not a slip that changes nothing
        then(lambda first, second: (first.double() + 1, second)),
        then(lambda first, second: (2 * first, second)),
        then(lambda first, second: first),
        lambda x: share(x)[0] if len(x) > 2 else share(x)[::-1],
    ],
)
def test_another_fault_keeps_nothing(answer: Callable) -> None:
    got = verdict(answer)
    assert got.checks[0].points == got.checks[1].points == got.checks[2].points == 0
    assert got.notes == ()


def test_each_check_is_looked_at_by_itself() -> None:
    got = verdict(then(lambda first, second: (second, first + 1)))
    assert [check.points for check in got.checks] == [2, 0, 0, 0]


def test_numbers_that_are_no_yes_and_no_are_no_slip() -> None:
    got = verdict(then(lambda first, second: (first, second * 0.5)))
    assert [check.points for check in got.checks] == [4, 0, 0, 0]


def test_a_fault_of_ours_stays_one() -> None:
    def broken(x: Tensor) -> tuple[Tensor, Tensor]:
        raise ValueError("no")

    exercise = replace(EXERCISE, mistakes=())
    planned = plan_exercise(exercise, "secret", "sha")
    evidence = {one.key: run_here(one.check, {"share": share}, one.inputs, one.key) for one in planned}
    got = judge(exercise, planned, evidence, ReferenceResults({"share": broken}))
    assert (got.outcome, got.points) == (Outcome.FAULT, 1)


class Sharing(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.factors = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return share(x * self.factors)


class TurnedAround(Sharing):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        first, second = super().forward(x)
        return second, first


def draw_sharing(sampler: InputSampler, *, width: int) -> Inputs:
    return {
        "sizes": {"width": width},
        "weights": {"factors": sampler.normal(width)},
        "arguments": {"x": sampler.normal(5, width)},
    }


def test_the_results_of_a_layer_may_be_turned_around_too() -> None:
    checks = StandardChecks(reference=Sharing, returns=("first", "second"), draw=draw_sharing)
    values = checks.check("values", 10, "x", trials=[dict(width=3)])
    exercise = replace(EXERCISE, reference=(Sharing,), checks=(values,), mistakes=())
    assert verdict(Sharing, exercise).points == 10
    assert verdict(TurnedAround, exercise).points == 5
