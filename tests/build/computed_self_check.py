"""Computes the self-check of an exercise or a lesson anew, as a build does where the committed notebook knows nothing of it."""

from grader.build.self_check_cell import SelfChecks, self_checks
from grader.build.self_check_numbers import drafted, settled
from grader.build.self_check_pack import Packed
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson


def packed_exercise(lesson: Lesson, exercise: Exercise) -> Packed:
    return settled(drafted(lesson, exercise), ())


def computed_self_checks(lesson: Lesson) -> SelfChecks:
    return self_checks(lesson, {one.id: packed_exercise(lesson, one) for one in lesson.exercises})
