"""Find the course and its files, and write files so that nobody reads half of one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = ".tmp"  # how the name of a half-written file ends
STALE_SECONDS = 3600.0  # age after which a half-written file is a killed run's


def course_root() -> Path:
    """Return the course's folder: $GRADER_COURSE, else the nearest folder upwards that has solutions/ and notebooks/.

    Raises:
        FileNotFoundError: no folder is a course.
    """
    if chosen := os.environ.get("GRADER_COURSE"):
        return Path(chosen)
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            if (folder / "solutions").is_dir() and (folder / "notebooks").is_dir():
                return folder
    raise FileNotFoundError("no course here: run this in the course's folder, or set GRADER_COURSE to it")


@contextmanager
def tools_on_path() -> Iterator[None]:
    """Put the folder of this Python on PATH: nbgrader runs `alembic`, which is installed there."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def notebook_path(root: Path, assignment: str) -> Path:
    """Return the path of an assignment's student notebook."""
    return root / "notebooks" / assignment / f"{assignment}.ipynb"


def cache_path(root: Path) -> Path:
    """Return the folder of the course's cache of grades."""
    return root / ".grader" / "grades"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file in one step: no reader sees half of it, and a killed run leaves none.

    Raises:
        OSError: the disk is full, or the folder is not writable; the partial file is removed.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def is_stale_partial(entry: os.DirEntry[str]) -> bool:
    """Tell whether a killed run left this file half written; a young one may be another run's.

    Raises:
        OSError: the file is gone.
    """
    return (
        entry.name.endswith(PARTIAL)
        and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS
    )
