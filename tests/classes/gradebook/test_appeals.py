"""A student's appeal: recorded, listed, decided through nbgrader's own points and comment, and shown on the page."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.reader import read_class
from tests.classes.gradebook.read_exports import exported, nbgrader_export, reported, score_on
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse, cells, comments

TEXT = "My <b>softmax</b> is right;\n=1+1, please look."
SHOWN = "My &lt;b&gt;softmax&lt;/b&gt; is right;\n=1+1, please look."


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = SmallCourse.make(tmp_path_factory.mktemp("graded") / "course")
    made.submit("s1", "1.1")
    made.submit("zoé", "1.1", "1.2")
    made.grade()
    return made


@pytest.fixture
def course(graded: SmallCourse, tmp_path: Path) -> SmallCourse:
    return graded.copy(tmp_path / "course")


def digest(course: SmallCourse, student: str) -> str:
    (entry,) = (each for each in read_class(course.url, COURSE) if each.student.id == student)
    return entry.grade.submission_sha256


def appeal(course: SmallCourse, student: str, exercise: str = "1.2", text: str = TEXT, status: int = 0) -> str:
    prefix = digest(course, student)[:8]
    return course.grader("appeal", "add", prefix, exercise, text, status=status)


def waiting(course: SmallCourse, *options: str) -> list[dict]:
    said = course.grader("appeal", "list", "--json", "-", *options)
    return [json.loads(line) for line in said.splitlines()]


def test_an_appeal_is_listed_and_on_the_page_until_it_is_decided(course: SmallCourse) -> None:
    before = cells(course.url)
    assert appeal(course, "s1").startswith(f"appeal 1: s1, {NAME}, 1.2\n")
    page = course.page("s1")
    assert SHOWN in page
    assert "Your appeal 1: no decision yet." in page
    assert "appeal" not in course.page("zoé")
    (listed,) = waiting(course)
    assert (listed["number"], listed["student"], listed["exercise"]) == (1, "s1", "1.2")
    assert (listed["text"], listed["points"], listed["max_points"]) == (TEXT, 0.0, 5.0)
    assert listed["submission_sha256"] == digest(course, "s1")
    table = course.grader("appeal", "list")
    assert "s1" in table
    assert "0 of 5" in table
    assert cells(course.url) == before  # nothing is decided yet
    course.grade()  # the page is current, and stays
    assert course.page("s1") == page


def test_points_go_through_nbgrader_and_leave_in_every_place(course: SmallCourse, tmp_path: Path) -> None:
    appeal(course, "s1")
    said = course.grader("appeal", "decide", "1", "--points", "4", "--comment", "You were <right>.")
    assert said.startswith(f"s1, {NAME}, 1.2: 0 of 5 → 4 of 5; score 5 → 9\n")
    cell = cells(course.url)["s1", "check-1-2"]
    assert (cell.auto, cell.manual, cell.score, cell.needs_manual_grade) == (0.0, 4.0, 4.0, False)
    assert comments(course.url) == {("s1", "exercise-1-2"): "On your appeal: You were <right>."}
    page = course.page("s1")
    assert score_on(page) == "9"
    assert "Your appeal 1: your instructor set the points on 2" in page
    assert "On your appeal: You were &lt;right&gt;." in page
    places = exported(course, tmp_path) | reported(course, tmp_path)
    theirs = nbgrader_export(course.url, tmp_path)["s1"]["score"]
    assert {float(score) for score in (theirs, *(said["s1"] for said in places.values()))} == {9.0}
    assert waiting(course) == []
    (listed,) = waiting(course, "--all")
    assert (listed["outcome"], listed["points"]) == ("points", 4.0)
    for again in ((), ("submitted", "--force")):
        course.grade(*again)
        assert cells(course.url)["s1", "check-1-2"].score == 4.0
        assert "your instructor set the points" in course.page("s1")
    course.nbgrader(("generate_feedback", NAME))
    assert "your instructor set the points" in course.page("s1")


def test_points_that_stay_are_only_commented(course: SmallCourse) -> None:
    with Gradebook(course.url, COURSE) as gradebook:
        gradebook.find_comment("exercise-1-2", NAME, NAME, "zoé").manual_comment = "Nice."
        gradebook.db.commit()
    appeal(course, "zoé")
    said = course.grader("appeal", "decide", "1", "--keep", "--comment", "It has all points.")
    assert "points kept; score 10 → 10" in said
    assert cells(course.url)["zoé", "check-1-2"].manual is None
    assert comments(course.url) == {("zoé", "exercise-1-2"): "Nice.\nOn your appeal: It has all points."}
    assert "your instructor kept the points" in course.page("zoé")


def test_an_appeal_stays_with_its_version(course: SmallCourse) -> None:
    appeal(course, "s1")
    course.submit("s1", "1.1", "1.2")
    course.grade()
    assert "no decision yet (about an earlier submission)" in course.page("s1")
    (listed,) = waiting(course)
    assert listed["submission_sha256"] != digest(course, "s1")


def test_two_students_with_the_same_file_are_told_apart(course: SmallCourse) -> None:
    course.submit("twin", "1.1")
    course.grade()
    said = appeal(course, "s1", status=2)
    assert "names several submissions: s1, twin. Pass more digits, or --student." in said
    said = course.grader("appeal", "add", digest(course, "s1")[:8], "1.2", TEXT, "--student", "twin")
    assert said.startswith("appeal 1: twin")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "{s1}", "1.77", "x"), "'1.77' has no points in 1-attention. Choose one of 1.1, 1.2"),
        (("add", "{s1}", "1.2", "  "), "what does the student ask for?"),
        (("add", "{s1}", "1.1", "again"), "appeal 1 of s1 about 1.1 is still open"),
        (("add", "abc", "1.2", "x"), "'abc' does not name a submission. Give the first 6 digits or more"),
        (("add", "s1s1s1", "1.2", "x"), "'s1s1s1' does not name a submission"),
        (("add", "000000", "1.2", "x"), "no submission in the gradebook begins with 000000"),
        (("decide", "9", "--keep", "--comment", "x"), "there is no appeal 9. Run grader appeal list --all to see all appeals."),
        (("decide", "9"), "there is no appeal 9. Run grader appeal list --all to see all appeals."),
        (("decide", "1", "--keep"), "pass --comment: the student reads on the page why"),
        (("decide", "1", "--comment", "x"), "pass either --points or --keep"),
        (("decide", "1", "--keep", "--points", "1", "--comment", "x"), "pass either --points or --keep"),
        (("decide", "1", "--points", "6", "--comment", "x"), "1.1 is worth 5 points, so 6 cannot be given"),
        (("decide", "1", "--points", "nan", "--comment", "x"), "so nan cannot be given"),
        (("decide", "1", "--points=-1", "--comment", "x"), "so -1 cannot be given"),
        (("decide", "1", "--keep", "--comment", " "), "pass --comment: the student reads on the page why"),
        (("list", "--gradebook", "sqlite:///nowhere.db"), "there is no gradebook yet"),
        (("list", "--json", "submitted"), "cannot write submitted: it is a folder"),
    ],
)  # fmt: skip
def test_a_wrong_use_is_one_line_and_changes_nothing(
    once: SmallCourse, arguments: tuple[str, ...], message: str
) -> None:
    before = once.file.read_bytes()
    words = [word.format(s1=digest(once, "s1")[:8]) for word in arguments]
    said = once.grader("appeal", *words, status=2)
    assert message in said
    assert said.count("\n") == 1
    assert once.file.read_bytes() == before


@pytest.fixture(scope="module")
def once(graded: SmallCourse, tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = graded.copy(tmp_path_factory.mktemp("appeals") / "course")
    appeal(made, "s1", "1.1")
    return made


def test_nobody_decides_twice(course: SmallCourse) -> None:
    appeal(course, "s1")
    course.grader("appeal", "decide", "1", "--points", "4", "--comment", "Yes.")
    said = course.grader("appeal", "decide", "1", "--points", "1", "--comment", "No.", status=2)
    assert "appeal 1 was decided on 2" in said
    assert cells(course.url)["s1", "check-1-2"].manual == 4.0


def test_a_gradebook_without_the_table_is_read_and_gets_it(course: SmallCourse) -> None:
    with closing(sqlite3.connect(course.file)) as db, db:
        db.execute("drop table grader_appeal")
    assert [entry.appeals for entry in read_class(course.url, COURSE)] == [(), ()]
    assert "no open appeals" in course.grader("appeal", "list")
    assert "no appeals" in course.grader("appeal", "list", "--all")
    appeal(course, "s1")
    assert len(waiting(course)) == 1


def test_the_page_is_written_beside_the_class_s_own_gradebook(course: SmallCourse, tmp_path: Path) -> None:
    other = tmp_path / "spring"
    other.mkdir()
    url = f"sqlite:///{other / 'gradebook.db'}"
    course.grade("submitted", "--gradebook", url)
    prefix = digest(course, "s1")[:8]
    course.grader("appeal", "add", prefix, "1.2", TEXT, "--gradebook", url)
    assert "no decision yet" in course.page("s1", other)
    assert "appeal" not in course.page("s1")
    assert read_config(course.root).course_id == COURSE
