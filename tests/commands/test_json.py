"""`--json` of report, check, doctor and export: the lines of `grader grade --json`, with what the gradebook says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.sandbox.tiers import TIERS
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse
from tests.warm_python import run_python


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = SmallCourse.make(tmp_path_factory.mktemp("json") / "course")
    made.submit("s1", "1.1")
    made.submit("zoé", "1.1", "1.2")
    made.grade("submitted", "--json", "graded.jsonl")
    with Gradebook(made.url, COURSE) as gradebook:
        gradebook.find_grade("check-1-2", NAME, NAME, "zoé").manual_score = 2.5
        gradebook.find_comment("exercise-1-2", NAME, NAME, "zoé").manual_comment = "Half."
        gradebook.db.commit()
    return made


def lines(text: str) -> dict[str, dict]:
    return {line["student"]: line for line in map(json.loads, text.splitlines())}


def test_report_has_the_grade_and_what_the_gradebook_says(course: SmallCourse, tmp_path: Path) -> None:
    course.grader("report", "--json", str(tmp_path / "lines"))
    found = lines((tmp_path / "lines").read_text("ascii"))
    theirs = lines((course.root / "graded.jsonl").read_text("ascii"))
    assert set(found) == set(theirs) == {"s1", "zoé"}
    for student, line in found.items():
        # A class is read without checks and maps; all else of a grade is there, under the same names.
        assert set(theirs[student]) | {"gradebook"} == set(line)
        assert {key: line[key] for key in ("score", "status", "submission_sha256", "max_score")} == {
            key: theirs[student][key] for key in ("score", "status", "submission_sha256", "max_score")
        }
        assert [each["points"] for each in line["exercises"]] == [
            each["points"] for each in theirs[student]["exercises"]
        ]
    assert (found["zoé"]["score"], found["zoé"]["gradebook"]["score"]) == (10.0, 7.5)
    cell = found["zoé"]["gradebook"]["cells"]["1.2"]
    assert (cell["points"], cell["by_hand"], cell["comment"]) == (2.5, True, "Half.")


@pytest.mark.parametrize("command", [("report",), ("export", "csv", "--out", "{tmp}/scores.csv")])
def test_standard_output_holds_the_lines_alone(course: SmallCourse, tmp_path: Path, command: tuple[str, ...]) -> None:
    words = [word.format(tmp=tmp_path) for word in command]
    ran = run_python("grader", *words, "--json", "-", folder=course.root, environment=course.environment)
    assert ran.returncode == 0, ran.err
    assert set(lines(ran.out)) == {"s1", "zoé"}


def test_a_page_and_lines_together(course: SmallCourse, tmp_path: Path) -> None:
    said = course.grader("report", "--json", str(tmp_path / "l"), "--html", str(tmp_path / "h"))
    assert said.count("wrote ") == 2
    assert set(lines((tmp_path / "l").read_text())) == {"s1", "zoé"}


def test_export_writes_the_lines_of_what_it_exports(course: SmallCourse, tmp_path: Path) -> None:
    course.grader("export", "canvas", "--out", str(tmp_path / "c.csv"), "--json", str(tmp_path / "lines"))
    assert set(lines((tmp_path / "lines").read_text())) == {"s1", "zoé"}
    said = course.grader("export", "canvas", "--json", "-", status=2)
    assert "Pass --out FILE" in said


def test_check_writes_the_line_of_a_grade(course: SmallCourse) -> None:
    notebook = course.root / "submitted" / "s1" / NAME / f"{NAME}.ipynb"
    said = course.grader("check", str(notebook), "--json", "-")
    (line,) = map(json.loads, said.splitlines())
    theirs = lines((course.root / "graded.jsonl").read_text("ascii"))["s1"]
    assert set(line) == set(theirs)
    assert (line["score"], line["submission_sha256"]) == (5.0, theirs["submission_sha256"])
    assert line["exercises"][0]["checks"]
    assert "cannot write" in course.grader("check", str(notebook), "--json", "submitted", status=2)


def test_doctor_writes_an_object(course: SmallCourse, tmp_path: Path) -> None:
    said = course.grader("doctor", "--json", str(tmp_path / "machine.json"))
    assert said.startswith("isolation ")
    machine = json.loads((tmp_path / "machine.json").read_text())
    assert machine["isolation"] in TIERS
    assert f"isolation   {machine['isolation']}" in said
    assert machine["packages"]["torch"].startswith("2.")
    (alone,) = map(json.loads, course.grader("doctor", "--json", "-").splitlines())
    assert alone == machine
    assert "cannot write" in course.grader("doctor", "--json", "submitted", status=2)
