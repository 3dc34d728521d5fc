"""Killed at any moment, no acknowledged upload is lost, and each is graded once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from io import BytesIO
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from grader.classes.gradebook.reader import read_class
from grader.commands.options import GradeOptions
from grader.serve import attempts, grading
from grader.serve.attempts import Attempt
from grader.serve.site import Site, open_site
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import grade, open_course, solved

FORK = get_context("forkserver")
FORK.set_forkserver_preload(["grader.serve.grading"])  # so that a kill hits grading and not imports
PATIENCE = 600.0  # seconds: only a hang takes longer


def hand_in(site: Site, student: str, content: bytes) -> Attempt:
    """Do what the web server does with an upload."""
    upload = (student, NAME, *attempts.keep_upload(site.folder, student, NAME, BytesIO(content)))
    return attempts.enqueue(site.store, site.folder, upload, 100, 1 << 30)


def start(site: Site, jobs: int = 1) -> BaseProcess:
    """Start a process that grades until nothing waits."""
    process = FORK.Process(target=grade_all, args=(site.root, site.gradebook, jobs))
    process.start()
    return process


def grade_all(root: Path, url: str, jobs: int) -> None:
    site = open_site(root, url)
    with grading.only_one(site.folder):
        grading.grade_queue(site, GradeOptions(paths=[], root=root, device="cpu", jobs=jobs), wait=False)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)


def all_done(site: Site) -> bool:
    return not any(one.is_open for one in attempts.everybodys(site.store))


def check(site: Site, expected: dict[str, list[float]]) -> None:
    """Check that each attempt has its own verdict, and that the last one of each student is in gradebook and folders."""
    entries = {entry.student.id: entry for entry in read_class(site.gradebook, COURSE, NAME)}
    for student, scores in expected.items():
        own = list(reversed(attempts.attempts_of(site.store, student)))
        assert [one.score for one in own] == scores
        assert {one.state for one in own} == {attempts.GRADED}
        assert [one.counts for one in own] == [False] * (len(own) - 1) + [True]
        kept = [attempts.folder_of(site.folder, student, NAME, one.place) for one in own]
        assert all((folder / attempts.PAGE).is_file() and not (folder / "run").exists() for folder in kept)
        counting = site.folder / "submitted" / student / NAME / f"{NAME}.ipynb"
        assert counting.read_bytes() == (kept[-1] / f"{NAME}.ipynb").read_bytes()
        assert entries[student].score == scores[-1]
        assert entries[student].grade.submission_sha256 == own[-1].sha256


@pytest.mark.slow(held_by="tests/serve/test_killed_server.py::test_killed_between_any_two_steps")
def test_killed_at_30_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    draw = random.Random(7)
    site = open_course(tmp_path / "course", ())
    expected = {f"s{number}": [5.0 * (number % 2)] for number in range(50)}
    for name, (score,) in expected.items():
        hand_in(site, name, solved(site, *(["1.1"] if score else []), remark=name))
    for _ in range(30):
        process = start(site)
        time.sleep(draw.uniform(0.5, 4.0))
        process.kill()
        process.join()
    attempts.begin(site.store)
    attempts.again(site.store)  # those on which the process died twice
    process = start(site)
    wait_until(lambda: not process.is_alive())
    assert process.exitcode == 0
    check(site, expected)


@pytest.mark.slow(
    held_by="tests/classes/workers/test_grade_class.py::test_what_comes_while_others_are_graded_is_graded_beside_them"
)
def test_graded_two_at_a_time_each_has_its_own_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course", ())
    expected = {f"s{number}": [0.0, 5.0] for number in range(4)}
    for exercises in ([], ["1.1"]):
        for name in expected:
            hand_in(site, name, solved(site, *exercises, remark=name))
        process = start(site, jobs=2)
        process.join(PATIENCE)
        assert process.exitcode == 0
    check(site, expected)


class Killed(BaseException):
    """Nothing of the process runs after this."""


STEPS = ("write_atomically", "_record", "finish")  # what is written after a grade was made
MOMENTS = [f"{'before' if early else 'after'} step {number}" for number in range(1, 6) for early in (True, False)]


def kill_at(patched: pytest.MonkeyPatch, moment: str) -> None:
    """Let the process die at a moment: before or after one of the steps, counted from 1."""
    left = int(moment.split()[-1])

    def dying(step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0 and moment.startswith("before"):
                raise Killed
            result = step(*arguments, **named)
            if left == 0:
                raise Killed
            return result

        return taken

    patched.setattr(grading, "write_atomically", dying(grading.write_atomically))
    patched.setattr(grading.AttemptWriter, "_record", dying(grading.AttemptWriter._record))
    patched.setattr(attempts, "finish", dying(attempts.finish))


@pytest.mark.fast_cases("after step 4")
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_between_any_two_steps(site: Site, moment: str) -> None:
    name = moment.replace(" ", "-")
    hand_in(site, name, solved(site, "1.1", remark=moment))
    with pytest.MonkeyPatch.context() as patched:
        kill_at(patched, moment)
        with pytest.raises(Killed):
            grade(site)
    grade(site)
    check(site, {name: [5.0]})


def test_an_upload_that_was_not_acknowledged_leaves_the_queue_as_it_was(site: Site) -> None:
    place, _ = attempts.keep_upload(site.folder, "cut", NAME, BytesIO(b"{}"))
    assert attempts.folder_of(site.folder, "cut", NAME, place).is_dir()
    assert attempts.attempts_of(site.store, "cut") == []
