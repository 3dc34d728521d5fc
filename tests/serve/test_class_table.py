"""The table of the class: what its cells say, how it is sorted and searched, and its CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from grader.classes.gradebook.lateness import set_extension
from grader.records import Appeal, CellScore, Flag, Grade, GradebookEntry, Student
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.class_table import Cell, ClassTable, Row, as_csv
from grader.serve.flags import as_text
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import grade, instructor, open_course, set_due, solved, student

FIRST = Attempt(
    id=1, student="s1", assignment="a", nth=1, received="2030-01-31T18:00:00+00:00", sha256="", place="", state=attempts.GRADED,
    tries=1, counts=True, score=50.0, max_score=100.0, worth=50.0, message="", finished="",
)  # fmt: skip
SECOND = replace(FIRST, id=2, nth=2, counts=False)
GRADE = Grade(student="s1", assignment="a", status="graded", score=50.0, max_score=100.0)
ENTRY = GradebookEntry.of(GRADE)
FLAG = Flag(kind="uses-builtin", exercise="1.3", detail="d")
APPEAL = Appeal(number=1, exercise="1.1", text="Why?", submission_sha256="", made="2030-01-31")
OPEN = replace(SECOND, state=attempts.WAITING)


@pytest.mark.parametrize(
    ("cell", "nth", "remarks"),
    [
        (Cell(), None, ["nothing submitted"]),
        (Cell(entry=ENTRY), None, []),  # graded with `grader grade`, without an upload
        (Cell(attempts=(SECOND, FIRST), entry=ENTRY), 1, []),
        (Cell(attempts=(OPEN,)), 2, ["in the queue"]),
        (Cell(attempts=(OPEN, FIRST), entry=ENTRY), 1, ["in the queue"]),
        (Cell(attempts=(replace(OPEN, state=attempts.GRADING),)), 2, ["being graded"]),
        (Cell(entry=replace(ENTRY, seconds_late=0.0)), None, []),
        (Cell(entry=replace(ENTRY, seconds_late=1.0)), None, ["late"]),
        (Cell(attempts=(replace(SECOND, flags=as_text([FLAG])), FIRST), entry=ENTRY), 1, ["1 flag"]),
        (Cell(entry=GradebookEntry.of(replace(GRADE, flags=(FLAG, replace(FLAG, kind="b"))))), None, ["2 flags"]),
        (Cell(entry=replace(ENTRY, appeals=(APPEAL,))), None, ["open appeal"]),
        (Cell(entry=replace(ENTRY, appeals=(replace(APPEAL, outcome="keep"),))), None, []),
        (Cell(entry=replace(ENTRY, cells={"q": CellScore(points=None, max_points=1.0, needs_manual_grade=True)})), None, ["needs manual grading"]),
        (Cell(attempts=(replace(FIRST, state=attempts.FAULT, counts=False),)), 1, ["not graded: grader error"]),
        (Cell(entry=GradebookEntry.of(replace(GRADE, status="fault", score=None))), None, ["not graded: grader error"]),
        (Cell(entry=GradebookEntry.of(replace(GRADE, status="unreadable", score=0.0))), None, ["unreadable"]),
    ],
)  # fmt: skip
def test_a_cell_says_what_became_of_the_attempts(cell: Cell, nth: int | None, remarks: Sequence[str]) -> None:
    assert (cell.attempt.nth if cell.attempt else None) == nth
    assert cell.remarks == remarks


def row(id: str, score: float | None, first: str = "", last: str = "") -> Row:
    cell = Cell() if score is None else Cell(entry=replace(ENTRY, score=score))
    return Row(student=Student(id=id, first_name=first, last_name=last), cells={"a": cell})


TABLE = ClassTable(
    columns={"a": "The first"},
    rows=[
        row("s3", 7.0, "Ada", "Yonath"),
        row("s1", None, "Émilie", "du Châtelet"),
        row("s2", 11.0),
        row("s4", 7.0, "Bo", "Abel"),
    ],
    size=4,
)


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, ["s1", "s2", "s3", "s4"]),
        ({"order": "desc"}, ["s4", "s3", "s2", "s1"]),
        ({"sort": "name"}, ["s4", "s1", "s3", "s2"]),  # who has no name is the last one
        ({"sort": "name", "order": "desc"}, ["s3", "s1", "s4", "s2"]),
        ({"sort": "a"}, ["s3", "s4", "s2", "s1"]),  # who has no score is the last one in both orders
        ({"sort": "a", "order": "desc"}, ["s2", "s3", "s4", "s1"]),
        ({"sort": "made-up", "order": "made-up"}, ["s1", "s2", "s3", "s4"]),
        ({"find": " ÉMILIE "}, ["s1"]),
        ({"find": "yon"}, ["s3"]),
        ({"find": "s", "sort": "a", "order": "desc"}, ["s2", "s3", "s4", "s1"]),
        ({"find": "nobody"}, []),
        ({"find": ".*"}, []),
    ],
)
def test_rows_are_sorted_and_searched(asked: dict[str, str], ids: list[str]) -> None:
    assert [row.student.id for row in TABLE.arranged(asked).rows] == ids


def test_the_head_of_a_column_sorts_and_a_second_click_turns_the_order() -> None:
    shown = TABLE.arranged({"sort": "a", "find": "s & t"})
    assert (shown.query(), shown.query("a")) == ("sort=a&order=asc&find=s+%26+t", "sort=a&order=desc&find=s+%26+t")
    assert shown.query("name") == "sort=name&order=asc&find=s+%26+t"
    assert [shown.aria_sort(column) for column in shown.heads] == ["", "", "ascending"]
    turned = TABLE.arranged({"sort": "a", "order": "desc"})
    assert (turned.query("a"), turned.query("student")) == ("sort=a&order=asc", "sort=student&order=asc")
    assert turned.aria_sort("a") == "descending"


def test_the_csv_has_the_rows_of_the_table_and_no_formula() -> None:
    evil = row("=1+1", -0.5, "@SUM(A1)", "+x")
    shown = replace(TABLE, rows=[*TABLE.rows[:2], evil])
    rows = list(csv.reader(io.StringIO(as_csv(shown))))
    assert rows == [
        ["student", "last_name", "first_name", "a", "a attempt", "a remarks"],
        ["s3", "Yonath", "Ada", "7", "", ""],
        ["s1", "du Châtelet", "Émilie", "", "", "nothing submitted"],
        ["'=1+1", "'+x", "'@SUM(A1)", "-0.5", "", ""],
    ]


# ---------------------------------------------------------------- on the page


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A course in which Ada, with an extension, has submitted twice, Bob waits, and Zoë, who is in no list, was late."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        site = open_course(tmp_path_factory.mktemp("table") / "course")
        for exercises in (("1.1",), ("1.1", "1.2")):
            student(site).hands_in(solved(site, *exercises))
            grade(site)
        set_due(site, datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=1))
        set_extension(site.gradebook, site.course, "ada", NAME, timedelta(hours=2), site.config.late_penalty)
        student(site, "zoë").hands_in(solved(site, "1.1", remark="zoë"))
        grade(site)
        student(site, "bob").hands_in(solved(site, "1.1", remark="bob"))
        return site


def cells(page: str) -> dict[str, list[str]]:
    """Return the texts of the table on the page of the class, by student."""
    rows = re.findall(r'<tr>\s*<th scope="row">(.*?)</th>(.*?)</tr>', page, re.DOTALL)
    texts = {id: re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for id, row in rows}
    return {id: [" ".join(unescape(re.sub("<[^>]+>", " ", text)).split()) for text in row] for id, row in texts.items()}


def test_the_page_has_a_row_for_each_student_and_a_column_for_each_assignment(course: Site) -> None:
    page = instructor(course).get("/class").text
    shown = cells(page)
    assert list(shown) == ["ada", "bob", "zoë"]
    assert shown["ada"][:2] == ["Ada Lovelace", f"10 points of ada in {NAME} attempt 2"]
    assert shown["ada"][2] == "– nothing submitted by ada for 2-heads"
    assert shown["bob"][1] == f"– points of bob in {NAME} attempt 1 in the queue"
    assert shown["zoë"][1] == f"5 points of zoë in {NAME} attempt 1 late"
    assert page.count('<th scope="col"') == 2 + len(course.open_assignments())
    assert f'href="/class/students/zo%C3%AB/{NAME}"' in page


def test_the_page_is_sorted_by_a_link_and_searched_by_a_form(course: Site) -> None:
    eva = instructor(course)
    page = eva.get(f"/class?sort={NAME}&order=desc").text
    assert list(cells(page)) == ["ada", "zoë", "bob"]
    assert page.count('aria-sort="descending"') == page.count("aria-sort") == 1
    (link,) = re.findall(rf'aria-sort="descending"><a href="([^"]+)">{NAME}', page)
    assert list(cells(eva.get(unescape(link)).text)) == ["zoë", "ada", "bob"]
    found = eva.get("/class?find=LOVE").text
    assert list(cells(found)) == ["ada"]
    assert "1 of 3 students with “LOVE”" in found
    assert 'value="LOVE"' in found
    assert "No student has “x&lt;b&gt;” in the name or id." in eva.get("/class?find=x<b>").text


@pytest.mark.parametrize(
    "query", ["find=%ff%00", "find=" + "x" * 3000, "sort=%ed%a0%80&order=", "sort=a&sort=b", "&&="]
)
def test_any_query_shows_a_page(course: Site, query: str) -> None:
    for path in ("/class", "/class/table.csv"):
        assert instructor(course).get(f"{path}?{query}").status_code == 200


def test_a_closed_assignment_with_submissions_keeps_its_column(course: Site) -> None:
    rules = course.root / "serve.toml"
    rules.write_text(f"[assignment.{NAME}]\nopen = false\n[assignment.2-heads]\nopen = false\n")
    try:
        page = instructor(course).get("/class").text
        assert cells(page)["ada"][1] == f"10 points of ada in {NAME} attempt 2"
        assert "2-heads" not in page
    finally:
        rules.unlink()


def test_the_csv_is_sorted_and_searched_as_the_page_is(course: Site) -> None:
    eva = instructor(course)
    (link,) = re.findall(r'href="(/class/table\.csv[^"]*)"', eva.get(f"/class?sort={NAME}&order=desc&find=a").text)
    answer = eva.get(unescape(link))
    assert answer.headers["content-disposition"] == 'attachment; filename="class.csv"'
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert [row[:6] for row in rows] == [
        ["student", "last_name", "first_name", NAME, f"{NAME} attempt", f"{NAME} remarks"],
        ["ada", "Lovelace", "Ada", "10", "2", ""],
    ]
