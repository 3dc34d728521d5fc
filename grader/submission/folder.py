"""Submissions in files: one notebook, or a folder in nbgrader's submitted/ layout. No link is followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.submission.file import MAX_BYTES, SubmissionFile, Unreadable, assignment_in, name_problem


def assignment_of(path: Path, assignments: tuple[str, ...]) -> str:
    for said in (assignment_in(path.stem, assignments), path.parent.name):
        if said in assignments:
            return said
    raise Unreadable(
        f"{path}: which assignment is it? Its name says none of {', '.join(assignments)}. "
        "Pass --assignment, as in --assignment " + assignments[0]
    )


def student_of(path: Path, assignment: str) -> str:
    """The student's folder in nbgrader's layout, else the file's stem."""
    parent = path.parent
    if (
        parent.name == assignment
        and path.stem == assignment
        and parent.parent.name not in ("", "notebooks", "solutions")
    ):
        return parent.parent.name
    return path.stem


def find_in_folder(root: Path, assignments: tuple[str, ...], only: str | None) -> Iterator[SubmissionFile]:
    """root/<student>/<assignment>/<assignment>.ipynb"""
    try:
        students = sorted(os.listdir(root))
    except OSError as error:
        raise Unreadable(
            f"{root} cannot be read ({error.strerror}). Give this user the right to read it."
        ) from error
    count = 0
    for student in students:
        if student.startswith("."):
            continue
        problem = name_problem(student)
        folder = root / student
        if not folder.is_dir() or folder.is_symlink():
            if folder.is_symlink() and only:
                count += 1
                yield SubmissionFile(
                    student,
                    only,
                    root,
                    (student,),
                    problem="the student's folder is a link; links are never followed",
                )
            continue
        try:
            held = sorted(os.listdir(folder))
        except OSError as error:
            for assignment in [only] if only else []:
                count += 1
                yield SubmissionFile(
                    student,
                    assignment,
                    root,
                    (student,),
                    problem=f"the folder cannot be read ({error.strerror})",
                )
            if not only:
                count += 1
                yield SubmissionFile(
                    student,
                    assignments[0],
                    root,
                    (student,),
                    problem=f"the folder cannot be read ({error.strerror})",
                )
            continue
        for assignment in held:
            if (only and assignment != only) or assignment.startswith("."):
                continue
            if not only and assignment not in assignments and not os.path.isdir(folder / assignment):
                continue
            count += 1
            parts = (student, assignment, f"{assignment}.ipynb")
            if assignment not in assignments:
                known = ", ".join(assignments)
                yield SubmissionFile(
                    student,
                    assignment,
                    root,
                    parts,
                    problem=f"unknown assignment {assignment!r}; known are {known}",
                )
            else:
                yield SubmissionFile(student, assignment, root, parts, problem=problem)
    if not count:
        raise Unreadable(
            f"{root} holds no submission. Expected is nbgrader's layout: {root.name}/<student>/{only or assignments[0]}/"
            f"{only or assignments[0]}.ipynb"
        )


def read_file(found: SubmissionFile) -> bytes:
    """The file's content: a regular file reached without a link, and no larger than the limit.

    Opened once, component by component, and looked at through the descriptor: what was checked is what is read.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    held = os.open(found.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for index, part in enumerate(found.parts):
            last = index == len(found.parts) - 1
            descriptor = os.open(part, flags if last else flags | os.O_DIRECTORY, dir_fd=held)
            os.close(held)
            held = descriptor
        status = os.fstat(held)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a regular file. Submit the notebook itself.")
        if status.st_nlink > 1:
            raise Unreadable("the file has a second name (a hard link); links are not read. Submit a copy.")
        if status.st_size > MAX_BYTES:
            raise Unreadable(
                f"the file has {status.st_size >> 20} MiB; more than {MAX_BYTES >> 20} MiB are not read. "
                "Clear the outputs (Edit, Clear all outputs) and save it again."
            )
        with os.fdopen(os.dup(held), "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise Unreadable(f"the file grew beyond {MAX_BYTES >> 20} MiB while it was read")
        return content
    except OSError as error:
        raise Unreadable(_why(error, found)) from error
    finally:
        os.close(held)


def _why(error: OSError, found: SubmissionFile) -> str:
    if error.errno == errno.ENOENT:
        return f"{found.parts[-1]} is missing. Expected is {'/'.join(found.parts)}."
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "it is a link; links are never followed. Submit the notebook itself."
    if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
        return "it is not a regular file. Submit the notebook itself."
    if error.errno == errno.ENOTDIR:
        return f"{'/'.join(found.parts)} goes through a link or a file where a folder should be"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "it cannot be opened (permission denied). Give the grading user the right to read it."
    return f"it cannot be opened ({error.strerror})"
