"""The package without a checkout: its wheel, in an empty folder, from `grader init` to the grades.

What the package needs beside it is that of the environment in which the tests run.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAME = "1-attention"
MOST_BYTES = 4_300_000  # of the wheel; 2.4 million of them are the twelve notebooks


@dataclass(frozen=True)
class Installed:
    """The installed wheel, and a course that was made with it."""

    wheel: Path
    packages: Path
    course: Path

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run a program of Python in the course; return what it said."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GRADER_")}
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-P", "-m", *arguments],
            cwd=self.course,
            env={**environment, "PYTHONPATH": str(self.packages)},
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )
        assert ran.returncode == status, (arguments, ran.stdout, ran.stderr)
        return ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    top = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    packages = top / "packages"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(packages), str(wheel)], check=True)
    one = Installed(wheel, packages, top)
    one.run("grader", "init", "my-course", "--lesson", NAME)
    return Installed(wheel, packages, top / "my-course")


@pytest.fixture(scope="module")
def graded(installed: Installed) -> str:
    """What `grader grade` says of a class of two."""
    for student, folder in (("solved", "solutions"), ("untouched", "notebooks")):
        to = installed.course / "submitted" / student / NAME
        to.mkdir(parents=True)
        shutil.copy(installed.course / folder / NAME / f"{NAME}.ipynb", to)
    return installed.run("grader", "grade", "submitted", "--jobs", "1", "--json", "grades.jsonl")


def test_the_wheel_is_small_and_has_no_file_of_the_machine(installed: Installed) -> None:
    assert installed.wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(installed.wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {
        "attention",
        "grader",
        next(name for name in names if ".dist-info" in name).partition("/")[0],
    }
    assert [name for name in names if name.endswith((".pyc", ".db", ".built.json")) or "secret" in name] == [
        "grader/secret.py"
    ]


@pytest.mark.slow(held_by="tests/test_wheel.py::test_the_wheel_is_small_and_has_no_file_of_the_machine")
def test_an_editable_install_leaves_no_package_of_its_own(tmp_path: Path) -> None:
    # A folder `grader` in site-packages without code would be imported where the checkout cannot be read.
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--target", str(tmp_path), "-e", str(ROOT)], check=True)
    left = {path.name for path in tmp_path.iterdir()}
    assert {name for name in left if not name.endswith((".dist-info", ".pth"))} <= {"bin"}
    assert any(name.endswith(".pth") for name in left)


def test_the_solution_has_a_hundred_points_and_the_untouched_notebook_none(installed: Installed, graded: str) -> None:
    grades = map(json.loads, (installed.course / "grades.jsonl").read_text("utf-8").splitlines())
    assert {grade["student"]: (grade["status"], grade["score"]) for grade in grades} == {
        "solved": ("graded", 100.0),
        "untouched": ("graded", 0.0),
    }
    for said in ("gradebook", "feedback", "report"):
        assert f"{said}  " in graded
    for path in ("gradebook.db", "feedback/class.html", f"feedback/solved/{NAME}/{NAME}.html"):
        assert (installed.course / path).is_file()


@pytest.mark.fast_cases("report")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("report", "solved"),
        (f"check notebooks/{NAME}/{NAME}.ipynb", "0 of 100"),
        ("doctor", "isolation"),
        ("docs --print --out manual", "instructors.html"),
    ],
    ids=["report", "check", "doctor", "docs"],
)
def test_the_other_commands_need_nothing_else(command: str, said: str, installed: Installed, graded: str) -> None:
    assert said in installed.run("grader", *command.split())


@pytest.mark.slow(held_by="tests/classes/gradebook/test_one_truth.py::test_every_export_says_what_nbgrader_says")
def test_the_scores_are_exported(installed: Installed, graded: str) -> None:
    rows = list(csv.DictReader(installed.run("grader", "export", "csv").splitlines()))
    assert [(row["student"], float(row["score"])) for row in rows] == [("solved", 100.0), ("untouched", 0.0)]


@pytest.mark.slow(
    held_by="tests/classes/nbgrader_plugins/test_nbgrader.py::test_autograde_gives_the_same_marks_as_grader_grade"
)
def test_nbgraders_own_commands_work_and_agree(installed: Installed, graded: str) -> None:
    again = installed.course / "submitted" / "zoe" / NAME
    shutil.copytree(installed.course / "submitted" / "solved" / NAME, again)
    installed.run("nbgrader", "autograde", NAME, "--student", "zoe")
    rows = csv.DictReader(installed.run("grader", "export", "csv").splitlines())
    assert {row["student"]: float(row["score"]) for row in rows}["zoe"] == 100.0
    installed.run("nbgrader", "generate_feedback", NAME, "--student", "zoe", "--force")
    page = installed.course / "feedback" / "zoe" / NAME / f"{NAME}.html"
    assert "100" in page.read_text("utf-8")


def test_the_zip_for_gradescope_is_made_from_the_installed_package(installed: Installed) -> None:
    target = installed.course / "autograder.zip"
    installed.run("grader", "export", "gradescope", "--autograder", str(target), "--assignment", NAME)
    with zipfile.ZipFile(target) as archive:
        names = set(archive.namelist())
    assert {
        "course/pyproject.toml",
        "course/constraints.txt",
        "course/grader/cli.py",
        "course/source/attention/masks.py",
        "course/lessons/lesson_1/__init__.py",
        f"course/notebooks/{NAME}/{NAME}.ipynb",
    } <= names
    assert [name for name in names if "shipped" in name or name.startswith("course/solutions")] == []
