"""Many students hand in at the same time, to the real server: no upload is lost or doubled, and pages come soon meanwhile."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median

import httpx2
import pytest

from grader.classes.gradebook.reader import read_class
from grader.records import Student
from grader.serve.sign_in import STUDENT, links_for
from grader.serve.site import open_site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import solved, token_in
from tests.serve.running import course_on_free_port, running

STUDENTS, AT_ONCE = 60, 8
PATIENCE = 600.0


@pytest.mark.slow(held_by="tests/serve/test_killed_server.py::test_killed_between_any_two_steps")
def test_a_class_hands_in_within_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    names = [f"s{number:03}" for number in range(STUDENTS)]
    course = course_on_free_port(tmp_path / "course", [Student(id=name) for name in names])
    site = open_site(course.root, None)
    tokens = links_for(site.store, site.key, names, STUDENT, 1)
    contents = {name: solved(site, "1.1", remark=name) for name in names}
    took: list[float] = []
    pages: list[float] = []

    def timed(times: list[float], ask: Callable[[], httpx2.Response], status: int) -> httpx2.Response:
        began = time.monotonic()
        answer = ask()
        times.append(time.monotonic() - began)
        assert answer.status_code == status, answer.text
        return answer

    with running(course) as url:

        def hand_in(name: str) -> None:
            with httpx2.Client(base_url=url, timeout=60) as browser:
                token = token_in(browser.get(f"/in/{tokens[name]}"))
                browser.post("/in", data={"form_token": token, "token": tokens[name]})
                page = timed(pages, lambda: browser.get(f"/a/{NAME}"), 200)
                told, files = {"form_token": token_in(page)}, {"notebook": ("mine.ipynb", contents[name])}
                timed(took, lambda: browser.post(f"/a/{NAME}", data=told, files=files), 303)
                timed(pages, lambda: browser.get("/"), 200)

        began = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as people:
            list(people.map(hand_in, names))
        handed_in = time.monotonic() - began
        wait_until_graded(site.store.path)
        graded = time.monotonic() - began
    with closing(sqlite3.connect(site.store.path)) as db:
        rows = db.execute("SELECT student, nth, state, score, counts FROM attempt ORDER BY student").fetchall()
    assert rows == [(name, 1, "graded", 5.0, 1) for name in names]
    assert {entry.student.id: entry.score for entry in read_class(course.url, COURSE)} == dict.fromkeys(names, 5.0)
    print(
        f"{STUDENTS} students in {handed_in:.1f} s, all graded after {graded:.0f} s; acknowledged after {median(took):.3f} s "
        f"(longest {max(took):.3f}); pages {median(pages):.3f} s (longest {max(pages):.3f})"
    )
    assert median(took) < 1.0  # on a machine of its own it is a small part of that
    assert median(pages) < 1.0


def wait_until_graded(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    with closing(sqlite3.connect(path, timeout=30)) as db:
        while db.execute("SELECT count(*) FROM attempt WHERE state IN ('waiting', 'grading')").fetchone()[0]:
            assert time.monotonic() < deadline, "it takes too long"
            time.sleep(0.5)
