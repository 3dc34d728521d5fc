"""Every other writing of a reference is right, and a slip in one explains an answer that the reference's own form does not lead to."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from corpus.judging import verdict
from grader.course import lessons
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.records import Outcome

WRITINGS = [
    pytest.param(lesson, exercise, writing, id=f"{exercise.id} {writing.__name__}")
    for lesson in lessons().values()
    for exercise in lesson.exercises
    for writing in exercise.writings
]


def source_of(writing: Callable, name: str) -> str:
    """Return a writing as an answer, under the name that the notebook asks for."""
    text = inspect.getsource(writing)
    return f"import math\n{text}\n{name} = {writing.__name__}\n"


@pytest.mark.parametrize(("lesson", "exercise", "writing"), WRITINGS)
def test_a_writing_is_right(lesson: Lesson, exercise: Exercise, writing: Callable) -> None:
    (name,) = exercise.defines
    judged = verdict(lesson, exercise, source_of(writing, name))
    assert judged.outcome is Outcome.PASSED, judged.message


@pytest.mark.parametrize(("lesson", "exercise", "writing"), WRITINGS)
def test_a_wrong_writing_is_not(lesson: Lesson, exercise: Exercise, writing: Callable) -> None:
    (name,) = exercise.defines
    wrong = source_of(writing, name).replace(f"\n{name} = {writing.__name__}\n", f"\n{name} = None\n")
    assert verdict(lesson, exercise, wrong).outcome is not Outcome.PASSED
