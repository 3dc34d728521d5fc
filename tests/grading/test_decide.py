"""What verified trainings decide, which are run in whole, and which of several runs counts."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from grader.course import lessons
from grader.grading.decide import (
    ATTEMPTS,
    VERIFIED,
    WHOLE,
    better_training,
    decide,
    only_training_failed,
    trained_answers,
    trainings_to_repeat,
)
from grader.records import CheckResult, Outcome, Verdict
from grader.submission.rebuild import Rebuilt

LESSON = lessons()["1-attention"]
EXERCISE = LESSON.exercise("1.9")
TRAINED = {check.name for check in EXERCISE.checks if check.at}


def verdict(*failed: str) -> Verdict:
    checks = tuple(
        CheckResult(
            name=check.name,
            title=check.title,
            outcome=Outcome.FAILED if check.name in failed else Outcome.PASSED,
            points=0 if check.name in failed else check.points,
            max_points=check.points,
        )
        for check in EXERCISE.checks
    )
    return Verdict(
        id="1.9",
        name="pointer_loss",
        title="",
        outcome=Outcome.FAILED if failed else Outcome.PASSED,
        points=sum(check.points for check in checks),
        max_points=EXERCISE.points,
        checks=checks,
    )


def test_only_where_the_code_is_right_is_training_repeated() -> None:
    assert TRAINED
    code = next(check.name for check in EXERCISE.checks if not check.at)
    assert only_training_failed(LESSON, verdict(*TRAINED))
    assert not only_training_failed(LESSON, verdict())
    assert not only_training_failed(LESSON, verdict(code))
    assert not only_training_failed(LESSON, verdict(code, *TRAINED))
    assert not only_training_failed(LESSON, replace(verdict(*TRAINED), outcome=Outcome.FAULT))


def test_training_is_not_repeated_where_follow_through_decides() -> None:
    lesson = lessons()["1-attention"]
    right = {exercise.id: replace(verdict(), id=exercise.id) for exercise in lesson.exercises}
    assert trainings_to_repeat(lesson, {**right, "1.9": verdict(*TRAINED)}, ()) == ["1.9"]
    below = replace(right["1.3"], outcome=Outcome.FAILED)
    assert trainings_to_repeat(lesson, {**right, "1.3": below, "1.9": verdict(*TRAINED)}, ()) == []


def test_the_better_run_counts_and_says_so() -> None:
    first, second = verdict(*TRAINED), verdict()
    assert better_training(first, second).points == EXERCISE.points
    assert "another start" in better_training(first, second).notes[-1]
    assert better_training(first, first) is first
    assert better_training(second, first) is second


class Runs:
    """Runs that end as they are told to, while there is time; keeps what they were asked for."""

    def __init__(self, *ends: Verdict, time: bool = True) -> None:
        self.ends, self.asked, self.time = list(ends), [], time

    def __call__(self, ids, attempt):
        if self.asked and not self.time:
            return {}
        self.asked.append((list(ids), attempt))
        return dict.fromkeys(ids, self.ends[0] if not self.ends[1:] else self.ends.pop(0))


def decided(runs: Runs, *, standing: tuple[str, ...] = (), verifies: bool = True) -> Verdict:
    return decide(runs, LESSON, ["1.9"], standing, verifies)["1.9"]


def test_what_is_verified_is_not_run_in_whole() -> None:
    runs = Runs(verdict())
    assert decided(runs).points == EXERCISE.points
    assert runs.asked == [(["1.9"], VERIFIED)]


def test_what_a_few_steps_leave_open_a_whole_training_decides_from_a_start_of_its_own() -> None:
    runs = Runs(verdict(*TRAINED), verdict())
    found = decided(runs)
    assert (found.points, found.notes) == (EXERCISE.points, (WHOLE,))
    assert runs.asked == [(["1.9"], VERIFIED), (["1.9"], 1)]


def test_a_whole_training_that_fails_is_repeated_a_few_times() -> None:
    runs = Runs(verdict(*TRAINED))
    assert decided(runs).points < EXERCISE.points
    assert [attempt for _, attempt in runs.asked] == [VERIFIED, *range(1, ATTEMPTS + 1)]


def test_nothing_is_run_in_whole_where_something_below_is_wrong_or_no_time_is_left() -> None:
    code = next(check.name for check in EXERCISE.checks if not check.at)
    for runs, options in (
        (Runs(verdict(code, *TRAINED)), {}),
        (Runs(verdict(*TRAINED)), {"standing": ("1.2",)}),
        (Runs(verdict(*TRAINED), time=False), {}),
    ):
        decided(runs, **options)
        assert len(runs.asked) == 1


def test_whole_trainings_can_be_asked_for() -> None:
    runs = Runs(verdict())
    assert decided(runs, verifies=False).notes == ()
    assert runs.asked == [(["1.9"], 1)]


def test_a_counter_in_the_cell_of_another_exercise_is_read_too() -> None:
    answers = {
        "1.7": "class SelfAttention: ...\ndef recall(x):\n    recall.calls = 1\n    return x",
        "1.5": "def causal_mask(n): ...\ndef padding_mask(lengths, n): ...",
        "1.6": "def masked_attention(q, k, v, mask=None):\n    return helped(q)",
        "1.2": "def scaled_scores(q, k): ...\nhelped = 1",
        "1.9": "def pointing_loss(weights, target):\n    return -weights.log().mean()",
    }
    rebuilt = cast("Rebuilt", SimpleNamespace(answers=answers))
    read = trained_answers(LESSON, rebuilt, {"1.9"})
    assert answers["1.7"] in read, "it binds a name that it was not asked for, which the training may call"
    assert answers["1.2"] in read
    assert answers["1.5"] not in read
    assert answers["1.6"] not in read
