"""The wrong answers that an answer is compared with, and what each gives on the trials of an exercise."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

from grader.declare.exercise import Exercise, Mistake
from grader.explain.arguments import other_arguments
from grader.explain.defaults import OtherDefault, other_defaults
from grader.explain.fingerprint import Fingerprint, fingerprint, fingerprint_of_error
from grader.explain.seen import Candidate
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults
from grader.records import Evidence, Status
from grader.submission.code.traits import Traits, traits


def candidates(
    exercise: Exercise, trials: Sequence[PlannedTrial], results: ReferenceResults, source: str = ""
) -> Iterator[Candidate]:
    """Yield what an exercise's answers are compared with: declared mistakes and other arguments.

    Nothing is computed before a fingerprint is asked for.

    Args:
        trials: the trials of the exercise, in the order of the indices that `Candidate.prints` gets.
        results: keeps what was computed.
        source: the student's answer, whose default values are tried on the reference.
    """
    for other in other_defaults(exercise.reference, source):
        yield Candidate("argument", other.says, other.says, _prints(trials, _of_default(results, other)))
    for wrong in exercise.mistakes:
        known = _prints(trials, _of_mistake(results, wrong))
        yield Candidate("mistake", wrong.name, wrong.hint, known, partial(_traits, wrong))
    variations = _Variations(exercise, trials)
    for says in variations.phrases():
        yield Candidate("argument", says, says, _prints(trials, _of_arguments(results, variations, says)))


def _traits(wrong: Mistake) -> Traits:
    """Return what tells a declared mistake's code from the right answer's; nothing if its code is not known."""
    return traits(*map(ast.parse, wrong.codes))


class _Variations:
    """The changed inputs of each trial, made when they are first asked for."""

    def __init__(self, exercise: Exercise, trials: Sequence[PlannedTrial]) -> None:
        self._made = [other_arguments(exercise, trial) for trial in trials]
        self._by_key = dict(zip((trial.key for trial in trials), self._made, strict=True))

    def phrases(self) -> list[str]:
        """List the phrases of all trials, the simplest first."""
        return list(dict.fromkeys(says for made in self._made for says in made))

    def of(self, trial: PlannedTrial, says: str) -> Mapping | None:
        """Return the changed inputs of a trial; None where the change leaves them as they are."""
        return self._by_key[trial.key].get(says)


Run = Callable[[PlannedTrial], Evidence]


def _of_mistake(results: ReferenceResults, wrong) -> Run:
    return lambda trial: results.wrong(trial, wrong)


def _of_arguments(results: ReferenceResults, variations: _Variations, says: str) -> Run:
    def run(trial: PlannedTrial) -> Evidence:
        inputs = variations.of(trial, says)
        return results.right(trial) if inputs is None else results.changed(trial, says, inputs=inputs)

    return run


def _of_default(results: ReferenceResults, other: OtherDefault) -> Run:
    return lambda trial: results.changed(trial, other.says, replaces=other.replaces)


def _prints(trials: Sequence[PlannedTrial], run: Run) -> Callable[[int], Fingerprint | None]:
    """Return a function from a trial's index to the fingerprint of what a wrong answer gives there."""

    @cache
    def prints(index: int) -> Fingerprint | None:
        evidence = run(trials[index])
        if evidence.status is not Status.OK:
            return fingerprint_of_error(evidence.error, evidence.message)
        return fingerprint(evidence.values)

    return prints
