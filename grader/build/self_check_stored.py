"""Tells whether what a committed notebook's self-check knows still holds.

Its numbers were computed on one processor, and another one gives other last digits. So they are not computed again and compared
byte by byte: the reference and the known wrong answers run on the stored examples, and must give the stored numbers as closely
as the notebook itself asks. Which examples and which wrong answers there are was decided when the numbers were made.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from grader.build.self_check_data import RIGHT, UNKNOWN, Brief, Reader, gives, is_rounded
from grader.build.self_check_pack import Packed
from grader.build.self_check_trials import read_trials
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.explain.candidates import candidates
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.judge.compare import first_difference
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults

# The part of the checks' tolerance by which a stored number may be off; more where it was rounded to 2 bytes of the largest.
# It has the digits of one processor's float32: with every operation off by chance (`OtherRounding`), the worst was off by 0.4.
EXACT, ROUNDED = 0.5, 2.0


def what_is_off(lesson: Lesson, exercise: Exercise, stored: Packed) -> str:
    """Say what of an exercise's stored self-check does not hold any more; "" if all does."""
    reader, results = Reader(stored.data), ReferenceResults(lesson.reference)
    trials: list[PlannedTrial] = []
    right: list[Fingerprint] = []
    try:
        read = list(read_trials(exercise, stored.told, reader))
    except KeyError as error:
        return f"{error.args[0]} is no trial any more"
    for drawn, trial, want in read:
        if not alike(fingerprint({"": drawn.inputs}), fingerprint({"": trial.inputs})):
            return f"{trial.key}: the inputs are others"
        allowed = trial.check.rtol * (ROUNDED if is_rounded(want) else EXACT)
        if off := first_difference(results.expected(trial), want, allowed):
            return f"{trial.key}: {off.message}"
        trials.append(trial)
        right.append(fingerprint(want))
    rows = reader.briefs(stored.told["forms"], len(stored.told["wrong answers"]), len(trials))
    known = {one.name: one for one in candidates(exercise, trials, results)}
    for (name, hint, *_), row in zip(stored.told["wrong answers"], rows, strict=True):
        if name not in known or known[name].says != hint or not _fits(known[name].prints, row, right):
            return f"no wrong answer gives what is known of {name!r}"
    return ""


def _fits(prints: Callable[[int], Fingerprint | None], row: Sequence[Brief], right: Sequence[Fingerprint]) -> bool:
    """Tell whether a wrong answer gives what is known of it on each trial."""
    return all(
        brief.code == UNKNOWN or ((own := prints(index)) is not None and gives(brief, right[index], own))
        for index, brief in enumerate(row)
    )


def decided_alike(stored: Packed, fresh: Packed) -> bool:
    """Tell whether two computations chose the same examples and wrong answers, and saw the same of these.

    The stored one may know less: what was seen to hang on rounding stays out, where chance does not show it this time.
    """
    if list(_chosen(stored)) != list(_chosen(fresh)):
        return False
    pairs = (zip(*rows, strict=True) for rows in zip(_seen(stored), _seen(fresh), strict=True))
    return all(one in (None, other) for row in pairs for one, other in row)


def _chosen(packed: Packed) -> Iterator[Any]:
    """Yield what was chosen: the examples and the wrong answers."""
    yield {name: value for name, value in packed.told.items() if name not in ("trials", "forms")}
    for check, key, describe, sizes, *_ in packed.told["trials"]:
        yield check, key, describe, sizes


def _seen(packed: Packed) -> Iterator[list[int | None]]:
    """Yield for each wrong answer what was seen on each trial, without the numbers; None where that is not known."""
    told, reader = packed.told, Reader(packed.data)
    for _, key, _, _, inputs, expected in told["trials"]:
        reader.value(inputs, key)
        reader.value(expected)
    for row in reader.briefs(told["forms"], len(told["wrong answers"]), len(told["trials"])):
        yield [{RIGHT: RIGHT, UNKNOWN: None}.get(brief.code, brief.form) for brief in row]
