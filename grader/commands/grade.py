"""`grader grade`: a class, from paths to gradebook, feedback, JSON and table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from rich.console import Console

from grader.classroom import Course, WorkersLost, grade_class
from grader.commands.device import NoDevice, jobs_on, usable_device
from grader.course import lessons
from grader.execution.isolation import IsolationError, resolve_tier
from grader.execution.process import ServerProcess
from grader.executors import NoCluster, Workers, cluster_workers, default_jobs, local_workers
from grader.exercise import Grade
from grader.grading import master
from grader.record.errors import RecordError, StudentNameError
from grader.report.class_page import class_page
from grader.report.jsonl import to_json
from grader.report.terminal import progress, table
from grader.secret import SecretError, course_secret
from grader.store import Store
from grader.submission.found import Found, Unreadable
from grader.submission.intake import find

GRADED, SOME_NOT_GRADED, WRONG_USE = 0, 1, 2


def run(
    paths: Sequence[Path],
    *,
    root: Path,
    assignment: str | None,
    device: str,
    jobs: int | None,
    scheduler: str | None,
    isolation: str,
    json: Path | None,
    html: Path | None,
    gradebook: str | None,
    force: bool,
    run_all: bool,
    out: Console,
    err: Console,
    server: ServerProcess | None = None,
) -> int:
    """Grade, record and report; returns the exit status.

    Args:
        server: a fork server that had a head start; it is used where tier and device fit.
    """

    def say(text: object) -> None:
        err.print(f"grader: {text}", markup=False, soft_wrap=True)

    known = tuple(lessons())
    if assignment is not None and assignment not in known:
        say(f"no assignment {assignment!r}; there are {', '.join(known)}")
        return WRONG_USE
    with ExitStack() as stack:
        try:
            found, unfound = _find(paths, known, assignment)
            secret = course_secret(root)
            if scheduler is None:
                device, tier = usable_device(device, isolation), resolve_tier(isolation)
                count = jobs or jobs_on(device, default_jobs(len(found)))
                workers = stack.enter_context(local_workers(count, tier, device, server))
            else:
                workers = stack.enter_context(cluster_workers(scheduler, device))
                device = workers.device
                # The machines may differ: each must reach the same tier, and `auto` asks for the best.
                tier = "full" if isolation == "auto" else isolation
        except (SecretError, NoDevice, IsolationError, NoCluster, Twice) as error:
            say(error)
            return WRONG_USE
        if workers.note:
            say(workers.note)
        course = Course(root=root, secret=secret, device=device, tier=tier, force=force, run_all=run_all)
        url = gradebook or f"sqlite:///{root / 'gradebook.db'}"
        pages = html or root / "feedback"
        try:
            grades = _grade(found, unfound, course, workers, url, json, html, err)
            report = _write_report(pages, grades)
        except (RecordError, WorkersLost, OSError) as error:
            say(error)
            return SOME_NOT_GRADED
        except KeyboardInterrupt:
            say("stopped. What was graded is kept; run this again, and it goes on where it stopped.")
            return SOME_NOT_GRADED
    out.print(table(grades))
    out.print(f"gradebook  {url.removeprefix('sqlite:///')}", soft_wrap=True, markup=False)
    out.print(f"feedback   {pages}", soft_wrap=True, markup=False)
    out.print(f"report     {report}", soft_wrap=True, markup=False)
    return SOME_NOT_GRADED if any(grade.status != "graded" for grade in grades) else GRADED


def _grade(
    found: Sequence[Found],
    unfound: Sequence[Grade],
    course: Course,
    workers: Workers,
    url: str,
    json: Path | None,
    html: Path | None,
    err: Console,
) -> list[Grade]:
    """Grade and record; what the table shows of each grade comes back, by assignment and student."""
    grades = list(unfound)
    store = Store(course.root / ".grader" / "grades")
    store.trim()
    if course.force or store.empty():
        workers.warm_up()
    masters = {name: master(course.root, name) for name in lessons()}
    # nbgrader takes a second to import; the workers start meanwhile.
    from grader.record.gradebook import open_gradebook
    from grader.record.lateness import course_id, late_penalty
    from grader.recorder import Recorder, summary_of

    with ExitStack() as stack:
        # Opened before the first grade: what cannot be recorded is found out now, not after an hour.
        settings = {"course": course_id(course.root), "late_penalty": late_penalty(course.root)}
        writer = stack.enter_context(open_gradebook(url, lessons(), masters, **settings))
        recorder = Recorder(course.root, html, store, writer)
        lines = stack.enter_context(_lines(json)) if json else None
        for grade in unfound:
            _write_line(lines, to_json(grade))
        advance = stack.enter_context(progress(len(found), err))
        # Closed here, whatever happens: it ends the workers.
        class_ = stack.enter_context(closing(grade_class(found, course, workers, recorder.known)))
        for done in class_:
            try:
                line = recorder.record(done)
            except StudentNameError as error:  # of this one; the others go on
                err.print(f"grader: {error}", markup=False, soft_wrap=True)
                line = to_json(done.graded.grade)
            _write_line(lines, line)
            grades.append(summary_of(done.graded.grade))
            advance(done.graded.grade)
    store.trim()
    return sorted(grades, key=lambda grade: (grade.assignment, grade.student))


def _write_report(pages: Path, grades: Sequence[Grade]) -> Path:
    report = pages / "class.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(class_page(grades), "utf-8")
    return report


class Twice(Exception):
    """One student's assignment was found in two places."""


def _find(paths: Sequence[Path], known: tuple[str, ...], only: str | None) -> tuple[list[Found], list[Grade]]:
    """What is there to grade, and an unreadable grade for each path that holds nothing to grade."""
    found: dict[tuple[str, str], Found] = {}
    unfound = []
    for path in paths:
        try:
            for one in find(path, known, only):
                key = (one.student, one.assignment)
                if key in found:
                    raise Twice(
                        f"{one.student} handed in {one.assignment} twice: {found[key].path} and {one.path}"
                    )
                found[key] = one
        except Unreadable as error:
            unfound.append(
                Grade(
                    student=path.stem,
                    assignment=only or "",
                    status="unreadable",
                    score=0.0,
                    max_score=0.0,
                    message=str(error),
                )
            )
    return list(found.values()), unfound


def _lines(path: Path):
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8")


def _write_line(lines, line: str) -> None:
    if lines is not None:
        lines.write(line + "\n")
        lines.flush()
