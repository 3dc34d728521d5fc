"""The lab's stand-ins: what stands in for an exercise is right."""

from __future__ import annotations

import pytest

from corpus.judging import verdict
from grader.course.lesson_4 import LESSON
from grader.records import Outcome

PROMISED_ERRORS = {"odd", "unequal"}  # PyTorch raises errors of its own there


@pytest.mark.parametrize("id", ["4.10", "4.12", "4.13"])
def test_what_stands_in_for_an_exercise_is_right(id: str) -> None:
    found = verdict(LESSON, LESSON.exercise(id), LESSON.exercise(id).stand_in_source, explained=False)
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= PROMISED_ERRORS, wrong
