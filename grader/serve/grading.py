"""Runs the process that grades. Only this process takes attempts out of the queue and writes automatic grades.

The order of the queue is that of shares.py. `python -m grader.serve.grading` reads its options as
JSON from the first line of standard input, so that other users of the machine do not see the
gradebook's password. It runs until standard input ends, which happens when the web server ends for
any reason.

After it has graded an attempt, the process takes these steps:

1. It writes the attempt's page.
2. If the attempt counts, it writes the files in submitted/, the gradebook and the feedback page, as
   `grader grade` does.
3. It sets the state of the attempt.

If the process is killed between two steps, the next process repeats all steps, and finds the grade
in the gradebook.

If this process ends because the web server ended, no attempt is to blame. If it ends for another
reason, the number of deaths of each attempt that it was grading increases by one, and
`attempts.begin` decides what happens to the attempt. While another program locks the gradebook or
the store, the process waits.
"""

import fcntl
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from grader.classes.gradebook.errors import BusyError, RecordError, StudentNameError
from grader.classes.gradebook.lateness import penalty_of
from grader.classes.gradebook.writer import open_gradebook
from grader.classes.results.folders import write_autograded
from grader.classes.results.pages import page_of
from grader.classes.results.writer import ResultsWriter
from grader.classes.workers.grade_class import grade_class
from grader.classes.workers.job import Job, WorkersLost
from grader.commands.console import Terminal
from grader.commands.grade import prepare
from grader.commands.options import GradeOptions
from grader.complaint import Complaint
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.grading.graded import Graded
from grader.paths import write_atomically
from grader.records import Grade, GradebookEntry
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.flags import as_text
from grader.serve.settings import BEST, SettingsError
from grader.serve.site import Site, open_site
from grader.serve.store import StoreError, now
from grader.submission.file import SubmissionFile

LOOK_SECONDS = 0.2  # seconds between two looks at the queue
MOST_TRIES = 2  # how often an attempt is graded whose grade is our fault
RECORD_TRIES, RECORD_PAUSE = 20, 3.0  # of a grade that the gradebook does not take; seconds between two tries
BUSY_PAUSE = 3.0  # seconds between two tries while another program locks the gradebook or the store

Result = TypeVar("Result")


def main() -> None:
    """Grade all waiting attempts and all later attempts, until standard input ends."""
    told = json.loads(sys.stdin.buffer.readline())
    grading: list[Site] = []  # the course, once no other process grades it
    threading.Thread(target=_end_with_server, args=(grading,), daemon=True).start()
    options = GradeOptions(paths=[], **{**told, "root": Path(told["root"])})
    try:
        site = when_free(lambda: open_site(options.root, options.gradebook))
        with only_one(site.folder):
            grading.append(site)
            grade_queue(site, options)
    except Complaint as error:
        sys.exit(f"grader: {error}")


def grade_queue(site: Site, options: GradeOptions, *, wait: bool = True) -> None:
    """Grade the waiting attempts of a class. With `wait`, also grade all later attempts, and never return."""
    for attempt in when_free(lambda: attempts.begin(site.store)):
        _say(attempt, attempt.message)
    with ExitStack() as stack:
        course, workers = prepare(options, tuple(lessons()), stack, Terminal(out=Console(), err=Console(stderr=True)))
        masters = {name: master_notebook(site.root, name) for name in lessons()}
        opening = (site.gradebook, lessons(), masters, site.course, site.config.late_penalty)
        gradebook = when_free(lambda: stack.enter_context(open_gradebook(*opening)))
        queue, writer = Queue(site, wait=wait), AttemptWriter(site, ResultsWriter(site.folder, None, gradebook))
        # The workers would take two jobs each. A job that waits for its worker would not be graded in the order of the
        # queue, and its student would pay for the time of the job before it.
        workers = replace(workers, ahead=partial(_one_each, workers.ahead))
        try:
            for job, graded in grade_class(queue, course, workers, writer.recorded, look_again=LOOK_SECONDS):
                writer.finish(queue.taken.pop(job.file.parts), job, graded)
        except WorkersLost as error:  # no attempt is to blame
            when_free(lambda: attempts.put_back(site.store))
            raise Complaint(str(error)) from error


