"""How many students can hand in at `grader serve` at once: the last minute before the due date, on this machine.

    python -m tests.serve.load [--students 200] [--seconds 60] [--jobs 1]

Each student signs in by the own link, loads the page, uploads a notebook at a moment of the minute, and loads two pages more,
all over loopback against the real server. While grading runs, pages are loaded on. The program ends when all is graded,
or after an hour. It fails if an upload is lost, or doubled, or has another score than it must.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from statistics import median

import httpx2

from benchmarks import publish
from grader.classes.gradebook.reader import read_class
from grader.records import Student
from grader.serve.sign_in import STUDENT, links_for
from grader.serve.site import open_site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import solved, token_in
from tests.serve.running import course_on_free_port, running

AT_ONCE = 32  # browsers that talk at the same moment
PATIENCE = 3600.0  # seconds, for all
SCORE = 5.0


@dataclass
class Times:
    """What was measured, in seconds."""

    acknowledged: list[float] = field(default_factory=list)  # from the upload's last byte to the answer
    pages: list[float] = field(default_factory=list)
    while_grading: list[float] = field(default_factory=list)  # pages after the last upload, before the last grade
    handed_in: float = 0.0
    graded: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("GRADER_SECRET", "benchmark")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        told = measure(Path(folder) / "course", options.students, options.seconds, options.jobs)
    rows = [
        {"seconds": name, "median": median(values), "slowest of 100": sorted(values)[int(0.99 * len(values))], "longest": max(values)}
        for name, values in vars(told).items()
        if isinstance(values, list)
    ]  # fmt: skip
    figures = {
        "students": options.students,
        "handed_in_s": told.handed_in,
        "acknowledged_median_s": median(told.acknowledged),
        "page_while_grading_median_s": median(told.while_grading),
        "page_while_grading_max_s": max(told.while_grading),
        "graded_s": told.graded,
        "load_before": load,
        "load_after": os.getloadavg()[0],
    }
    publish("hand_in", figures, rows)


def measure(root: Path, students: int, seconds: float, jobs: int = 1) -> Times:
    """Let a class hand in, and wait until all is graded.

    Raises:
        AssertionError: an upload was lost, or doubled, or has another score than it must.
    """
    names = [f"s{number:03}" for number in range(students)]
    course = course_on_free_port(root, [Student(id=name) for name in names])
    site, times, draw = open_site(course.root, None), Times(), random.Random(7)
    tokens = links_for(site.store, site.key, names, STUDENT, 1)
    contents = {name: solved(site, "1.1", remark=name) for name in names}
    with running(course, "--jobs", str(jobs)) as url, ThreadPoolExecutor(AT_ONCE) as people:
        began = time.monotonic()
        moments = sorted(draw.uniform(0.0, seconds) for _ in names)
        busy = [people.submit(_hand_in, url, tokens[name], contents[name], began + moment, times)
                for name, moment in zip(names, moments, strict=True)]  # fmt: skip
        for one in busy:
            one.result()
        times.handed_in = time.monotonic() - began
        _look_while_graded(url, tokens[names[0]], site.store.path, times)
        times.graded = time.monotonic() - began
    with closing(sqlite3.connect(site.store.path)) as db:
        rows = db.execute("SELECT student, nth, state, score, counts FROM attempt ORDER BY student").fetchall()
    assert rows == [(name, 1, "graded", SCORE, 1) for name in names]
    assert {entry.student.id: entry.score for entry in read_class(course.url, COURSE)} == dict.fromkeys(names, SCORE)
    return times


class Upload(BytesIO):
    """A file that notes when its last bytes were read, to be sent."""

    ended = 0.0

    def read(self, size: int | None = -1) -> bytes:
        part = super().read(size)
        self.ended = time.monotonic() if part else self.ended
        return part


def _timed(times: list[float], ask: Callable[[], httpx2.Response], status: int) -> httpx2.Response:
    began = time.monotonic()
    answer = ask()
    times.append(time.monotonic() - began)
    assert answer.status_code == status, answer.text
    return answer


def _signed_in(url: str, token: str) -> httpx2.Client:
    browser = httpx2.Client(base_url=url, timeout=60)
    form_token = token_in(browser.get(f"/in/{token}"))
    browser.post("/in", data={"form_token": form_token, "token": token})
    return browser


def _hand_in(url: str, token: str, content: bytes, moment: float, times: Times) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))
    with closing(_signed_in(url, token)) as browser:
        page = _timed(times.pages, lambda: browser.get(f"/a/{NAME}"), 200)
        told, upload = {"form_token": token_in(page)}, Upload(content)
        answer = browser.post(f"/a/{NAME}", data=told, files={"notebook": ("mine.ipynb", upload)})
        while "Try again in a few seconds" in answer.text:  # where a machine is busy, more come at once than are taken
            time.sleep(2.0)
            upload = Upload(content)
            answer = browser.post(f"/a/{NAME}", data=told, files={"notebook": ("mine.ipynb", upload)})
        times.acknowledged.append(time.monotonic() - upload.ended)
        assert answer.status_code == 303, answer.text
        for path in (f"/a/{NAME}", "/"):
            _timed(times.pages, lambda path=path: browser.get(path), 200)


def _look_while_graded(url: str, token: str, store: Path, times: Times) -> None:
    """Load pages until no attempt waits."""
    deadline = time.monotonic() + PATIENCE
    with closing(_signed_in(url, token)) as browser, closing(sqlite3.connect(store, timeout=30)) as db:
        while db.execute("SELECT count(*) FROM attempt WHERE state IN ('waiting', 'grading')").fetchone()[0]:
            assert time.monotonic() < deadline, "it takes too long"
            for path in (f"/a/{NAME}", "/", f"/a/{NAME}/notebook"):
                _timed(times.while_grading, lambda path=path: browser.get(path), 200)
            time.sleep(0.5)


if __name__ == "__main__":
    main()
