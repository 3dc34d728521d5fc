"""The workflows for GitHub: what they run exists here. GitHub's runners do not."""

import importlib.util
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import yaml

from grader.cli import app

ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / ".github" / "workflows" / "ci.yml"
CLASSROOM = ROOT / "docs" / "classroom" / "grade.yml"
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
COMMANDS = typer.main.get_command(app).commands


def steps(path: Path) -> list[dict]:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def scripts(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


def commands(script: str) -> Iterator[list[str]]:
    """Yield the simple commands of a script that belong to this project: make, the grader, python -m."""
    for line in re.split(r"\n|;|\||&&|\bthen\b|\bif\b", script):
        words = shlex.split(line)
        if words and (words[0] == "make" or words[0].startswith(".venv/bin/")):
            yield words


def check(words: list[str]) -> None:
    """Fail where a command names what is not here."""
    program, *arguments = words
    if program == "make":
        assert set(arguments) <= TARGETS, f"the Makefile has no {set(arguments) - TARGETS}"
    elif program == ".venv/bin/grader":
        known = {option for parameter in COMMANDS[arguments[0]].params for option in parameter.opts}
        used = {word for word in arguments if word.startswith("--")}
        assert used <= known, f"grader {arguments[0]} has no {used - known}"
    elif arguments[:1] == ["-m"]:
        assert arguments[1] == "playwright" or importlib.util.find_spec(arguments[1]), arguments[1]
        for path in (word for word in arguments[2:] if word.startswith("tests")):
            assert (ROOT / path).exists(), path


@pytest.mark.parametrize("path", [CI, CLASSROOM], ids=["ci", "classroom"])
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    found = [words for script in scripts(path) for words in commands(script)]
    assert len(found) >= 2
    for words in found:
        check(words)
    for script in scripts(path):
        ran = subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "words",
    [["make", "everything"], [".venv/bin/grader", "build", "--fast"], [".venv/bin/python", "-m", "nowhere"]],
)
def test_a_command_that_is_not_here_is_seen(words: list[str]) -> None:
    with pytest.raises(AssertionError):
        check(words)


@pytest.mark.parametrize("path", [CI, CLASSROOM], ids=["ci", "classroom"])
def test_actions_have_a_version_and_no_more_rights_than_reading(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in used), used
    assert "secrets." not in path.read_text("utf-8")  # nothing that a pull request or a student could take


def test_ci_builds_runs_lints_checks_types_tests_and_caches() -> None:
    run = "\n".join(scripts(CI))
    for part in ("grader build --check", "pytest tests/notebooks", "make lint", "make test", "make grade"):
        assert part in run, part
    lint = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for tool in ("ruff check", "ruff format --check", "mypy"):
        assert tool in lint
    setup = next(step for step in steps(CI) if step.get("uses", "").startswith("actions/setup-python"))
    assert setup["with"]["cache"] == "pip"
    for path in setup["with"]["cache-dependency-path"].split():
        assert (ROOT / path).is_file()


def test_the_template_for_students_is_not_active_here() -> None:
    assert [path.name for path in (ROOT / ".github" / "workflows").iterdir()] == [CI.name]
    assert "grade.yml" not in CI.read_text("utf-8")
