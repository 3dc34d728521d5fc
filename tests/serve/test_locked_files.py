"""Another program locks serve.db or the gradebook: nothing is lost, grading waits, and students read what concerns them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader.classes.gradebook import connection
from grader.classes.gradebook.errors import BusyError
from grader.classes.gradebook.writer import GradeWriter
from grader.serve import attempts, grading, student_pages
from grader.serve.site import Site
from grader.serve.store import Store, StoreError
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import Person, grade, instructor, set_due, solved, student
from tests.serve.queueing import Clock, states
from tests.serve.test_attacks import rules

NOTEBOOK = b'{"cells": []}'


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no lock."""
    monkeypatch.setattr("grader.serve.store.BUSY_SECONDS", 0.01)
    monkeypatch.setattr(connection, "LOCK_SECONDS", 0)
    monkeypatch.setattr(connection, "PAUSE", 0)


def lock(file: Path) -> sqlite3.Connection:
    """Lock a database as another program does that writes in it; closing the connection ends the lock."""
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    db.execute("BEGIN EXCLUSIVE")
    return db


@contextmanager
def waits_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Lock a file until grading has waited for it three times; yield the pauses."""
    db, pauses = lock(file), list[float]()

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            db.close()

    with monkeypatch.context() as patched:
        patched.setattr(grading, "time", Time(sleep))
        yield pauses
    db.close()


class Time:
    """The module `time` of grader/serve/grading.py."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self.sleep = sleep


def gradebook_of(site: Site) -> Path:
    return site.root / "gradebook.db"


def folders(site: Site, who: str) -> list[Path]:
    folder = site.folder / "submitted" / attempts.ATTEMPTS / who / NAME
    return list(folder.iterdir()) if folder.is_dir() else []


# ---------------------------------------------------------------- an upload


