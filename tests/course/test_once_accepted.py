"""Wrong answers that once passed, in tests/course/once_accepted/: each is refused now."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest

from benchmarks.truth.answers import verdict
from grader.course import lessons
from grader.records import Outcome

ANSWERS = [
    pytest.param(
        script.stem,
        cell.metadata["exercise"],
        cell.source,
        id=f"{cell.metadata['exercise']} {cell.metadata['wrong']}",
    )
    for script in sorted((Path(__file__).parent / "once_accepted").glob("*.py"))
    for cell in jupytext.read(script, fmt="py:percent").cells
    if "wrong" in cell.metadata
]


@pytest.mark.parametrize(("assignment", "exercise", "source"), ANSWERS)
def test_it_is_refused(assignment: str, exercise: str, source: str) -> None:
    lesson = lessons()[assignment]
    for secret in ("one", "two"):
        got = verdict(lesson, lesson.exercise(exercise), source, secret, explained=False)
        assert got.outcome is Outcome.FAILED, got.message
        assert "not defined" not in got.message
