"""The tests of an example class, from the command line to the gradebook.

The files beside this one name the assignment: so they run side by side.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from examples.make import Example, classes
from grader.cli import app
from grader.course import lessons
from tests.classes.gradebook.warm_server import warm_server

ROOT = Path(__file__).resolve().parents[2]
CLASS = {name: [example for example in classes() if example.assignment == name] for name in lessons()}
# In the fast half: of each lesson what is right, and something that is not.
FEW = {
    "1-attention": ("full-marks", "no-scaling", "truncated"),
    "2-heads": ("full-marks", "reshape-only"),
    "3-vlm": ("full-marks", "head-average"),
    "4-modern": ("full-marks", "untouched"),
    "5-real": ("full-marks", "untouched"),
    "6-explain": ("full-marks", "untouched"),
}
ENVIRONMENT = {"GRADER_SECRET": "test"}
few_or_all = pytest.mark.fast_cases("few")


Grade = Callable[..., tuple[int, list[dict], str]]


def grade_alone(folder: Path, *arguments: str) -> tuple[int, list[dict], str]:
    """Run `grader grade` with everything that it writes below a folder; exit status, JSON lines, output."""
    ran = subprocess.run(
        [sys.executable, "-m", "grader", *words(folder, *arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ENVIRONMENT},
        timeout=1500,
    )
    return ran.returncode, written(folder), ran.stdout + ran.stderr


def grade_here(folder: Path, *arguments: str) -> tuple[int, list[dict], str]:
    """Do the same in this process, with the fork server that runs: to start the two takes longer than to grade."""
    with chdir(ROOT), warm_server():
        ran = CliRunner().invoke(app, words(folder, *arguments), env=ENVIRONMENT)
    return ran.exit_code, written(folder), ran.output


def words(folder: Path, *arguments: str) -> list[str]:
    """Return the words of the command line."""
    where = ["--json", str(folder / "grades.jsonl"), "--html", str(folder / "html")]
    where += ["--gradebook", f"sqlite:///{folder / 'gradebook.db'}"]
    return ["grade", *arguments, "--jobs", "1", *where]


def written(folder: Path) -> list[dict]:
    lines = folder / "grades.jsonl"
    return [json.loads(line) for line in lines.read_text("utf-8").splitlines()] if lines.is_file() else []


class Graded(NamedTuple):
    grade: Grade  # how it was graded
    assignment: str
    folder: Path
    submitted: Path
    students: dict[str, Example]
    code: int
    grades: dict[str, dict]
    output: str


@pytest.fixture(scope="module", params=["few", "all"])
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Grade a lesson's examples."""
    assignment = request.module.ASSIGNMENT
    students = {one.student: one for one in CLASS[assignment]}
    grade: Grade = grade_alone
    folder, submitted = tmp_path_factory.mktemp(assignment), ROOT / "examples" / "submitted"
    if request.param == "few":
        grade = grade_here
        students = {name: students[name] for name in FEW[assignment]}
        for name in students:
            shutil.copytree(submitted / name / assignment, folder / "submitted" / name / assignment)
        submitted = folder / "submitted"
    code, lines, output = grade(folder, str(submitted), "--assignment", assignment, "--force")
    grades = {line["student"]: line for line in lines}
    return Graded(grade, assignment, folder, submitted, students, code, grades, output)


@few_or_all
def test_every_submission_gets_the_score_that_it_deserves(graded: Graded) -> None:
    examples, grades, output = graded.students, graded.grades, graded.output
    assert set(grades) == set(examples), output
    for student, example in examples.items():
        got = grades[student]
        if example.score is None:
            assert (got["status"], got["score"]) == ("unreadable", 0.0), student
            assert got["message"], student
        else:
            said = [(one["id"], one["outcome"], one["points"], one["message"]) for one in got["exercises"]]
            assert (got["status"], got["score"]) == ("graded", example.score), (student, got["message"], said)
    assert graded.code == (1 if any(one.score is None for one in examples.values()) else 0), output


@few_or_all
def test_the_json_keeps_its_contract(graded: Graded) -> None:
    assignment = graded.assignment
    for got in graded.grades.values():
        assert got["assignment"] == assignment
        assert got["max_score"] == lessons()[assignment].max_score
        assert got["device"] in ("cpu", "cuda")
        assert got["isolation"] in ("full", "partial", "none")
        assert got["seconds"] >= 0
        if got["status"] == "unreadable":
            continue
        assert len(got["submission_sha256"]) == 64
        assert [one["id"] for one in got["exercises"]] == [one.id for one in lessons()[assignment].exercises]
        for one in got["exercises"]:
            assert one["outcome"] in ("PASSED", "FAILED", "MISSING", "TIMEOUT", "FAULT")
            assert (one["outcome"] == "PASSED") == (one["points"] == one["max_points"]) or one["max_points"] == 0
            assert one["outcome"] == "PASSED" or one["message"]


@few_or_all
def test_the_gradebook_and_the_pages_say_the_same(graded: Graded) -> None:
    assignment, folder, grades = graded.assignment, graded.folder, graded.grades
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        for student, got in grades.items():
            assert gradebook.find_submission(assignment, student).score == got["score"], student
    for student in grades:
        page = (folder / "html" / student / assignment / f"{assignment}.html").read_text("utf-8")
        assert student in page
        assert (folder / "autograded" / student / assignment / f"{assignment}.ipynb").is_file()
    assert (folder / "html" / "class.html").is_file()


@few_or_all
def test_an_unchanged_class_is_recognised(graded: Graded) -> None:
    grades = graded.grades
    arguments = (str(graded.submitted), "--assignment", graded.assignment)
    again_code, again, output = graded.grade(graded.folder, *arguments)
    assert again_code == graded.code, output
    assert {line["student"]: line["score"] for line in again} == {name: one["score"] for name, one in grades.items()}
    same = {line["student"]: line["seconds"] for line in again if line["status"] == "graded"}
    assert same == {name: one["seconds"] for name, one in grades.items() if one["status"] == "graded"}
