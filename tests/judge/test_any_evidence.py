"""Whatever a submission sends back, it is judged and explained: nobody has a fault of the grader at will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
import torch
from any_values import changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.course import lessons
from grader.course.trainings.checks import begins
from grader.declare.lesson import Lesson
from grader.explain.diagnose import diagnose, wrong_answer
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import judge_trials, verdict_of
from grader.records import Case, Evidence, Outcome, Status

LESSONS = list(lessons().values())


@cache
def right(lesson: int, id: str) -> tuple:
    """Draw the trials of an exercise, and compute what the reference returns on them.

    Checks of trained objects are left out: there is no reference for them, and tests/course asks their judges.
    """
    lesson = LESSONS[lesson]
    exercise, results = lesson.exercise(id), ReferenceResults(lesson.reference)
    trained = {name for name, value in lesson.given.items() if value is None}
    kept = {trial.check.name for trial in plan_exercise(exercise, "secret", "sha") if not trial.takes & trained}
    checks = tuple(replace(check, needs=()) for check in exercise.checks if check.name in kept)
    exercise = replace(exercise, checks=checks, points=sum(check.points for check in checks))
    planned = plan_exercise(exercise, "secret", "sha")
    evidence = {trial.key: results.right(trial) for trial in planned}
    assert all(one.status is Status.OK for one in evidence.values())
    return exercise, planned, results, evidence


def nothing_known(sources: Sequence[str], trials: Sequence[int]) -> list[list[bool | None]]:
    """Try changed answers without time for any of them."""
    return [[None] * len(trials) for _ in sources]


# What lesson 3, the readers of lesson 2 and the lab return takes longest.
@pytest.mark.fast_cases("1-attention", "2-heads")
@pytest.mark.parametrize("lesson", LESSONS, ids=lessons())
@settings(max_examples=30, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_evidence_is_judged_and_explained(lesson: Lesson, data: st.DataObject) -> None:
    trained = [one.id for one in lesson.exercises if lesson.training_checks(one.id)]
    ids = trained if trained and data.draw(st.booleans()) else [one.id for one in lesson.exercises]
    id = data.draw(st.sampled_from(ids))
    exercise, planned, results, evidence = right(LESSONS.index(lesson), id)
    key = data.draw(st.sampled_from(sorted(evidence)))
    values = data.draw(changed(evidence[key].values))
    evidence = {**evidence, key: Evidence(key=key, status=Status.OK, values=values)}
    tried = judge_trials(planned, evidence, results)
    verdict = verdict_of(exercise, tried, results)
    assert verdict.outcome is not Outcome.FAULT, verdict.message
    wrong = wrong_answer(exercise, verdict, tried, results)
    assert diagnose(verdict, wrong, nothing_known).outcome is verdict.outcome


STARTED = {"a": torch.ones(2, 3)}
BEGUN = {"start": STARTED, "losses": [1.0, 2.0], "moved": {"a": torch.full((2, 3), 0.1)}, "mean": STARTED}


class OneWeight(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = torch.nn.Parameter(torch.zeros(2, 3))


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(got=changed(BEGUN))
def test_any_beginning_is_judged_and_no_fault(got) -> None:
    check = begins("cell", dict, dict, OneWeight, lambda model, **inputs: BEGUN, needs=())
    case = Case(inputs={"state": {"square": STARTED}}, got=got, expected=dict, rtol=1.0)
    assert check.judge(case).passed in (True, False)
    assert check.judge(replace(case, got=BEGUN)).passed
