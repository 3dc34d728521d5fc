"""`grader grade`: grade a class, and write gradebook, feedback pages, JSON lines and a table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from grader.commands.console import Terminal, wrong_assignment
from grader.course import lessons
from grader.execution.device import NoDevice, jobs_on, usable_device
from grader.execution.errors import IsolationError
from grader.execution.process import ServerProcess
from grader.execution.tiers import resolve_tier
from grader.gradebook.errors import RecordError, StudentNameError
from grader.grading.grade import master_notebook
from grader.grading.withheld import withheld
from grader.paths import cache_path
from grader.records import Grade, GradingSettings
from grader.report.class_page import class_page
from grader.report.jsonl import to_json
from grader.report.terminal import progress, table
from grader.results.cache import GradeCache
from grader.secret import SecretError, course_secret
from grader.submission.file import SubmissionFile, Unreadable
from grader.submission.intake import find
from grader.workers import worker
from grader.workers.cluster import NoCluster, cluster_workers
from grader.workers.grade_class import WorkersLost, grade_class
from grader.workers.job import Course
from grader.workers.local import default_jobs, local_workers
from grader.workers.workers import Workers

GRADED, SOME_NOT_GRADED, WRONG_USE = 0, 1, 2  # exit statuses


@dataclass(frozen=True, kw_only=True)
class GradeOptions:
    """The options of `grader grade`, as they were given."""

    paths: Sequence[Path]
    root: Path  # the course's folder
    assignment: str | None = None
    device: str = "auto"
    jobs: int | None = None
    scheduler: str | None = None
    isolation: str = "auto"
    json: Path | None = None
    html: Path | None = None
    gradebook: str | None = None
    force: bool = False
    run_all: bool = False

    @property
    def gradebook_url(self) -> str:
        """The gradebook's database URL."""
        return self.gradebook or f"sqlite:///{self.root / 'gradebook.db'}"

    @property
    def pages(self) -> Path:
        """The folder into which the class page is written."""
        return self.html or self.root / "feedback"


def run(options: GradeOptions, terminal: Terminal, server: ServerProcess | None = None) -> int:
    """Grade, record and report; return the exit status.

    Args:
        server: a fork server that was started early; it is used if its tier and device are the chosen ones.
    """
    known = tuple(lessons())
    if complaint := wrong_assignment(options.assignment, known):
        terminal.complain(complaint)
        return WRONG_USE
    with ExitStack() as stack:
        try:
            files, unreadable = _find(options.paths, known, options.assignment)
            course, workers = _prepare(options, len(files), stack, server)
        except (SecretError, NoDevice, IsolationError, NoCluster, DuplicateSubmission) as error:
            terminal.complain(error)
            return WRONG_USE
        if workers.note:
            terminal.complain(workers.note)
        try:
            grades = _grade(files, unreadable, course, workers, options, terminal)
            report = _write_report(options.pages, grades)
        except (RecordError, WorkersLost, OSError) as error:
            terminal.complain(error)
            return SOME_NOT_GRADED
        except KeyboardInterrupt:
            terminal.complain(
                "stopped. What was graded is kept; run this again, and it goes on where it stopped."
            )
            return SOME_NOT_GRADED
    terminal.out.print(table(grades))
    terminal.say(f"gradebook  {options.gradebook_url.removeprefix('sqlite:///')}")
    terminal.say(f"feedback   {options.pages}")
    terminal.say(f"report     {report}")
    return SOME_NOT_GRADED if any(grade.status != "graded" for grade in grades) else GRADED


def _prepare(
    options: GradeOptions, submissions: int, stack: ExitStack, server: ServerProcess | None
) -> tuple[Course, Workers]:
    """Choose device, tier and workers, on this machine or on a cluster. Closing the stack ends the workers.

    Args:
        submissions: their number.
    """
    secret = course_secret(options.root)
    if options.scheduler is None:
        device, tier = usable_device(options.device, options.isolation), resolve_tier(options.isolation)
        jobs = options.jobs or jobs_on(device, default_jobs(submissions))
        workers = stack.enter_context(local_workers(jobs, tier, device, worker.run, server))
    else:
        workers = stack.enter_context(cluster_workers(options.scheduler, options.device, worker.run))
        device = workers.device
        # The cluster's machines may differ. Each must reach the same tier, so `auto` means the highest.
        tier = "full" if options.isolation == "auto" else options.isolation
    settings = GradingSettings(secret=secret, device=device, tier=tier, run_all=options.run_all)
    return Course(root=options.root, settings=settings, force=options.force), workers


