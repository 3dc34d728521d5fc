"""Draw the trials of exercises for one submission, and collect the source code that the sandbox gets for each probe."""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from types import CodeType, FunctionType

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler, PublicSampler
from grader.declare.trial import Trial
from grader.paths import OWN_LESSONS
from grader.records import Inputs
from grader.sandbox.guest.calling import parameters
from grader.submission.cells import answer_cell

# Modules, and packages of modules, whose functions may be sent to the sandbox.
SENT = ("grader.course", OWN_LESSONS, "grader.declare.probes")


@dataclass(frozen=True, kw_only=True)
class PlannedTrial:
    """One trial of one check, with the inputs that were drawn for it."""

    key: str  # "1.4/values/hidden/0"
    exercise: Exercise
    check: Check
    trial: Trial
    public: bool
    inputs: Inputs
    cell: str  # id of the cell after which the probe runs

    @property
    def takes(self) -> frozenset[str]:
        """The names that the probe takes from the notebook: its parameters that are not inputs of the trial."""
        not_inputs = frozenset(parameters(self.check.probe)) - self.inputs.keys()
        return frozenset(self.check.names.get(name, name) for name in not_inputs)

    @property
    def unchanging(self) -> bool:
        """True if the probe takes only names that the exercise defines.

        Such a probe changes nothing that other probes use, so it may share a fork (a copy of the sandbox's process)
        with them. Any other probe may take a trained model and change it.
        """
        return self.takes <= set(self.exercise.defines)


def is_sent(definition: FunctionType | type) -> bool:
    """Return True if the sandbox may get the source of a function or class, because a module in SENT defines it."""
    return f"{definition.__module__}.".startswith(tuple(f"{package}." for package in SENT))


@cache
def sent_with(probe: Callable) -> Mapping[str, FunctionType | type]:
    """Return a probe and all functions and exceptions in SENT that it uses, by name. The probe is last.

    Raises:
        ValueError: the probe is a lambda, a method or a closure, so its source cannot run by itself.
    """
    if not isinstance(probe, FunctionType) or probe.__closure__ or "<" in probe.__qualname__:
        raise ValueError(f"a probe must be a plain function of module level, not {probe!r}")
    sent: dict[str, FunctionType | type] = {}

    def visit(function: FunctionType) -> None:
        """Add the functions that a function calls, and then the function itself."""
        if function.__name__ in sent:
            return
        sent[function.__name__] = function  # marks it as visited, so that a cycle of calls ends
        for name in sorted(_global_names(function.__code__)):
            called = function.__globals__.get(name)
            if isinstance(called, FunctionType) and is_sent(called):
                visit(called)
            elif inspect.isclass(called) and issubclass(called, Exception) and is_sent(called):
                sent[name] = called
        # Insert the function again, at the end, below the functions that it calls.
        sent[function.__name__] = sent.pop(function.__name__)

    visit(probe)
    return sent


@cache
def source_of(probe: Callable) -> str:
    """Return the source of a probe, together with the source of the functions and exceptions that it uses."""
    sources = (textwrap.dedent(inspect.getsource(definition)) for definition in sent_with(probe).values())
    return "from __future__ import annotations\n\n" + "\n\n".join(sources)


def refuse_sent_answers(lesson: Lesson) -> None:
    """Raise DeclarationError if a probe calls a right answer.

    The probe's source would show this answer to submissions and in the notebook.
    """
    for exercise in lesson.exercises:
        for check in exercise.checks:
            for name, definition in sent_with(check.probe).items():
                if any(definition is answer for answer in lesson.reference.values()):
                    raise DeclarationError(
                        f"{lesson.assignment}: exercise {exercise.id}, checks: "
                        f"the probe of {check.name!r} calls {name}, "
                        "which is the right answer, and would show it to submissions; let the probe take the student's "
                        "as a parameter"
                    )


def _global_names(code: CodeType) -> set[str]:
    """Return the names of the globals and attributes that a function and its inner functions use."""
    nested = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*(_global_names(inner) for inner in nested))


def plan_exercise(exercise: Exercise, secret: str, submission_sha256: str) -> tuple[PlannedTrial, ...]:
    """Draw all trials of one exercise. For each check, the public trials precede the hidden ones.

    The course secret and the submission's content seed the hidden inputs. So a student cannot predict them, and grading
    the same file again draws the same inputs. Public inputs are the same for every submission.

    Args:
        secret: the course secret.
        submission_sha256: the digest of the submission's content.

    Returns:
        The trials. The last one may repeat the first hidden trial: see `_once_more`.
    """
    trials = list(_draw(exercise, (secret, submission_sha256)))
    return (*trials, *_once_more(trials))


def _once_more(trials: Sequence[PlannedTrial]) -> Iterator[PlannedTrial]:
    """Yield the first hidden trial again, if it can share a fork and so is cheap. Otherwise yield nothing.

    An answer that counts its calls may return something else this time.
    """
    first = next((trial for trial in trials if not trial.public), None)
    if first is not None and first.unchanging:
        described = ", ".join(filter(None, (first.trial.describe, "called again at the end")))
        yield replace(first, key=f"{first.key}-again", trial=replace(first.trial, describe=described))


def draw_ahead(lesson: Lesson) -> None:
    """Draw the inputs of a lesson's public trials now, so that the plans of its submissions can reuse them."""
    for exercise in lesson.exercises:
        examples(exercise)


def examples(exercise: Exercise) -> tuple[PlannedTrial, ...]:
    """Draw the public trials of one exercise."""
    return tuple(_draw(exercise, kinds=("public",)))


def shown(exercise: Exercise) -> tuple[PlannedTrial, ...]:
    """Draw the trials of the self-check in the notebook: the public trials, and the hidden ones with public inputs."""
    return tuple(_draw(exercise))


def _draw(
    exercise: Exercise, seed: tuple[str, ...] | None = None, kinds: tuple[str, ...] = ("public", "hidden")
) -> Iterator[PlannedTrial]:
    """Draw the trials of each check.

    Args:
        seed: seeds the inputs of hidden trials, together with the trial's key. With None, these inputs are public.
        kinds: the kinds of trials to draw.

    Raises:
        DeclarationError: the function that draws a trial's inputs does not return a mapping.
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


# Public inputs by key, with the trial that drew them. They are the same for every submission, and drawing them
# takes longer than judging them.
_public: dict[str, tuple[Trial, Inputs]] = {}


def _public_inputs(trial: Trial, key: str) -> Inputs:
    """Return the inputs of a public trial. They are drawn only once in this process."""
    known = _public.get(key)
    if known is None or known[0] is not trial:  # a test may declare another exercise of the same name
        known = _public[key] = trial, trial.draw(PublicSampler(key))
    return known[1]
