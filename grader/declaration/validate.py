"""Look at a whole lesson for errors that no single record shows: probes that ask for unknown names, forgotten mistakes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from grader.declaration.errors import DeclarationError
from grader.declaration.exercise import Check, Exercise, mistakes_in
from grader.declaration.lesson import Lesson
from grader.declaration.sampler import InputSampler


def validate(lesson: Lesson, modules: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a lesson with an error that would only show when a submission is graded.

    Args:
        modules: the namespaces of the lesson's modules, by module name.

    Raises:
        DeclarationError: one line that names the exercise and the field, or the module and the mistake.
    """
    for exercise in lesson.exercises:
        for check in exercise.checks:
            for problem in _unknown_parameters(lesson, exercise, check):
                raise DeclarationError(f"{lesson.assignment}: exercise {exercise.id}, checks: {problem}")
    for module, namespace in modules.items():
        for problem in _forgotten_mistakes(lesson, namespace):
            raise DeclarationError(f"{lesson.assignment}: {module}: {problem}")


def _unknown_parameters(lesson: Lesson, exercise: Exercise, check: Check) -> Iterable[str]:
    inputs = check.trials[0].draw(InputSampler(exercise.id, check.name))
    for parameter in inspect.signature(check.probe).parameters:
        name = check.names.get(parameter, parameter)
        if parameter not in inputs and name not in lesson.reference:
            yield (
                f"{check.name!r} asks for {name!r}, which is neither an input ({', '.join(inputs)}) nor a name that "
                "the lesson defines or gives"
            )


def _forgotten_mistakes(lesson: Lesson, namespace: Mapping[str, Any]) -> Iterable[str]:
    declared = {id(one) for exercise in lesson.exercises for one in exercise.mistakes}
    for one in mistakes_in(namespace):
        if id(one) not in declared:
            yield f"mistake {one.name} replaces {', '.join(one.replaces)}, but no exercise lists it"
