"""Reads the time of a submission from nbgrader's timestamp.txt."""

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

MOST_BYTES = 200  # `submitted_at` reads no more than these of timestamp.txt


def submitted_at(notebook: Path) -> datetime | None:
    """Return the time in nbgrader's timestamp.txt beside a submitted notebook; None without a valid time.

    A student may have written the file: a link is not followed, and only the file's first bytes are read.
    """
    try:
        # O_NONBLOCK: opening a FIFO would wait for ever.
        handle = os.open(notebook.parent / "timestamp.txt", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        text = os.read(handle, MOST_BYTES).decode("utf-8", "replace").strip() if regular else ""
    finally:
        os.close(handle)
    try:
        return parse_utc(text).replace(tzinfo=UTC) if text else None
    except (ValueError, OverflowError, TypeError):
        return None
