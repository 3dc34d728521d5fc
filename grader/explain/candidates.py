"""The wrong answers that an answer is compared with, and what each gives on the trials of an exercise."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from grader.declare.exercise import Exercise, Mistake
from grader.explain.fingerprint import Fingerprint, fingerprint, fingerprint_of_error
from grader.explain.seen import Candidate
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults
from grader.records import Status
from grader.submission.code.traits import Traits, traits


def candidates(exercise: Exercise, trials: Sequence[PlannedTrial], results: ReferenceResults) -> Iterator[Candidate]:
    """Yield the declared mistakes of an exercise, which its answers are compared with.

    Nothing is computed before a fingerprint is asked for.

    Args:
        trials: the trials of the exercise, in the order of the indices that `Candidate.prints` gets.
        results: keeps what was computed.
    """
    for wrong in exercise.mistakes:
        known = _prints(trials, results, wrong.name, wrong.replaces)
        yield Candidate(wrong.name, wrong.hint, known, partial(traits_of, wrong))


def traits_of(wrong: Mistake) -> Traits:
    """Return what tells a declared mistake's code from the right answer's; nothing if its code is not known."""
    return traits(*map(ast.parse, wrong.codes))


def _prints(
    trials: Sequence[PlannedTrial], results: ReferenceResults, name: str, replaces: Mapping[str, Any]
) -> Callable[[int], Fingerprint | None]:
    """Return a function from a trial's index to the fingerprint of what a wrong answer gives there."""

    @cache
    def prints(index: int) -> Fingerprint | None:
        evidence = results.changed(trials[index], name, replaces)
        if evidence.status is not Status.OK:
            return fingerprint_of_error(evidence.error, evidence.message)
        return fingerprint(evidence.values)

    return prints
