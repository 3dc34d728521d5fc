"""Writes the folders autograded/ and feedback/ in nbgrader's layout. Each file is written in one atomic step."""

import errno
import json
import os
import tempfile
import unicodedata
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.classes.gradebook.errors import RecordError, StudentNameError
from grader.paths import is_stale_partial, write_atomically
from grader.submission.file import name_problem, part_problem

MOST_SHOWN = 60  # characters of a name in a message


def autograded_notebook(root: Path, student: str, assignment: str) -> Path:
    """Return the path of an executed notebook in the autograded folder."""
    return root / student / assignment / f"{assignment}.ipynb"


def write_autograded(
    root: Path, student: str, assignment: str, notebook: NotebookNode, timestamp: datetime | None = None
) -> Path:
    """Write <student>/<assignment>/<assignment>.ipynb and nbgrader's timestamp.txt. Return the notebook's path.

    Args:
        root: the autograded folder.
        timestamp: the time of submission, UTC if it has no time zone; None if it is unknown.

    Raises:
        StudentNameError: the student's name cannot be a folder, or the file system cannot
            distinguish it from another student's name.
        RecordError: a file cannot be written.
    """
    folder = _make_folder(root, student, assignment)
    # On one line: with indentation json takes twenty times as long, and nobody reads the file.
    path = write_file(folder / f"{assignment}.ipynb", json.dumps(notebook, ensure_ascii=False) + "\n")
    write_timestamp(folder, timestamp)
    return path


def write_timestamp(folder: Path, timestamp: datetime | None) -> None:
    """Write nbgrader's timestamp.txt next to a notebook. Delete it if the time is unknown.

    Raises:
        RecordError: as for `write_file`.
    """
    stamp = folder / "timestamp.txt"
    if timestamp is None:
        stamp.unlink(missing_ok=True)
        return
    aware = timestamp.replace(tzinfo=UTC) if timestamp.tzinfo is None else timestamp.astimezone(UTC)
    text = f"{aware:%Y-%m-%d %H:%M:%S.%f UTC}\n"
    if file_content(stamp) != text.encode():
        write_file(stamp, text)


def file_content(path: Path) -> bytes | None:
    """Return the bytes of a file, or None if the file is missing or cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


PAGES = "{student}/{assignment}/{assignment}.html"  # where `write_feedback` puts a page, as `class_page` takes it


def write_feedback(root: Path, student: str, assignment: str, page: str | bytes, suffix: str = "html") -> Path:
    """Write <student>/<assignment>/<assignment>.html, or with another suffix, and return its path.

    Raises:
        StudentNameError, RecordError: as for `write_autograded`.
    """
    return write_file(_make_folder(root, student, assignment) / f"{assignment}.{suffix}", page)


def unreadable_notebook(message: str) -> NotebookNode:
    """Return a notebook that shows why a submission could not be read.

    It replaces the executed notebook in autograded/, because formgrader lists only submissions with
    a notebook.
    """
    # The message is an output: it may quote the submitted file, and formgrader escapes outputs, not Markdown.
    output = nbformat.v4.new_output("stream", name="stdout", text=f"{message}\n")
    source = "# This submission could not be read."
    cell = nbformat.v4.new_code_cell(source, outputs=[output], id="unreadable")
    return nbformat.v4.new_notebook(cells=[cell])


def _make_folder(root: Path, student: str, assignment: str) -> Path:
    """Create <root>/<student>/<assignment>, delete files that killed runs left incomplete, and return the folder.

    Raises:
        StudentNameError, RecordError: as for `write_autograded`.
    """
    for name, problem in ((student, name_problem(student)), (assignment, part_problem(assignment or "."))):
        if problem:
            raise StudentNameError(
                f"{name[:MOST_SHOWN]!r} cannot be a folder in {root}: {problem.message.partition(';')[0]}. "
                "Rename the submission's folder."
            )
    folder = root / student / assignment
    if os.path.lexists(folder.parent) and not folder.parent.is_dir():
        raise StudentNameError(
            f"{folder.parent} is a file, so that no folder of the student can be there. Rename one of them."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for entry in os.scandir(folder):
            with suppress(OSError):  # another run may delete it at the same time
                if is_stale_partial(entry):
                    os.unlink(entry.path)
        if not _tells_names_apart(root) and student not in os.listdir(root):
            raise StudentNameError(
                f"{root}: this file system makes one folder of {student!r} and another student's name, whose "
                "files would be overwritten. Keep the course on a case-sensitive file system."
            )
    except (OSError, UnicodeEncodeError) as error:
        raise RecordError(f"{_because(folder, error, f'Make {root} a writable folder')}.") from error
    return folder


def _because(path: Path, error: Exception, otherwise: str) -> str:
    """Return a message with the reason why a file cannot be written, and the next step.

    Args:
        otherwise: the next step, unless the disk is full.
    """
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return f"{path}: {getattr(error, 'strerror', None) or error}. {'Make room on its disk' if full else otherwise}"


@cache
def _tells_names_apart(root: Path) -> bool:
    """Return True if the file system distinguishes names that differ only in case or Unicode normalisation.

    macOS and Windows usually treat such names as the same.
    """
    with tempfile.TemporaryDirectory(prefix=".Probé", dir=root) as probe:
        name = Path(probe).name
        composed, decomposed = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
        alike = {name.swapcase(), composed, decomposed} - {name}
        return not any((root / other).exists() for other in alike)


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file that everybody can read, in one atomic step, and return its path.

    Raises:
        RecordError: the file cannot be written.
    """
    try:
        # A lone surrogate in a student's output cannot be encoded.
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        write_atomically(path, data)
        path.chmod(0o644)  # whatever the umask is: other users copy the students' pages
    except OSError as error:
        raise RecordError(f"{_because(path, error, 'Make its folder writable')}, then grade again.") from error
    return path
