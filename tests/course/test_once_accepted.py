"""Wrong answers that once passed, in corpus/once_accepted/: each is refused now."""

from __future__ import annotations

import pytest

from corpus.answers import once_accepted
from corpus.judging import verdict
from grader.course import lessons
from grader.records import Outcome

ANSWERS = [
    pytest.param(assignment, one.exercise, one.source, id=f"{one.exercise} {one.name}")
    for assignment, wrong in once_accepted().items()
    for one in wrong
]


@pytest.mark.parametrize(("assignment", "exercise", "source"), ANSWERS)
def test_it_is_refused(assignment: str, exercise: str, source: str) -> None:
    lesson = lessons()[assignment]
    for secret in ("one", "two"):
        got = verdict(lesson, lesson.exercise(exercise), source, secret, explained=False)
        assert got.outcome is Outcome.FAILED, got.message
        assert "not defined" not in got.message
