"""Shows a student's own answer beside the verdict, with the line marked that the message is about."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from grader.records import Verdict
from grader.report.text import clean_lines

MOST_LINES, MOST_WIDTH = 200, 160  # that are shown of an answer
MARKED = re.compile(r"^→ *(\d+) │ ?(.*)(?:\n +│ ( *)\^)?", re.MULTILINE)  # as judge/excerpt.py writes it
UNSURE = re.compile("[\\s⇥\N{REPLACEMENT CHARACTER}]")  # spaces, tabs and what cannot be shown


@dataclass(frozen=True)
class OwnCode:
    """The lines of an answer: number, text and whether the line is marked; below the marked one its caret."""

    lines: tuple[tuple[int, Markup, bool], ...]
    caret: Markup  # the spaces before it, and the caret; "" for none

    @property
    def is_marked(self) -> bool:
        """Tell whether a line is marked."""
        return any(marked for _, _, marked in self.lines)


def own_code(verdict: Verdict, source: str) -> OwnCode | None:
    """Return what the page shows of an answer; None where there is none.

    Args:
        source: of the exercise's cell; the excerpt of the verdict may be of another cell, and then marks nothing here.
    """
    if not source.strip():
        return None
    lines = clean_lines(source.replace("\t", "    ")).rstrip().split("\n")
    number, caret = _marked_line(verdict.excerpt, lines)
    shown = [(place, escape(line[:MOST_WIDTH]), place == number) for place, line in enumerate(lines[:MOST_LINES], 1)]
    if len(lines) > MOST_LINES:
        shown.append((MOST_LINES + 1, escape(f"… {len(lines) - MOST_LINES} more lines"), False))
    return OwnCode(tuple(shown), escape(caret))


def _marked_line(excerpt: str, lines: Sequence[str]) -> tuple[int, str]:
    """Return the number of the line that an excerpt marks, and its caret; 0 if these lines do not have it."""
    found = MARKED.search(excerpt)
    if found is None or not 0 < (number := int(found[1])) <= len(lines):
        return 0, ""
    text, before = found[2], found[3]
    if not _is_cut_from(text, lines[number - 1]):
        return 0, ""
    as_it_is = before is not None and not text.startswith("…") and "⇥" not in text
    return number, f"{before}^" if as_it_is else ""


def _is_cut_from(shown: str, line: str) -> bool:
    """Tell whether a line of an excerpt, which may be cut at both ends, shows this line."""
    wanted, there = (UNSURE.sub("", text) for text in (shown.strip("…"), line))
    return bool(wanted) and wanted in there
