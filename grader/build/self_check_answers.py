"""Collects the wrong answers that the self-check of a notebook knows, and what each gives on its trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grader.build.reproducible import ReproducibleResults
from grader.declare.exercise import Exercise
from grader.explain.candidates import candidates
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.explain.match import is_telling, says_little
from grader.explain.seen import Candidate, Seen
from grader.judge.compare import flatten
from grader.judge.planned_trial import PlannedTrial
from grader.submission.code.traits import Traits

MOST = 200  # other arguments that the notebook knows, for one exercise


class KnownWrong(NamedTuple):
    """A wrong answer, and what it gives on each trial: None where that is not known, nothing where it was not asked."""

    number: int  # of the candidate
    known: Candidate
    prints: dict[int, Fingerprint | None]


def wrong_answers(exercise: Exercise, trials: Sequence[PlannedTrial], results: ReproducibleResults) -> list[KnownWrong]:
    """List the wrong answers that an answer is compared with, and what they give on each trial.

    Of a declared mistake that is everything. Of the others it ends with the first check that fails: an explanation looks at
    that one. More is needed only to tell those apart that give the same there.
    """
    right = [fingerprint(results.expected(trial)) for trial in trials]
    asking = Asking(trials, right, results)
    found: list[KnownWrong] = []
    alone: dict[tuple[str, int], list[KnownWrong]] = {}  # by kind, and the last trial that is known
    left = MOST
    for number, known in enumerate(candidates(exercise, trials, results)):
        if known.kind != "mistake" and not left:
            continue
        wrong = KnownWrong(number, known, {})
        failing = asking.to_first_failure(wrong)
        if not failing:
            continue  # nothing here shows it
        # Where values say little, such as a yes or a no, an explanation must fit all trials.
        telling = is_telling(failing, failing[0].check)
        if not all(seen.error for seen in failing) and not says_little(failing, failing[0].check):
            wrong = wrong._replace(known=known._replace(traits=Traits))
        others = alone.setdefault((known.kind, max(wrong.prints)), [])
        twins = [one for one in others if _same(one, wrong, max(wrong.prints))]
        for one in (*twins, wrong) if twins or not telling or known.kind == "mistake" else ():
            asking.to_the_end(one)
        others.append(wrong)
        if telling and any(_same(one, wrong, len(trials) - 1) for one in twins):
            continue  # of two that nothing tells apart, the first is said
        left -= known.kind != "mistake"
        found.append(wrong)
    return found


@dataclass(frozen=True)
class Asking:
    """Computes what wrong answers give on trials, and keeps it in their `prints`."""

    trials: Sequence[PlannedTrial]
    right: Sequence[Fingerprint]
    results: ReproducibleResults

    def to_first_failure(self, wrong: KnownWrong) -> list[Seen]:
        """Ask to the end of the first check that fails; return its trials that do, or nothing if none fails."""
        failing: list[Seen] = []
        for index, trial in enumerate(self.trials):
            if failing and trial.check.name != failing[0].check:
                break
            own = self.ask(wrong, index)
            if own is not None and not alike(own, self.right[index]):
                failing.append(self.last_seen(trial))
        return failing

    def to_the_end(self, wrong: KnownWrong) -> None:
        """Ask what is not known yet."""
        for index in range(len(self.trials)):
            if index not in wrong.prints:
                self.ask(wrong, index)

    def ask(self, wrong: KnownWrong, index: int) -> Fingerprint | None:
        # With values that an `expects` gives, what comes back is random, and slow.
        asked = wrong.known.kind == "mistake" or not self.trials[index].check.expects
        wrong.prints[index] = wrong.known.prints(index) if asked else None
        return wrong.prints[index]

    def last_seen(self, trial: PlannedTrial) -> Seen:
        """Return what the last question showed."""
        got, expected = self.results.last, dict(flatten(self.results.expected(trial)))
        return Seen(trial.check.name, False, dict(flatten(got.values or {})), expected, error=got.error)


def _same(one: KnownWrong, other: KnownWrong, last: int) -> bool:
    """Tell whether two wrong answers give the same on all trials up to the last one."""
    pairs = ((one.prints.get(index), other.prints.get(index)) for index in range(last + 1))
    return all(
        first is second or (first is not None and second is not None and alike(first, second))
        for first, second in pairs
    )
