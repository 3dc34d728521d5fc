"""Which trainings are repeated from another seed, and which of the two runs counts."""

from dataclasses import replace

from grader.course import lessons
from grader.grading.decide import better_training, only_training_failed, trainings_to_repeat
from grader.records import CheckResult, Outcome, Verdict

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
    assert only_training_failed(EXERCISE, verdict(*TRAINED))
    assert not only_training_failed(EXERCISE, verdict())
    assert not only_training_failed(EXERCISE, verdict(code))
    assert not only_training_failed(EXERCISE, verdict(code, *TRAINED))
    assert not only_training_failed(EXERCISE, replace(verdict(*TRAINED), outcome=Outcome.FAULT))


def test_training_is_not_repeated_where_follow_through_decides() -> None:
    lesson = lessons()["1-attention"]
    right = {exercise.id: replace(verdict(), id=exercise.id) for exercise in lesson.exercises}
    assert trainings_to_repeat(lesson, {**right, "1.9": verdict(*TRAINED)}) == ["1.9"]
    below = replace(right["1.3"], outcome=Outcome.FAILED)
    assert trainings_to_repeat(lesson, {**right, "1.3": below, "1.9": verdict(*TRAINED)}) == []


def test_the_better_run_counts_and_says_so() -> None:
    first, second = verdict(*TRAINED), verdict()
    assert better_training(first, second).points == EXERCISE.points
    assert "another seed" in better_training(first, second).notes[-1]
    assert better_training(first, first) is first
    assert better_training(second, first) is second
