"""What a slip costs is the same in every exercise: half of the points of the checks that fail because of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from corpus.judging import mistaken, sheet
from grader.course import lessons
from grader.declare.exercise import Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.records import Outcome, Verdict

GRADED = [
    pytest.param(lesson, exercise, id=exercise.id)
    for lesson in lessons().values()
    for exercise in lesson.exercises
    if exercise.points
]


def slipping(right: Any, change: Callable[[Any], Any]) -> Any:
    """Return a definition whose results are changed."""
    if isinstance(right, type):
        forward = right.forward
        return type(right.__name__, (right,), {"forward": lambda *a, **k: change(forward(*a, **k))})
    return lambda *a, **k: change(right(*a, **k))


@cache
def verdict(assignment: str, id: str, change: Callable[[Any], Any]) -> Verdict:
    """The verdict on an exercise whose results are changed; two tests ask. Nobody reads its explanation."""
    lesson = lessons()[assignment]
    exercise = lesson.exercise(id)
    wrong = {right.__name__: slipping(right, change) for right in exercise.reference}
    return mistaken(lesson, exercise, Mistake(f"slip {change.__name__}", wrong, ""), explained=False)


def turned_around(returned: Any) -> Any:
    return returned[::-1] if isinstance(returned, (tuple, list)) and len(returned) == 2 else returned


def in_float64(returned: Any) -> Any:
    if isinstance(returned, (tuple, list)):
        return type(returned)(map(in_float64, returned))
    if isinstance(returned, Tensor) and returned.dtype in (torch.float32, torch.bool):
        return returned.double()
    return returned


@pytest.mark.parametrize("change", [turned_around, in_float64])
@pytest.mark.parametrize(("lesson", "exercise"), GRADED)
def test_half_of_every_check_that_fails_for_it(
    lesson: Lesson, exercise: Exercise, change: Callable[[Any], Any]
) -> None:
    got = verdict(lesson.assignment, exercise.id, change)
    alone = {check.name for check in sheet(lesson.assignment, exercise.id, "truth").exercise.checks if not check.judge}
    for check in got.checks:
        if check.name in alone:
            share = 1.0 if check.outcome is Outcome.PASSED else 0.5
            assert check.points == share * check.max_points, (check.name, check.message)


def test_the_slips_are_met() -> None:
    """The test above is about something: these exercises return pairs, and these return numbers of float32."""
    refused = {
        change.__name__: {
            exercise.id
            for lesson, exercise in (one.values for one in GRADED)
            if verdict(lesson.assignment, exercise.id, change).outcome is Outcome.FAILED
        }
        for change in (turned_around, in_float64)
    }
    assert refused["turned_around"] == {
        *("1.4", "1.6", "1.7", "1.8", "2.6", "2.7", "3.3", "3.4"),
        *("6.5", "6.6", "6.8", "4.8", "6.10", "6.11", "6.12", "5.2", "5.3", "5.7"),
    }
    assert len(refused["in_float64"]) > 12
