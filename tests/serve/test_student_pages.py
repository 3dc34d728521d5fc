"""What a student does here: sign in, hand in, read the verdict, hand in again, ask for another look."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from grader.classes.gradebook.reader import read_entry
from grader.course import lessons
from grader.report.page import without_solutions
from grader.serve import attempts
from grader.serve.site import Site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import grade, instructor, set_due, solved, student


@pytest.fixture(scope="module")
def graded(site: Site) -> Site:
    """The course after Ada has handed in twice: a part, then an unreadable file."""
    ada = student(site)
    for content in (solved(site, "1.1"), b'{"cells": '):
        assert ada.hands_in(content).status_code == 303
        grade(site)
    return site


def test_the_start_page_lists_the_assignments_with_due_dates(site: Site) -> None:
    set_due(site, datetime(2030, 1, 31, 18, tzinfo=UTC).replace(tzinfo=None), "2-heads")
    page = student(site, "bob").get("/").text
    assert re.findall(r'href="/a/([^"]+)"', page) == list(lessons())
    assert "31 Jan 2030, 18:00 UTC" in page
    assert "You have not submitted yet." in page


def test_the_notebook_is_the_released_one_and_hands_in_here(site: Site) -> None:
    answer = student(site).get(f"/a/{NAME}/notebook")
    released = (site.root / "notebooks" / NAME / f"{NAME}.ipynb").read_text("utf-8")
    assert "server=''" in released
    assert answer.content.decode() == released.replace("server=''", f"server='{site.settings.url}'")
    assert f"''{NAME}.ipynb" in answer.headers["content-disposition"]


def test_an_upload_is_on_the_disk_and_in_the_queue_when_it_is_acknowledged(site: Site) -> None:
    bob = student(site, "bob")
    content = solved(site, "1.1", remark="bob's first")
    answer = bob.hands_in(content)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/a/{NAME}")
    (attempt,) = attempts.attempts_of(site.store, "bob")
    folder = site.folder / "submitted" / ".attempts" / "bob" / NAME / attempt.place
    assert (folder / f"{NAME}.ipynb").read_bytes() == content
    assert (folder / "timestamp.txt").read_text().endswith(" UTC\n")
    page = bob.get(f"/a/{NAME}").text
    assert "in the queue" in page
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in page  # without JavaScript


def test_an_upload_waits_for_no_other_writer_of_the_gradebook(site: Site) -> None:
    """Formgrader or `grader grade` may hold it for seconds: nothing of it is read or written until an upload is acknowledged."""
    patient = student(site, "patient")
    token = patient.token()
    with closing(sqlite3.connect(site.gradebook.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        upload = {"notebook": ("mine.ipynb", solved(site, remark="while another one writes"))}
        answer = patient.browser.post(f"/a/{NAME}", data={"form_token": token}, files=upload)
        other.execute("ROLLBACK")
    assert answer.status_code == 303
    assert [one.state for one in attempts.attempts_of(site.store, "patient")] == [attempts.WAITING]


def test_the_same_file_again_is_no_new_attempt(site: Site) -> None:
    bob = student(site, "bob")
    content = solved(site, "1.1", remark="bob's first")
    again = bob.hands_in(content)
    assert again.status_code == 400
    assert "the same file as your attempt 1" in again.text
    assert len(attempts.attempts_of(site.store, "bob")) == 1
    folder = site.folder / "submitted" / ".attempts" / "bob" / NAME
    assert len(list(folder.iterdir())) == 1


def test_no_file_and_no_notebook_are_said_so(site: Site) -> None:
    ada = student(site)
    empty = ada.browser.post(f"/a/{NAME}", data={"form_token": ada.token()}, files={"notebook": ("", b"")})
    assert "Choose your notebook first." in empty.text
    assert f"This file is not a notebook. Choose the file {NAME}.ipynb" in ada.hands_in(b"%PDF-1.7").text


def test_the_verdict_is_shown_and_the_feedback_page_is_the_gradebooks(graded: Site) -> None:
    ada = student(graded)
    page = ada.get("/").text
    assert "5 of 100" in page
    feedback = ada.get(f"/a/{NAME}/feedback")
    file = graded.folder / "feedback" / "ada" / NAME / f"{NAME}.html"
    assert feedback.content == without_solutions(file.read_bytes())
    assert "sandbox" in feedback.headers["content-security-policy"]


def test_a_file_that_cannot_be_read_costs_nothing_that_was_there(graded: Site) -> None:
    page = student(graded).get(f"/a/{NAME}").text
    assert "The grader could not read this file." in page
    assert "It may be cut off: download it again." in page
    entry = read_entry(graded.gradebook, COURSE, "ada", NAME)
    assert entry is not None
    assert (entry.status, entry.score) == ("graded", 5.0)


def test_earlier_attempts_stay_readable(graded: Site) -> None:
    ada = student(graded)
    page = ada.get(f"/a/{NAME}").text
    assert "Your attempts" in page
    first, second = (ada.get(f"/a/{NAME}/attempts/{nth}") for nth in (1, 2))
    assert "Feedback for ada" in first.text
    assert "could not read" in second.text


def test_what_a_person_changes_in_the_gradebook_is_on_the_page_at_once(graded: Site) -> None:
    ada, eva = student(graded), instructor(graded)
    asked = ada.posts(f"/a/{NAME}/appeals", exercise="1.2", text="Please look <b>again</b>.")
    assert asked.status_code == 303
    assert "no decision yet" in ada.get(f"/a/{NAME}/feedback").text
    assert "You sent an appeal about 1.2. Your instructor has not decided yet." in ada.get(f"/a/{NAME}").text
    assert "has decided" not in ada.get(f"/a/{NAME}").text
    shown = eva.get("/class").text
    assert "Please look &lt;b&gt;again&lt;/b&gt;." in shown
    (number,) = re.findall(rf'href="/class/students/ada/{NAME}#appeal-(\d+)"', shown)
    assert f'action="/class/appeals/{number}"' in eva.get(f"/class/students/ada/{NAME}").text
    wrong = eva.posts(f"/class/appeals/{number}", points="many", comment="Well.")
    assert wrong.status_code == 400
    assert "is not a number of points" in wrong.text
    assert eva.posts(f"/class/appeals/{number}", points="nan", comment="Well.").status_code == 400
    assert eva.posts(f"/class/appeals/{number}", points="2", comment="You are right.").status_code == 303
    page = ada.get(f"/a/{NAME}/feedback").text
    assert "You are right." in page
    assert "Your instructor has decided your appeal about 1.2." in ada.get(f"/a/{NAME}").text
    assert "7 of 100" in ada.get("/").text
    assert re.search(r'<td class="right">7</td>', ada.get(f"/a/{NAME}").text)


def test_an_appeal_that_waits_is_not_made_twice(graded: Site) -> None:
    ada = student(graded)
    assert ada.posts(f"/a/{NAME}/appeals", exercise="1.3", text="Why?").status_code == 303
    twice = ada.posts(f"/a/{NAME}/appeals", exercise="1.3", text="Why?")
    assert (twice.status_code, "is still open" in twice.text) == (409, True)


def test_the_queue_is_told_as_it_changes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream of a student whose attempt is graded ends; one whose attempt waits says its place first."""
    monkeypatch.setattr("grader.serve.student_pages.LONGEST_STREAM", 0.2)
    zoe = student(site, "zoe")
    zoe.hands_in(solved(site, remark="zoe"))
    waiting = [one for one in attempts.everybodys(site.store) if one.is_open]
    ahead = [one.student for one in waiting].index("zoe")
    told = zoe.get(f"/a/{NAME}/events").text
    assert "event: state" in told
    assert (f"{ahead} attempt" if ahead else "next in the queue") in told
    newest = attempts.attempts_of(site.store, "zoe")[0]
    attempts.finish(site.store, replace(newest, state=attempts.GRADED, score=0.0, max_score=100.0, worth=0.0))
    assert "event: graded" in zoe.get(f"/a/{NAME}/events").text


def test_after_the_due_date_the_page_says_that_it_is_late(site: Site) -> None:
    set_due(site, datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=1), "3-vlm")
    assert "If you submit now, your attempt is late." in student(site, "bob").get("/a/3-vlm").text
