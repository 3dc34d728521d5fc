"""When a submission was handed in, as nbgrader's timestamp.txt says."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

LONGEST = 200  # bytes of a timestamp


def submitted_at(notebook: Path) -> datetime | None:
    """When a notebook was handed in: nbgrader's timestamp.txt beside it. None where that says nothing.

    The file may be the student's own: it is never followed to another place, and only its start is read.
    """
    try:
        # Not blocking: opening a FIFO would wait for ever.
        handle = os.open(notebook.parent / "timestamp.txt", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        text = os.read(handle, LONGEST).decode("utf-8", "replace").strip() if regular else ""
    finally:
        os.close(handle)
    try:
        return parse_utc(text).replace(tzinfo=UTC) if text else None
    except (ValueError, OverflowError, TypeError):
        return None
