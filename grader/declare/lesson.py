"""A lesson as it is declared: an assignment, its exercises, and the reference that answers are compared with."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import isclass, isfunction
from typing import Any, Self

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Exercise
from grader.records import Limits

SHORT = 3  # steps of a training that is verified: the notebook's `train_steps`


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One assignment with its exercises.

    Raises:
        DeclarationError: its exercises contradict each other.
    """

    assignment: str  # "1-attention"
    title: str
    exercises: tuple[Exercise, ...]
    # Names that a probe may ask for and no exercise defines, because a given cell defines them: a trained
    # model, say. The values stand in the reference; None where the reference has no such object.
    given: Mapping[str, Any] = field(default_factory=dict)
    # Its points are not part of the course's, and `make students` leaves it out: it is handed out later, by itself.
    optional: bool = False
    limits: Limits = Limits()
    cell_seconds: Mapping[str, float] = field(default_factory=dict)  # cells that may run longer, by id
    # Variables that the grader sets in the notebook, beside device and seed.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Points of the questions that people grade, by id; a question of the script that is not named has 0.
    questions: Mapping[str, float] = field(default_factory=dict)
    # Grading runs an exercise again with stand-ins for earlier exercises that failed. True: the better
    # verdict of that run counts. False: the verdict on the notebook as submitted counts, and a note tells the
    # other.
    follow_through: bool = True
    # What takes long and is kept for all submissions: called before the first one, and cheap from then on.
    prepare: tuple[Callable[[], object], ...] = ()

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise DeclarationError(f"{self.assignment}: {problem}")

    def _problems(self) -> Iterable[str]:
        """Yield a message for each contradiction between the exercises, and for each wrong entry of `questions`."""
        earlier: dict[str, Exercise] = {}
        owners: dict[str, str] = {}
        for exercise in self.exercises:
            if exercise.id in earlier:
                yield f"exercise {exercise.id}, id: there are two exercises of this id"
            for below in exercise.builds_on:
                if below not in earlier:
                    known = ", ".join(earlier) or "none"
                    yield f"exercise {exercise.id}, builds_on: {below!r} is no earlier exercise; there are {known}"
            for name in exercise.defines:
                if name in owners:
                    yield f"exercise {exercise.id}, reference: {name} is defined by exercise {owners[name]} already"
                owners[name] = exercise.id
            earlier[exercise.id] = exercise
        for question, points in self.questions.items():
            if question in earlier:
                yield f"questions: {question} is an exercise; give the question another id, as in 1.Q1"
            if points < 0:
                yield f"questions: {question} has {points:g} points; no points are 0"

    @cached_property
    def reference(self) -> Mapping[str, Any]:
        """The right definition for every name that a probe may take."""
        defined = {
            name: definition
            for exercise in self.exercises
            for name, definition in zip(exercise.defines, exercise.reference, strict=True)
        }
        return {**defined, **self.given}

    @cached_property
    def definitions(self) -> frozenset[str]:
        """The names of the functions and classes that a probe may take.

        All other names that a probe may take belong to objects, such as a model.
        """
        return frozenset(name for name, value in self.reference.items() if isfunction(value) or isclass(value))

    @cached_property
    def with_weights(self) -> Self:
        """The lesson without the checks of training steps.

        It is used for a submission whose training steps are wrong because of an earlier exercise that has no stand-in.
        The model then gets trained weights, and the checks of the model remain.
        """
        exercises = tuple(_without(exercise, self.step_checks(exercise.id)) for exercise in self.exercises)
        return replace(self, exercises=exercises)

    @cached_property
    def training_cells(self) -> frozenset[str]:
        """The ids of the provided cells that train something. A check probes the result afterwards (`Check.at`)."""
        return frozenset(check.at for exercise in self.exercises for check in exercise.checks if check.at)

    def training_checks(self, id: str) -> frozenset[str]:
        """Return the names of the checks that verify an exercise's training run.

        They are the checks that run after the training cell, and the checks that need the training steps to be right.
        """
        steps = self.step_checks(id)
        return frozenset(
            check.name for check in self.exercise(id).checks if check.at or steps.intersection(check.needs)
        )

    def step_checks(self, id: str) -> frozenset[str]:
        """Return the names of the checks that verify the steps of an exercise's training run.

        These checks are worth no points, but other checks need them.
        """
        return frozenset(check.name for check in self.exercise(id).checks if check.at and not check.points)

    @property
    def max_score(self) -> float:
        """The points of all exercises together, without the points that people give for questions."""
        return sum(exercise.points for exercise in self.exercises)

    def exercise(self, id: str) -> Exercise:
        """Return the exercise with this id.

        Raises:
            KeyError: the lesson has no such exercise.
        """
        for exercise in self.exercises:
            if exercise.id == id:
                return exercise
        raise KeyError(f"{self.assignment} has no exercise {id}; it has {', '.join(e.id for e in self.exercises)}")


def _without(exercise: Exercise, names: Collection[str]) -> Exercise:
    """Return a copy of an exercise without the checks with these names. No other check needs them any more."""
    left = [check for check in exercise.checks if check.name not in names]
    kept = [replace(check, needs=tuple(set(check.needs) - set(names))) for check in left]
    return replace(exercise, checks=tuple(kept))
