"""Grade a class of submissions side by side; each grade is yielded as soon as it is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace

from grader.course import max_score
from grader.grading.grade import Graded
from grader.grading.withheld import withheld
from grader.records import Grade
from grader.submission.file import SubmissionFile
from grader.workers.job import Course, Job, JobMaker, parsed
from grader.workers.workers import Workers

ATTEMPTS = 2  # how often a submission is handed to a worker, if the worker dies


class WorkersLost(Exception):
    """No worker is left to grade; the message says what to do."""


def grade_class(
    files: Iterable[SubmissionFile],
    course: Course,
    workers: Workers,
    cached: Callable[[SubmissionFile, str], Grade | None],
) -> Generator[tuple[Job, Graded]]:
    """Grade a class, and yield each submission's job and grade once. Only a few jobs are in memory at a time.

    Args:
        cached: returns the grade of a submission under a key from the cache; None where it has none, or where what
            was recorded with it is incomplete.

    Raises:
        WorkersLost: the cluster's scheduler is gone; the grades that were yielded are valid.
    """
    make_job = JobMaker(course)
    remaining = iter(files)
    queue = _Queue(workers)
    try:
        while True:
            while queue.has_room() and (file := next(remaining, None)) is not None:
                job = make_job(file)
                if not course.force and (grade := cached(file, job.key)) is not None:
                    yield job, Graded(grade=grade, cached=True)
                    continue
                job = parsed(job)
                if job.file.problem:  # no worker is needed
                    yield job, _withheld(job, "unreadable", job.file.problem)
                else:
                    queue.submit(job)
            if queue.is_empty():
                queue.finished = True
                return
            yield from queue.done()
    finally:
        queue.close()


def grade_one(file: SubmissionFile, course: Course, grade: Callable[[Job], Graded]) -> tuple[Job, Graded]:
    """Grade one submission in this process, whether it is in the cache or not."""
    job = parsed(JobMaker(course)(file))
    try:
        return job, grade(job)
    except Exception as error:  # a fault of the grader, reported like a worker's
        return job, _lost(job, error)


class _Queue:
    """The jobs that workers have, and those that run again, one at a time, because a worker died."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._executor: Executor | None = None
        self._waiting: dict[Future, Job] = {}
        # One of these jobs killed its worker, and it is not known which: they run again one at a time.
        self._suspects: deque[Job] = deque()
        self.finished = False

    def has_room(self) -> bool:
        """Tell whether another job should be handed out now."""
        return not self._suspects and len(self._waiting) < self._workers.ahead()

    def is_empty(self) -> bool:
        """Tell whether no job is left. Where only suspects are left, hand out the first of them."""
        if self._suspects and not self._waiting:
            self.submit(self._suspects.popleft())
        return not self._waiting

    def submit(self, job: Job) -> None:
        """Hand a job to a worker."""
        self._executor = self._executor or self._workers.start()
        try:
            future = self._executor.submit(self._workers.grade, job)
        except BrokenExecutor as error:  # a worker died between two jobs
            future = Future()
            future.set_exception(error)
        self._waiting[future] = job

    def done(self) -> Iterator[tuple[Job, Graded]]:
        """Wait for a job to end, and yield all that ended with their grades; queue those whose worker died again."""
        wait(self._waiting, return_when=FIRST_COMPLETED)
        for future in [future for future in self._waiting if future.done()]:
            job = self._waiting.pop(future)
            error = _error(future)
            if isinstance(error, BrokenExecutor):
                if self._executor is not None:
                    self._executor.shutdown(wait=False)
                    self._executor = None
                if job.attempts < ATTEMPTS:
                    self._suspects.append(replace(job, attempts=job.attempts + 1))
                    continue
            yield job, _lost(job, error) if error else future.result()

    def close(self) -> None:
        """End the workers. Wait for them if all jobs are done; else they are ended while they work."""
        if self._executor is not None:
            with suppress(RuntimeError, OSError):  # a cluster may be gone already
                self._executor.shutdown(wait=self.finished)


def _error(future: Future) -> BaseException | None:
    """Return the error with which a job ended, if any.

    Raises:
        WorkersLost: the cluster's scheduler is gone.
    """
    try:
        return future.exception()
    except CancelledError as error:
        raise WorkersLost(
            "the connection to the scheduler was lost. The grades that were finished are kept; start the scheduler "
            "and the workers again, and run this again: it goes on where it stopped."
        ) from error


def _lost(job: Job, error: BaseException) -> Graded:
    """Make the grade of a job whose worker failed: a fault."""
    return _withheld(
        job, "fault", f"a worker could not grade it ({type(error).__name__}: {error}). Run this again."
    )


def _withheld(job: Job, status: str, message: str) -> Graded:
    settings = job.settings
    worth = max_score(job.file.assignment)
    return Graded(grade=withheld(job.file, status, message, worth, settings.tier, settings.device))
