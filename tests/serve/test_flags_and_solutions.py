"""A flag stays whatever is handed in later, and a worked solution is shown only when it helps nobody any more."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.classes.results.pages import worked
from grader.records import COST_POINTS, Flag
from grader.report.page import without_solutions
from grader.serve import attempts
from grader.serve.flags import MOST_SHOWN, as_text, flags_of, from_text
from grader.serve.site import Site, open_site, show_solutions
from grader.serve.store import Store
from grader.submission.cells import answer_cell
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse
from tests.serve.people import grade, instructor, open_course, set_due, solved, student

BORROWED = "# @exercise 1.3\ndef stable_softmax(scores, dim=-1):\n    return torch.softmax(scores, dim)\n"
FLAG = "uses-builtin"
TITLE = "One way to solve it"
SCRIPT = "<script>alert(1)</script>"


def with_borrowed(site: Site, *right: str, remark: str = "") -> bytes:
    """Return a notebook with some right answers, and a softmax that calls torch's."""
    notebook = nbformat.reads(solved(site, *right, remark=remark), as_version=4)
    next(cell for cell in notebook.cells if cell.id == answer_cell("1.3")).source = BORROWED
    return nbformat.writes(notebook).encode()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A course in which Mallory has handed in an answer with a flag, and then a clean one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        site = open_course(tmp_path_factory.mktemp("flags") / "course")
        patched.setenv("GRADER_COURSE", str(site.root))
        mallory = student(site, "mallory")
        assert mallory.hands_in(with_borrowed(site, "1.1")).status_code == 303
        grade(site)
        assert mallory.hands_in(solved(site, "1.1", "1.2")).status_code == 303
        assert student(site, "ada").hands_in(solved(site, "1.1", remark="ada")).status_code == 303
        grade(site)
        yield site


def pages_of_the_instructor(site: Site) -> dict[str, str]:
    paths = ("/class", "/class/report", f"/class/feedback/mallory/{NAME}")
    return {path: instructor(site).get(path).text for path in paths}


# ---------------------------------------------------------------- flags


def test_the_flags_of_each_attempt_are_kept(course: Site) -> None:
    first, second = sorted(attempts.attempts_of(course.store, "mallory"), key=lambda one: one.nth)
    assert (first.counts, second.counts) == (False, True)
    assert [flag.kind for flag in from_text(first.flags)] == [FLAG]
    assert from_text(second.flags) == []


def test_the_instructor_reads_the_flags_of_all_attempts_wherever_one_looks(course: Site) -> None:
    for path, page in pages_of_the_instructor(course).items():
        assert FLAG in page, path
        assert "attempt 1" in page, path


def test_no_page_of_a_student_names_a_flag(course: Site) -> None:
    mallory = student(course, "mallory")
    for path in ("/", f"/a/{NAME}", f"/a/{NAME}/feedback", f"/a/{NAME}/attempts/1", f"/a/{NAME}/attempts/2"):
        page = mallory.get(path)
        assert page.status_code == 200
        assert FLAG not in page.text
        assert "Only you see this" not in page.text


def test_a_student_without_a_flag_has_none(course: Site) -> None:
    page = instructor(course).get("/class").text
    assert re.findall(r"<summary>(\w+)[^<]*: \d+ flags?</summary>", page) == ["mallory"]
    assert "Flags of all attempts" not in instructor(course).get(f"/class/feedback/ada/{NAME}").text


