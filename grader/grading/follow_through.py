"""Follow-through: an exercise that builds on an earlier failed one is judged on its own merit, too.

It is probed again with a stand-in for the earlier one (see stand_ins.py), so that one mistake is not paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from nbformat import NotebookNode

from grader.declaration.lesson import Lesson
from grader.grading.dependencies import foundations, may_use
from grader.grading.stand_ins import StandIns, stand_ins, with_carry_on
from grader.records import Outcome, Verdict
from grader.submission.rebuild import Rebuilt

ROUNDS = 3  # of stand-ins for failures that only show once earlier ones have theirs

# Runs a notebook, with some exercises answered on this side, and judges others: by id.
Run = Callable[[NotebookNode, frozenset[str], frozenset[str]], Mapping[str, Verdict]]


def follow_through(
    lesson: Lesson,
    rebuilt: Rebuilt,
    verdicts: Mapping[str, Verdict],
    run: Run,
    unsolved: frozenset[str] = frozenset(),
) -> dict[str, Verdict]:
    """The verdicts that change when earlier failures are replaced by stand-ins.

    Each round runs the notebook once more; none is run that could not change anything.

    Args:
        verdicts: as submitted, by exercise id.
        unsolved: exercises that no stand-in for another can help: they have no answer, or none that Python can read.

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
            id for id in failed - blamed - replaced - unsolved if below[id] & (blamed | replaced)
        )
        if not blamed or not waiting:
            break
        replaced |= blamed
        for ids, instead in _runs(lesson, available, verdicts, waiting, replaced):
            cells = {available.cells[id] for id in instead & available.cells.keys()}
            notebook = with_carry_on(rebuilt.notebook, cells)
            for id, verdict in run(notebook, ids, instead & available.remote).items():
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
    if below & replaced & available.remote and above - replaced:
        if waiting - trained:
            yield waiting - trained, replaced
        yield trained, replaced | above
    else:
        yield waiting, replaced


def choose_verdict(lesson: Lesson, verdict: Verdict, followed: Verdict | None) -> Verdict:
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
