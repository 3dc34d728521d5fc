"""Grades a class of submissions side by side, and yields each grade as soon as it is made."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace

from grader.classes.workers.job import Course, Job, JobMaker, UnfitWorker, Workers, WorkersLost, parsed
from grader.course import max_score
from grader.grading.graded import Graded, again_if_starved, unless_starved, withheld
from grader.records import Grade
from grader.submission.file import Problem, SubmissionFile, fault

LOOK_SECONDS = 15.0  # after which to see why no job ends
ATTEMPTS = 2  # how often a job is handed to a worker before a dead worker counts as a fault


def grade_class(
    files: Iterable[SubmissionFile],
    course: Course,
    workers: Workers,
    recorded: Callable[[SubmissionFile, str], Grade | None],
    look_again: float | None = None,
) -> Generator[tuple[Job, Graded]]:
    """Grade a class, and yield each submission's job and grade once. Only a few jobs are in memory at a time.

    Args:
        recorded: called with a submission and the key of its grade. It returns the grade that an
            earlier run recorded under this key. It returns None if there is no such grade, or if
            the executed notebook has changed or is missing.
        look_again: the seconds after which `files` is asked for more submissions while jobs run.
            Even if the iterator has ended, it may then yield again. None if the class is complete.

    Raises:
        WorkersLost: the cluster's scheduler is gone. All grades that were yielded are valid.
    """
    make_job = JobMaker(course)
    remaining = iter(files)
    queue = _Queue(workers)
    try:
        while True:
            while queue.has_room() and (file := next(remaining, None)) is not None:
                job = make_job(file)
                if not course.force and (grade := recorded(file, job.key)) is not None:
                    yield job, Graded(grade=grade, recorded=True)
                    continue
                job = parsed(job)
                if job.file.problem:  # no worker is needed
                    yield job, _withheld(job, job.file.problem)
                else:
                    queue.submit(job)
            queue.submit_suspect()
            if queue.is_empty():
                queue.finished = True
                return
            yield from queue.done(look_again)
    finally:
        queue.close()


def grade_one(file: SubmissionFile, course: Course, grade: Callable[[Job], Graded]) -> tuple[Job, Graded]:
    """Grade one submission in this process, without looking for a recorded grade. An error becomes a fault.

    If this machine had too little CPU time for the submission, it is graded again.
    """
    job = parsed(JobMaker(course)(file))
    try:
        return job, again_if_starved(lambda: grade(job))
    except Exception as error:  # a fault of the grader, reported like a worker's
        return job, _lost(job, error)


class _Queue:
    """The jobs that workers have, and the suspects.

    Suspects are jobs that lost their worker, or got too little CPU time. Each suspect runs again
    while no other job runs.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._executor: Executor | None = None
        self._waiting: dict[Future, Job] = {}
        # One of these jobs killed its worker, and it is unknown which one: so they run again one at a time. For those
        # that timed out because neighbours took the time, there is no neighbour then.
        self._suspects: deque[Job] = deque()
        self.finished = False

    def has_room(self) -> bool:
        """Return True if a new job may start now: there is no suspect, and the workers have fewer jobs than allowed."""
        return not self._suspects and len(self._waiting) < self._workers.ahead()

    def is_empty(self) -> bool:
        """Return True if no job is left, neither with a worker nor among the suspects."""
        return not self._waiting and not self._suspects

    def submit_suspect(self) -> None:
        """Hand the first suspect to a worker, if there is a suspect and no worker has a job."""
        if self._suspects and not self._waiting:
            self.submit(self._suspects.popleft())

    def submit(self, job: Job) -> None:
        """Hand a job to a worker. Start the workers if no worker is running."""
        self._executor = self._executor or self._workers.start()
        try:
            future = self._executor.submit(self._workers.grade, job)
        except BrokenExecutor as error:  # a worker died between two jobs
            future = Future()
            future.set_exception(error)
        self._waiting[future] = job

    def done(self, look_again: float | None = None) -> Iterator[tuple[Job, Graded]]:
        """Yield each finished job with its grade. Wait until at least one job has ended.

        A job whose worker died becomes a suspect instead. After ATTEMPTS attempts, its grade is a
        fault. A job that timed out for lack of CPU time also becomes a suspect. After ATTEMPTS
        attempts, its grade is withheld. A worker that cannot grade gets no further job, and another
        worker gets its job, if there is one.

        Args:
            look_again: if a new job may start, the seconds after which to stop waiting; None to
                wait on.

        Raises:
            WorkersLost: the cluster's scheduler is gone, or no worker does anything.
        """
        began = time.monotonic()
        seconds = look_again if look_again is not None and self.has_room() else LOOK_SECONDS
        while not wait(self._waiting, seconds, FIRST_COMPLETED).done:
            if seconds == look_again:
                return
            self._workers.still_waiting(time.monotonic() - began)
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
            if isinstance(error, UnfitWorker) and self._workers.avoid(error):
                self._executor = None
                self.submit(job)
                continue
            graded = _lost(job, error) if error else future.result()
            if graded.starved and job.attempts < ATTEMPTS:
                self._suspects.append(replace(job, attempts=job.attempts + 1))
                continue
            yield job, unless_starved(graded)

    def close(self) -> None:
        """End the workers. Wait for their jobs if `finished` is True, otherwise stop the workers at once."""
        if self._executor is not None:
            with suppress(RuntimeError, OSError):  # a cluster may be gone already
                self._executor.shutdown(wait=self.finished)


def _error(future: Future) -> BaseException | None:
    """Return the error with which a job ended, or None if it ended without an error.

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
    """Return the grade of a job whose worker died or raised an error. Its status is "fault"."""
    why = str(error) if isinstance(error, UnfitWorker) else f"{type(error).__name__}: {error}"
    return _withheld(job, fault(f"a worker could not grade it ({why}). Run this again."))


def _withheld(job: Job, problem: Problem) -> Graded:
    """Return a grade without verdicts for a job that could not be graded because of this problem."""
    file, settings = job.file, job.settings
    return Graded(grade=withheld(file, problem, max_score(file.assignment), settings.tier, settings.device))