@pytest.mark.parametrize("later", ["unreadable", "the same file", "a worse one under best", "closed", "from before"])
def test_nothing_that_comes_later_washes_a_flag_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course")
    mallory, rules = student(site, "mallory", fresh=True), site.root / "serve.toml"
    if later == "a worse one under best":  # here the clean attempt counts, and the flagged one never does
        rules.write_text('[every]\ncounts = "best"\n')
        mallory.hands_in(solved(site, "1.1", "1.2"))
    mallory.hands_in(with_borrowed(site))
    grade(site)
    if later == "unreadable":
        mallory.hands_in(b'{"cells": ')
    elif later == "the same file":
        mallory.hands_in(solved(site, "1.1"))
        grade(site)
        mallory.hands_in(with_borrowed(site))
        grade(site)
        mallory.hands_in(solved(site, "1.1", remark="at last"))
    elif later == "closed":
        rules.write_text(f"[assignment.{NAME}]\nopen = false\n")
    elif later == "from before":  # an older version has not kept the attempt's flags, but the gradebook has
        site.store.change("UPDATE attempt SET flags = ''")
    grade(site)
    assert f"<b>{FLAG}</b>" in instructor(site).get("/class").text


def test_flags_that_an_older_version_did_not_keep(tmp_path: Path) -> None:
    """A store from before has no such column; its attempts have no flags, and the next ones do."""
    store = Store(tmp_path / "serve.db")
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("ALTER TABLE attempt DROP COLUMN flags")
        columns = "(student, assignment, place, sha256, nth, received, state)"
        db.execute(f"INSERT INTO attempt {columns} VALUES ('ada', 'a', 'p', 's', 1, '2030-01-01', 'graded')")
        db.commit()
    for _ in range(2):
        store = Store(store.path)
    (old,) = attempts.attempts_of(store, "ada")
    assert from_text(old.flags) == []
    attempts.finish(store, replace(old, flags=as_text([Flag(kind="draft", exercise=None, detail="d")])))
    (new,) = attempts.attempts_of(store, "ada")
    assert [flag.kind for flag in from_text(new.flags)] == ["draft"]


def test_flags_are_shown_once_with_the_attempts_that_have_them(course: Site) -> None:
    own = attempts.attempts_of(course.store, "mallory")
    flags = [Flag(kind="a", exercise=None, detail="x"), Flag(kind="b", exercise="1.1", detail="y")]
    second, first = (replace(one, flags=as_text(flags[: one.nth])) for one in own)
    shown = flags_of([second, first], None)
    assert [(one.flag.kind, one.where, one.counts) for one in shown] == [
        ("a", "attempts 1, 2", True),
        ("b", "attempt 2", True),
    ]


@pytest.mark.parametrize("text", [SCRIPT, "\ud800", "\x1b[2J", "'", "</ul>", "<body>"])
def test_a_flag_that_quotes_a_student_runs_nothing(course: Site, text: str) -> None:
    """Its detail may hold anything; one student with many flags does not fill the page."""
    many = [Flag(kind="reaches-inside", exercise="1.1", detail=f"{text} {number}") for number in range(MOST_SHOWN + 7)]
    first = attempts.attempts_of(course.store, "ada")[0]
    attempts.finish(course.store, replace(first, flags=as_text(many)))
    try:
        pages = [instructor(course).get(path) for path in ("/class", f"/class/feedback/ada/{NAME}", "/class/report")]
        assert {page.status_code for page in pages} == {200}
        assert all(SCRIPT not in page.text and "\x1b" not in page.text for page in pages)
        assert all("and 7 more" in page.text for page in pages[:2])
        assert student(course).get(f"/a/{NAME}").status_code == 200
    finally:
        attempts.finish(course.store, first)


def test_a_flag_of_an_attempt_that_does_not_count_is_not_said_to_have_cost_points_now(course: Site) -> None:
    assert FLAG in COST_POINTS
    page = unescape(instructor(course).get("/class/report").text)
    assert re.search(rf"<td>{FLAG}</td><td>1\.3</td><td>attempt 1: ", page)


# ---------------------------------------------------------------- solutions


def shows(site: Site, who: str = "ada") -> list[bool]:
    """Tell for each page of a student whether it has the worked solution of 1.1."""
    solution = worked(NAME).answers["1.1"]
    found = []
    for path in (f"/a/{NAME}/feedback", f"/a/{NAME}/attempts/1", f"/a/{NAME}/attempts/2"):
        page = student(site, who).get(path)
        if page.status_code == 200:
            text = unescape(page.text)
            assert (TITLE in text) == (solution.strip().splitlines()[-1] in text)
            found.append(TITLE in text)
    return found


