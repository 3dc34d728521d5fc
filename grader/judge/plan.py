"""Draw the trials of exercises for one submission."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler, PublicSampler
from grader.declare.trial import Trial
from grader.judge.planned_trial import PlannedTrial
from grader.records import Inputs
from grader.submission.cells import answer_cell


def plan_exercise(exercise: Exercise, secret: str, submission_sha256: str) -> tuple[PlannedTrial, ...]:
    """Draw every trial of one exercise: of each check the public ones, then the hidden ones; last, one once more.

    The course secret and the submission's content seed the hidden inputs: a student cannot predict them, and another grading
    of the same file draws the same inputs. Public inputs are the same for every submission.

    Args:
        submission_sha256: the digest of the submission's content.
    """
    trials = list(_draw(exercise, (secret, submission_sha256)))
    return (*trials, *_once_more(trials))


def _once_more(trials: Sequence[PlannedTrial]) -> Iterator[PlannedTrial]:
    """Yield the first hidden trial again, where a shared fork makes it cheap: an answer that counts its calls may change its mind."""
    first = next((trial for trial in trials if not trial.public), None)
    if first is not None and first.unchanging:
        described = ", ".join(filter(None, (first.trial.describe, "called again at the end")))
        yield replace(first, key=f"{first.key}-again", trial=replace(first.trial, describe=described))


def draw_ahead(lesson: Lesson) -> None:
    """Draw the inputs of a lesson's public trials now, and keep them for the plans of its submissions."""
    for exercise in lesson.exercises:
        examples(exercise)


def examples(exercise: Exercise) -> tuple[PlannedTrial, ...]:
    """Draw the public trials of one exercise."""
    return tuple(_draw(exercise, kinds=("public",)))


def shown(exercise: Exercise) -> tuple[PlannedTrial, ...]:
    """Draw the trials of the self-check in the notebook: the public ones, and hidden ones with public numbers."""
    return tuple(_draw(exercise))


def _draw(
    exercise: Exercise, seed: tuple[str, ...] | None = None, kinds: tuple[str, ...] = ("public", "hidden")
) -> Iterator[PlannedTrial]:
    """Draw the trials of each check.

    Args:
        seed: what seeds the inputs of hidden trials besides the trial's key; None: they are public.
    """
    for check, kind in product(exercise.checks, kinds):
        public = kind == "public"
        for index, trial in enumerate(check.examples if public else check.trials):
            key = f"{exercise.id}/{check.name}/{kind}/{index}"
            inputs = _public_inputs(trial, key) if public or seed is None else trial.draw(InputSampler(*seed, key))
            if not isinstance(inputs, Mapping):
                said = f"what draws its inputs returns a {type(inputs).__name__}; a dict is due, as {{'x': …}}"
                raise DeclarationError(f"exercise {exercise.id}, check {check.name!r}: {said}")
            yield PlannedTrial(
                key=key,
                exercise=exercise,
                check=check,
                trial=trial,
                public=public,
                inputs=inputs,
                cell=check.at or answer_cell(exercise.id),
            )


# Public inputs by key, with the trial that drew them. They are the same for every submission, and drawing them takes longer than
# judging them.
_public: dict[str, tuple[Trial, Inputs]] = {}


def _public_inputs(trial: Trial, key: str) -> Inputs:
    """Return the inputs of a public trial: drawn the first time in this process, kept from then on."""
    known = _public.get(key)
    if known is None or known[0] is not trial:  # a test may declare another exercise of the same name
        known = _public[key] = trial, trial.draw(PublicSampler(key))
    return known[1]
