"""Reading one submission takes this process a bounded time, whatever reads it; the marks of what was read before stay."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.grading import grade as grading
from grader.grading import judge_run
from grader.grading.allowance import Allowance, TookTooLong
from grader.sandbox.server import Server
from tests.classes.gradebook.warm_server import shared_server
from tests.grading.test_grade import UNSCALED, grade_answers, grade_solution


def forever() -> None:
    while True:
        pass


def swallow() -> None:
    while True:
        try:
            forever()
        except BaseException as error:
            if not isinstance(error, TookTooLong) or swallowed:
                raise
            swallowed.append(error)


def match() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")


swallowed: list[BaseException] = []


@pytest.mark.parametrize("work", [forever, swallow, match])
def test_what_takes_too_long_is_broken_off(work: Callable[[], None]) -> None:
    swallowed.clear()
    with pytest.raises(TookTooLong), Allowance(0.2).timed():
        work()


def test_a_thread_that_gets_no_signals_is_broken_off_too() -> None:
    ended: list[str] = []

    def run() -> None:
        try:
            with Allowance(0.2).timed():
                forever()
        except TookTooLong:
            ended.append("broken off")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert ended == ["broken off"]


def busy(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_what_is_paused_and_what_only_waits_takes_nothing() -> None:
    allowance = Allowance(0.3)
    with allowance.timed():
        time.sleep(0.4)
        with allowance.paused():
            busy(0.4)
    busy(0.4)
    with allowance.timed():
        busy(0.1)
    with allowance.timed():
        busy(0.1)
    with pytest.raises(TookTooLong), allowance.timed():
        busy(3.0)  # on a busy machine the kernel's clock lags behind the thread's
    with pytest.raises(TookTooLong), allowance.timed():
        pytest.fail("nothing was left")


@pytest.fixture(scope="module")
def server():
    with shared_server() as started:
        yield started


def test_a_submission_that_takes_too_long_to_read_is_unreadable(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "refuse_built_ins", lambda *_: forever())
    monkeypatch.setattr(grading, "READING_SECONDS", 2.0)
    graded = grade_solution(server, tmp_path).grade
    assert (graded.status, graded.score) == ("unreadable", 0.0)
    assert "to read" in graded.message
    assert graded.message.count("\n") == 0


def test_a_submission_that_is_too_deep_to_read_is_unreadable(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_each_level(depth: int) -> None:
        read_each_level(depth + 1)

    monkeypatch.setattr(grading, "schedule", lambda *_: read_each_level(0))
    graded = grade_answers(server, tmp_path, {"1.3": UNSCALED}).grade
    assert (graded.status, graded.score) == ("unreadable", 0.0)
    assert "so deep" in graded.message


def test_an_explanation_that_takes_too_long_is_left_out_and_costs_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_run, "diagnose", lambda *_: forever())
    monkeypatch.setattr(grading, "EXPLAINING_SECONDS", 2.0)
    graded = grade_answers(server, tmp_path, {"1.3": UNSCALED}).grade
    assert graded.status == "graded"
    assert 0 < graded.score < 100
    assert ("not-explained", "1.3", "looking for an explanation took too long") in [
        (flag.kind, flag.exercise, flag.detail) for flag in graded.flags
    ]