def _grade(
    files: Sequence[SubmissionFile],
    unreadable: Sequence[Grade],
    course: Course,
    workers: Workers,
    options: GradeOptions,
    terminal: Terminal,
) -> list[Grade]:
    """Grade and record each submission; return summaries of these grades and of `unreadable`, sorted."""
    grades = list(unreadable)
    cache = GradeCache(cache_path(course.root))
    cache.trim()
    if course.force or cache.empty():
        workers.warm_up()
    masters = {name: master_notebook(course.root, name) for name in lessons()}
    # These modules import nbgrader, which takes a second: meanwhile the workers start.
    from grader.gradebook.config import course_id, late_penalty
    from grader.gradebook.writer import open_gradebook
    from grader.results.writer import ResultsWriter, summary_of

    with ExitStack() as stack:
        # Open the gradebook before grading: if it cannot be written, report that now, not after an hour.
        writer = stack.enter_context(
            open_gradebook(
                options.gradebook_url,
                lessons(),
                masters,
                course=course_id(course.root),
                late_penalty=late_penalty(course.root),
            )
        )
        results = ResultsWriter(course.root, options.html, cache, writer)
        lines = stack.enter_context(_open_lines(options.json)) if options.json else None
        for grade in unreadable:
            _write_line(lines, to_json(grade))
        advance = stack.enter_context(progress(len(files), terminal.err))
        # Whatever happens, the stack closes the generator, and the generator then ends the workers.
        graded_class = stack.enter_context(closing(grade_class(files, course, workers, results.cached)))
        for job, graded in graded_class:
            try:
                line = results.record(job, graded)
            except StudentNameError as error:  # this grade is not recorded; the other grades are
                terminal.complain(error)
                line = to_json(graded.grade)
            _write_line(lines, line)
            grades.append(summary_of(graded.grade))
            advance(graded.grade)
    cache.trim()
    return sorted(grades, key=lambda grade: (grade.assignment, grade.student))


def _write_report(pages: Path, grades: Sequence[Grade]) -> Path:
    """Write the class page into a folder; return its path."""
    report = pages / "class.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(class_page(grades), "utf-8")
    return report


class DuplicateSubmission(Exception):
    """Two files are one student's submission of the same assignment."""


def _find(
    paths: Sequence[Path], known: tuple[str, ...], only: str | None
) -> tuple[list[SubmissionFile], list[Grade]]:
    """Find the submissions, and make an unreadable grade for each path in which no submission can be found.

    Args:
        known: the names of all assignments.
        only: the assignment whose submissions are wanted; None for all.

    Raises:
        DuplicateSubmission: two files are one student's submission of the same assignment.
    """
    files: dict[tuple[str, str], SubmissionFile] = {}
    unreadable = []
    for path in paths:
        try:
            for file in find(path, known, only):
                key = (file.student, file.assignment)
                if key in files:
                    raise DuplicateSubmission(
                        f"{file.student} handed in {file.assignment} twice: {files[key].path} and {file.path}"
                    )
                files[key] = file
        except Unreadable as error:
            file = SubmissionFile(path.stem, only or "", path.parent, (path.name,))
            unreadable.append(withheld(file, "unreadable", str(error), max_score=0.0))
    return list(files.values()), unreadable


def _open_lines(path: Path) -> TextIO:
    """Open the file of JSON lines for writing; make its folder first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8")


def _write_line(lines: TextIO | None, line: str) -> None:
    """Write a line to the file of JSON lines at once; do nothing if there is no such file."""
    if lines is not None:
        lines.write(line + "\n")
        lines.flush()