def in_hours(hours: float) -> datetime:
    return (datetime.now(UTC) + timedelta(hours=hours)).replace(tzinfo=None)


@pytest.fixture
def due(course: Site) -> Iterator[Site]:
    """The course, whose due date is taken away again afterwards."""
    yield course
    with Gradebook(course.gradebook, COURSE) as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=None)


def test_without_a_due_date_solutions_are_shown_when_the_instructor_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course")
    ada, eva = student(site), instructor(site)
    ada.hands_in(solved(site, "1.1"))
    grade(site)
    assert shows(site) == [False, False]
    button = f"Show the solutions of {NAME}"
    assert button in eva.get("/class").text
    assert ada.posts("/class/solutions", assignment=NAME).status_code in (403, 404)
    assert eva.browser.post("/class/solutions", data={"assignment": NAME}).status_code == 403
    assert eva.posts("/class/solutions", assignment="9-none").status_code == 404
    assert eva.posts("/class/solutions", assignment="2-heads").status_code == 303
    assert shows(site) == [False, False]
    assert eva.posts("/class/solutions", assignment=NAME).status_code == 303
    assert shows(site) == [True, True]
    assert button not in eva.get("/class").text
    assert shows(open_site(site.root, None)) == [True, True]


def test_with_a_due_date_solutions_are_shown_after_it(due: Site) -> None:
    set_due(due, in_hours(1))
    assert shows(due) == [False, False]
    assert f"Show the solutions of {NAME}" not in instructor(due).get("/class").text
    assert instructor(due).posts("/class/solutions", assignment=NAME).status_code == 409
    set_due(due, in_hours(-1))
    assert shows(due) == [True, True]  # the page is made again
    set_due(due, in_hours(1))
    assert shows(due) == [False, False]


def test_who_has_an_extension_waits_for_the_own_due_date(due: Site) -> None:
    set_due(due, in_hours(-1))
    with Gradebook(due.gradebook, COURSE) as gradebook:
        gradebook.find_submission(NAME, "mallory").extension = timedelta(hours=5)
        gradebook.db.commit()
    assert shows(due, "ada") == [True, True]
    assert shows(due, "mallory") == [False] * 3
    with Gradebook(due.gradebook, COURSE) as gradebook:
        gradebook.find_submission(NAME, "mallory").extension = None
        gradebook.db.commit()


def test_what_the_instructor_opened_does_not_outlast_a_due_date(due: Site) -> None:
    show_solutions(due.store, NAME)
    set_due(due, in_hours(1))
    try:
        assert shows(due) == [False, False]
    finally:
        due.store.change("DELETE FROM solutions_shown")


@pytest.mark.parametrize("command", [("grade", "submitted"), ("grade", "submitted", "--force")], ids=" ".join)
def test_the_command_line_writes_solutions_and_no_student_reads_them_here(
    course: Site, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    small = SmallCourse(course.root)
    small.grader(*command)
    assert TITLE in small.page("ada")  # it is the instructor's
    assert shows(course) == [False, False]
    assert TITLE in small.page("ada")


def test_an_exercise_without_full_points_has_no_solution_either_way(due: Site) -> None:
    set_due(due, in_hours(-1))
    page = unescape(student(due).get(f"/a/{NAME}/feedback").text)
    assert page.count(TITLE) == 1


def test_what_a_student_writes_ends_no_solution_early() -> None:
    page = b'<p>&lt;/details&gt;</p><details class="solution"><pre>&lt;/details&gt; secret</pre></details><p>after</p>'
    assert without_solutions(page) == b"<p>&lt;/details&gt;</p><p>after</p>"
    assert without_solutions(b"no details") == b"no details"
