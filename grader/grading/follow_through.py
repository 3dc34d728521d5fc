"""Follow-through: judge exercises that build on a failed exercise again, with a stand-in for it.

So one mistake does not cost points twice. A stand-in is working code that the exercise declares, and that
replaces a failed answer. Classes, gradients and training work with it as they do with the student's `carry_on`,
which runs the same source. It is put in only where the exercise itself is not judged. Where there is none, and
a training went wrong because of it, the reference's trained weights stand in for the training. The reference
never enters the sandbox.
"""

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import replace

from nbformat import NotebookNode

from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations, may_use
from grader.records import Outcome, Verdict
from grader.submission.cells import carry_on_cell
from grader.submission.rebuild import Rebuilt


def stand_ins(lesson: Lesson) -> frozenset[str]:
    """Return the exercises that have a stand-in."""
    return frozenset(exercise.id for exercise in lesson.exercises if exercise.stand_in)


def with_stand_ins(lesson: Lesson, notebook: NotebookNode, exercises: Collection[str]) -> NotebookNode:
    """Return a copy of a notebook in which the carry-on cells of these exercises contain the stand-ins.

    An exercise without a stand-in stays as it is.
    """
    copy = deepcopy(notebook)
    sources = {carry_on_cell(id): lesson.exercise(id).stand_in_source for id in exercises}
    for cell in copy.cells:
        cell.source = sources.get(cell.id) or cell.source
    return copy


# The most rounds. A round replaces the failed exercises that build on no other failed one, and judges those
# that build on them. If one of the latter still fails, the next round replaces it, too.
ROUNDS = 3

# Runs a notebook and returns verdicts by id. Arguments: the notebook, and the exercises to judge.
Run = Callable[[NotebookNode, frozenset[str]], Mapping[str, Verdict]]


def follow_through(
    lesson: Lesson,
    rebuilt: Rebuilt,
    verdicts: Mapping[str, Verdict],
    run: Run,
    unsolved: frozenset[str] = frozenset(),
    run_with_weights: Run = lambda notebook, ids: {},
) -> dict[str, Verdict]:
    """Return the verdicts that improve when stand-ins replace earlier failures.

    There are at most ROUNDS rounds. Each runs the notebook once more, or more than once where exercises build on other
    failed ones. The rounds end as soon as a round could not change a verdict.

    Args:
        verdicts: the verdicts on the answers as submitted, by exercise id.
        run: runs a notebook, and judges exercises in it; returns nothing where no time is left.
        unsolved: exercises that have no answer, or an answer that Python cannot parse. A stand-in for another
            exercise cannot improve their verdicts.
        run_with_weights: the same as `run`, but puts trained weights into the notebook's models instead of
            training them.

    Returns:
        The improved verdicts alone, by exercise id. Each names its stand-ins, and has the submitted verdict
        as `other`.
    """
    available = stand_ins(lesson)
    below = _usable(lesson, rebuilt, verdicts)
    judged, replaced, better = dict(verdicts), frozenset[str](), {}
    for _ in range(ROUNDS):
        causes, affected = _round(judged, below, available, replaced, unsolved)
        if not causes or not affected:
            break
        replaced |= causes
        # Nothing but what an exercise builds on is replaced: the stand-in for another one could do its work.
        for here, ids in _grouped({id: foundations(lesson, id) & replaced for id in sorted(affected)}).items():
            for id, verdict in run(with_stand_ins(lesson, rebuilt.notebook, here), ids).items():
                judged[id] = verdict
                if _is_better(verdict, verdicts[id]):
                    better[id] = verdict, here

    def run_here(here: frozenset[str], ids: frozenset[str]) -> Mapping[str, Verdict]:
        return run_with_weights(with_stand_ins(lesson, rebuilt.notebook, here), ids)

    better |= _with_trained_weights(lesson, judged, below, replaced, run_here)
    return {
        id: replace(verdict, stand_ins=tuple(sorted(used & below[id])), other=verdicts[id])
        for id, (verdict, used) in better.items()
    }


