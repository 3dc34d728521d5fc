"""Cells that the instructor added to grade by hand: nbgrader's manual answers and tasks."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from markupsafe import escape
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from tests.classes.gradebook.read_exports import exported, nbgrader_export, reported, score_on, table_of
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse, cells

WAITING = "needs manual grading"
ESSAY, FIGURE = "essay", "figure"  # worth 4 and 2
COMMENTS = {ESSAY: "Well <said>.", FIGURE: "The axes have no names."}


def with_manual_cells(notebook: NotebookNode) -> None:
    """Add a text to write and a task, as nbgrader's "create assignment" makes them."""
    common = {"schema_version": 3, "locked": False}
    essay = {**common, "grade_id": ESSAY, "grade": True, "solution": True, "task": False, "points": 4}
    figure = {**common, "grade_id": FIGURE, "grade": False, "solution": False, "task": True, "points": 2}
    for text, marks in (("Why does it scale?", essay), ("Draw a map below.", figure)):
        cell = nbformat.v4.new_markdown_cell(text, id=marks["grade_id"], metadata={"nbgrader": marks})
        notebook.cells.append(cell)


@pytest.fixture(params=["declared by us", "declared by nbgrader"])
def course(request: pytest.FixtureRequest, tmp_path: Path) -> SmallCourse:
    made = SmallCourse.make(tmp_path / "course", with_manual_cells)
    if request.param == "declared by nbgrader":
        made.nbgrader(("generate_assignment", NAME, "--force"))
    made.submit("s1", "1.1", written={ESSAY: "Because of √d_k."})
    made.grade()
    return made


def mark(course: SmallCourse) -> None:
    """Give 3.5 and 2 points, with comments, as formgrader does."""
    with Gradebook(course.url, COURSE) as gradebook:
        for cell, points in ((ESSAY, 3.5), (FIGURE, 2.0)):
            grade = gradebook.find_grade(cell, NAME, NAME, "s1")
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.find_comment(cell, NAME, NAME, "s1").manual_comment = COMMENTS[cell]
        gradebook.db.commit()


def scores(course: SmallCourse, folder: Path) -> set[float]:
    """Collect the total of s1 in every place where it leaves."""
    places = exported(course, folder) | reported(course, folder)
    theirs = nbgrader_export(course.url, folder)["s1"]["score"]
    return {float(score) for score in (theirs, *(said["s1"] for said in places.values()))}


@pytest.mark.fast_cases("declared by us")
def test_they_wait_and_then_they_count(course: SmallCourse, tmp_path: Path) -> None:
    assert scores(course, tmp_path) == {5.0}
    (row,) = table_of(tmp_path / "csv.out")
    assert (row["max_score"], row["needs_manual_grade"].lower() in ("yes", "true")) == ("106", True)
    page = course.page("s1")
    assert WAITING in page
    assert (score_on(page), "of 106" in page) == ("5", True)

    mark(course)
    assert scores(course, tmp_path) == {10.5}
    (row,) = table_of(tmp_path / "csv.out")
    assert row["needs_manual_grade"].lower() in ("no", "false", "")
    for again in ((), ("submitted", "--force")):
        course.grade(*again)
        page = course.page("s1")
        assert WAITING not in page
        assert score_on(page) == "10.5"
        assert all(str(escape(comment)) in page for comment in COMMENTS.values())
    assert scores(course, tmp_path) == {10.5}
    assert table_of(tmp_path / "canvas.out")[0][NAME] == "106"

    course.submit("s1", "1.1", "1.2", written={ESSAY: "I take it back."})
    course.grade()
    assert scores(course, tmp_path) == {15.5}
    assert [cells(course.url)["s1", cell].needs_manual_grade for cell in (ESSAY, FIGURE)] == [True, True]
    page = course.page("s1")
    assert "for an earlier submission" in page
    assert score_on(page) == "15.5"
    course.nbgrader(("generate_feedback", NAME))
    assert course.page("s1") == page
