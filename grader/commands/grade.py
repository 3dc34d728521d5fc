"""`grader grade`: a class, from paths to gradebook, feedback, JSON and table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from grader.classroom import Course, default_jobs, grade_class
from grader.commands.device import NoDevice, resolve_device
from grader.course import lessons
from grader.execution.isolation import IsolationError, resolve_tier
from grader.exercise import Grade
from grader.grading import Graded, master
from grader.record.errors import RecordError, StudentNameError
from grader.record.folders import unreadable_notebook, write_autograded, write_feedback
from grader.record.gradebook import GradeWriter, open_gradebook
from grader.record.lateness import course_id, late_penalty, submitted_at
from grader.report.class_page import class_page
from grader.report.jsonl import to_json
from grader.report.page import feedback_page
from grader.report.terminal import progress, table
from grader.secret import SecretError, course_secret
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
    isolation: str,
    json: Path | None,
    html: Path | None,
    gradebook: str | None,
    force: bool,
    run_all: bool,
    out: Console,
    err: Console,
) -> int:
    """Grade, record and report; returns the exit status."""
    known = tuple(lessons())
    if assignment is not None and assignment not in known:
        err.print(
            f"grader: no assignment {assignment!r}; there are {', '.join(known)}",
            markup=False,
            soft_wrap=True,
        )
        return WRONG_USE
    try:
        found, unfound = _find(paths, known, assignment)
        course = Course(
            root=root,
            secret=course_secret(root),
            device=resolve_device(device),
            isolation=isolation,
            jobs=jobs or default_jobs(len(found)),
            force=force,
            run_all=run_all,
        )
        tier = resolve_tier(isolation)
    except (SecretError, NoDevice, IsolationError, Twice) as error:
        err.print(f"grader: {error}", markup=False, soft_wrap=True)
        return WRONG_USE

    url = gradebook or f"sqlite:///{root / 'gradebook.db'}"
    grades = list(unfound)
    masters = {name: master(root, name) for name in known}
    try:
        with ExitStack() as stack:
            # Opened before the first grade: what cannot be recorded is found out now, not after an hour.
            settings = {"course": course_id(root), "late_penalty": late_penalty(root)}
            writer = stack.enter_context(open_gradebook(url, lessons(), masters, **settings))
            lines = stack.enter_context(_lines(json)) if json else None
            for grade in unfound:
                _line(lines, grade)
            advance = stack.enter_context(progress(len(found), err))
            for one, graded, known_already in grade_class(found, course, tier):
                try:
                    _record(root, html, writer, one, graded, known_already)
                except StudentNameError as error:  # of this one; the others go on
                    err.print(f"grader: {error}", markup=False, soft_wrap=True)
                _line(lines, graded.grade)
                grades.append(graded.grade)
                advance(graded.grade)
    except (RecordError, OSError) as error:
        err.print(f"grader: {error}", markup=False, soft_wrap=True)
        return SOME_NOT_GRADED

    grades.sort(key=lambda grade: (grade.assignment, grade.student))
    out.print(table(grades))
    report = (html or root / "feedback") / "class.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(class_page(grades), "utf-8")
    out.print(f"gradebook  {url.removeprefix('sqlite:///')}", soft_wrap=True, markup=False)
    out.print(f"feedback   {html or root / 'feedback'}", soft_wrap=True, markup=False)
    out.print(f"report     {report}", soft_wrap=True, markup=False)
    return SOME_NOT_GRADED if any(grade.status != "graded" for grade in grades) else GRADED


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


def _record(
    root: Path, html: Path | None, writer: GradeWriter, one: Found, graded: Graded, known: bool
) -> None:
    """The gradebook last: a score stands there only when its notebook and its page do."""
    grade = graded.grade
    if grade.assignment not in lessons():
        return
    page = feedback_page(grade)
    when = None if one.member else submitted_at(one.path)
    autograded = root / "autograded" / grade.student / grade.assignment / f"{grade.assignment}.ipynb"
    if grade.status == "unreadable":
        reason = unreadable_notebook(grade.message)
        write_autograded(root / "autograded", grade.student, grade.assignment, reason, when)
    elif graded.notebook is not None:
        write_autograded(root / "autograded", grade.student, grade.assignment, graded.notebook, when)
    elif not known and autograded.is_file():
        pass  # a fault: what stands there is of an earlier submission, and the gradebook says so
    write_feedback(root / "feedback", grade.student, grade.assignment, page)
    if html is not None:
        write_feedback(html, grade.student, grade.assignment, page)
    writer.record(grade, when)


def _lines(path: Path):
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8")


def _line(lines, grade: Grade) -> None:
    if lines is not None:
        lines.write(to_json(grade) + "\n")
        lines.flush()
