"""Intake: what is there to grade, and each submission as data, or one clear line that says why not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from grader.submission.archive import find_in_zip, read_member
from grader.submission.file import Submission, SubmissionFile, Unreadable, name_problem
from grader.submission.folder import assignment_of, find_in_folder, read_file, student_of
from grader.submission.notebook import parse


def find(path: Path, assignments: tuple[str, ...], only: str | None = None) -> Iterator[SubmissionFile]:
    """The submissions at a path: a notebook, or a folder in nbgrader's submitted/ layout.

    Args:
        assignments: the known ones.
        only: take this assignment alone; for a notebook, what it is a submission of.

    Raises:
        Unreadable: nothing to grade is there.
    """
    if not os.path.lexists(path):
        raise Unreadable(
            f"{path} does not exist. Name a notebook, a folder in nbgrader's submitted/ layout, or a zip."
        )
    if path.is_dir() and not path.is_symlink():
        yield from find_in_folder(path, assignments, only)
        return
    if path.suffix.lower() == ".zip":
        yield from find_in_zip(path, assignments, only)
        return
    assignment = only or assignment_of(path, assignments)
    student = student_of(path, assignment)
    yield SubmissionFile(student, assignment, path.parent, (path.name,), problem=name_problem(student))


def read(found: SubmissionFile) -> Submission:
    """The submission's code cells.

    Raises:
        Unreadable: it is not a notebook that can be graded; the message says why.
    """
    return found.submission or parse(content(found))


def content(found: SubmissionFile) -> bytes:
    """The file as it was handed in.

    Raises:
        Unreadable: it cannot be read, or must not be; the message says why.
    """
    if found.problem:
        raise Unreadable(found.problem)
    return read_member(found) if found.member else read_file(found)
