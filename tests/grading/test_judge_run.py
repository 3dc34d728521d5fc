"""Verdicts while the notebook runs: whoever waits hears them early, and the grade is the same as without."""

import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from examples.make import ROOT, Example, content
from grader.grading import grade as grading
from grader.grading.grade import grade, master_notebook
from grader.grading.judge_run import RunJudge
from grader.records import Grade, GradingSettings, Outcome, Verdict
from grader.sandbox import engine
from grader.sandbox.engine import Execution
from grader.sandbox.server import Server
from grader.submission.file import SubmissionFile
from tests.classes.gradebook.warm_server import shared_server

LESSON = "1-attention"
# The name that 1.4 needs is defined below it: its first probes fail, and those at the end do not.
LATE = {"1.4": "def attention(query, key, value):\n    return my_attention(query, key, value)\n"}
HELPER = """
def my_attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    return weights @ value, weights
"""
RAISES = {"1.1": "def attention_scores(query, key):\n    return query @ key\n"}
WRONG = {"1.1": "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1) * 2\n"}
EXAMPLES = {
    "right": Example("s", LESSON, None, ""),
    "wrong": Example("s", LESSON, None, "", answers=WRONG),
    "raises": Example("s", LESSON, None, "", answers=RAISES),
}


@pytest.fixture(scope="module")
def server():
    with shared_server() as started:
        yield started


def graded(server: Server, folder: Path, example: Example, **options) -> Grade:
    (folder / "s.ipynb").write_bytes(content(example))
    file = SubmissionFile("s", LESSON, folder, ("s.ipynb",))
    settings = GradingSettings(secret="test", device="cpu", tier=server.isolation)
    return grade(file, server=server, settings=settings, released=master_notebook(ROOT, LESSON), **options).grade


def without_times(grade: Grade) -> Grade:
    return replace(grade, seconds=0.0, verdicts=tuple(map(untimed, grade.verdicts)))


def untimed(verdict: Verdict) -> Verdict:
    checks = tuple(replace(check, seconds=0.0) for check in verdict.checks)
    return replace(verdict, checks=checks, other=verdict.other and untimed(verdict.other))


@pytest.mark.fast_cases("wrong")
@pytest.mark.parametrize("name", EXAMPLES)
def test_each_exercise_is_told_and_the_grade_is_the_same(server: Server, tmp_path: Path, name: str) -> None:
    told: list[Verdict] = []
    grade = graded(server, tmp_path, EXAMPLES[name], tell=told.append)
    silent = graded(server, tmp_path, EXAMPLES[name])
    assert {verdict.id for verdict in told} == {verdict.id for verdict in grade.verdicts}
    assert without_times(grade) == without_times(silent)
    passed = {verdict.id for verdict in grade.verdicts if verdict.outcome is Outcome.PASSED}
    last = {verdict.id: verdict for verdict in told}
    assert {id for id, verdict in last.items() if verdict.outcome is Outcome.PASSED} == passed


def test_the_first_is_told_before_the_last_cell_runs(server: Server, tmp_path: Path, monkeypatch) -> None:
    events: list[str] = []
    run_cell = engine._run_cell
    monkeypatch.setattr(
        engine,
        "_run_cell",
        lambda interpreter, cell, *rest: events.append("cell") or run_cell(interpreter, cell, *rest),
    )
    graded(server, tmp_path, EXAMPLES["right"], tell=lambda verdict: events.append(verdict.id))
    assert events.index("1.1") < len(events) - 1 - events[::-1].index("cell")


def test_a_verdict_that_a_later_cell_mends_is_told_again(server: Server, tmp_path: Path) -> None:
    told: list[Verdict] = []
    example = replace(EXAMPLES["right"], answers=LATE, own=[("check-1-5", HELPER)])
    grade = graded(server, tmp_path, example, tell=told.append)
    assert grade.score == 100
    assert [verdict.outcome for verdict in told if verdict.id == "1.4"][-1] is Outcome.PASSED


@pytest.mark.slow(held_by="tests/grading/test_judge_run.py::test_a_verdict_that_a_later_cell_mends_is_told_again")
def test_a_run_that_is_repeated_is_judged_by_its_own_evidence(server: Server, tmp_path: Path, monkeypatch) -> None:
    judges: list[RunJudge] = []
    runs: list[Execution] = []
    monkeypatch.setattr(grading, "RunJudge", lambda **fields: judges.append(RunJudge(**fields)) or judges[-1])
    monkeypatch.setattr(grading, "execute", lambda *a: runs.append(engine.execute(*a)) or runs[-1])
    graded(server, tmp_path, EXAMPLES["right"], tell=lambda verdict: None)
    graded(server, tmp_path, EXAMPLES["wrong"])
    assert judges[0].verdicts(runs[0])["1.1"].outcome is Outcome.PASSED
    assert judges[0].verdicts(runs[1])["1.1"].outcome is Outcome.FAILED


def test_on_a_terminal_verdicts_come_before_the_score(tmp_path: Path) -> None:
    path = tmp_path / "s.ipynb"
    path.write_bytes(content(EXAMPLES["right"]))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "grader", "check", str(path), "--assignment", LESSON]
    process = subprocess.Popen(command, cwd=ROOT, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 4096)
        except OSError:  # the process has closed its end
            break
    assert process.wait() == 0
    text = said.decode()
    assert text.index("1.1 ") < text.index("100 of 100")
