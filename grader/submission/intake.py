"""Finds the submissions at a path and reads each as data; Unreadable says in one line why it cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from grader.submission.archive import find_in_zip, read_member
from grader.submission.file import Submission, SubmissionFile, Unreadable, name_problem
from grader.submission.folder import assignment_of, find_in_folder, read_file, student_of
from grader.submission.notebook import parse


def find(path: Path, assignments: tuple[str, ...], only: str | None = None) -> Iterator[SubmissionFile]:
    """Find the submissions at a path: a notebook, a folder in nbgrader's submitted/ layout, or a zip.

    Args:
        assignments: the names of all assignments of the course.
        only: find the submissions of this assignment alone; a single notebook counts as one, whatever its
            name.

    Raises:
        Unreadable: the path holds no submission.
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


def read(file: SubmissionFile) -> Submission:
    """Return a submission's code cells; read the file unless `file.submission` holds them already.

    Raises:
        Unreadable: the file is not a notebook that can be graded; the message says why.
    """
    return file.submission or parse(content(file))


def content(file: SubmissionFile) -> bytes:
    """Read the bytes of a submission's notebook.

    Raises:
        Unreadable: the file cannot be read, or must not be read; the message says why.
    """
    if file.problem:
        raise Unreadable(file.problem)
    return read_member(file) if file.member else read_file(file)
