"""Cut a few lines out of a cell's source, with a mark beside one of them and a caret below it."""

import re

from grader.sandbox.text import plain

NEWLINE = re.compile(r"\r\n|\r|\n")
BEFORE, AFTER = 2, 1  # lines that are shown around the marked one
MAX_WIDTH = 160  # characters of one line
CARET_WIDTH = 70  # of a line with a caret, so that a terminal does not wrap it
TAB = "⇥   "  # a tab looks like spaces, and may be the mistake


def line_of(source: str, line: int) -> str | None:
    """Return a line of a cell, counted from 1; None if the cell has no such line."""
    lines = NEWLINE.split(source)
    return lines[line - 1] if source and 0 < line <= len(lines) else None


def excerpt(source: str, line: int, column: int = 0) -> str:
    """Show a line that exists with its neighbours, and a caret below a column; both count from 1, and column 0 is no caret."""
    lines = NEWLINE.split(source)
    first, last = max(1, line - BEFORE), min(len(lines), line + AFTER)
    while first < line and not lines[first - 1].strip():
        first += 1
    while last > line and not lines[last - 1].strip():
        last -= 1
    gutter = len(str(last))
    rows = []
    for number in range(first, last + 1):
        text, caret = lines[number - 1], None
        if number == line and column:
            text, caret = _window(text, min(column - 1, len(text)))
        rows.append(f"{'→' if number == line else ' '} {number:>{gutter}} │ {_shown(text)}".rstrip())
        if caret is not None:
            rows.append(f"  {'':>{gutter}} │ {' ' * caret}^")
    return "\n".join(rows)


def _window(text: str, position: int) -> tuple[str, int]:
    """Cut a line to CARET_WIDTH around a position; return it, and how many characters stand before the position as it is shown."""
    start = max(0, position - CARET_WIDTH * 2 // 3) if len(_shown(text)) > CARET_WIDTH else 0
    before = ("…" if start else "") + text[start:position]
    rest = text[position:]
    width = len(_shown(before))
    if width + len(rest) > CARET_WIDTH:
        rest = rest[: max(CARET_WIDTH - width - 1, 1)] + "…"
    return before + rest, width


def _shown(text: str) -> str:
    """Return a line as it is shown: tabs visible, without control characters, cut."""
    return plain(text[: MAX_WIDTH + 1].replace("\t", TAB), MAX_WIDTH)
