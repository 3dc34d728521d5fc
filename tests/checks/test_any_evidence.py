"""Whatever a submission sends back, it is judged and explained: nobody has a fault of the grader at will."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from any_values import changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.checks.judge import judge
from grader.checks.plan import plan_exercise
from grader.checks.reference_results import ReferenceResults
from grader.course import lessons
from grader.declaration.lesson import Lesson
from grader.diagnosis.diagnose import diagnose, wrong_answer
from grader.records import Evidence, Outcome, Status

LESSONS = list(lessons().values())


@cache
def right(assignment: str, id: str) -> tuple:
    """Draw the trials of an exercise, and compute what the reference returns on them.

    Checks of trained objects are left out: there is no reference for them, and tests/course asks their judges.
    """
    lesson = lessons()[assignment]
    exercise, results = lesson.exercise(id), ReferenceResults(lesson.reference)
    trained = {name for name, value in lesson.given.items() if value is None}
    kept = {
        trial.check.name for trial in plan_exercise(exercise, "secret", "sha") if not trial.takes & trained
    }
    checks = tuple(replace(check, needs=()) for check in exercise.checks if check.name in kept)
    exercise = replace(exercise, checks=checks, points=sum(check.points for check in checks))
    planned = plan_exercise(exercise, "secret", "sha")
    evidence = {trial.key: results.right(trial) for trial in planned}
    assert all(one.status is Status.OK for one in evidence.values())
    return exercise, planned, results, evidence


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
@settings(
    max_examples=15, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_any_evidence_is_judged_and_explained(lesson: Lesson, data: st.DataObject) -> None:
    id = data.draw(st.sampled_from([exercise.id for exercise in lesson.exercises]))
    exercise, planned, results, evidence = right(lesson.assignment, id)
    key = data.draw(st.sampled_from(sorted(evidence)))
    values = data.draw(changed(evidence[key].values))
    evidence = {**evidence, key: Evidence(key=key, status=Status.OK, values=values)}
    verdict = judge(exercise, planned, evidence, results)
    assert verdict.outcome is not Outcome.FAULT, verdict.message
    wrong = wrong_answer(exercise, verdict, planned, evidence, results, "cpu")
    assert diagnose(verdict, wrong, lambda: None).outcome is verdict.outcome
    assert wrong is None or wrong.needs_repair() in (True, False)
