"""Follow-through: judge the exercises that build on a failed exercise again, with a stand-in for the failed one.

So one mistake does not cost points twice. A stand-in is working code that an exercise declares. It
replaces a failed answer. Classes, gradients and training work with it as they do with the student's
`carry_on`, which runs the same source. A stand-in is used only in runs in which its own exercise is
not judged. If a training run went wrong because of a failed exercise that has no stand-in, the
reference's trained weights replace the training run. The reference never enters the sandbox.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations, may_use
from grader.records import Outcome, Verdict
from grader.submission.cells import carry_on_cell
from grader.submission.rebuild import Rebuilt


def stand_ins(lesson: Lesson) -> frozenset[str]:
    """Return the ids of the exercises that have a stand-in."""
    return frozenset(exercise.id for exercise in lesson.exercises if exercise.stand_in)


def with_stand_ins(lesson: Lesson, notebook: NotebookNode, exercises: Collection[str]) -> NotebookNode:
    """Return a copy of a notebook in which the carry-on cells of these exercises contain their stand-ins.

    The cell of an exercise without a stand-in does not change.
    """
    copy = deepcopy(notebook)
    sources = {carry_on_cell(id): lesson.exercise(id).stand_in_source for id in exercises}
    for cell in copy.cells:
        cell.source = sources.get(cell.id) or cell.source
    return copy


# The most rounds. A round replaces the failed exercises that build on no other failed one, and judges those
# that build on them. If one of the latter still fails, the next round replaces it, too.
ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the notebook: the exercises that are judged, and the failed answers that are replaced."""

    judged: frozenset[str]
    stand_ins: frozenset[str] = frozenset()  # exercises that their stand-ins replace
    weights: bool = False  # whether the reference's trained weights stand in for the trainings


@dataclass(frozen=True, kw_only=True)
class FollowThrough:
    """The state between two rounds: the verdicts so far, and the runs of the next round.

    `first_round` creates the first state. `next_round` creates each further state from the one before and the verdicts
    of its runs. After the last round, `runs` is empty.
    """

    lesson: Lesson
    submitted: Mapping[str, Verdict]  # on the answers as they were submitted, by exercise id
    unsolved: frozenset[str]  # exercises without an answer that Python can parse: no stand-in can help these
    below: Mapping[str, frozenset[str]]  # the exercises that the answer to each exercise can call
    judged: Mapping[str, Verdict]  # the latest verdict on each exercise
    replaced: frozenset[str] = frozenset()  # the exercises that stand-ins have replaced so far
    better: Mapping[str, Verdict] = field(default_factory=dict)  # the verdicts that improved
    rounds: int = 0
    runs: Sequence[Run] = ()


def first_round(
    lesson: Lesson, rebuilt: Rebuilt, submitted: Mapping[str, Verdict], unsolved: frozenset[str] = frozenset()
) -> FollowThrough:
    """Return the state before the first round, with the runs of this round.

    Args:
        submitted: the verdicts on the answers as submitted, by exercise id.
        unsolved: exercises that have no answer, or an answer that Python cannot parse. A stand-in for another
            exercise cannot improve their verdicts.
    """
    below = {id: may_use(lesson, id, rebuilt.answers, rebuilt.own_sources) for id in submitted}
    return _with_runs(
        FollowThrough(lesson=lesson, submitted=submitted, unsolved=unsolved, below=below, judged=submitted)
    )


def next_round(before: FollowThrough, verdicts: Iterable[Mapping[str, Verdict]]) -> FollowThrough:
    """Return the state after a round, with the runs of the next round.

    Args:
        before: the state before the round.
        verdicts: for each run of the round, its verdicts by exercise id; {} if no time was left for the run.
    """
    judged, better = dict(before.judged), dict(before.better)
    missing = _without_a_stand_in(before)
    for run, found in zip(before.runs, verdicts, strict=True):
        for id, verdict in found.items():
            if run.weights:
                improved = 0 < verdict.points - judged[id].points <= _cost(before, missing[id])
                used = run.stand_ins | missing[id]
            else:
                judged[id] = verdict
                improved = _is_better(verdict, before.submitted[id])
                used = run.stand_ins
            if improved:
                names = tuple(sorted(used & before.below[id]))
                better[id] = replace(verdict, stand_ins=names, other=before.submitted[id])
    return _with_runs(replace(before, judged=judged, better=better))


