"""Writes the log. Each entry is one line, even if a request, a platform or an exception contains line breaks."""

import logging
from copy import copy

LONGEST = 200  # characters of a part of a request that an entry shows
LONGEST_ENTRY = 2000  # characters


def shown(text: str, longest: int = LONGEST) -> str:
    """Return a text for the log, in which invisible characters are escaped and a long text is cut.

    Control characters and bidirectional marks, for instance, are invisible.

    Args:
        longest: the greatest number of characters to return before the mark of a cut.
    """
    escaped = "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text[: longest + 1])
    return escaped if len(escaped) <= longest else f"{escaped[:longest]}…"


class OneLine(logging.Formatter):
    """Formats a log entry on one line. The lines of a traceback follow below it, without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a log entry, with a traceback if the entry has one."""
        plain = copy(record)
        plain.msg, plain.args = shown(record.getMessage(), LONGEST_ENTRY), ()
        return "\n".join(shown(line, 2 * LONGEST_ENTRY) for line in super().format(plain).split("\n"))
