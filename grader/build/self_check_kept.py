"""Keeps the self-checks of the committed notebooks, and computes only those whose sources changed.

The numbers were computed on one processor, and another processor gives other last digits. So they
are not computed again and compared byte by byte. Instead, the reference and the known wrong answers
run on the stored examples, and must give the stored numbers as closely as the notebook itself
requires. The examples and the wrong answers stay those that were chosen when the numbers were
computed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import torch

from grader.build.built import exercise_digest, read_built
from grader.build.other_rounding import SEEDS, unsure
from grader.build.self_check_cell import (
    ALSO,
    POINTS,
    STAND_IN,
    Known,
    SelfChecks,
    read_self_checks,
    self_check_source,
    self_checks,
)
from grader.build.self_check_numbers import Draft, drafted, settled
from grader.build.self_check_trials import read_trials
from grader.build.self_check_values import prints_from_json
from grader.course import lessons
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.explain.candidates import candidates
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.judge.compare import first_difference
from grader.judge.planned_trial import PlannedTrial, shown
from grader.judge.reference_results import ReferenceResults
from grader.submission.cells import TOOLS_CELL

# The part of the checks' tolerance by which a stored number may be off, because it has the digits
# of one processor's float32. With every operation off by chance (`OtherRounding`), the worst
# number was off by 0.4 of the tolerance.
CLOSE = 0.5


class Kept(NamedTuple):
    """An exercise, and the data of its self-check in the committed notebook."""

    assignment: str
    exercise: str
    stored: Known | None
    unchanged: bool  # True if the sources of the stored data have not changed

    @property
    def size(self) -> int:
        """An estimate of the time to compute the data, without a unit: trials times wrong answers.

        It is 0 if no data are stored.
        """
        return len(self.stored["trials"]) * len(self.stored["wrong answers"]) if self.stored else 0


def tools_cells(
    root: Path, names: Iterable[str], workers: Executor, check: bool = False
) -> tuple[dict[str, str], Iterator[str]]:
    """Return the sources of the cells of self-checks by assignment, and messages about outdated data.

    There is a message for each exercise whose data in the committed notebook are out of date.

    Args:
        names: the assignments.
        workers: compute the data.
        check: also examine data that would otherwise be kept without a look. The workers do so
            while the caller uses the sources.
    """
    committed = {name: _committed(root, name) for name in names}
    known = read_built(root).exercises
    kept = [
        Kept(
            name,
            one.id,
            holds and holds.exercises.get(one.id),
            known.get(one.id) == exercise_digest(lessons()[name], one),
        )
        for name, (_, holds) in committed.items()
        for one in lessons()[name].exercises
    ]
    packed = {one.exercise: one.stored for one in kept if one.stored and one.unchanged}
    held = [one for one in kept if one.exercise in packed] if check else []
    held.sort(key=lambda one: -one.size)  # the longest begin first
    off = workers.map(_what_is_off, held)
    changed: dict[str, str] = {}
    for one, fresh in _computed([one for one in kept if one.exercise not in packed], workers):
        changed[one.exercise] = _difference(one, fresh)
        packed[one.exercise] = fresh if changed[one.exercise] or one.stored is None else one.stored
    sources = {}
    for name, (source, holds) in committed.items():
        script = root / "solutions" / f"{name}.py"
        checks = self_checks(lessons()[name], packed, script.read_text("utf-8") if script.is_file() else None)
        written = self_check_source(checks)
        # What is the same stays as it is, whatever the version of the library that compresses it.
        sources[name] = source if checks == holds and _around(source) == _around(written) else written
    found = chain(changed.items(), zip((one.exercise for one in held), off, strict=True))
    return sources, (f"exercise {id}: {line}; run: grader build" for id, line in found if line)


def _computed(kept: Sequence[Kept], workers: Executor) -> list[tuple[Kept, Known]]:
    """Compute the data of some exercises' self-checks, and return each exercise with its data.

    The longest computation begins first.
    """
    kept = sorted(kept, key=lambda one: -one.size)  # the longest begin first
    drafts = list(workers.map(_draft, kept))
    found = zip(*(workers.map(partial(unsure, seed=seed), drafts) for seed in SEEDS), strict=True)
    off = [frozenset().union(*each) for each in found]
    return list(zip(kept, map(settled, drafts, off), strict=True))


def _draft(one: Kept) -> Draft:
    torch.set_num_threads(1)  # the tensors are so small that more threads take ten times as long
    lesson = lessons()[one.assignment]
    return drafted(lesson, lesson.exercise(one.exercise))


def _difference(one: Kept, fresh: Known) -> str:
    """Return a message if the stored data of an exercise are out of date, or "" otherwise.

    They are if a new computation makes other choices, or does not confirm the stored numbers.

    Args:
        fresh: the result of the new computation.
    """
    if one.stored is None:
        return "the notebook knows nothing of it"
    if not decided_alike(one.stored, fresh):
        return "its examples or its wrong answers are others"
    return _what_is_off(one)


def _what_is_off(one: Kept) -> str:
    """Run an exercise on its stored examples. Return a message about the first wrong input or result, or ""."""
    assert one.stored is not None
    torch.set_num_threads(1)
    lesson = lessons()[one.assignment]
    return what_is_off(lesson, lesson.exercise(one.exercise), one.stored)


def _around(source: str) -> list[str]:
    """Return the parts of a cell of self-checks before and after the compressed text."""
    return source.split("'''")[::2]


def _committed(root: Path, name: str) -> tuple[str, SelfChecks | None]:
    """Return the source and the content of the cell of self-checks in the committed solution notebook.

    The source is "" if there is no such cell. The content is None if it cannot be read.
    """
    try:
        cells = nbformat.read(root / "solutions" / name / f"{name}.ipynb", as_version=4).cells
    except (OSError, ValueError, nbformat.ValidationError):
        return "", None
    source = next((cell.source.partition("\n")[2] for cell in cells if cell.id == TOOLS_CELL), "")
    return source, read_self_checks(source)


# ---------------------------------------------------------------- what is stored, against what it is computed from


def what_is_off(lesson: Lesson, exercise: Exercise, stored: Known) -> str:
    """Return a message about outdated data in an exercise's stored self-check, or "" if the data are up to date."""
    results = ReferenceResults(lesson.reference)
    trials: list[PlannedTrial] = []
    right: list[Fingerprint] = []
    drawn = {trial.key: trial for trial in shown(exercise)}
    try:
        read = list(read_trials(exercise, stored))
    except KeyError as error:
        return f"{error.args[0]} is no trial any more"
    for trial, want in read:
        if not alike(fingerprint({"": drawn[trial.key].inputs}), fingerprint({"": trial.inputs})):
            return f"{trial.key}: the inputs are others"
        if off := first_difference(results.expected(trial), want, trial.check.rtol * CLOSE):
            return f"{trial.key}: {off.message}"
        trials.append(trial)
        right.append(fingerprint(want))
    known = {one.name: one for one in candidates(exercise, trials, results)}
    for wrong in stored["wrong answers"]:
        name = wrong["name"]
        if name not in known or known[name].says != wrong["hint"] or not _fits(known[name].prints, wrong, right):
            return f"no wrong answer gives what is known of {name!r}"
    return ""


