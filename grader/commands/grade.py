"""`grader grade`: grades a class, and writes the gradebook, feedback pages, JSON lines and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.classes.gradebook.errors import RecordError, StudentNameError, shown
from grader.classes.workers import worker
from grader.classes.workers.cluster import cluster_workers
from grader.classes.workers.grade_class import grade_class
from grader.classes.workers.job import Course, Workers, WorkersLost
from grader.classes.workers.local import default_jobs, local_workers
from grader.commands import stopping
from grader.commands.console import Terminal, check_assignment
from grader.commands.given_file import CannotWrite, read_own_file, writing
from grader.commands.head_start import is_new
from grader.commands.options import GradeOptions
from grader.complaint import Complaint
from grader.course import assignment_by_exercise, lessons
from grader.course.trainings.recorded import read_kept
from grader.grading.grade import master_notebook, run_trainings
from grader.grading.graded import withheld
from grader.records import Grade, GradebookEntry, GradingSettings
from grader.report.jsonl import to_json
from grader.report.services.moodle import drafts
from grader.report.terminal import progress, table
from grader.report.text import clean
from grader.sandbox.device import jobs_on, usable_device
from grader.sandbox.process import ServerProcess
from grader.sandbox.tiers import resolve_tier
from grader.secret import course_secret
from grader.submission.downloads import pattern_of_names
from grader.submission.file import NoSuchPath, SubmissionFile
from grader.submission.intake import find_all

if TYPE_CHECKING:
    from grader.classes.gradebook.config import CourseConfig
    from grader.classes.results.writer import ResultsWriter

GRADED, SOME_NOT_GRADED = 0, 1  # exit statuses


def run(options: GradeOptions, terminal: Terminal, server: ServerProcess | None = None) -> int:
    """Grade a class, record the grades, and report them.

    Args:
        server: a fork server that was started early. It is used if it has the chosen tier and
            device.

    Returns:
        the exit status: 1 if a submission was not graded, otherwise 0.
    """
    known = tuple(lessons())
    check_assignment(options.assignment, known)
    _check_paths(options)
    with ExitStack() as stack:
        files, failed = _find(options, known)
        unreadable = [withheld(file, file.problem, max_score=0.0) for file in failed if file.problem]
        assignments = [file.assignment for file in files]
        course, workers = prepare(options, assignments, stack, terminal, server)
        if workers.note:
            terminal.complain(workers.note)
        try:
            results = _grade(files, unreadable, course, workers, options, terminal)
        except (RecordError, CannotWrite, WorkersLost, OSError) as error:
            terminal.complain(error)
            return SOME_NOT_GRADED
        except KeyboardInterrupt:
            terminal.complain("stopped. All finished grades are kept. Run the command again to continue.")
            return SOME_NOT_GRADED
    terminal.out.print(table(results.entries))
    if results.not_counted_late:
        terminal.complain(_about_late(results.not_counted_late))
    terminal.say(f"gradebook  {shown(results.gradebook).removeprefix('sqlite:///')}")
    terminal.say(f"feedback   {results.class_page.parent}")
    terminal.say(f"report     {results.class_page}")
    return SOME_NOT_GRADED if any(entry.status != "graded" for entry in results.entries) else GRADED


def _find(options: GradeOptions, known: tuple[str, ...]) -> tuple[list[SubmissionFile], list[SubmissionFile]]:
    """Return the submissions, and a record of each path in which none can be found.

    With --student, return only this student's submissions.

    Raises:
        NoSuchPath: the student has no submission; or the same exceptions as `find_all`.
    """
    names = pattern_of_names(options.names) if options.names else None
    files, failed = find_all(options.paths, known, options.assignment, assignment_by_exercise(), names)
    if options.worksheet:
        unsubmitted = read_own_file(options.worksheet, drafts)
        files = [replace(file, draft=file.lms_id in unsubmitted) for file in files]
    if options.student is None:
        return files, failed
    if problem := next((file.problem for file in failed if file.problem), None):
        raise NoSuchPath(problem.message)
    own = [file for file in files if file.student == options.student]
    if not own:
        places = ", ".join(map(str, options.paths))
        raise NoSuchPath(f"{places} contains no submission of {clean(options.student)!r}")
    return own, failed


def _check_paths(options: GradeOptions) -> None:
    """Raise Complaint if a path is the course's own folder.

    This happens with an empty shell variable, because "" means ".".
    """
    course = next((path for path in options.paths if path.resolve() == options.root.resolve()), None)
    if course is not None:
        raise Complaint(f"{course} is the course's own folder. Pass a notebook, a folder of submissions, or a zip.")


def prepare(
    options: GradeOptions,
    assignments: Sequence[str],
    stack: ExitStack,
    terminal: Terminal,
    server: ServerProcess | None = None,
) -> tuple[Course, Workers]:
    """Choose device, tier and workers, on this machine or on a cluster. Closing the stack ends the workers.

    Args:
        assignments: the assignment of each submission.
        server: as for `run`.

    Raises:
        SecretError: the course secret cannot be used.
        NoDevice, IsolationError, NoCluster: the requested device, tier or cluster is not available.
    """
    secret = course_secret(options.root)
    if options.scheduler is None:
        tier = resolve_tier(options.isolation)
        device = usable_device(options.device, tier, terminal.complain)
        jobs = options.jobs or jobs_on(device, default_jobs(len(assignments)))
        workers = stack.enter_context(local_workers(jobs, tier, device, worker.run, server))
    else:
        trainings = _run_trainings(assignments)
        workers = stack.enter_context(
            cluster_workers(options.scheduler, options.device, worker.run, trainings, terminal.complain)
        )
        device = workers.device
        # The cluster's machines may differ. Each must reach the same tier, so `auto` means the highest.
        tier = "full" if options.isolation == "auto" else options.isolation
    settings = GradingSettings(secret=secret, device=device, tier=tier, run_all=options.run_all)
    return Course(root=options.root, settings=settings, force=options.force), workers


def _run_trainings(assignments: Iterable[str]) -> Mapping[str, bytes]:
    """Run the reference's training of these assignments, and return the files with the recorded training runs.

    A training run that this machine has recorded already is not repeated.
    """
    for name in set(assignments) & lessons().keys():
        run_trainings(lessons()[name])
    return read_kept()


@dataclass(frozen=True, kw_only=True)
class Results:
    """The results of one run of `grader grade`."""

    entries: Sequence[GradebookEntry]  # only for submissions of this run
    gradebook: str  # URL
    class_page: Path
    not_counted_late: Sequence[GradebookEntry]  # late for the platform but not for the gradebook


class CannotStart(Complaint):
    """The gradebook, or a file to write, cannot be opened. Nothing was graded."""


@dataclass(frozen=True, kw_only=True)
class _Outputs:
    """The places to which a run writes its grades."""

    config: CourseConfig
    results: ResultsWriter
    pages: Path  # the folder for the class page
    write_line: Callable[[str], None]


def _open_outputs(options: GradeOptions, stack: ExitStack) -> _Outputs:
    """Open the gradebook and the files before grading, so that errors appear now and not after an hour.

    Raises:
        CannotStart: the gradebook or a file cannot be opened.
    """
    # These modules import nbgrader, which takes a second: meanwhile the workers start.
    from grader.classes.gradebook.config import read_config
    from grader.classes.gradebook.writer import open_gradebook
    from grader.classes.results.writer import ResultsWriter

    root, html = options.root, options.html
    masters = {name: master_notebook(root, name) for name in lessons()}
    try:
        config = read_config(root, options.gradebook)
        gradebook = open_gradebook(config.gradebook, lessons(), masters, config.course_id, config.late_penalty)
        writer = stack.enter_context(gradebook)
        if html:
            with writing(html):
                html.mkdir(parents=True, exist_ok=True)
        write_line = stack.enter_context(_lines(options.json)) if options.json else lambda line: None
    except (RecordError, CannotWrite) as error:
        raise CannotStart(str(error)) from error
    return _Outputs(
        config=config,
        results=ResultsWriter(config.results, html, writer),
        pages=html or config.results / "feedback",
        write_line=write_line,
    )


def _grade(
    files: Sequence[SubmissionFile],
    unreadable: Sequence[Grade],
    course: Course,
    workers: Workers,
    options: GradeOptions,
    terminal: Terminal,
) -> Results:
    """Grade and record each submission, and write the page of the whole class."""
    if course.force or is_new(options.root, options.gradebook):
        workers.warm_up()
    # Of the submissions that are in the gradebook, keep the keys alone: a class may be large.
    done: set[tuple[str, str]] = set()
    others = [GradebookEntry.of(grade) for grade in unreadable]
    with ExitStack() as stack:
        outputs = _open_outputs(options, stack)
        for grade in unreadable:
            outputs.write_line(to_json(grade))
        advance = stack.enter_context(progress(len(files), terminal.err))
        # Whatever happens, the stack closes the generator, and the generator then ends the workers.
        graded_class = stack.enter_context(closing(grade_class(files, course, workers, outputs.results.recorded)))
        for job, graded in graded_class:
            stopping.check()
            try:
                recorded = outputs.results.record(job, graded)
            except StudentNameError as error:  # this grade is not recorded; the other grades are
                terminal.complain(error)
                recorded = False
            if recorded:
                done.add((job.file.student, job.file.assignment))
            else:
                others.append(GradebookEntry.of(graded.grade))
            if options.json:
                outputs.write_line(outputs.results.line(graded))
            advance(graded.grade)
    return _results(outputs, files, done, others)


def _results(
    outputs: _Outputs, files: Sequence[SubmissionFile], done: Set[tuple[str, str]], others: Sequence[GradebookEntry]
) -> Results:
    """Write the page of the whole class, and return the results of this run.

    Args:
        done: student and assignment of the submissions in the gradebook.
        others: the entries of all other submissions, for the table.
    """
    from grader.classes.gradebook.reader import read_class
    from grader.commands.from_gradebook import write_class_page

    everybody = read_class(outputs.config.gradebook, outputs.config.course_id)
    ours = [entry for entry in everybody if (entry.student.id, entry.assignment) in done]
    late = {(file.student, file.assignment) for file in files if file.late}
    return Results(
        entries=sorted([*ours, *others], key=lambda entry: (entry.assignment, entry.student.id)),
        gradebook=outputs.config.gradebook,
        class_page=write_class_page(outputs.config, everybody, outputs.pages),
        not_counted_late=[
            entry for entry in ours if (entry.student.id, entry.assignment) in late and entry.seconds_late is None
        ],
    )


def _about_late(entries: Sequence[GradebookEntry]) -> str:
    """Return a message about submissions that are late for the platform but not for the gradebook."""
    names = ", ".join(sorted({entry.assignment for entry in entries}))
    return (
        f"{len(entries)} of these have LATE in their file names. The gradebook has no due date for {names}, so it does "
        f"not count anybody as late. To set one, run: nbgrader db assignment add {names.split(',')[0]} "
        "--duedate='2030-01-31 18:00:00 UTC'. Then grade again."
    )


@contextmanager
def _lines(path: Path) -> Iterator[Callable[[str], None]]:
    """Open the file of JSON lines, and yield a function that writes a line at once. Create its folder first.

    Raises:
        CannotWrite: as for `writing`.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="utf-8")

    def write(line: str) -> None:
        with writing(path):
            file.write(line + "\n")
            file.flush()

    try:
        yield write
    finally:
        with suppress(OSError):  # a full disk: `write` has said so
            file.close()
