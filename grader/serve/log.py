"""Writes the log: each entry is one line, whatever a request, a platform or an exception contains."""

import logging
from copy import copy

LONGEST = 200  # characters of a part of a request that an entry shows
LONGEST_ENTRY = 2000  # characters


def shown(text: str, longest: int = LONGEST) -> str:
    """Return a text without control, bidirectional and other invisible characters, cut to a length in characters."""
    escaped = "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text[: longest + 1])
    return escaped if len(escaped) <= longest else f"{escaped[:longest]}…"


class OneLine(logging.Formatter):
    """Formats an entry on one line; below it the lines of a traceback, each without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of an entry."""
        plain = copy(record)
        plain.msg, plain.args = shown(record.getMessage(), LONGEST_ENTRY), ()
        return "\n".join(shown(line, 2 * LONGEST_ENTRY) for line in super().format(plain).split("\n"))
