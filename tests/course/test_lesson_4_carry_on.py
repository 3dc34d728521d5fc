"""The lab's carry-on cells: what stands in for an exercise is right, and lets the cells below it run."""

from __future__ import annotations

import pytest

from corpus.judging import verdict
from grader.course.lesson_4 import LESSON
from grader.records import Outcome
from tests.scripts import cells_of

STUCK = {cell.metadata["stuck"]: cell.source for cell in cells_of("4-lab") if "stuck" in cell.metadata}


PROMISED_ERRORS = {"odd", "unequal"}  # PyTorch raises errors of its own there


@pytest.mark.parametrize("id", ["4.10", "4.12", "4.13"])
def test_what_stands_in_for_an_exercise_is_right(id: str) -> None:
    found = verdict(LESSON, LESSON.exercise(id), STUCK[id], explained=False)
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= PROMISED_ERRORS, wrong
