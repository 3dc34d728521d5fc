"""Collects the wrong answers that the self-check of a notebook knows, and what each gives on its trials."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.declare.exercise import Exercise, Mistake
from grader.explain.candidates import traits_of
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.explain.match import is_telling, print_of, says_little
from grader.explain.seen import Seen
from grader.judge.compare import flatten
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults
from grader.records import Evidence, Status
from grader.submission.code.traits import Traits


class KnownWrong(NamedTuple):
    """A declared mistake, and what it gives on each trial."""

    mistake: Mistake
    traits: Traits  # what its code has, and lacks; nothing where it is not asked for
    prints: tuple[Fingerprint, ...]


def wrong_answers(
    exercise: Exercise, trials: Sequence[PlannedTrial], results: ReferenceResults
) -> Iterator[KnownWrong]:
    """Yield the mistakes that an answer is compared with: those that some trial shows, and of two that none tells apart the first."""
    right = [fingerprint(results.expected(trial)) for trial in trials]
    known: list[tuple[Fingerprint, ...]] = []
    for mistake in exercise.mistakes:
        seen = [_seen(trial, results.wrong(trial, mistake), results) for trial in trials]
        prints = tuple(map(print_of, seen))
        off = [not alike(*pair) for pair in zip(prints, right, strict=True)]
        if not any(off):
            continue
        failed = seen[off.index(True)].check
        failing = [trial for trial, is_off in zip(seen, off, strict=True) if is_off and trial.check == failed]
        if is_telling(failing, failed) and any(all(map(alike, other, prints)) for other in known):
            continue
        known.append(prints)
        # Where values say little, such as a yes or a no, the code must show signs of the mistake, too.
        asked = all(trial.error for trial in failing) or says_little(failing, failed)
        yield KnownWrong(mistake, traits_of(mistake) if asked else Traits(), prints)


def _seen(trial: PlannedTrial, came: Evidence, results: ReferenceResults) -> Seen:
    """Return what a mistake shows on a trial."""
    got = dict(flatten(came.values)) if came.status is Status.OK else {}
    expected = dict(flatten(results.expected(trial)))
    return Seen(trial.check.name, False, got, expected, error=came.error, message=came.message)