def _with_runs(known: FollowThrough) -> FollowThrough:
    """Return the state with the runs of the next round.

    First there are rounds with stand-ins, and at the end one round with trained weights.
    """
    if any(run.weights for run in known.runs):
        return replace(known, runs=())
    causes, affected = _causes(known)
    if known.rounds < ROUNDS and causes and affected:
        known = replace(known, rounds=known.rounds + 1, replaced=known.replaced | causes)
        return replace(known, runs=_grouped(known, affected))
    runs = _grouped(known, _without_a_stand_in(known))
    return replace(known, runs=[replace(run, weights=True) for run in runs])


def _causes(known: FollowThrough) -> tuple[frozenset[str], frozenset[str]]:
    """Return the exercises that the next round replaces by stand-ins, and the exercises that it judges again."""
    failed = {id for id, verdict in known.judged.items() if verdict.outcome is not Outcome.PASSED} - known.replaced
    causes = frozenset(id for id in failed & stand_ins(known.lesson) if not known.below[id] & failed)
    affected = frozenset(id for id in failed - causes - known.unsolved if known.below[id] & causes)
    return causes, affected


def _grouped(known: FollowThrough, judged: Collection[str]) -> list[Run]:
    """Return one run for each set of stand-ins with which some of these exercises are judged.

    For an exercise, only those that it builds on are replaced, because any other stand-in could do its work.
    """
    replaced = {id: foundations(known.lesson, id) & known.replaced for id in sorted(judged)}
    return [
        Run(judged=frozenset(id for id in replaced if replaced[id] == here), stand_ins=here)
        for here in dict.fromkeys(replaced.values())
    ]


def _without_a_stand_in(known: FollowThrough) -> dict[str, frozenset[str]]:
    """Return the exercises in which only the training run failed, while a failed exercise below has no stand-in.

    Trained weights can replace such a training run.

    Returns:
        Exercise id → the failed exercises below that have no stand-in.
    """
    failed = {id for id, verdict in known.judged.items() if verdict.outcome is not Outcome.PASSED} - known.replaced
    missing = {
        id: known.below[id] & failed
        for id, verdict in known.judged.items()
        if known.lesson.step_checks(id) and _only_training_failed(known.lesson, verdict)
    }
    return {id: without for id, without in missing.items() if without}


def _cost(known: FollowThrough, exercises: Collection[str]) -> float:
    """Return the points that these exercises have lost.

    With trained weights, another verdict may improve by at most this much. So a deliberate mistake gains nobody points.
    """
    return sum(known.judged[id].max_points - known.judged[id].points for id in exercises)


def _only_training_failed(lesson: Lesson, verdict: Verdict) -> bool:
    """Return True if an exercise failed or timed out only in checks of its training run."""
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    fell_short = verdict.outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    return fell_short and bool(failed) and failed <= lesson.training_checks(verdict.id)


def _is_better(verdict: Verdict, submitted: Verdict) -> bool:
    """Return True if a verdict is an improvement on the submitted one.

    A verdict is an improvement if it has more points, if it is PASSED and the submitted
    one is not, or if it is FAILED and has a hint. An exercise for practice is worth no
    points, so only its outcome can improve. A FAULT is never an improvement.
    """
    if verdict.outcome is Outcome.FAULT or verdict.points < submitted.points:
        return False
    passed = verdict.outcome is Outcome.PASSED and submitted.outcome is not Outcome.PASSED
    # With stand-ins below it, an answer shows its own mistake and not also those that came before.
    explained = verdict.outcome is Outcome.FAILED and verdict.hint not in ("", submitted.hint)
    return verdict.points > submitted.points or passed or explained


def choose_verdict(lesson: Lesson, verdict: Verdict, followed: Verdict | None) -> Verdict:
    """Return the verdict that counts: `followed` if the lesson has follow-through, else `verdict`.

    Its field `other` contains the verdict that does not count.

    Args:
        verdict: the verdict on the answer as submitted.
        followed: the improved verdict from follow-through. If it is None (no improvement), `verdict` counts.
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
