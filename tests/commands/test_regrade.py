"""`grader regrade`: one student is graded anew, whatever the gradebook knows, and the change is said."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse, cells
from tests.commands.platforms import CANVAS, download


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = SmallCourse.make(tmp_path_factory.mktemp("regrade") / "course")
    made.submit("s1", "1.1", "1.2")
    made.submit("s2", "1.1")
    made.grade()
    return made


@pytest.fixture
def course(graded: SmallCourse, tmp_path: Path) -> SmallCourse:
    return graded.copy(tmp_path / "course")


def spoil(course: SmallCourse, student: str, points: float) -> None:
    """Change an automatic score behind the grader's back, as an earlier grader may have given it."""
    with Gradebook(course.url, COURSE) as gradebook:
        gradebook.find_grade("check-1-2", NAME, NAME, student).auto_score = points
        gradebook.db.commit()


def runs(course: SmallCourse) -> dict[str, bytes]:
    """Return what this grader recorded of each student: a grade that was made anew has other seconds."""
    with closing(sqlite3.connect(course.file)) as db, db:
        query = """select a.student_id, r.line from grader_result r
                   join submitted_notebook n on n.id = r.notebook_id
                   join submitted_assignment a on a.id = n.assignment_id"""
        return dict(db.execute(query).fetchall())


def test_the_score_before_and_after_is_said_and_nobody_else_is_graded(course: SmallCourse) -> None:
    spoil(course, "s1", 1.0)
    spoil(course, "s2", 3.0)
    before = runs(course)
    said = course.grader("regrade", "s1")
    assert f"{NAME}: 6 → 10 of 100\n    1.2: 1 → 5\n" in said
    after = runs(course)
    assert (after["s1"] != before["s1"], after["s2"] == before["s2"]) == (True, True)
    assert cells(course.url)["s2", "check-1-2"].auto == 3.0
    assert f"{NAME}: 10 → 10 of 100\n" in course.grader("regrade", "s1", "--assignment", NAME)


def test_points_by_hand_stay(course: SmallCourse) -> None:
    with Gradebook(course.url, COURSE) as gradebook:
        gradebook.find_grade("check-1-2", NAME, NAME, "s1").manual_score = 2.0
        gradebook.db.commit()
    assert f"{NAME}: 7 → 7 of 100" in course.grader("regrade", "s1")
    assert cells(course.url)["s1", "check-1-2"].manual == 2.0


def test_a_file_that_is_not_the_graded_one_is_said(course: SmallCourse) -> None:
    course.submit("s1", "1.1")
    said = course.grader("regrade", "s1")
    assert f"{NAME}: 10 → 5 of 100\n    the file is not the one that was graded before\n" in said


def test_a_student_of_a_zip_is_graded_from_the_zip(course: SmallCourse, tmp_path: Path) -> None:
    zipped = download(
        tmp_path / "c.zip", {id: CANVAS[id] for id in ("12", "13")}, course.submit("t", "1.1").read_bytes()
    )
    course.grader("grade", str(zipped), "--assignment", NAME)
    said = course.grader("regrade", "12", status=2)
    assert "submitted/12 contains no submission of '12'" in said.replace("\n", "")
    said = course.grader("regrade", "12", "--from", str(zipped), "--assignment", NAME)
    assert f"{NAME}: 5 → 5 of 100" in said
    assert "13 " not in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody",), "contains no submission of 'nobody'"),
        (("../course",), "contains no submission of '../course'"),
        (("s1", "--assignment", "9-diffusion"), "contains no submission of 's1'"),
        (("s1", "--from", "nowhere"), "nowhere does not exist"),
        (("s1", "--from", "notebooks"), "contains no submission"),
    ],
)
def test_a_wrong_use_is_one_line(course: SmallCourse, arguments: tuple[str, ...], message: str) -> None:
    said = course.grader("regrade", *arguments, status=2)
    assert message in said
    assert said.count("\n") == 1
