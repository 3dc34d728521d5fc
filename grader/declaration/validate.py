"""Look at a whole lesson for errors that no single record shows: probes that ask for unknown names, forgotten mistakes."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from grader.declaration.errors import DeclarationError
from grader.declaration.exercise import Check, Exercise, mistakes_in
from grader.declaration.lesson import Lesson
from grader.declaration.sampler import InputSampler


def validate(lesson: Lesson, modules: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a lesson with a mistake that no exercise lists; the records refuse other errors themselves.

    Args:
        modules: the namespaces of the lesson's modules, by module name.

    Raises:
        DeclarationError: one line that names the module and the mistake.
    """
    for module, namespace in modules.items():
        for problem in _forgotten_mistakes(lesson, namespace):
            raise DeclarationError(f"{lesson.assignment}: {module}: {problem}")


def validate_probes(lesson: Lesson) -> None:
    """Refuse a lesson with a probe that asks for an unknown name.

    Only drawn inputs have names, so one trial of each check is drawn, which takes 0.6 s of CPU time for the three lessons.
    The builder calls this; an import does not, because every worker imports the lessons.

    Raises:
        DeclarationError: one line that names the exercise and the check.
    """
    for exercise in lesson.exercises:
        for check in exercise.checks:
            refuse_unknown_names(
                lesson, exercise, check, check.trials[0].draw(InputSampler(exercise.id, check.name))
            )


def refuse_unknown_names(lesson: Lesson, exercise: Exercise, check: Check, inputs: Collection[str]) -> None:
    """Refuse a probe with a parameter that is neither an input nor a name of the notebook.

    Args:
        inputs: the names of the drawn inputs.

    Raises:
        DeclarationError: one line that names the exercise and the check.
    """
    for parameter in inspect.signature(check.probe).parameters:
        name = check.names.get(parameter, parameter)
        if parameter not in inputs and name not in lesson.reference:
            raise DeclarationError(
                f"{lesson.assignment}: exercise {exercise.id}, checks: {check.name!r} asks for {name!r}, which is neither "
                f"an input ({', '.join(inputs)}) nor a name that the lesson defines or gives"
            )


def _forgotten_mistakes(lesson: Lesson, namespace: Mapping[str, Any]) -> Iterable[str]:
    declared = {id(wrong) for exercise in lesson.exercises for wrong in exercise.mistakes}
    for wrong in mistakes_in(namespace):
        if id(wrong) not in declared:
            yield f"mistake {wrong.name} replaces {', '.join(wrong.replaces)}, but no exercise lists it"