def _fits(prints: Callable[[int], Fingerprint | None], wrong: Known, right: Sequence[Fingerprint]) -> bool:
    """Return True if a wrong answer gives the stored result on each trial.

    Args:
        prints: returns the fingerprint of the answer's result on a trial.
        wrong: the stored data of the wrong answer.
        right: the fingerprints of the right results, one for each trial.
    """
    return all(
        stored is None or ((own := prints(index)) is not None and alike(own, stored))
        for index, stored in enumerate(prints_from_json(wrong["gives"], right))
    )


def decided_alike(stored: Known, fresh: Known) -> bool:
    """Return True if two computations chose the same examples and wrong answers, and observed the same results.

    An observation may be missing, but only in `stored`: it was left out because it depended on
    rounding.
    """
    if list(_chosen(stored)) != list(_chosen(fresh)):
        return False
    rows = zip(stored["wrong answers"], fresh["wrong answers"], strict=True)
    pairs = (zip(_seen(one), _seen(other), strict=True) for one, other in rows)
    return all(one in (None, other) for row in pairs for one, other in row)


def _chosen(known: Known) -> Iterator[Any]:
    """Yield the choices of a computation: the examples and the wrong answers, without their numbers."""
    yield {
        name: value for name, value in known.items() if name not in ("trials", "wrong answers", ALSO, POINTS, STAND_IN)
    }
    for trial in known["trials"]:
        yield {name: value for name, value in trial.items() if name not in ("inputs", "expected")}
    for wrong in known["wrong answers"]:
        yield {name: value for name, value in wrong.items() if name != "gives"}


def _seen(wrong: Known) -> list[int | None]:
    """Return the observation of a wrong answer on each trial, without its numbers.

    The observation is None if the result on the trial is not known.
    """
    return [own[0] if isinstance(own, list) else own for own in wrong["gives"]]
