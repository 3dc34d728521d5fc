"""A question in words, end to end: `grader grade`, formgrader's score, the page, the exports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from grader.build.questions import question_cells
from grader.build.student import student_notebook
from grader.course.lesson_1 import LESSON
from grader.submission.cells import written_cell
from tests.classes.gradebook.formgrader import formgrader
from tests.classes.gradebook.read_exports import exported, nbgrader_export, reported, score_on, table_of
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse, cells

QUESTION = "1.Q9"  # none of the lesson's own
CELL = written_cell(QUESTION)
SCHEME = "- names two jobs (2)"
SOURCE = f"### Why three?\n\nSay it.\n\n=== BEGIN MARK SCHEME ===\n{SCHEME}\n=== END MARK SCHEME ==="
TEXT = "Keys <find>;\nvalues hand over."
WAITING = "needs manual grading"


def make(folder: Path, points: float) -> SmallCourse:
    """Make a course whose lesson 1 ends with a question."""
    lesson = replace(LESSON, questions={QUESTION: points})
    notebooks: list[NotebookNode] = []  # the solution's first, then the students'

    def add(notebook: NotebookNode) -> None:
        solution = nbformat.v4.new_notebook(cells=question_cells(QUESTION, SOURCE, lesson))
        solution.nbformat_minor = 5
        notebook.cells += (student_notebook(NAME, solution) if notebooks else solution).cells
        notebooks.append(notebook)

    return SmallCourse.make(folder, add)


def mark(course: SmallCourse, points: float, comment: str) -> None:
    """Give points and a comment, as formgrader does."""
    with Gradebook(course.url, COURSE) as gradebook:
        grade = gradebook.find_grade(CELL, NAME, NAME, "s1")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.find_comment(CELL, NAME, NAME, "s1").manual_comment = comment
        gradebook.db.commit()


def scores(course: SmallCourse, folder: Path) -> set[float]:
    """Collect the total of s1 in every place where it leaves."""
    places = exported(course, folder) | reported(course, folder)
    theirs = nbgrader_export(course.url, folder)["s1"]["score"]
    return {float(score) for score in (theirs, *(said["s1"] for said in places.values()))}


def executed(course: SmallCourse) -> str:
    """Return the source of the text's cell in the executed notebook, which formgrader shows."""
    notebook = nbformat.read(course.root / "autograded" / "s1" / NAME / f"{NAME}.ipynb", as_version=4)
    (source,) = (cell.source for cell in notebook.cells if cell.id == CELL)
    return source


def test_with_points_it_waits_and_then_counts(tmp_path: Path) -> None:
    course = make(tmp_path / "course", points=4)
    course.submit("s1", "1.1", written={CELL: f"<!-- @question {QUESTION} -->\n{TEXT}"})
    course.grade()
    page = course.page("s1")
    assert (WAITING in page, "of 104" in page, score_on(page)) == (True, True, "5")
    assert "Keys &lt;find&gt;;\nvalues hand over." in page
    assert SCHEME not in page
    assert cells(course.url)["s1", CELL].needs_manual_grade
    assert "&#60;find&#62;" in executed(course)
    assert SCHEME in executed(course)  # for the instructor, in formgrader

    mark(course, 3, "Which <example>?")
    for again in ((), ("submitted", "--force")):
        course.grade(*again)
        page = course.page("s1")
        assert (WAITING in page, "3 of 4" in page, score_on(page)) == (False, True, "8")
        assert "Which &lt;example&gt;?" in page
    assert scores(course, tmp_path) == {8.0}
    assert table_of(tmp_path / "csv.out")[0][QUESTION] == "3"

    course.submit("s1", "1.1", written={CELL: "I take it back."})
    course.grade()
    assert cells(course.url)["s1", CELL].needs_manual_grade
    assert "for an earlier submission" in course.page("s1")
    course.nbgrader(("generate_feedback", NAME))
    assert "I take it back." in course.page("s1")


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_written_questions.py::test_with_points_it_waits_and_then_counts"
)
def test_a_person_marks_it_in_formgrader_by_the_mark_scheme(tmp_path: Path) -> None:
    course = make(tmp_path / "course", points=4)
    course.submit("s1", "1.1", written={CELL: TEXT})
    course.grade()
    with formgrader(course, tmp_path / "formgrader") as person:
        shown = person.submission("s1")
        for words in (SCHEME.removeprefix("- "), "values hand over."):
            assert words in shown
        assert person.needs_manual_grade("s1", CELL)
        assert WAITING in course.page("s1")
        assert "needs manual grading: 1.Q9" in " ".join(course.grader("report").split())
        assert "these submissions need manual grading in formgrader: s1" in course.grader("export", "csv")
        assert _gradescope_item(course)["output"].startswith("This answer needs manual grading.")
        person.mark("s1", CELL, manual=3)
        person.comment("s1", CELL, "Which one?")
        assert not person.needs_manual_grade("s1", CELL)
    assert scores(course, tmp_path) == {8.0}
    assert _gradescope_item(course)["score"] == 3.0
    assert "these submissions need manual grading" not in course.grader("export", "csv")
    course.grade()
    assert ("3 of 4" in (page := course.page("s1")), WAITING in page) == (True, False)


def _gradescope_item(course: SmallCourse) -> dict:
    """Return what results.json says of the question."""
    course.grader("export", "gradescope", "--out", "results.json", "--force")
    results = json.loads((course.root / "results.json").read_text("utf-8"))
    (item,) = (test for test in results["tests"] if test["number"] == QUESTION)
    return item


@pytest.mark.fast_cases("no points")
@pytest.mark.parametrize(("points", "text"), [(0, TEXT), (4, "")], ids=["no points", "nothing written"])
def test_nobody_waits_for_what_cannot_earn_points(tmp_path: Path, points: float, text: str) -> None:
    course = make(tmp_path / "course", points=points)
    course.submit("s1", "1.1", written={CELL: text} if text else {})
    course.grade()
    page = course.page("s1")
    assert WAITING not in page
    assert f"of {100 + points:g}" in page
    assert ("values hand over" if text else "You wrote nothing here.") in page
    assert not cells(course.url)["s1", CELL].needs_manual_grade
    assert scores(course, tmp_path) == {5.0}
    if not points:  # a person may still say something to it
        mark(course, 1, "Fine.")
        course.grade()
        assert ("1 point<" in (page := course.page("s1")), "Fine." in page, "1 of 0" in page) == (True, True, False)


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_written_questions.py::test_with_points_it_waits_and_then_counts"
)
def test_nbgraders_own_autograde_shows_the_mark_scheme_to_the_instructor_only(tmp_path: Path) -> None:
    course = make(tmp_path / "course", points=4)
    course.submit("s1", "1.1", written={CELL: TEXT})
    course.nbgrader(("generate_assignment", NAME, "--force"), ("autograde", NAME), ("generate_feedback", NAME))
    assert SCHEME in executed(course)
    page = course.page("s1")
    assert (SCHEME in page, WAITING in page) == (False, True)


def test_the_page_has_worked_solutions_of_what_was_passed_and_of_nothing_else(tmp_path: Path) -> None:
    course = make(tmp_path / "course", points=0)
    course.submit("s1", "1.1")
    course.grade()
    page = course.page("s1")
    assert page.count("One way to solve it") == 1
    assert page.count('<details class="solution">') == 1
    assert "torch.einsum(&#34;...qd,...kd-&gt;...qk&#34;, query, key)" in page
    assert "BEGIN SOLUTION" not in page
    assert "d_k**-0.5" not in page  # of 1.2
