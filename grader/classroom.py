"""A class of submissions: found, graded side by side, in any order that they finish."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from grader import job as work
from grader.course import lessons
from grader.executors import Workers
from grader.exercise import Grade
from grader.grading import Graded
from grader.job import Job, pack
from grader.store import code_digest, key_of
from grader.submission.found import Found, Unreadable
from grader.submission.intake import content
from grader.submission.notebook import parse

TRIES = 2  # how often a submission is given to a worker that does not come back


class WorkersLost(Exception):
    """Nobody is left to grade; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """What grading needs beside the submissions."""

    root: Path
    secret: str
    device: str  # cpu or cuda
    tier: str  # of isolation
    force: bool = False
    run_all: bool = False  # given cells that only draw, too


@dataclass(frozen=True, kw_only=True)
class Done:
    """One submission with its grade."""

    found: Found
    graded: Graded
    key: str  # what the grade depends on
    known: bool = False  # the grade was there already


@dataclass(frozen=True)
class _Task:
    job: Job
    key: str
    tries: int = 1


def grade_class(
    found: Iterable[Found], course: Course, workers: Workers, known: Callable[[Found, str], Grade | None]
) -> Iterator[Done]:
    """Grade a class; each submission once, as soon as it is done. Only a few are held at a time.

    Args:
        known: the grade that was given under a key already, if its record is whole.

    Raises:
        WorkersLost: the cluster's scheduler is gone; what was yielded stands.
    """
    prepare = _Preparation(course)
    rest = iter(found)
    waiting: dict[Future, _Task] = {}
    suspects: deque[_Task] = deque()  # one of them took a worker with it: each is tried again alone
    executor: Executor | None = None
    finished = False

    def hand_out(task: _Task) -> None:
        nonlocal executor
        executor = executor or workers.start()
        try:
            waiting[executor.submit(work.run, task.job)] = task
        except BrokenExecutor as error:  # a worker died while nobody looked
            future: Future = Future()
            future.set_exception(error)
            waiting[future] = task

    try:
        while True:
            while not suspects and len(waiting) < workers.ahead() and (one := next(rest, None)) is not None:
                read = prepare(one)
                if not course.force and (grade := known(one, read.key)) is not None:
                    yield Done(found=one, graded=Graded(grade=grade), key=read.key, known=True)
                    continue
                task = prepare.task(read)
                if task.job.found.problem:  # nothing of it needs a worker
                    yield Done(found=one, graded=_unreadable(task.job), key=task.key)
                else:
                    hand_out(task)
            if suspects and not waiting:
                hand_out(suspects.popleft())
            if not waiting:
                finished = True
                return
            wait(waiting, return_when=FIRST_COMPLETED)
            for future in [one for one in waiting if one.done()]:
                task = waiting.pop(future)
                error = _error(future)
                if isinstance(error, BrokenExecutor):
                    if executor is not None:
                        executor.shutdown(wait=False)
                        executor = None
                    if task.tries < TRIES:
                        suspects.append(replace(task, tries=task.tries + 1))
                        continue
                graded = _lost(task.job, error) if error else future.result()
                yield Done(found=task.job.found, graded=graded, key=task.key)
    finally:
        if executor is not None:
            with suppress(RuntimeError, OSError):  # a cluster may be gone already
                executor.shutdown(wait=finished)


def grade_here(one: Found, course: Course) -> Done:
    """Grade one submission in this process, whether it was graded before or not."""
    prepare = _Preparation(course)
    task = prepare.task(prepare(one))
    try:
        graded = work.run(task.job)
    except Exception as error:  # as where a worker could not do it: ours, and told as a fault
        graded = _lost(task.job, error)
    return Done(found=one, graded=graded, key=task.key)


def submission_key(one: Found, course: Course) -> str:
    """What a submission's grade depends on."""
    return _Preparation(course)(one).key


@dataclass(frozen=True)
class _Read:
    found: Found
    content: bytes
    key: str


class _Preparation:
    """Reads submissions and makes jobs of them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._released: dict[str, tuple[bytes, str]] = {}  # student notebook and code digest, by assignment

    def __call__(self, one: Found) -> _Read:
        course, raw = self._course, b""
        try:
            raw = content(one)
            digest = sha256(raw).hexdigest()
        except Unreadable as error:
            one = replace(one, problem=str(error))
            digest = sha256(one.problem.encode("utf-8", "replace")).hexdigest()
        code = self._course_of(one.assignment)[1]
        key = key_of(digest, code, course.secret, course.device, course.tier, str(course.run_all))
        return _Read(one, raw, key)

    def task(self, read: _Read) -> _Task:
        one, course = read.found, self._course
        if not one.problem:
            try:
                one = replace(one, submission=parse(read.content))
            except Unreadable as error:
                one = replace(one, problem=str(error))
        released, code = self._course_of(one.assignment)
        job = Job(
            found=one,
            released=released,
            code=code,
            secret=course.secret,
            device=course.device,
            tier=course.tier,
            run_all=course.run_all,
        )
        return _Task(job, read.key)

    def _course_of(self, assignment: str) -> tuple[bytes, str]:
        if assignment not in self._released:
            path = self._course.root / "notebooks" / assignment / f"{assignment}.ipynb"
            raw = path.read_bytes() if path.is_file() else b""  # an unknown assignment has none
            self._released[assignment] = pack(raw), code_digest(raw)
        return self._released[assignment]


def _error(future: Future) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        raise WorkersLost(
            "the connection to the scheduler was lost. The grades that were finished are kept; start the scheduler "
            "and the workers again, and run this again: it goes on where it stopped."
        ) from error


def _unreadable(job: Job) -> Graded:
    return _withheld(job, "unreadable", 0.0, job.found.problem)


def _lost(job: Job, error: BaseException) -> Graded:
    return _withheld(
        job, "fault", None, f"a worker could not grade it ({type(error).__name__}: {error}). Run this again."
    )


def _withheld(job: Job, status: str, score: float | None, message: str) -> Graded:
    lesson = lessons().get(job.found.assignment)
    grade = Grade(
        student=job.found.student,
        assignment=job.found.assignment,
        status=status,
        score=score,
        max_score=lesson.max_score if lesson else 0.0,
        message=message,
        isolation=job.tier,
        device=job.device,
    )
    return Graded(grade=grade)
