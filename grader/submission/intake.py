"""One notebook file → its cells, or one clear line that says why not."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

MAX_BYTES = 64 << 20  # a notebook with all its outputs; a Colab copy with many pictures is about 20 MB
MAX_CELLS = 2_000
MAX_SOURCE = 4 << 20  # characters, over all cells


class Unreadable(Exception):
    """The file is at fault; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class Found:
    """A submission that is there: whose, for which assignment, and where."""

    student: str
    assignment: str
    folder: Path  # links are never followed below it
    parts: tuple[str, ...]  # path of the notebook below folder
    problem: str = ""  # why it cannot be read, where that shows already
    member: str = ""  # its name within a zip; then the path is the zip's

    @property
    def path(self) -> Path:
        return self.folder.joinpath(*self.parts)


@dataclass(frozen=True)
class Cell:
    """A code cell as it was submitted: nothing of it is trusted."""

    source: str
    grade_id: str = ""
    id: str = ""


@dataclass(frozen=True)
class Submission:
    """A notebook, reduced to the sources of its code cells."""

    cells: tuple[Cell, ...]
    sha256: str


def find(path: Path, assignments: tuple[str, ...], only: str | None = None) -> Iterator[Found]:
    """The submissions at a path: a notebook, or a folder in nbgrader's submitted/ layout.

    Args:
        assignments: the known ones.
        only: take this assignment alone; for a notebook, what it is a submission of.

    Raises:
        Unreadable: nothing to grade is there.
    """
    if not os.path.lexists(path):
        raise Unreadable(f"{path} does not exist. Name a notebook, a folder in nbgrader's submitted/ layout, or a zip.")
    if path.is_dir() and not path.is_symlink():
        yield from _in_folder(path, assignments, only)
        return
    if path.suffix.lower() == ".zip":
        from grader.submission.archive import find_in_zip

        yield from find_in_zip(path, assignments, only)
        return
    assignment = only or _assignment_of(path, assignments)
    student = _student_of(path, assignment)
    yield Found(student, assignment, path.parent, (path.name,), problem=name_problem(student))


def _assignment_of(path: Path, assignments: tuple[str, ...]) -> str:
    for name in (path.stem, path.parent.name):
        if name in assignments:
            return name
    raise Unreadable(
        f"{path}: which assignment is it? Its name says none of {', '.join(assignments)}. "
        "Pass --assignment, as in --assignment " + assignments[0]
    )


def _student_of(path: Path, assignment: str) -> str:
    """The student's folder in nbgrader's layout, else the file's stem."""
    parent = path.parent
    if parent.name == assignment and path.stem == assignment and parent.parent.name not in ("", "notebooks", "solutions"):
        return parent.parent.name
    return path.stem


def _in_folder(root: Path, assignments: tuple[str, ...], only: str | None) -> Iterator[Found]:
    """root/<student>/<assignment>/<assignment>.ipynb"""
    try:
        students = sorted(os.listdir(root))
    except OSError as error:
        raise Unreadable(f"{root} cannot be read ({error.strerror}). Give this user the right to read it.") from error
    count = 0
    for student in students:
        if student.startswith("."):
            continue
        problem = name_problem(student)
        folder = root / student
        if not folder.is_dir() or folder.is_symlink():
            if folder.is_symlink() and only:
                count += 1
                yield Found(student, only, root, (student,), problem="the student's folder is a link; links are never followed")
            continue
        try:
            held = sorted(os.listdir(folder))
        except OSError as error:
            for assignment in [only] if only else []:
                count += 1
                yield Found(student, assignment, root, (student,), problem=f"the folder cannot be read ({error.strerror})")
            if not only:
                count += 1
                yield Found(student, assignments[0], root, (student,), problem=f"the folder cannot be read ({error.strerror})")
            continue
        for assignment in held:
            if only and assignment != only or assignment.startswith("."):
                continue
            if not only and assignment not in assignments and not os.path.isdir(folder / assignment):
                continue
            count += 1
            parts = (student, assignment, f"{assignment}.ipynb")
            if assignment not in assignments:
                known = ", ".join(assignments)
                yield Found(student, assignment, root, parts, problem=f"unknown assignment {assignment!r}; known are {known}")
            else:
                yield Found(student, assignment, root, parts, problem=problem)
    if not count:
        raise Unreadable(
            f"{root} holds no submission. Expected is nbgrader's layout: {root.name}/<student>/{only or assignments[0]}/"
            f"{only or assignments[0]}.ipynb"
        )


def name_problem(student: str) -> str:
    """Why a student id is refused; empty if it is fine. Unicode is kept as it is."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in student):
        return "the student's name holds control characters; rename the folder"
    if "/" in student or "\\" in student or student in (".", ".."):
        return "the student's name holds a path separator; rename the folder"
    return ""


def read(found: Found) -> Submission:
    """The submission's code cells.

    Raises:
        Unreadable: it is not a notebook that can be graded; the message says why.
    """
    if found.problem:
        raise Unreadable(found.problem)
    if found.member:
        from grader.submission.archive import read_member

        return parse(read_member(found))
    return parse(_bytes(found))


def parse(content: bytes) -> Submission:
    """A notebook's bytes → its code cells.

    Raises:
        Unreadable: not UTF-8 JSON, not nbformat 4, or too large.
    """
    if not content.strip():
        raise Unreadable("the file is empty. Save the notebook again and submit that.")
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable(f"the file is not UTF-8 text (byte {error.start}). Save the notebook again in Jupyter.") from error
    except RecursionError as error:
        raise Unreadable("the file is nested too deeply to be a notebook") from error
    except ValueError as error:
        where = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise Unreadable(f"the file is not complete JSON ({where}). It may be cut off: download it again.") from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("the file is not a Jupyter notebook: it has no list of cells. Submit the .ipynb file.")
    if notebook.get("nbformat") != 4 or isinstance(notebook.get("nbformat"), bool):
        raise Unreadable(f"nbformat {notebook.get('nbformat')!r} is not 4. Open it in a recent Jupyter and save it.")
    if len(notebook["cells"]) > MAX_CELLS:
        raise Unreadable(f"the notebook has {len(notebook['cells'])} cells; more than {MAX_CELLS} are not read")
    cells = tuple(cell for raw in notebook["cells"] if (cell := _cell(raw)) is not None)
    if sum(len(cell.source) for cell in cells) > MAX_SOURCE:
        raise Unreadable(f"the notebook holds more than {MAX_SOURCE >> 20} MiB of code")
    return Submission(cells, sha256(content).hexdigest())


def _cell(raw: object) -> Cell | None:
    """A code cell; None for anything else, whatever it is."""
    if not isinstance(raw, dict) or raw.get("cell_type") != "code":
        return None
    source = raw.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    metadata = raw.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    name = raw.get("id")
    return Cell(
        source=_text(source),
        grade_id=_text(grade_id) if isinstance(grade_id, str) else "",
        id=_text(name) if isinstance(name, str) else "",
    )


def _text(text: str) -> str:
    """Without lone surrogates, which no file can hold, and with one kind of line end."""
    return re.sub("\r\n?", "\n", text.encode("utf-8", "replace").decode("utf-8"))


def _bytes(found: Found) -> bytes:
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


def _why(error: OSError, found: Found) -> str:
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
