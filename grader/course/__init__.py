"""The lessons of this course, one package each: exercises with their checks and recognised mistakes.

In: the reference modules of `attention`, and the records of `declaration`. Out: `lessons()`, every lesson validated.
May import: attention, declaration, checks.compare (for judges of their own), records, paths (for trainings that are kept).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from grader.declaration.lesson import Lesson
from grader.declaration.validate import validate


@cache
def lessons() -> dict[str, Lesson]:
    """Import and validate every declared lesson: the packages lesson_1, lesson_2, … beside this file.

    Returns:
        The lessons by assignment.

    Raises:
        DeclarationError: a declaration does not fit together; the message names exercise and field.
    """
    names = sorted(module.name for module in iter_modules(__path__) if module.name.startswith("lesson_"))
    found = {}
    for name in names:
        lesson: Lesson = import_module(f"{__name__}.{name}").LESSON
        package = f"{__name__}.{name}"
        modules = {
            loaded.rpartition(".")[2]: vars(module)
            for loaded, module in sys.modules.items()
            if loaded == package or loaded.startswith(f"{package}.")
        }
        validate(lesson, modules)
        found[lesson.assignment] = lesson
    return found


def max_score(assignment: str) -> float:
    """Return the points of an assignment; 0 where there is no such lesson."""
    lesson = lessons().get(assignment)
    return lesson.max_score if lesson else 0.0


def assignment_by_exercise() -> dict[str, str]:
    """Map the id of every exercise of the course to its assignment."""
    return {exercise.id: name for name, lesson in lessons().items() for exercise in lesson.exercises}