def _with_trained_weights(
    lesson: Lesson,
    judged: Mapping[str, Verdict],
    below: Mapping[str, frozenset[str]],
    replaced: frozenset[str],
    run: Callable[[frozenset[str], frozenset[str]], Mapping[str, Verdict]],
) -> dict[str, tuple[Verdict, frozenset[str]]]:
    """With trained weights, judge again where only the training failed, and a failed exercise below has no stand-in.

    Return each improved verdict with the exercises that were replaced, and the failed ones that have no
    stand-in. A verdict improves by no more points than these have cost already: nobody gains by a mistake made
    on purpose. The arguments are those of `_round`, and `run`, which takes the exercises to replace, and those
    to judge.
    """
    failed = {id for id, verdict in judged.items() if verdict.outcome is not Outcome.PASSED} - replaced
    missing = {
        id: below[id] & failed
        for id, verdict in judged.items()
        if lesson.step_checks(id) and _only_training_failed(lesson, verdict)
    }
    missing = {id: without for id, without in missing.items() if without}
    better = {}
    for here, ids in _grouped({id: foundations(lesson, id) & replaced for id in missing}).items():
        for id, verdict in run(here, ids).items():
            cost = sum(judged[one].max_points - judged[one].points for one in missing[id])
            if 0 < verdict.points - judged[id].points <= cost:
                better[id] = verdict, here | missing[id]
    return better


def _only_training_failed(lesson: Lesson, verdict: Verdict) -> bool:
    """Return True if an exercise failed or timed out only in checks of its training run."""
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    fell_short = verdict.outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    return fell_short and bool(failed) and failed <= lesson.training_checks(verdict.id)


def judged_again(
    lesson: Lesson, rebuilt: Rebuilt, verdicts: Mapping[str, Verdict], unsolved: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the exercises that `follow_through` judges again in its first round; the arguments are the same."""
    available = stand_ins(lesson)
    return _round(verdicts, _usable(lesson, rebuilt, verdicts), available, frozenset(), unsolved)[1]


def _usable(lesson: Lesson, rebuilt: Rebuilt, verdicts: Mapping[str, Verdict]) -> dict[str, frozenset[str]]:
    """Map each exercise to those of its foundations that its answer can call."""
    return {id: may_use(lesson, id, rebuilt.answers, rebuilt.own_sources) for id in verdicts}


def _round(
    judged: Mapping[str, Verdict],
    below: Mapping[str, frozenset[str]],
    available: frozenset[str],
    replaced: frozenset[str],
    unsolved: frozenset[str],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the exercises that a round replaces, and those that it judges again.

    Args:
        judged: the latest verdict on each exercise.
        below: the exercises that each exercise can call.
        available: the exercises that have a stand-in.
        replaced: the exercises that earlier rounds have replaced.
    """
    failed = {id for id, verdict in judged.items() if verdict.outcome is not Outcome.PASSED}
    causes = frozenset(id for id in failed & available - replaced if not below[id] & failed - replaced)
    affected = (id for id in failed - causes - replaced - unsolved if below[id] & causes)
    return causes, frozenset(affected)


def _is_better(verdict: Verdict, submitted: Verdict) -> bool:
    """Return True if a verdict has more points than the submitted one, or alone is PASSED, or explains more.

    An exercise for practice is worth no points: only its outcome can improve. A FAULT never counts as better.
    """
    if verdict.outcome is Outcome.FAULT or verdict.points < submitted.points:
        return False
    passed = verdict.outcome is Outcome.PASSED and submitted.outcome is not Outcome.PASSED
    # With stand-ins below it, an answer shows its own mistake and not also those that came before.
    explained = verdict.outcome is Outcome.FAILED and verdict.hint not in ("", submitted.hint)
    return verdict.points > submitted.points or passed or explained


def _grouped(replaced: Mapping[str, frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
    """Map each set of exercises to replace to the exercises that are judged with this set.

    Args:
        replaced: the set of each exercise.
    """
    return {here: frozenset(id for id in replaced if replaced[id] == here) for here in replaced.values()}


def choose_verdict(lesson: Lesson, verdict: Verdict, followed: Verdict | None) -> Verdict:
    """Return the verdict that counts: `followed` if the lesson has follow-through, else `verdict`.

    The returned verdict has the verdict that does not count as `other`.

    Args:
        verdict: the verdict on the answer as submitted.
        followed: the improved verdict from follow-through; None if there is none, and then `verdict` counts.
    """
    if followed is None:
        return verdict
    names = ", ".join(followed.stand_ins)
    if lesson.follow_through:
        note = f"Judged with a stand-in for {names}, so that one mistake is not paid for twice."
        return replace(followed, notes=(*followed.notes, note))
    note = f"With a stand-in for {names} this would be {followed.points:g} of {followed.max_points:g} points."
    return replace(
        verdict, stand_ins=followed.stand_ins, other=replace(followed, other=None), notes=(*verdict.notes, note)
    )
