"""The autograded/ and feedback/ folders, in nbgrader's layout, each file written in one step."""

from __future__ import annotations

import json
import os
import tempfile
import time
import unicodedata
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.gradebook.errors import RecordError, StudentNameError

PARTIAL = ".partial-"  # how a half-written file's name begins
STALE = 3600.0  # seconds


def write_autograded(
    root: Path, student: str, assignment: str, notebook: NotebookNode, timestamp: datetime | None = None
) -> Path:
    """autograded/<student>/<assignment>/<assignment>.ipynb, and timestamp.txt beside it as nbgrader has it.

    Args:
        root: the autograded folder.
        notebook: as it was executed, our verdicts among its outputs.
        timestamp: when it was submitted; without a time zone it is UTC.

    Raises:
        StudentNameError: the name is no folder's, or another student's only looks the same.
        RecordError: the folder cannot be written.
    """
    folder = _folder(root, student, assignment)
    _sweep(folder)
    # On one line: with indentation json takes twenty times as long, and nobody reads it.
    path = _write(folder / f"{assignment}.ipynb", json.dumps(notebook, ensure_ascii=False) + "\n")
    write_timestamp(folder, timestamp)
    return path


def write_timestamp(folder: Path, timestamp: datetime | None) -> None:
    """timestamp.txt beside a notebook, as nbgrader has it; without a time there is no file.

    Raises:
        RecordError: the folder cannot be written.
    """
    stamp = folder / "timestamp.txt"
    if timestamp is None:
        stamp.unlink(missing_ok=True)
        return
    aware = timestamp.replace(tzinfo=UTC) if timestamp.tzinfo is None else timestamp.astimezone(UTC)
    text = f"{aware:%Y-%m-%d %H:%M:%S.%f UTC}\n"
    if not stamp.is_file() or stamp.read_text("utf-8", "replace") != text:
        _write(stamp, text)


def _sweep(folder: Path) -> None:
    """Remove what a killed run left half written; a file that is young may be another run's."""
    for entry in os.scandir(folder):
        with suppress(OSError):
            if (
                entry.name.startswith(PARTIAL)
                and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE
            ):
                os.unlink(entry.path)


def write_feedback(root: Path, student: str, assignment: str, page: str) -> Path:
    """feedback/<student>/<assignment>/<assignment>.html.

    Raises:
        StudentNameError: the name is no folder's, or another student's only looks the same.
        RecordError: the folder cannot be written.
    """
    folder = _folder(root, student, assignment)
    _sweep(folder)
    return _write(folder / f"{assignment}.html", page)


def unreadable_notebook(message: str) -> NotebookNode:
    """What stands in autograded/ for a file that was no notebook: formgrader lists only what is there."""
    # As an output and not as Markdown: the message may quote the file, and such outputs are escaped.
    output = nbformat.v4.new_output("stream", name="stdout", text=f"{message}\n")
    source = "# This submission could not be read."
    cell = nbformat.v4.new_code_cell(source, outputs=[output], id="unreadable")
    return nbformat.v4.new_notebook(cells=[cell])


def _folder(root: Path, student: str, assignment: str) -> Path:
    for name in (student, assignment):
        if name in ("", ".", "..") or any(mark in name for mark in ("/", "\\", "\0")):
            raise StudentNameError(f"{name!r} cannot be a folder in {root}. Rename the submission's folder.")
    folder = root / student / assignment
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not _tells_names_apart(root) and student not in os.listdir(root):
            raise StudentNameError(
                f"{root}: this file system makes one folder of {student!r} and another student's name, whose "
                "files would be overwritten. Keep the course on a case-sensitive file system."
            )
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{folder}: {reason}. Make {root} a writable folder.") from error
    return folder


@cache
def _tells_names_apart(root: Path) -> bool:
    """Whether names that differ in case or normalisation are two files here (not so on macOS and Windows)."""
    with tempfile.TemporaryDirectory(prefix=".Probé", dir=root) as made:
        name = Path(made).name
        composed, decomposed = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
        alike = {name.swapcase(), composed, decomposed} - {name}
        return not any((root / other).exists() for other in alike)


def _write(path: Path, text: str) -> Path:
    """All or nothing: a reader, or a killed run, never sees half a file."""
    partial = None
    try:
        handle, partial = tempfile.mkstemp(prefix=PARTIAL, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            # A lone surrogate in a student's output is no text in any encoding.
            file.write(text.encode("utf-8", "replace"))
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)
        reason = error.strerror or error
        raise RecordError(f"{path}: {reason}. Make its folder writable, then grade again.") from error
    return path
