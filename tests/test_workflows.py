"""The workflows for GitHub: what they run exists here. GitHub's runners do not."""

import importlib.util
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import yaml
from packaging.specifiers import SpecifierSet

from grader.cli import app
from grader.commands.check import CODE_QUALITY
from grader.commands.options import SiteOptions

ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / ".github" / "workflows" / "ci.yml"
STACKS = CI.with_name("stacks.yml")
SITE = CI.with_name("site.yml")
DEPENDABOT = ROOT / ".github" / "dependabot.yml"
PYTHON = "Programming Language :: Python :: "
CLASSROOM = ROOT / "docs" / "classroom" / "grade.yml"
GITLAB = ROOT / "docs" / "classroom" / "gitlab.yml"
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
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


@pytest.mark.parametrize("path", [CI, STACKS, SITE, CLASSROOM], ids=["ci", "stacks", "site", "classroom"])
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    found = [words for script in scripts(path) for words in commands(script)]
    assert len(found) >= 2
    for words in found:
        check(words)
    for script in scripts(path):
        ran = subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr


def test_gitlab_finds_what_the_template_s_command_writes() -> None:
    (job,) = yaml.safe_load(GITLAB.read_text("utf-8")).values()
    found = [words for script in job["script"] for words in commands(script)]
    assert [words[0] for words in found] == ["make", ".venv/bin/grader"]
    for words in found:
        check(words)
    written = {"junit": found[1][found[1].index("--junit") + 1], "codequality": CODE_QUALITY.name}
    assert job["script"][1] == "cd course"
    assert job["artifacts"] == {"when": "always", "reports": {name: f"course/{file}" for name, file in written.items()}}


@pytest.mark.parametrize(
    "words", [["make", "everything"], [".venv/bin/grader", "build", "--fast"], [".venv/bin/python", "-m", "nowhere"]]
)
def test_a_command_that_is_not_here_is_seen(words: list[str]) -> None:
    with pytest.raises(AssertionError):
        check(words)


@pytest.mark.parametrize("path", [CI, STACKS, SITE, CLASSROOM], ids=["ci", "stacks", "site", "classroom"])
def test_actions_have_a_version_and_no_more_rights_than_reading(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in used), used
    assert "secrets." not in path.read_text("utf-8")  # nothing that a pull request or a student could take


def test_only_the_job_that_publishes_the_site_may_and_it_runs_no_code() -> None:
    jobs = yaml.safe_load(SITE.read_text("utf-8"))["jobs"]
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "build": None,
        "publish": {"pages": "write", "id-token": "write"},
    }
    assert [list(step) for step in jobs["publish"]["steps"]] == [["id", "uses"]]
    built = [step for step in jobs["build"]["steps"] if step.get("run") == "make site"]
    (upload,) = [step for step in jobs["build"]["steps"] if "upload-pages" in step.get("uses", "")]
    assert built  # without SOLVED=1: what is published has no solutions
    assert Path(upload["with"]["path"]) == SiteOptions.__dataclass_fields__["out"].default
    assert "--solved" not in would_run("site")
    assert "--solved" in would_run("site", "SOLVED=1")


def test_ci_runs_all_that_make_test_runs_and_nothing_twice() -> None:
    made = [words for script in scripts(CI) for words in commands(script)]
    assert [words[1] for words in made] == ["setup", "test", "test-rest", "grade", "release"]
    run = would_run("test")
    for tool in ("ruff check", "ruff format --check", "mypy", "grader build --check", "pytest"):
        assert tool in run
    for setup in (step for step in steps(CI) if step.get("uses", "").startswith("actions/setup-python")):
        assert setup["with"]["cache"] == "pip"
        for path in setup["with"]["cache-dependency-path"].split():
            assert (ROOT / path).is_file()


def would_run(*target: str) -> str:
    """Return the commands of a target of the Makefile, without running them."""
    return subprocess.run(["make", "-n", *target], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_make_test_and_make_test_rest_are_all_tests() -> None:
    of_pytest = re.compile(r"pytest .*(?= -m)|-m (?:\"not slow\"|slow)$", re.MULTILINE)
    (fast, not_slow), (rest, slow) = (of_pytest.findall(would_run(target)) for target in ("test", "test-rest"))
    assert (fast, not_slow, slow) == (rest, '-m "not slow"', "-m slow")
    assert of_pytest.findall(would_run("test-all")) == [fast, not_slow, rest, slow]
    run = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert run[-3:] == ["export BROWSER_TESTS=required", "make test", "make test-rest"]


def test_ci_runs_on_each_python_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pythons = yaml.safe_load(CI.read_text("utf-8"))["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    named = [line.removeprefix(PYTHON) for line in project["classifiers"] if line.startswith(PYTHON)]
    assert named == pythons
    assert all(SpecifierSet(project["requires-python"]).contains(python) for python in pythons)


def test_both_workflows_use_the_same_actions_and_dependabot_sees_one() -> None:
    used = [{step["uses"] for step in steps(path) if "uses" in step} for path in (CI, STACKS, SITE, CLASSROOM)]
    assert used[1] <= used[0]  # the same major versions
    assert {action for action in used[2] if "pages" not in action} <= used[0]
    for one in yaml.safe_load(DEPENDABOT.read_text("utf-8"))["updates"]:
        where = {"github-actions": CI, "pip": ROOT / "constraints.txt"}[one["package-ecosystem"]]
        assert where.is_file()
        assert one["directory"] == "/"


@pytest.mark.parametrize(("cpus", "jobs"), [(1, "2"), (2, "3")])
def test_make_runs_one_test_more_at_once_than_it_may_use_cores(cpus: int, jobs: str) -> None:
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < cpus:
        pytest.skip(f"{len(mine)} core")
    command = ["taskset", "-c", ",".join(map(str, mine[:cpus])), "make", "-n", "test"]
    environment = {name: value for name, value in os.environ.items() if name not in ("JOBS", "MAKEFLAGS")}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert f"pytest -n {jobs} " in run.stdout


def test_make_knows_a_number_where_nothing_counts_the_cores(tmp_path: Path) -> None:
    (tmp_path / "nproc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "nproc").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["make", "-n", "test"]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "pytest -n 3 " in run.stdout


def test_the_template_for_students_is_not_active_here() -> None:
    assert [path.name for path in sorted((ROOT / ".github" / "workflows").iterdir())] == [
        CI.name,
        SITE.name,
        STACKS.name,
    ]
    assert "grade.yml" not in CI.read_text("utf-8")
