"""`grader check`: its exit status, what it writes for a platform, and what it says where nothing can be graded."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from grader.commands.check import run
from grader.commands.console import Terminal
from grader.commands.options import CheckOptions
from tests.classes.gradebook.small_course import NAME, SmallCourse

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "1-attention" / "1-attention.ipynb"
FILE = f"submitted/s1/{NAME}/{NAME}.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    """A course with a submission in which 1.1 alone is solved: 5 points."""
    made = SmallCourse.make(tmp_path_factory.mktemp("check") / "course")
    made.submit("s1", "1.1")
    (made.root / "unreadable.ipynb").write_text("no notebook")
    return made


@pytest.fixture(autouse=True)
def no_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_a_course_that_was_never_built_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    said = StringIO()
    terminal = Terminal(out=Console(file=StringIO()), err=Console(file=said, width=500))
    assert run(CheckOptions(notebook=NOTEBOOK, root=tmp_path), terminal) == 1
    missing = tmp_path / "notebooks" / "1-attention" / "1-attention.ipynb"
    assert said.getvalue() == f"grader: {missing} is missing; run: grader build\n"


@pytest.mark.parametrize(("points", "status"), [("5", 0), ("5.5", 1)])
def test_too_few_points_are_status_1_and_a_line_says_so(course: SmallCourse, points: str, status: int) -> None:
    said = course.grader("check", FILE, "--fail-under", points, status=status)
    line = f"grader: 5 of 100 points: below the {points} points of --fail-under\n"
    assert said.endswith(line) == bool(status)
    assert ("--fail-under" in said) == bool(status)


def test_the_files_for_a_platform_say_the_path_in_the_repository(
    course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "new" / "grade.xml"
    monkeypatch.setenv("CI_PROJECT_DIR", str(course.root / "submitted"))
    said = course.grader("check", FILE, "--junit", str(report), "--annotations", "gitlab")
    assert "wrote gl-code-quality-report.json" in said
    (suite,) = ElementTree.parse(report).getroot()
    inside = f"s1/{NAME}/{NAME}.ipynb"
    assert {case.get("file") for case in suite} == {inside}
    assert [case.find("failure") is None for case in suite if case.find("skipped") is None][:2] == [True, False]
    found = json.loads((course.root / "gl-code-quality-report.json").read_text("utf-8"))
    assert {one["location"]["path"] for one in found} == {inside}
    assert len(found) == int(suite.get("failures") or 0) >= 7
    lines = (course.root / FILE).read_text("utf-8").splitlines()
    for one in found:
        assert f"# @exercise {one['check_name']}" in lines[one["location"]["lines"]["begin"] - 1]


def test_github_reads_annotations_beside_standard_output(course: SmallCourse, capfd: pytest.CaptureFixture) -> None:
    said = course.grader("check", FILE, "--annotations", "github", "--json", "-")
    commands = [line for line in said.splitlines() if line.startswith("::error ")]
    assert commands[0].startswith(f"::error file={FILE},line=")
    assert ",title=1.2 " in commands[0]
    (line,) = [line for line in said.splitlines() if line.startswith("{")]
    lacking = [one for one in json.loads(line)["exercises"] if one["max_points"] and one["outcome"] != "PASSED"]
    assert len(commands) == len(lacking)


def test_what_cannot_be_read_fails_for_every_platform(course: SmallCourse, tmp_path: Path) -> None:
    report = tmp_path / "grade.xml"
    words = ("--assignment", NAME, "--fail-under", "0", "--junit", str(report), "--annotations", "github")
    said = course.grader("check", "unreadable.ipynb", *words, status=1)
    assert f"::error file=unreadable.ipynb,line=1,title={NAME}::unreadable: the file is not complete JSON" in said
    (suite,) = ElementTree.parse(report).getroot()
    assert [part.tag for case in suite for part in case] == ["error"]
