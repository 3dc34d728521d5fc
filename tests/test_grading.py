"""What happens between execution and grade; the whole line is tested with the example class."""

from dataclasses import replace

from grader.course import lessons
from grader.exercise import CheckResult, Outcome, Verdict
from grader.grading import _luckier, _only_training_failed

EXERCISE = lessons()["1-attention"].exercise("1.9")
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
    assert _only_training_failed(EXERCISE, verdict(*TRAINED))
    assert not _only_training_failed(EXERCISE, verdict())
    assert not _only_training_failed(EXERCISE, verdict(code))
    assert not _only_training_failed(EXERCISE, verdict(code, *TRAINED))
    assert not _only_training_failed(EXERCISE, replace(verdict(*TRAINED), outcome=Outcome.FAULT))


def test_the_better_run_counts_and_says_so() -> None:
    first, second = verdict(*TRAINED), verdict()
    assert _luckier(first, second).points == EXERCISE.points
    assert "another seed" in _luckier(first, second).notes[-1]
    assert _luckier(first, first) is first
    assert _luckier(second, first) is second
