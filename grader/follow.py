"""Follow-through: an exercise that builds on an earlier failed one is judged on its own merit, too.

The stand-in is the cell "Stuck? Carry on with PyTorch's own" of the student notebook, switched on: it gives nothing
away that the student does not have, and classes, gradients and training work with it as they do for the student.
Where a lesson has no such cell, functions of tensors and numbers are answered by the reference on this side of the
wall, over the pipe (see grader/execution/stand_in.py). Either way the reference never enters the sandbox. A class, or a
function that takes a model, has no stand-in without a cell.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, get_args, get_type_hints

from nbformat import NotebookNode
from torch import Tensor

from grader.exercise import Lesson, Outcome, Verdict
from grader.names import foundations, may_use
from grader.submission.rebuild import Rebuilt

ROUNDS = 3  # of stand-ins for failures that only show once earlier ones have theirs

# Runs a notebook, with some exercises answered on this side, and judges others: by id.
Run = Callable[[NotebookNode, frozenset[str], frozenset[str]], Mapping[str, Verdict]]


@dataclass(frozen=True)
class StandIns:
    """The exercises that have one."""

    cells: Mapping[str, str]  # the cell to carry on with, by exercise id
    answered: frozenset[str]  # those whose functions are answered on this side

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.cells) | self.answered


def follow_through(
    lesson: Lesson,
    rebuilt: Rebuilt,
    verdicts: Mapping[str, Verdict],
    run: Run,
    hopeless: frozenset[str] = frozenset(),
) -> dict[str, Verdict]:
    """The verdicts that change when earlier failures are replaced by stand-ins.

    Each round runs the notebook once more; none is run that could not change anything.

    Args:
        verdicts: as submitted, by exercise id.
        hopeless: exercises that no stand-in for another can help: they have no answer, or none that Python can read.

    Returns:
        Verdicts with more points than as submitted, by id; each names its stand-ins and holds the other verdict.
    """
    available = stand_ins(lesson, rebuilt.notebook)
    own = [cell.source for cell in rebuilt.notebook.cells if cell.id in rebuilt.own]
    below = {id: may_use(lesson, id, rebuilt.answers, own) for id in verdicts}
    judged, better = dict(verdicts), {}
    replaced: frozenset[str] = frozenset()
    for _ in range(ROUNDS):
        failed = {id for id, verdict in judged.items() if verdict.outcome is not Outcome.PASSED}
        blamed = frozenset(
            id for id in failed & available.all - replaced if not (below[id] & failed - replaced)
        )
        waiting = frozenset(
            id for id in failed - blamed - replaced - hopeless if below[id] & (blamed | replaced)
        )
        if not blamed or not waiting:
            break
        replaced |= blamed
        for ids, instead in _runs(lesson, available, verdicts, waiting, replaced):
            cells = {available.cells[id] for id in instead & available.cells.keys()}
            notebook = switched_on(rebuilt.notebook, cells)
            for id, verdict in run(notebook, ids, instead & available.answered).items():
                judged[id] = verdict
                before = verdicts[id]
                passed = (
                    verdict.outcome is Outcome.PASSED and before.outcome is not Outcome.PASSED
                )  # practice, too
                if verdict.outcome is not Outcome.FAULT and (verdict.points > before.points or passed):
                    used = tuple(sorted(instead & below[id]))
                    better[id] = replace(verdict, stand_ins=used, other=verdicts[id])
    return better


def _runs(
    lesson: Lesson,
    available: StandIns,
    submitted: Mapping[str, Verdict],
    waiting: frozenset[str],
    replaced: frozenset[str],
) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The exercises that are judged in one run, and those that are replaced in it.

    Training would ask a function on this side thousands of times. Where what failed above that function can carry on
    with a cell, it does, and the training asks nothing: in a run of its own, for what failed is judged in the other.
    """
    trained = frozenset(id for id in waiting if any(check.at for check in lesson.exercise(id).checks))
    below = frozenset().union(*(foundations(lesson, id) for id in trained))
    failed = {id for id in below if submitted[id].outcome is not Outcome.PASSED}
    above = failed & available.cells.keys() - trained
    if below & replaced & available.answered and above - replaced:
        if waiting - trained:
            yield waiting - trained, replaced
        yield trained, replaced | above
    else:
        yield waiting, replaced


def stand_ins(lesson: Lesson, notebook: NotebookNode) -> StandIns:
    """What can stand in for which exercise; a cell comes first."""
    there = {cell.id for cell in notebook.cells}
    cells = {
        exercise.id: f"stuck-{exercise.slug}"
        for exercise in lesson.exercises
        if f"stuck-{exercise.slug}" in there
    }
    answered = frozenset(
        exercise.id
        for exercise in lesson.exercises
        if exercise.id not in cells
        and all(_of_tensors(lesson.reference.get(name)) for name in exercise.defines)
    )
    return StandIns(cells, answered)


def _of_tensors(reference: Any) -> bool:
    """Whether it is a function whose every argument that must be given is a tensor or a number."""
    if not isinstance(reference, FunctionType):
        return False
    hints = get_type_hints(reference)
    return all(
        parameter.default is not parameter.empty
        or set(get_args(hints.get(name)) or (hints.get(name),)) <= {Tensor, int, float, bool}
        for name, parameter in inspect.signature(reference).parameters.items()
    )


def switched_on(notebook: NotebookNode, cells: set[str]) -> NotebookNode:
    """A copy in which these cells carry on."""
    copy = deepcopy(notebook)
    for cell in copy.cells:
        if cell.id in cells:
            cell.source = cell.source.replace("carry_on = False", "carry_on = True", 1)
    return copy


def count(lesson: Lesson, verdict: Verdict, followed: Verdict | None) -> Verdict:
    """Which of two verdicts counts, by the lesson's setting; the other goes with it."""
    if followed is None:
        return verdict
    names = ", ".join(followed.stand_ins)
    if lesson.follow_through:
        note = f"Judged with a stand-in for {names}, so that one mistake is not paid for twice."
        return replace(followed, notes=(*verdict.notes, note))
    note = f"With a stand-in for {names} this would be {followed.points:g} of {followed.max_points:g} points."
    return replace(
        verdict,
        stand_ins=followed.stand_ins,
        other=replace(followed, other=None),
        notes=(*verdict.notes, note),
    )