def test_an_upload_while_the_store_is_locked_leaves_nothing_behind(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    ada = student(site, "locked-out")
    token = ada.token()
    with closing(lock(site.store.path)):
        answer = ada.browser.post(f"/a/{NAME}", data={"form_token": token}, files={"notebook": ("a.ipynb", NOTEBOOK)})
    assert answer.status_code == 503
    assert (
        "The server could not store your file, because it cannot write at the moment. Try again in a minute."
        in answer.text
    )
    assert "serve.db" not in answer.text
    assert "serve.db cannot be used now (database is locked)" in caplog.text
    assert folders(site, "locked-out") == []
    assert ada.hands_in(NOTEBOOK).status_code == 303


@pytest.mark.parametrize("step", ["shutil.copyfileobj", "_to_disk"])
def test_an_upload_that_a_full_disk_stops_leaves_nothing_behind(
    site: Site, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*anything: Any) -> None:
        raise OSError(28, "No space left on device")

    ada = student(site, "full-disk")
    token = ada.token()
    with monkeypatch.context() as patched:
        patched.setattr(f"grader.serve.attempts.{step}", full)
        answer = ada.browser.post(f"/a/{NAME}", data={"form_token": token}, files={"notebook": ("a.ipynb", NOTEBOOK)})
    assert (answer.status_code, "No space" in answer.text) == (503, False)
    assert folders(site, "full-disk") == []


def test_an_upload_while_the_disk_of_the_store_is_full_leaves_nothing_behind(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, opened = student(site, "full-store"), Store._open
    token = ada.token()

    def full(self: Store) -> sqlite3.Connection:
        """Open the file so that it cannot grow."""
        db = opened(self)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    monkeypatch.setattr(Store, "_open", full)
    with rules(site, "[every]\nattempts_an_hour = 200\n"):
        for number in range(150):  # until the free part of the last pages is used up
            files = {"notebook": ("a.ipynb", f'{{"number": {number}}}'.encode())}
            answer = ada.browser.post(f"/a/{NAME}", data={"form_token": token}, files=files)
            if answer.status_code != 303:
                break
    assert (answer.status_code, "The server could not store your file" in answer.text) == (503, True)
    places = {one.place for one in attempts.attempts_of(site.store, "full-store")}
    assert {each.name for each in folders(site, "full-store")} == places


def test_a_server_that_starts_while_the_store_is_locked_says_why(site: Site) -> None:
    with closing(lock(site.store.path)), pytest.raises(StoreError, match="database is locked"):
        Store(site.store.path)


def test_signing_in_while_the_store_is_locked_is_refused_in_words(site: Site) -> None:
    eve = Person.of(site)
    link = eve.link("eve")
    with closing(lock(site.store.path)):
        answer = eve.opens_link(link)
    assert (answer.status_code, answer.text.startswith("The server cannot write at the moment.")) == (503, True)


# ---------------------------------------------------------------- grading


def test_grading_waits_for_the_store(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert student(site, "store").hands_in(solved(site, "1.1", remark="store")).status_code == 303
    with waits_for(site.store.path, monkeypatch) as pauses:
        grade(site)
    assert pauses == [grading.BUSY_PAUSE] * 3
    assert states(site, "store") == ["graded"]
    assert "serve.db cannot be used now (database is locked)" in capfd.readouterr().err


def test_grading_waits_for_the_gradebook_as_it_starts(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert student(site, "start").hands_in(solved(site, "1.1", remark="start")).status_code == 303
    with waits_for(gradebook_of(site), monkeypatch) as pauses:
        grade(site)
    assert pauses == [grading.BUSY_PAUSE] * 3
    assert states(site, "start") == ["graded"]
    assert "Close formgrader or the other run" in capfd.readouterr().err


@pytest.mark.parametrize("step", ["recorded", "finish"])
def test_grading_waits_for_a_gradebook_that_is_locked_later(
    site: Site, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Before it looks a grade up, and before it writes one. The student does not pay for the time."""
    clock = Clock()
    assert student(site, f"later-{step}").hands_in(solved(site, "1.1", remark=step)).status_code == 303
    own = {"recorded": grading.ResultsWriter, "finish": grading.AttemptWriter}[step]
    original, pauses, locks = getattr(own, step), list[float](), list[sqlite3.Connection]()

    def locked(self: Any, *arguments: Any) -> Any:
        if not locks:
            locks.append(lock(gradebook_of(site)))
        return original(self, *arguments)

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.passes(minutes=10)
        if len(pauses) == 3:
            locks[0].close()

    monkeypatch.setattr(attempts, "now", clock)
    monkeypatch.setattr(grading, "now", clock, raising=False)
    monkeypatch.setattr(own, step, locked)
    monkeypatch.setattr(grading, "time", Time(sleep))
    grade(site)
    assert pauses == [grading.BUSY_PAUSE] * 3
    (one,) = attempts.attempts_of(site.store, f"later-{step}")
    assert (one.state, one.tries, one.score, one.counts, one.seconds) == ("graded", 1, 5.0, True, 0.0)


def test_a_recorded_grade_whose_confirmation_had_to_wait_keeps_its_checks(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process had written the grade: the next one confirms it, and does not write it again without checks."""
    content = solved(site, "1.1", remark="confirmed")
    assert student(site, "confirmed").hands_in(content).status_code == 303
    grade(site)
    before = site.entry("confirmed", NAME)
    assert before is not None
    assert before.grade.verdicts
    site.store.change("UPDATE attempt SET state = 'waiting', counts = 0 WHERE student = 'confirmed'")
    confirm, calls = GradeWriter.confirm, []

    def busy(self: Any, *arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 1:
            raise BusyError("locked")
        return confirm(self, *arguments)

    monkeypatch.setattr(GradeWriter, "confirm", busy)
    monkeypatch.setattr(grading, "time", Time(lambda seconds: None))
    grade(site)
    after = site.entry("confirmed", NAME)
    assert after is not None
    assert (len(calls), after.grade.verdicts) == (2, before.grade.verdicts)


# ---------------------------------------------------------------- pages


@pytest.mark.parametrize("path", ["/", f"/a/{NAME}"])
def test_students_do_not_read_the_operators_text(site: Site, path: str, caplog: pytest.LogCaptureFixture) -> None:
    ada, eva = student(site), instructor(site)
    with closing(lock(gradebook_of(site))):
        page, overview = ada.get(path), eva.get("/class")
    assert (page.status_code, overview.status_code) == (503, 409)
    assert "The grades cannot be read or written at the moment. Your submissions are kept." in page.text
    for words in ("gradebook.db", "formgrader", "locked"):
        assert words not in page.text
        assert words in overview.text
        assert words in caplog.text


def test_an_appeal_while_the_gradebook_is_locked(site: Site) -> None:
    page = student(site, "appellant")
    assert page.hands_in(solved(site, "1.1", remark="appellant")).status_code == 303
    grade(site)
    token = page.token()
    data = {"form_token": token, "exercise": "1.1", "text": "Why?"}
    with closing(lock(gradebook_of(site))):
        answer = page.browser.post(f"/a/{NAME}/appeals", data=data)
    assert (answer.status_code, "gradebook.db" in answer.text) == (503, False)
    assert page.browser.post(f"/a/{NAME}/appeals", data={**data, "text": " "}).status_code == 409
    assert "The text is empty." in page.browser.post(f"/a/{NAME}/appeals", data={**data, "text": " "}).text


def test_a_stream_goes_on_while_the_gradebook_is_locked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """With feedback after the due date, the state of an attempt that is being graded asks the gradebook for that date."""
    lena = student(site, "lena")
    lena.hands_in(NOTEBOOK)
    set_due(site, datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1))
    site.store.change("UPDATE attempt SET state = 'grading' WHERE student = 'lena'")
    locked, looks = lock(gradebook_of(site)), list[str]()

    def state_of(*arguments: Any) -> str:
        try:
            looks.append(original(*arguments))
            site.store.change("UPDATE attempt SET state = 'graded' WHERE student = 'lena'")
            return looks[-1]
        finally:
            locked.close()

    original = student_pages.state_of
    monkeypatch.setattr(student_pages, "state_of", state_of)
    monkeypatch.setattr(student_pages, "LOOK_SECONDS", 0.0)
    with rules(site, '[every]\nfeedback = "after the due date"\n'):
        told = lena.get(f"/a/{NAME}/events").text
    assert looks == ["The grader is grading your attempt.", "Your attempt is graded."]
    assert [line for line in told.split("\r\n") if line.startswith("data")] == [f"data: {look}" for look in looks]
