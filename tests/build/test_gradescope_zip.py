"""Gradescope's autograder zip, unpacked into the folders that its documentation names, and run on a submission.

Gradescope itself is not here: /autograder is a temporary folder, and what setup.sh installs is installed beside it.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.build.gradescope_zip import SETUP, autograder
from grader.cli import app
from grader.commands.gradescope import find_one, main
from grader.course import lessons
from grader.submission.file import Unreadable

ROOT = Path(__file__).resolve().parents[2]
NAME = "1-attention"
SECRET = "a-secret-of-the-course"


def unpacked(to: Path, isolation: str = "auto") -> Path:
    """What Gradescope makes of the zip: /autograder, here below a temporary folder."""
    content = autograder(ROOT, assignment=NAME, isolation=isolation, secret=SECRET)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(to / "source")
    shutil.copy(to / "source" / "run_autograder", to / "run_autograder")
    (to / "run_autograder").chmod(0o755)
    (to / "submission").mkdir()
    (to / "results").mkdir()
    return to


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The unpacked zip, and the project as pip installs it from there."""
    root = unpacked(tmp_path_factory.mktemp("autograder"))
    packages = root / "packages"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(packages)]
    ran = subprocess.run([*command, str(root / "source" / "course")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return root, packages


def run(root: Path, packages: Path, python: str = sys.executable) -> tuple[subprocess.CompletedProcess, dict]:
    environment = {
        **os.environ,
        "AUTOGRADER_ROOT": str(root),
        "AUTOGRADER_PYTHON": python,
        "PYTHONPATH": str(packages),
        "GRADER_COURSE": "/nowhere",
    }
    ran = subprocess.run(
        [root / "run_autograder"], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    return ran, json.loads((root / "results" / "results.json").read_text("utf-8"))


@pytest.mark.slow(held_by="tests/build/test_gradescope_zip.py::test_the_zip_is_what_gradescope_asks_for")
def test_a_real_submission_is_graded_from_the_zip_alone(installed: tuple[Path, Path]) -> None:
    root, packages = installed
    shutil.copy(ROOT / "examples/submitted/keys-from-text" / NAME / f"{NAME}.ipynb", root / "submission" / "hw.ipynb")
    ran, results = run(root, packages)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert results["score"] == lessons()[NAME].max_score - 15, results
    # A test for each check that has points; together they are the exercise's.
    checks: dict[str, list[dict]] = {}
    for test in results["tests"]:
        checks.setdefault(".".join(test["number"].split(".")[:2]), []).append(test)
        assert test["visibility"] == "after_published"
    assert list(checks) == [one.id for one in lessons()[NAME].exercises]
    points = {id: (sum(one["score"] for one in of), sum(one["max_score"] for one in of)) for id, of in checks.items()}
    assert (points["1.8"], points["1.4"]) == ((0.0, 15.0), (15.0, 15.0))
    assert {one["status"] for one in checks["1.8"]} == {"failed"}
    assert {one["status"] for one in checks["1.4"]} == {"passed"}
    assert len(checks["1.4"]) > 1
    assert results["extra_data"]["isolation"] in ("full", "partial")
    assert f"isolation {results['extra_data']['isolation']}, score" in ran.stdout
    # Students see the verdicts, not what the program printed, and nothing of the hidden inputs.
    assert results["stdout_visibility"] == "hidden"
    assert SECRET not in ran.stdout + ran.stderr + json.dumps(results)
    assert "tensor(" not in json.dumps(results)


def test_a_grader_that_cannot_start_gives_no_score(installed: tuple[Path, Path]) -> None:
    root, packages = installed
    _, results = run(root, packages, python="/bin/false")
    assert "score" not in results
    assert "tests" not in results
    assert "You lose no points" in results["output"]


def test_a_fault_gives_no_score_and_tells_the_instructor(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    root = unpacked(tmp_path, isolation="of another world")
    shutil.copy(ROOT / "notebooks" / NAME / f"{NAME}.ipynb", root / "submission")
    assert main(root) == 1
    results = json.loads((root / "results" / "results.json").read_text("utf-8"))
    assert "score" not in results
    assert "tests" not in results
    assert "of another world" in capsys.readouterr().out


def test_nothing_to_grade_is_the_submissions_fault_and_says_what_to_do(tmp_path: Path) -> None:
    root = unpacked(tmp_path)
    (root / "submission" / "homework.pdf").write_bytes(b"%PDF")
    assert main(root) == 0
    results = json.loads((root / "results" / "results.json").read_text("utf-8"))
    assert results["score"] == 0.0
    assert results["output"] == f"no notebook was submitted. Submit one file, {NAME}.ipynb."


def test_the_notebook_that_is_meant_is_found(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for name in ("scratch.ipynb", f"work/Copy of {NAME}.ipynb", "._scratch.ipynb", "data.csv"):
        (tmp_path / name).touch()
    assert find_one(tmp_path, NAME).parts == ("work", f"Copy of {NAME}.ipynb")
    (tmp_path / f"{NAME}.ipynb").touch()
    with pytest.raises(Unreadable, match="3 notebooks were submitted"):
        find_one(tmp_path, NAME)


def test_the_zip_is_what_gradescope_asks_for() -> None:
    content = autograder(ROOT, assignment=NAME, isolation="auto", secret=SECRET)
    assert content == autograder(ROOT, assignment=NAME, isolation="auto", secret=SECRET)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        for script in ("setup.sh", "run_autograder"):
            assert archive.getinfo(script).external_attr >> 16 == 0o100755
            assert archive.read(script).startswith(b"#!/usr/bin/env bash\n")
            ran = subprocess.run(["bash", "-n"], input=archive.read(script), capture_output=True, check=False)
            assert ran.returncode == 0, ran.stderr
    assert not [name for name in names if "pycache" in name or name.startswith("course/solutions")]
    assert [name for name in names if name.endswith(".ipynb")] == [f"course/notebooks/{NAME}/{NAME}.ipynb"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gradescope",), "Pass --assignment"),
        (("gradescope", "--assignment", "4-more"), "no assignment '4-more'"),
        (("canvas", "--assignment", NAME), "--autograder works only with gradescope"),
    ],
)
def test_wrong_use_is_named_and_nothing_is_written(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    target = tmp_path / "a.zip"
    ran = CliRunner().invoke(app, ["export", *arguments, "--autograder", str(target)])
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert not target.exists()


def test_setup_looks_for_every_python_that_the_project_names_newest_first() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r":: (3\.[0-9]+)", " ".join(project["classifiers"]))
    (tried,) = re.findall(r"for name in (.+) python3; do", SETUP)
    assert tried.split() == [f"python{version}" for version in reversed(named)]
