"""The declaration: one file per lesson."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from grader.exercise import Lesson


@cache
def lessons() -> dict[str, Lesson]:
    """Every declared lesson, by assignment: the modules lesson_1, lesson_2, … of this package."""
    names = sorted(module.name for module in iter_modules(__path__) if module.name.startswith("lesson_"))
    declared = [import_module(f"{__name__}.{name}").LESSON for name in names]
    return {lesson.assignment: lesson for lesson in declared}
