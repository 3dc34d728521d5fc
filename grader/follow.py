"""Follow-through: an exercise that builds on an earlier failed one is judged on its own merit, too.

The stand-in is the cell "Stuck? Carry on with PyTorch's own" of the student notebook, switched on: it gives nothing
away that the student does not have, so the reference never enters the sandbox, and classes, gradients and training
work with it as they do for the student. Where a lesson has no such cell, there is no stand-in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace

from nbformat import NotebookNode

from grader.exercise import Lesson, Outcome, Verdict

ROUNDS = 3  # of stand-ins for failures that only show once earlier ones have theirs

# Runs a notebook and judges some exercises: (notebook, their ids) → verdicts by id.
Run = Callable[[NotebookNode, frozenset[str]], Mapping[str, Verdict]]


def follow_through(
    lesson: Lesson, notebook: NotebookNode, verdicts: Mapping[str, Verdict], run: Run
) -> dict[str, Verdict]:
    """The verdicts that change when earlier failures are replaced by stand-ins.

    Args:
        verdicts: as submitted, by exercise id.

    Returns:
        Verdicts with more points than as submitted, by id; each names its stand-ins and holds the other verdict.
    """
    available = stand_ins(lesson, notebook)
    judged, better = dict(verdicts), {}
    replaced: frozenset[str] = frozenset()
    for _ in range(ROUNDS):
        failed = {id for id, verdict in judged.items() if verdict.outcome is not Outcome.PASSED}
        blamed = frozenset(
            id
            for id in failed & available.keys() - replaced
            if not (set(lesson.exercise(id).builds_on) & failed - replaced)
        )
        waiting = frozenset(
            id
            for id in failed - blamed - replaced
            if set(lesson.exercise(id).builds_on) & (blamed | replaced)
        )
        if not blamed or not waiting:
            break
        replaced |= blamed
        for id, verdict in run(switched_on(notebook, {available[id] for id in replaced}), waiting).items():
            judged[id] = verdict
            before = verdicts[id]
            passed = (
                verdict.outcome is Outcome.PASSED and before.outcome is not Outcome.PASSED
            )  # practice, too
            if verdict.outcome is not Outcome.FAULT and (verdict.points > before.points or passed):
                used = tuple(sorted(replaced & set(lesson.exercise(id).builds_on)))
                better[id] = replace(verdict, stand_ins=used, other=verdicts[id])
    return better


def stand_ins(lesson: Lesson, notebook: NotebookNode) -> dict[str, str]:
    """The cells that can stand in for an exercise, by its id."""
    cells = {cell.id for cell in notebook.cells}
    return {
        exercise.id: f"stuck-{exercise.slug}"
        for exercise in lesson.exercises
        if f"stuck-{exercise.slug}" in cells
    }


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
