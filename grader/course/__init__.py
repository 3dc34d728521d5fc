"""The lessons of the course, one package each.

They are those of the course's folder lessons/ or, without this folder, those that come with the
grader.

In: the reference modules of `attention`, and the records of `declare`. Out: `lessons()`, every
lesson validated.
May import: attention, declare, judge.compare (for judges of their own), records, paths (for trainings that are kept,
and for the course's own lessons).
"""

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from grader.declare.errors import DeclarationError
from grader.declare.lesson import Lesson
from grader.paths import OWN_LESSONS, own_lessons


def lessons() -> Mapping[str, Lesson]:
    """Return every lesson of the course by assignment: those in its folder lessons/, or else the grader's own.

    Raises:
        DeclarationError: the parts of a declaration do not fit together, or lessons/ contains no
            lesson. The message names the place.
    """
    folder = own_lessons()
    return _lessons_in(folder) if folder else shipped_lessons()


@cache
def shipped_lessons() -> Mapping[str, Lesson]:
    """Import and validate the lessons that come with the grader, and return them by assignment.

    They are the packages lesson_1, lesson_2, … next to this file.
    """
    return {lesson.assignment: lesson for lesson in _declared(sys.modules[__name__]).values()}


def shipped_packages() -> Mapping[str, Path]:
    """Map the assignment of each lesson that comes with the grader to the folder of its package."""
    here = Path(__file__).parent
    return {
        lesson.assignment: here / name.rpartition(".")[2] for name, lesson in _declared(sys.modules[__name__]).items()
    }


@cache
def _lessons_in(folder: Path) -> Mapping[str, Lesson]:
    """Import and validate the lessons in a course's folder as the package `lessons`. Return them by assignment.

    The course's folder is not added to sys.path, so nothing else in it can replace a module.

    Raises:
        DeclarationError: the folder contains no lesson, or a declaration is not valid.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == OWN_LESSONS]:
        del sys.modules[name]  # another course's
    spec = spec_from_file_location(OWN_LESSONS, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None or not (folder / "__init__.py").is_file():
        raise DeclarationError(f"{folder}/__init__.py is missing; an empty file will do")
    package = sys.modules[OWN_LESSONS] = module_from_spec(spec)
    spec.loader.exec_module(package)
    found = {lesson.assignment: lesson for lesson in _declared(package).values()}
    if not found:
        raise DeclarationError(
            f"{folder}: there is no lesson; declare one as LESSON in {OWN_LESSONS}/lesson_1/__init__.py, or run "
            "`grader init --exercise '1.1 Title'`"
        )
    return found


@cache
def _declared(package: ModuleType) -> Mapping[str, Lesson]:
    """Import and validate the lessons of a package, and return them by the names of their modules.

    The modules are lesson_1, lesson_2, …

    Raises:
        DeclarationError: the parts of a declaration do not fit together. The message names exercise
            and field.
    """
    names = sorted(found.name for found in iter_modules(package.__path__) if found.name.startswith("lesson_"))
    lessons: dict[str, Lesson] = {}
    for name in (f"{package.__name__}.{name}" for name in names):
        module = import_module(name)
        if not isinstance(lesson := getattr(module, "LESSON", None), Lesson):
            raise DeclarationError(f"{module.__file__}: there is no LESSON; assign it a Lesson")
        if twice := [other for other, known in lessons.items() if known.assignment == lesson.assignment]:
            raise DeclarationError(f"{name}: assignment {lesson.assignment!r} is declared in {twice[0]}, too")
        lessons[name] = lesson
    return lessons


def max_score(assignment: str) -> float:
    """Return the maximum points of an assignment, or 0 if there is no such lesson."""
    lesson = lessons().get(assignment)
    return lesson.max_score if lesson else 0.0


def assignment_by_exercise() -> dict[str, str]:
    """Map the id of every exercise of the course to its assignment."""
    return {exercise.id: name for name, lesson in lessons().items() for exercise in lesson.exercises}
