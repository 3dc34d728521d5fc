"""Follow-through: judge exercises that build on a failed exercise again, with a stand-in for it.

So one mistake does not cost points twice. A stand-in is working code that the exercise declares, and that
replaces a failed answer. Classes, gradients and training work with it as they do with the student's `carry_on`,
which runs the same source. It is put in only where the exercise itself is not judged. Where there is none, and
a training went wrong because of it, the reference's trained weights stand in for the training. The reference
never enters the sandbox.
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


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the notebook: what takes the place of failed answers, and which exercises are judged."""

    judged: frozenset[str]
    stand_ins: frozenset[str] = frozenset()  # exercises that their stand-ins replace
    weights: bool = False  # whether the reference's trained weights stand in for the trainings


@dataclass(frozen=True, kw_only=True)
class FollowThrough:
    """All that is known between two rounds, and the runs of the next round.

    `first_round` makes it, and `next_round` makes the next one of it and the verdicts of its runs. After the
    last round there are no runs.
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
    """Return what is known before the first round, and its runs.

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
    """Return what is known after a round, and the runs of the next one.

    Args:
        verdicts: those that each run of the round gave, by exercise id; empty for a run that found no time.
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
    """Plan the runs of the next round: with stand-ins, and after the last such round once with trained weights."""
    if any(run.weights for run in known.runs):
        return replace(known, runs=())
    causes, affected = _causes(known)
    if known.rounds < ROUNDS and causes and affected:
        known = replace(known, rounds=known.rounds + 1, replaced=known.replaced | causes)
        return replace(known, runs=_grouped(known, affected))
    runs = _grouped(known, _without_a_stand_in(known))
    return replace(known, runs=[replace(run, weights=True) for run in runs])


def _causes(known: FollowThrough) -> tuple[frozenset[str], frozenset[str]]:
    """Return the exercises that the next round replaces, and those that it judges again."""
    failed = {id for id, verdict in known.judged.items() if verdict.outcome is not Outcome.PASSED} - known.replaced
    causes = frozenset(id for id in failed & stand_ins(known.lesson) if not known.below[id] & failed)
    affected = frozenset(id for id in failed - causes - known.unsolved if known.below[id] & causes)
    return causes, affected


def _grouped(known: FollowThrough, judged: Collection[str]) -> list[Run]:
    """Return one run for each set of stand-ins that these exercises are judged with.

    Nothing but what an exercise builds on is replaced: the stand-in for another one could do its work.
    """
    replaced = {id: foundations(known.lesson, id) & known.replaced for id in sorted(judged)}
    return [
        Run(judged=frozenset(id for id in replaced if replaced[id] == here), stand_ins=here)
        for here in dict.fromkeys(replaced.values())
    ]


def _without_a_stand_in(known: FollowThrough) -> dict[str, frozenset[str]]:
    """Return the exercises where only the training failed, and a failed exercise below has no stand-in.

    Trained weights can stand in for such a training. The exercises without a stand-in are the values.
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

    With trained weights, a verdict improves by no more: nobody gains by a mistake made on purpose.
    """
    return sum(known.judged[id].max_points - known.judged[id].points for id in exercises)


def _only_training_failed(lesson: Lesson, verdict: Verdict) -> bool:
    """Return True if an exercise failed or timed out only in checks of its training run."""
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    fell_short = verdict.outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    return fell_short and bool(failed) and failed <= lesson.training_checks(verdict.id)


def _is_better(verdict: Verdict, submitted: Verdict) -> bool:
    """Return True if a verdict has more points than the submitted one, or alone is PASSED, or explains more.

    An exercise for practice is worth no points: only its outcome can improve. A FAULT never counts as better.
    """
    if verdict.outcome is Outcome.FAULT or verdict.points < submitted.points:
        return False
    passed = verdict.outcome is Outcome.PASSED and submitted.outcome is not Outcome.PASSED
    # With stand-ins below it, an answer shows its own mistake and not also those that came before.
    explained = verdict.outcome is Outcome.FAILED and verdict.hint != ""
    return verdict.points > submitted.points or passed or explained


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
