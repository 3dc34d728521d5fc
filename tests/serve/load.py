"""How many students can hand in at `grader serve` at once: the last minute before the due date, on this machine.

    python -m tests.serve.load [--students 200] [--seconds 60] [--jobs 1] [--attackers]

Each student signs in by the own link, loads the page, uploads a notebook at a moment of the minute, and loads two pages more,
all over loopback against the real server. While grading runs, pages are loaded on. The program ends when all is graded,
or after an hour. It fails if an upload is lost, or doubled, or has another score than it must.

With --attackers three more students upload all the time: one slowly, one notebooks whose cells sleep, one files of junk.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from itertools import count
from pathlib import Path
from statistics import median
from threading import Event

import httpx2
import nbformat

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
OPEN = "student LIKE 's%' AND state IN ('waiting', 'grading')"


@dataclass
class Times:
    """What was measured, in seconds."""

    acknowledged: list[float] = field(default_factory=list)  # from the upload's last byte to the answer
    pages: list[float] = field(default_factory=list)
    while_grading: list[float] = field(default_factory=list)  # pages after the last upload, before the last grade
    until_graded: list[float] = field(default_factory=list)  # from an honest upload to its grade
    handed_in: float = 0.0
    graded: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--attackers", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("GRADER_SECRET", "benchmark")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        attacks = ATTACKS if options.attackers else {}
        told = measure(Path(folder) / "course", options.students, options.seconds, options.jobs, attacks)
    rows = [
        {"seconds": name, "median": median(values), "slowest of 100": sorted(values)[int(0.99 * len(values))], "longest": max(values)}
        for name, values in vars(told).items()
        if isinstance(values, list)
    ]  # fmt: skip
    figures = {
        "students": options.students,
        "attackers": len(attacks),
        "handed_in_s": told.handed_in,
        "acknowledged_median_s": median(told.acknowledged),
        "page_while_grading_median_s": median(told.while_grading),
        "page_while_grading_max_s": max(told.while_grading),
        "graded_s": told.graded,
        "until_graded_median_s": median(told.until_graded),
        "until_graded_max_s": max(told.until_graded),
        "load_before": load,
        "load_after": os.getloadavg()[0],
    }
    publish("hand_in", figures, rows)


# Takes the server's URL, a token, an honest notebook, and what tells that it is over.
Attack = Callable[[str, str, bytes, Callable[[], bool]], None]


def measure(
    root: Path, students: int, seconds: float, jobs: int = 1, attacks: Mapping[str, Attack] | None = None
) -> Times:
    """Let a class hand in, and wait until all is graded.

    Args:
        attacks: what other students do meanwhile, by their ids.

    Raises:
        AssertionError: an upload was lost, or doubled, or has another score than it must.
    """
    names = [f"s{number:03}" for number in range(students)]
    attacks = attacks or {}
    course = course_on_free_port(root, [Student(id=name) for name in (*names, *attacks)])
    site, times, draw = open_site(course.root, None), Times(), random.Random(7)
    tokens = links_for(site.store, site.key, [*names, *attacks], STUDENT, 1)
    contents = {name: solved(site, "1.1", remark=name) for name in names}
    over = Event()
    with (
        running(course, "--jobs", str(jobs)) as url,
        ThreadPoolExecutor(AT_ONCE) as people,
        ThreadPoolExecutor(max(len(attacks), 1)) as attackers,
    ):
        for name, attack in attacks.items():
            attackers.submit(attack, url, tokens[name], contents[names[0]], over.is_set)
        began = time.monotonic()
        moments = sorted(draw.uniform(0.0, seconds) for _ in names)
        busy = [people.submit(_hand_in, url, tokens[name], contents[name], began + moment, times)
                for name, moment in zip(names, moments, strict=True)]  # fmt: skip
        for one in busy:
            one.result()
        times.handed_in = time.monotonic() - began
        _look_while_graded(url, tokens[names[0]], site.store.path, times)
        times.graded = time.monotonic() - began
        over.set()
    with closing(sqlite3.connect(site.store.path)) as db:
        honest = "FROM attempt WHERE student LIKE 's%' ORDER BY student"
        rows = db.execute(f"SELECT student, nth, state, score, counts {honest}").fetchall()
        spans = db.execute(f"SELECT received, finished {honest}").fetchall()
    times.until_graded += [
        (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() for first, last in spans
    ]
    assert rows == [(name, 1, "graded", SCORE, 1) for name in names]
    scores = {entry.student.id: entry.score for entry in read_class(course.url, COURSE)}
    assert {name: scores[name] for name in names} == dict.fromkeys(names, SCORE)
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
        while db.execute(f"SELECT count(*) FROM attempt WHERE {OPEN}").fetchone()[0]:
            assert time.monotonic() < deadline, "it takes too long"
            for path in (f"/a/{NAME}", "/", f"/a/{NAME}/notebook"):
                _timed(times.while_grading, lambda path=path: browser.get(path), 200)
            time.sleep(0.5)


# ---------------------------------------------------------------- students who want the places of others


def upload_slowly(url: str, token: str, honest: bytes, is_over: Callable[[], bool]) -> None:
    """Begin an upload of a MiB, and send a byte of it each second; begin again when the server has ended it."""

    def bytes_one_by_one() -> Iterator[bytes]:
        while not is_over():
            yield b"x"
            time.sleep(1.0)

    with closing(_signed_in(url, token)) as browser:
        headers = {"Content-Length": str(1 << 20), "Content-Type": "multipart/form-data; boundary=x"}
        while not is_over():
            with suppress(httpx2.HTTPError):
                browser.post(f"/a/{NAME}", content=bytes_one_by_one(), headers=headers)


def upload_sleepers(url: str, token: str, honest: bytes, is_over: Callable[[], bool]) -> None:
    """Upload notebooks whose first cell sleeps almost as long as a cell may, each other than the one before."""

    def sleeper(number: int) -> bytes:
        book = nbformat.reads(honest.decode(), as_version=4)
        book.cells.insert(0, nbformat.v4.new_code_cell(f"import time\ntime.sleep(55)  # {number}"))
        return nbformat.writes(book).encode()

    again_and_again(url, token, is_over, sleeper)


def upload_junk(url: str, token: str, honest: bytes, is_over: Callable[[], bool]) -> None:
    """Upload 20 MiB that are no notebook, each time other ones."""
    again_and_again(url, token, is_over, lambda number: f"{number}".encode() + b"[" * (20 << 20))


def again_and_again(url: str, token: str, is_over: Callable[[], bool], content: Callable[[int], bytes]) -> None:
    with closing(_signed_in(url, token)) as browser:
        for number in count():
            if is_over():
                return
            with suppress(httpx2.HTTPError):
                told = {"form_token": token_in(browser.get(f"/a/{NAME}"))}
                browser.post(f"/a/{NAME}", data=told, files={"notebook": ("mine.ipynb", content(number))})
            time.sleep(1.0)


ATTACKS: dict[str, Attack] = {"a-slow": upload_slowly, "a-sleeps": upload_sleepers, "a-junk": upload_junk}


if __name__ == "__main__":
    main()
