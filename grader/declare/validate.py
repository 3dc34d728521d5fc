"""Validate the probes of a lesson: their inputs can be drawn, and the names that they take are known."""

import inspect
from collections.abc import Collection

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler


def validate_probes(lesson: Lesson) -> None:
    """Raise DeclarationError if the inputs of a check cannot be drawn, or if its probe takes an unknown name.

    The names of the inputs are known only after drawing, so one trial of each check is
    drawn. For the three lessons, this takes 0.6 s of CPU time. The builder calls this
    function. Importing a lesson does not, because every worker imports the lessons.
    """
    for exercise in lesson.exercises:
        for check in exercise.checks:
            where = f"{lesson.assignment}: exercise {exercise.id}, checks:"
            try:
                inputs = check.trials[0].draw(InputSampler(exercise.id, check.name))
            except Exception as error:  # it is the declaration's own code, which may raise anything
                said = f"({type(error).__name__}: {error})"
                raise DeclarationError(f"{where} the inputs of {check.name!r} cannot be drawn {said}") from error
            for name, value in inputs.items():
                if type(value).__module__.partition(".")[0] == "numpy":
                    raise DeclarationError(
                        f"{where} {check.name!r} draws {name!r} as an array of NumPy. Draw a tensor, and let the probe "
                        "make an array of it, as `call_with_arrays` does, or annotate the reference's parameter with "
                        "np.ndarray"
                    )
            refuse_unknown_names(lesson, exercise, check, inputs.keys())


def refuse_unknown_names(lesson: Lesson, exercise: Exercise, check: Check, inputs: Collection[str]) -> None:
    """Raise DeclarationError if a parameter of a probe is neither among the drawn inputs nor defined by the lesson."""
    for parameter in inspect.signature(check.probe).parameters:
        name = check.names.get(parameter, parameter)
        if parameter not in inputs and name not in lesson.reference:
            raise DeclarationError(
                f"{lesson.assignment}: exercise {exercise.id}, checks: {check.name!r} asks for {name!r}, which is "
                f"neither an input ({', '.join(inputs)}) nor a name that the lesson defines or gives"
            )
