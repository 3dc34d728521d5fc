"""Which submissions are graded again, and when."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.classes.workers.grade_class import ATTEMPTS, grade_class, grade_one
from grader.classes.workers.job import Course, Job, Workers
from grader.grading.graded import Graded, withheld
from grader.records import GradingSettings
from grader.submission.file import Problem
from grader.submission.intake import find

ROOT = Path(__file__).parents[3]
STUDENTS = ("full-marks", "mask-inverted", "no-scaling", "other-style")
COURSE = Course(root=ROOT, settings=GradingSettings(secret="x", device="cpu", tier="full"), force=True)


class Grades:
    """Grades nothing: some submissions always get little time; counts who is graded beside whom."""

    def __init__(self, starved: Callable[[Job], bool]) -> None:
        self.calls: Counter[str] = Counter()
        self.beside: dict[str, int] = {}  # student → the most others at its last attempt
        self._starved, self._running, self._lock = starved, 0, threading.Lock()

    def __call__(self, job: Job) -> Graded:
        student = job.file.student
        with self._lock:
            self.calls[student] += 1
            self._running += 1
        time.sleep(0.1)
        with self._lock:
            self.beside[student] = self._running - 1
            self._running -= 1
        grade = withheld(job.file, Problem("not graded", "unreadable"), 100.0, "full", "cpu")
        return Graded(grade=grade, starved=self._starved(job))


@pytest.fixture
def files():
    everything = find(ROOT / "examples" / "submitted", ("1-attention",))
    return [file for file in everything if file.student in STUDENTS and file.assignment == "1-attention"]


def test_who_got_little_time_is_graded_again_alone_and_then_has_no_score(files):
    grades = Grades(lambda job: job.file.student == "mask-inverted")
    workers = Workers(start=lambda: ThreadPoolExecutor(4), grade=grades, ahead=lambda: 4)
    done = {job.file.student: graded.grade for job, graded in grade_class(files, COURSE, workers, lambda *_: None)}
    assert sorted(done) == sorted(STUDENTS)
    assert {student for student, grade in done.items() if grade.status == "fault"} == {"mask-inverted"}
    assert done["mask-inverted"].score is None
    assert "too busy" in done["mask-inverted"].message
    assert grades.calls == {student: ATTEMPTS if student == "mask-inverted" else 1 for student in STUDENTS}
    assert grades.beside["mask-inverted"] == 0
    assert max(grades.beside.values()) > 0


def test_one_alone_is_graded_again_once(files):
    grades = Grades(lambda job: True)
    _, graded = grade_one(files[0], COURSE, grades)
    assert graded.grade.status == "fault"
    assert grades.calls == {files[0].student: 2}


class Arriving:
    """Files of which one comes while the one before it is graded: in between, there is none."""

    def __init__(self, files):
        self._files, self._pause = iter(files), False

    def __iter__(self):
        return self

    def __next__(self):
        self._pause = not self._pause
        if not self._pause:
            raise StopIteration
        return next(self._files)


def test_what_comes_while_others_are_graded_is_graded_beside_them(files):
    started = threading.Barrier(2, timeout=20)  # of two jobs: each waits for the other

    def grade(job: Job) -> Graded:
        started.wait()
        return Graded(grade=withheld(job.file, Problem("not graded", "unreadable"), 100.0, "full", "cpu"))

    workers = Workers(start=lambda: ThreadPoolExecutor(4), grade=grade, ahead=lambda: 4)
    arriving = Arriving(files[:2])
    done = [job.file.student for job, _ in grade_class(arriving, COURSE, workers, lambda *_: None, look_again=0.05)]
    assert sorted(done) == sorted(file.student for file in files[:2])
