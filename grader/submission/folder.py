"""Finds and reads submissions that are files: one notebook, or a folder in nbgrader's submitted/ layout.

It follows no link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.submission.file import MAX_BYTES, SubmissionFile, Unreadable, assignment_in, name_problem


def assignment_of(path: Path, assignments: tuple[str, ...]) -> str:
    """Return the assignment that a notebook's name contains, else the one that its folder is named after.

    Raises:
        Unreadable: neither name contains an assignment.
    """
    for name in (assignment_in(path.stem, assignments), path.parent.name):
        if name in assignments:
            return name
    raise Unreadable(
        f"{path}: which assignment is it? Its name says none of {', '.join(assignments)}. "
        "Pass --assignment, as in --assignment " + assignments[0]
    )


def student_of(path: Path, assignment: str) -> str:
    """Return the student of a single notebook.

    In nbgrader's layout, <student>/<assignment>/<assignment>.ipynb, that is the name of the student's folder,
    unless it is the course's own folder notebooks/ or solutions/. In all other cases it is the file's name
    without suffix.
    """
    parent = path.parent
    if (
        parent.name == assignment
        and path.stem == assignment
        and parent.parent.name not in ("", "notebooks", "solutions")
    ):
        return parent.parent.name
    return path.stem


def find_in_folder(root: Path, assignments: tuple[str, ...], only: str | None) -> Iterator[SubmissionFile]:
    """Find the submissions root/<student>/<assignment>/<assignment>.ipynb.

    Args:
        assignments: the names of all assignments of the course.
        only: find the submissions of this assignment alone.

    Raises:
        Unreadable: the folder cannot be read, or holds no submission.
    """
    try:
        students = sorted(os.listdir(root))
    except OSError as error:
        raise Unreadable(
            f"{root} cannot be read ({error.strerror}). Give this user the right to read it."
        ) from error
    empty = True
    for student in students:
        if not student.startswith("."):
            for file in _files_of_student(root, student, assignments, only):
                empty = False
                yield file
    if empty:
        example = only or assignments[0]
        raise Unreadable(
            f"{root} holds no submission. Expected is nbgrader's layout: "
            f"{root.name}/<student>/{example}/{example}.ipynb"
        )


def _files_of_student(
    root: Path, student: str, assignments: tuple[str, ...], only: str | None
) -> Iterator[SubmissionFile]:
    """Yield the submissions in a student's folder; each that must not be read has a `problem`."""
    folder = root / student
    if folder.is_symlink():
        if only:
            problem = "the student's folder is a link; links are never followed"
            yield SubmissionFile(student, only, root, (student,), problem=problem)
        return
    if not folder.is_dir():
        return
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        problem = f"the folder cannot be read ({error.strerror})"
        yield SubmissionFile(student, only or assignments[0], root, (student,), problem=problem)
        return
    for assignment in names:
        if _is_wanted(folder, assignment, assignments, only):
            parts = (student, assignment, f"{assignment}.ipynb")
            problem = name_problem(student)
            if assignment not in assignments:
                problem = f"unknown assignment {assignment!r}; known are {', '.join(assignments)}"
            yield SubmissionFile(student, assignment, root, parts, problem=problem)


def _is_wanted(folder: Path, assignment: str, assignments: tuple[str, ...], only: str | None) -> bool:
    """Tell whether an entry of a student's folder counts as a submission.

    A folder with an unknown name counts, so that the report names it as an unknown assignment; a file with an
    unknown name does not.

    Args:
        folder: the student's folder.
        assignment: the entry's name.
        only: if this is given, the entry with this name counts, and no other.
    """
    if assignment.startswith(".") or (only and assignment != only):
        return False
    return only is not None or assignment in assignments or os.path.isdir(folder / assignment)


def read_file(file: SubmissionFile) -> bytes:
    """Read a submission's file: a regular file reached without a link, and no larger than the limit.

    The path is opened once, part by part, and checked through the descriptor, so that no other file can be
    put in its place between the check and the reading.

    Raises:
        Unreadable: the file cannot be read, or must not be; the message says why.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(file.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for index, part in enumerate(file.parts):
            last = index == len(file.parts) - 1
            parent = descriptor
            descriptor = os.open(part, flags if last else flags | os.O_DIRECTORY, dir_fd=parent)
            os.close(parent)
        _refuse_special(os.fstat(descriptor))
        with os.fdopen(os.dup(descriptor), "rb") as opened:
            content = opened.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise Unreadable(f"the file grew beyond {MAX_BYTES >> 20} MiB while it was read")
        return content
    except OSError as error:
        raise Unreadable(_why(error, file)) from error
    finally:
        os.close(descriptor)


def _refuse_special(status: os.stat_result) -> None:
    """Raise Unreadable for a file that is not regular, has a hard link, or is too large."""
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("it is not a regular file. Submit the notebook itself.")
    if status.st_nlink > 1:
        raise Unreadable("the file has a second name (a hard link); links are not read. Submit a copy.")
    if status.st_size > MAX_BYTES:
        raise Unreadable(
            f"the file has {status.st_size >> 20} MiB; more than {MAX_BYTES >> 20} MiB are not read. "
            "Clear the outputs (Edit, Clear all outputs) and save it again."
        )


def _why(error: OSError, file: SubmissionFile) -> str:
    """Explain to the student why a file cannot be opened."""
    if error.errno == errno.ENOENT:
        return f"{file.parts[-1]} is missing. Expected is {'/'.join(file.parts)}."
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "it is a link; links are never followed. Submit the notebook itself."
    if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
        return "it is not a regular file. Submit the notebook itself."
    if error.errno == errno.ENOTDIR:
        return f"{'/'.join(file.parts)} goes through a link or a file where a folder should be"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "it cannot be opened (permission denied). Give the grading user the right to read it."
    return f"it cannot be opened ({error.strerror})"
