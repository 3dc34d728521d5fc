"""The lab's carry-on cells: what stands in for an exercise is right, and lets the cells below it run."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest

from corpus.judging import verdict
from grader.course.lesson_4 import LESSON
from grader.records import Outcome

SCRIPT = Path(__file__).parents[2] / "solutions" / "4-lab.py"
STUCK = {
    cell.metadata["stuck"]: cell.source
    for cell in jupytext.read(SCRIPT, fmt="py:percent").cells
    if "stuck" in cell.metadata
}


PROMISED_ERRORS = {"odd", "unequal"}  # PyTorch raises errors of its own there


@pytest.mark.parametrize("id", ["4.10", "4.12", "4.13"])
def test_what_stands_in_for_an_exercise_is_right(id: str) -> None:
    found = verdict(LESSON, LESSON.exercise(id), STUCK[id], explained=False)
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= PROMISED_ERRORS, wrong
