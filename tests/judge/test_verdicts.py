"""Verdicts from evidence, on a small exercise of its own; the lessons' exercises are judged in tests/course."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from corpus.planning import plan
from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.declare.probes import pair
from grader.declare.sampler import InputSampler
from grader.declare.trial import trials
from grader.judge.raised import NotebookCells
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge, judge_trials, verdict_of
from grader.records import Evidence, Finding, Outcome, Place, Status


def double(x: Tensor) -> Tensor:
    return 2 * x


def triples(x: Tensor) -> Tensor:
    return 3 * x


def crashes(x: Tensor) -> Tensor:
    raise ValueError(f"no {x.shape[-1]}")


def draw_x(draw: InputSampler, *, rows: int):
    return {"x": draw.normal(rows, 3)}


def values(double, x: Tensor):
    return {"y": double(x)}


def large(double, x: Tensor):
    return {"y": double(1000 * x)}


EXERCISE = Exercise(
    id="9.1",
    title="Double",
    reference=(double,),
    points=5,
    difficulty=1,
    minutes=1,
    checks=(
        Check(
            name="values",
            title="twice the number",
            points=3,
            probe=values,
            examples=trials(draw_x, {"rows": 2}),
            trials=trials(draw_x, {"rows": 5}),
            map="y",
        ),
        Check(
            name="large",
            title="large numbers",
            points=2,
            needs=("values",),
            probe=large,
            trials=trials(draw_x, {"rows": 7}),
        ),
    ),
    mistakes=(
        Mistake("triples", {"double": triples}, "You tripled it."),
        Mistake("crashes", {"double": crashes}, "It must not crash."),
    ),
    review="Doubling",
)
LESSON = Lesson(assignment="9-double", title="Double", exercises=(EXERCISE,))
PLANNED = plan(LESSON, "secret", "sha")
REFERENCE = ReferenceResults(LESSON.reference)


def verdict(answer, lesson: Lesson = LESSON, **changes):
    evidence = {trial.key: run_here(trial.check, {"double": answer}, trial.inputs, trial.key) for trial in PLANNED}
    evidence |= {key: replace(evidence[key], **change) for key, change in changes.items()}
    return judge(EXERCISE, PLANNED, evidence, ReferenceResults(lesson.reference))


def test_a_right_answer_has_full_points_and_its_map_beside_the_reference() -> None:
    right = verdict(lambda x: x + x)
    assert (right.outcome, right.points, right.mistake, right.message, right.review) == (
        Outcome.PASSED,
        5,
        None,
        "",
        "",
    )
    assert right.heatmaps[0].got == right.heatmaps[0].expected


def test_a_check_says_what_its_trials_took() -> None:
    evidence = {trial.key: Evidence(key=trial.key, status=Status.OK, values={}, seconds=0.25) for trial in PLANNED}
    found = judge(EXERCISE, PLANNED, evidence, REFERENCE)
    assert [check.seconds for check in found.checks] == [0.25 * check.trials for check in found.checks]
    assert [check.trials for check in found.checks] == [3, 1]


def test_a_wrong_answer_is_told_what_is_off_and_what_to_read_again() -> None:
    wrong = verdict(lambda x: 2 * x + 1)
    assert (wrong.outcome, wrong.mistake, wrong.hint, wrong.points) == (Outcome.FAILED, None, "", 0)
    assert wrong.message.startswith("2 rows: y: off by ")
    assert wrong.review == "Doubling"


def test_an_exception_is_told_with_its_text() -> None:
    assert verdict(crashes).message == "2 rows: it raised ValueError: no 3"


def test_a_part_that_is_right_earns_its_points() -> None:
    part = verdict(lambda x: 2 * x.clamp(-50, 50))
    assert (part.outcome, part.points) == (Outcome.FAILED, 3)
    assert [check.points for check in part.checks] == [3, 0]


def test_a_check_that_needs_another_earns_nothing_where_that_failed() -> None:
    wrong = verdict(lambda x: 2 * x if x.abs().max() > 50 else x)
    assert [check.outcome for check in wrong.checks] == [Outcome.FAILED, Outcome.PASSED]
    assert wrong.points == 0


def test_an_answer_that_changes_its_input_does_not_reach_the_reference() -> None:
    assert verdict(lambda x: x.mul_(2)).outcome is Outcome.PASSED


def test_nothing_is_missing_and_not_wrong() -> None:
    def unsolved(x):
        raise NotImplementedError("TODO 9.1")

    assert verdict(unsolved).outcome is Outcome.MISSING
    assert verdict(unsolved).message == "not solved yet"
    assert judge(EXERCISE, PLANNED, {}, REFERENCE).outcome is Outcome.MISSING


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (Status.TIMEOUT, Outcome.TIMEOUT),
        (Status.DIED, Outcome.FAILED),
        (Status.REFUSED, Outcome.FAILED),
        (Status.FAULT, Outcome.FAULT),
    ],
)
def test_how_a_probe_ended_decides_the_outcome(status: Status, outcome: Outcome) -> None:
    ended = verdict(double, **{"9.1/values/hidden/0": {"status": status, "message": "it ended"}})
    assert ended.outcome is outcome
    assert ended.points == 0
    assert "it ended" in ended.message


def test_a_reference_or_judge_that_fails_is_our_fault_and_not_the_students() -> None:
    broken = replace(LESSON, given={"double": crashes})
    assert verdict(double, lesson=broken).outcome is Outcome.FAULT

    def judges_badly(case) -> Finding:
        return 1 / 0

    exercise = replace(EXERCISE, checks=tuple(replace(check, judge=judges_badly) for check in EXERCISE.checks))
    planned = plan(replace(LESSON, exercises=(exercise,)), "secret", "sha")
    evidence = {trial.key: run_here(trial.check, {"double": double}, trial.inputs, trial.key) for trial in planned}
    assert judge(exercise, planned, evidence, REFERENCE).outcome is Outcome.FAULT


def test_hostile_evidence_is_a_verdict_and_not_an_exception() -> None:
    for got in (None, "x" * 10_000, {"a": 1}, [1], torch.empty(0), torch.zeros(1, 2, 3), float("nan"), 10**400):
        evidence = {trial.key: Evidence(key=trial.key, status=Status.OK, values={"y": got}) for trial in PLANNED}
        assert judge(EXERCISE, PLANNED, evidence, REFERENCE).outcome is Outcome.FAILED


def test_a_check_without_a_hidden_trial_cannot_be_declared() -> None:
    with pytest.raises(ValueError, match=r"exercise 9\.1, checks: 'values' has no hidden trial"):
        replace(EXERCISE, checks=(replace(EXERCISE.checks[0], trials=(), points=5),))


def test_the_device_decides_on_the_tolerance() -> None:
    evidence = {
        trial.key: run_here(trial.check, {"double": lambda x: 2 * x * (1 + 1.5e-5)}, trial.inputs, trial.key)
        for trial in PLANNED
    }
    assert judge(EXERCISE, PLANNED, evidence, REFERENCE).outcome is Outcome.FAILED
    assert judge(EXERCISE, PLANNED, evidence, REFERENCE, "cuda").outcome is Outcome.PASSED


# ---------------------------------------------------------------- what a probe finds by itself


def paired(double, x: Tensor):
    first, second = pair(double(x))
    return {"y": first, "z": second}


def needs_a_matrix(double, x: Tensor):
    return {"y": double(x.expand(0, 0))}


def judged_with(probe, answer, right=double, **changes):
    exercise = replace(
        EXERCISE, points=3, reference=(right,), mistakes=(), checks=(replace(EXERCISE.checks[0], probe=probe),)
    )
    lesson = replace(LESSON, exercises=(exercise,))
    planned = plan(lesson, "secret", "sha")
    evidence = {
        trial.key: replace(run_here(trial.check, {"double": answer}, trial.inputs, trial.key), **changes)
        for trial in planned
    }
    return judge(exercise, planned, evidence, ReferenceResults({"double": right}))


def twice(x: Tensor) -> tuple[Tensor, Tensor]:
    return x, x


twice.__name__ = "double"


def test_what_a_probe_finds_is_no_exception_of_the_students() -> None:
    wrong = judged_with(paired, double, right=twice)
    assert wrong.outcome is Outcome.FAILED
    assert wrong.message == "2 rows: got one value, expected two: output and weights"
    assert judged_with(paired, twice, right=twice).outcome is Outcome.PASSED


def test_an_exception_of_the_students_with_the_name_of_ours_keeps_its_line() -> None:
    cells = NotebookCells(sources={"exercise-9-1": "raise WrongForm"}, student=("exercise-9-1",))
    place = Place(cell="exercise-9-1", line=1)
    evidence = Evidence(key="", status=Status.RAISED, error="WrongForm", message="no", place=place)
    planned = PLANNED[:2]
    raised = {one.key: replace(evidence, key=one.key) for one in planned}
    got = verdict_of(EXERCISE, judge_trials(planned, raised, REFERENCE, "cpu", cells), REFERENCE)
    assert got.message == "2 rows: line 1: `raise WrongForm`: WrongForm: no"


def test_a_probe_that_raises_on_the_reference_too_is_our_fault() -> None:
    def refuses(x):
        raise ValueError("no")

    wrong = judged_with(needs_a_matrix, double)
    assert wrong.outcome is Outcome.FAULT
    assert "the reference raised RuntimeError: The expanded size" in wrong.message
    assert judged_with(values, refuses).outcome is Outcome.FAILED


def test_a_check_of_which_nothing_was_drawn_is_a_fault_and_earns_nothing():
    exercise = LESSON.exercises[0]
    verdict = judge(exercise, [], {}, ReferenceResults(LESSON.reference))
    assert (verdict.outcome, verdict.points) == (Outcome.FAULT, 0)
    assert "was drawn" in verdict.message
