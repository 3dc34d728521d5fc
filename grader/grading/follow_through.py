"""Follow-through: judge an exercise that builds on a failed one once more, with a stand-in for the failed one.

So one mistake does not cost points twice. What can stand in for an exercise is found in stand_ins.py.
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

# Runs with stand-ins. A second and third one are for failures that show only when an earlier one has its stand-in.
ROUNDS = 3

# Runs a notebook and returns verdicts by id. Arguments: the notebook, the exercises to judge, and the exercises whose
# functions the reference computes in this process.
Run = Callable[[NotebookNode, frozenset[str], frozenset[str]], Mapping[str, Verdict]]


def follow_through(
    lesson: Lesson,
    rebuilt: Rebuilt,
    verdicts: Mapping[str, Verdict],
    run: Run,
    unsolved: frozenset[str] = frozenset(),
) -> dict[str, Verdict]:
    """Return the verdicts that improve when stand-ins replace earlier failures.

    Each round runs the notebook once or twice more; a round that could not change a verdict is left out.

    Args:
        verdicts: as submitted, by exercise id.
        unsolved: exercises that no stand-in for another can help: they have no answer, or none that Python can read.

    Returns:
        By id; each names its stand-ins and carries the verdict as submitted.
    """
    available = stand_ins(lesson, rebuilt.notebook)
    own = [cell.source for cell in rebuilt.notebook.cells if cell.id in rebuilt.own]
    below = {id: may_use(lesson, id, rebuilt.answers, own) for id in verdicts}
    judged, better = dict(verdicts), {}
    replaced: frozenset[str] = frozenset()
    for _ in range(ROUNDS):
        failed = {id for id, verdict in judged.items() if verdict.outcome is not Outcome.PASSED}
        causes = frozenset(
            id for id in failed & available.all - replaced if not (below[id] & failed - replaced)
        )
        affected = frozenset(
            id for id in failed - causes - replaced - unsolved if below[id] & (causes | replaced)
        )
        if not causes or not affected:
            break
        replaced |= causes
        for ids, replaced_here in _runs(lesson, available, verdicts, affected, replaced):
            cells = {available.cells[id] for id in replaced_here & available.cells.keys()}
            notebook = with_carry_on(rebuilt.notebook, cells)
            for id, verdict in run(notebook, ids, replaced_here & available.remote).items():
                judged[id] = verdict
                if _is_better(verdict, verdicts[id]):
                    used = tuple(sorted(replaced_here & below[id]))
                    better[id] = replace(verdict, stand_ins=used, other=verdicts[id])
    return better


def _is_better(verdict: Verdict, submitted: Verdict) -> bool:
    """Tell whether a verdict has more points than the submitted one, or passes where that one did not.

    A practice exercise has no points and can pass all the same.
    """
    passed = verdict.outcome is Outcome.PASSED and submitted.outcome is not Outcome.PASSED
    return verdict.outcome is not Outcome.FAULT and (verdict.points > submitted.points or passed)


def _runs(
    lesson: Lesson,
    available: StandIns,
    submitted: Mapping[str, Verdict],
    affected: frozenset[str],
    replaced: frozenset[str],
) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Split a round into runs: the exercises that each judges, and those that stand-ins replace in it.

    A training would call a function in this process thousands of times over the pipe. Where the failed exercises that
    the training calls have carry-on cells, those cells replace them, and the training makes no such call. That takes a
    run of its own, because the other run judges some of these exercises.
    """
    trained = frozenset(id for id in affected if any(check.at for check in lesson.exercise(id).checks))
    below = frozenset().union(*(foundations(lesson, id) for id in trained))
    failed = {id for id in below if submitted[id].outcome is not Outcome.PASSED}
    with_cells = failed & available.cells.keys() - trained
    if below & replaced & available.remote and with_cells - replaced:
        if affected - trained:
            yield affected - trained, replaced
        yield trained, replaced | with_cells
    else:
        yield affected, replaced


def choose_verdict(lesson: Lesson, verdict: Verdict, followed: Verdict | None) -> Verdict:
    """Choose which of two verdicts counts, by the lesson's setting; it carries the other one."""
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
