"""The wrong answers that a student's answer is compared with, and their results on the trials of an exercise.

A fingerprint (in names: print) is a short summary of a result, by which two results can be compared.
"""

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
    """Yield a candidate explanation for each declared mistake of an exercise.

    A mistake runs only when its fingerprint is first needed.

    Args:
        trials: the trials of the exercise. `Candidate.prints` takes an index into this sequence.
        results: stores the results of the mistakes.
    """
    for wrong in exercise.mistakes:
        known = _prints(trials, results, wrong.name, wrong.replaces)
        yield Candidate(wrong.name, wrong.hint, known, partial(traits_of, wrong))


def traits_of(wrong: Mistake) -> Traits:
    """Return the traits by which a declared mistake's code differs from the right code.

    The traits are empty if the mistake's code is not known.
    """
    return traits(*map(ast.parse, wrong.codes))


def _prints(
    trials: Sequence[PlannedTrial], results: ReferenceResults, name: str, replaces: Mapping[str, Any]
) -> Callable[[int], Fingerprint | None]:
    """Return a function that maps a trial's index to the fingerprint of a wrong answer's result in this trial."""

    @cache
    def prints(index: int) -> Fingerprint | None:
        evidence = results.changed(trials[index], name, replaces)
        if evidence.status is not Status.OK:
            return fingerprint_of_error(evidence.error, evidence.message)
        return fingerprint(evidence.values)

    return prints
