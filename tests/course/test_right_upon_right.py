"""What builds on a right answer is judged right, too, whatever that answer's style: rounding adds up along the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from corpus.answers import Answer, answers
from corpus.judging import notebook_names, sheet, solutions
from grader.course import lessons
from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations
from grader.judge.reference_results import run_here
from grader.judge.verdicts import judge
from grader.records import Outcome

BELOW_OTHERS = [
    pytest.param(lesson, one, id=f"{one.exercise} {one.name}")
    for lesson in lessons().values()
    for one in answers("variants")
    if any(one.exercise in foundations(lesson, exercise.id) for exercise in lesson.exercises)
]


@pytest.mark.parametrize(("lesson", "below"), BELOW_OTHERS)
def test_a_solution_passes_upon_another_right_answer(lesson: Lesson, below: Answer) -> None:
    names = notebook_with(lesson, below)
    for exercise in (one for one in lesson.exercises if below.exercise in foundations(lesson, one.id)):
        on = sheet(lesson.assignment, exercise.id, "right upon right")
        came_back = {one.key: run_here(one.check, names, one.inputs, one.key) for one in on.planned}
        found = judge(on.exercise, on.planned, came_back, on.ours)
        assert found.outcome is Outcome.PASSED, f"{exercise.id}: {found.message}"


def notebook_with(lesson: Lesson, below: Answer) -> Mapping[str, Any]:
    """Define the solutions anew, with one answer in another style."""
    names = dict(notebook_names(lesson.assignment))
    for id, source in solutions(lesson.assignment).items():
        exec(compile(below.source if id == below.exercise else source, id, "exec"), names)
    return names