def _one_each(ahead: Callable[[], int]) -> int:
    """Return the number of jobs that the workers may have at a time: one for each worker.

    `ahead` returns two jobs for each worker, or one job if there is only a single worker.
    """
    return max(1, ahead() // 2)


def _end_with_server(grading: list[Site]) -> None:
    """End this process when the web server ends, because the web server then closes this standard input."""
    while sys.stdin.buffer.read(1):
        pass
    for site in grading:
        with suppress(StoreError):
            attempts.put_back(site.store)
    os._exit(0)


def when_free(work: Callable[[], Result]) -> Result:
    """Call `work` and return its result. Wait and try again while another program locks gradebook or store."""
    while True:
        try:
            return work()
        except (BusyError, StoreError) as error:
            print(f"grader: {error} Grading continues after that.", file=sys.stderr, flush=True)
            time.sleep(BUSY_PAUSE)


def _say(attempt: Attempt, message: str) -> None:
    """Write a log line about an attempt to standard error."""
    print(
        f"grader: {attempt.student!r}, {attempt.assignment}, attempt {attempt.nth}: {message}",
        file=sys.stderr,
        flush=True,
    )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Wait until no other process grades this queue. Until the context ends, other processes wait.

    A grading process that has lost its web server needs a moment to end.
    """
    with (folder / ".grader" / "serve.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Queue(Iterator[SubmissionFile]):
    """The files to grade, as an iterator for `grade_class`.

    If no attempt may begin now, the iterator ends while jobs are running, and `grade_class` asks it
    again later. Without running jobs, it waits for the next attempt.
    """

    def __init__(self, site: Site, *, wait: bool) -> None:
        self._site, self._wait = site, wait
        self.taken: dict[tuple[str, ...], Attempt] = {}  # what is being graded, by the file's place

    def __next__(self) -> SubmissionFile:
        while (attempt := when_free(self._take)) is None:
            if self.taken or not self._wait:
                raise StopIteration
            time.sleep(LOOK_SECONDS)
        file = attempts.submission_of(self._site.folder, attempt)
        self.taken[file.parts] = attempt
        return file

    def _take(self) -> Attempt | None:
        return attempts.take(self._site.store, self._site.settings.grading_seconds_an_hour)


class AttemptWriter:
    """Writes the results of an attempt: its page, its grade in the gradebook and its state in the queue."""

    def __init__(self, site: Site, results: ResultsWriter) -> None:
        self._site, self._folder, self._results = site, site.folder, results
        self._waited: dict[tuple[str, ...], float] = {}  # seconds for the gradebook, by the file's place

    def recorded(self, file: SubmissionFile, key: str) -> Grade | None:
        """Return the grade with this key in the gradebook, or None if no such grade exists or can be read."""
        began = now()
        try:
            return when_free(lambda: self._results.recorded(file, key))
        except RecordError:  # to write the grade fails, too, and `finish` says why
            return None
        finally:
            self._waited[file.parts] = (now() - began).total_seconds()

    def finish(self, attempt: Attempt, job: Job, graded: Graded) -> None:
        """Write the page of a graded attempt, record its grade if it counts, and store its new state."""
        waited = self._waited.pop(attempts.submission_of(self._folder, attempt).parts, 0.0)
        spent = max(0.0, attempts.seconds_since(attempt, now()) - waited)
        attempt = replace(attempt, seconds=attempt.seconds + spent)
        try:
            ended = when_free(lambda: self._keep(attempt, job, graded))
        except (RecordError, OSError, SettingsError) as error:
            _say(attempt, str(error))
            ended = replace(attempt, state=attempts.FAULT, message=str(error))
        if ended.state == attempts.FAULT and attempt.tries < MOST_TRIES:
            ended = replace(ended, state=attempts.WAITING)
        when_free(lambda: attempts.finish(self._site.store, ended))

    def _keep(self, attempt: Attempt, job: Job, graded: Graded) -> Attempt:
        """Write the page and the grade of an attempt, and return the attempt in its new state.

        A grade that is withheld because of a grader error is not written.
        """
        grade = graded.grade
        if grade.status == attempts.FAULT:
            return replace(attempt, state=attempts.FAULT, message=grade.message)
        entry = self._entry(attempt, grade)
        worth = entry.score or 0.0
        before = attempts.counting(self._site.store, attempt.student, attempt.assignment)
        if before is not None:  # a due date or an extension may have been set since it was graded
            before = replace(before, worth=(before.score or 0.0) - self._lateness(before, before.score or 0.0)[0])
        counts = replaces(attempt, grade, worth, before, self._site.settings.policy(attempt.assignment).counts)
        self._keep_page(attempt, graded, entry)
        if counts:
            self._publish(attempt)
            self._record(job, graded)
        else:
            self._results.forget(job.file)
        message = grade.message if grade.status == attempts.UNREADABLE else ""
        ended = replace(attempt, state=grade.status, counts=counts, message=message, flags=as_text(grade.flags))
        return replace(ended, score=grade.score, max_score=grade.max_score, worth=worth)

    def _entry(self, attempt: Attempt, grade: Grade) -> GradebookEntry:
        """Return the gradebook entry that the attempt would get: its score minus nbgrader's late penalty."""
        score = grade.score or 0.0
        penalty, late = self._lateness(attempt, score)
        return replace(GradebookEntry.of(grade), score=score - penalty, penalty=penalty, seconds_late=late)

    def _lateness(self, attempt: Attempt, score: float) -> tuple[float, float | None]:
        """Return the attempt's late penalty in points, and its delay in seconds, or None without a due date.

        Both are computed from the due date that is set now.
        """
        due = self._site.due_dates(attempt.student).get(attempt.assignment)
        late = max(0.0, (attempt.when - due).total_seconds()) if due else None
        return penalty_of(self._site.config.late_penalty, attempt.student, score, late or 0.0) or 0.0, late

    def _keep_page(self, attempt: Attempt, graded: Graded, entry: GradebookEntry) -> None:
        """Write the feedback page into the attempt's folder, where later attempts do not replace it."""
        own = attempts.folder_of(self._folder, attempt.student, attempt.assignment, attempt.place)
        page = own / attempts.PAGE
        if graded.recorded:  # the bytes of the attempt that counts, or a killed process had come this far
            counted = self._site.feedback_path(attempt.student, attempt.assignment)
            if not page.exists() and counted.is_file():
                write_atomically(page, counted.read_bytes())
            return
        notebook = own / "run" / "none.ipynb"
        if graded.notebook is not None:
            notebook = write_autograded(own / "run", attempt.student, attempt.assignment, graded.notebook)
        write_atomically(page, page_of(entry, notebook).encode("utf-8", "replace"))
        shutil.rmtree(own / "run", ignore_errors=True)

    def _publish(self, attempt: Attempt) -> None:
        """Copy the attempt's notebook and timestamp to the folder that nbgrader and `grader grade` read."""
        source = attempts.folder_of(self._folder, attempt.student, attempt.assignment, attempt.place)
        target = self._folder / "submitted" / attempt.student / attempt.assignment
        for name in ("timestamp.txt", f"{attempt.assignment}.ipynb"):
            write_atomically(target / name, (source / name).read_bytes())

    def _record(self, job: Job, graded: Graded) -> None:
        """Write the grade into the gradebook. If that fails, try again a few times.

        Raises:
            RecordError: the last try failed, or another try would not help.
        """
        for left in reversed(range(RECORD_TRIES)):
            try:
                self._results.record(job, graded)
                return
            except (
                BusyError,
                StudentNameError,
            ):  # `finish` waits for the first; another try does not change the second
                raise
            except RecordError:
                if not left:
                    raise
                time.sleep(RECORD_PAUSE)


def replaces(attempt: Attempt, grade: Grade, worth: float, before: Attempt | None, rule: str) -> bool:
    """Return True if a new attempt counts from now on instead of the attempt `before`.

    An unreadable file never replaces a readable attempt, so a wrong file costs no points.

    Args:
        worth: the score of the new attempt minus its late penalty, in points.
        before: the attempt that counts so far, or None if no attempt counts yet.
        rule: "best" or "last": the attempt of a student that counts.
    """
    if before is None or before.id == attempt.id:
        return True
    if grade.status != "graded":
        return before.state == attempts.UNREADABLE
    if before.state == attempts.UNREADABLE:
        return True
    return worth > (before.worth or 0.0) if rule == BEST else attempt.nth > before.nth


if __name__ == "__main__":
    main()
