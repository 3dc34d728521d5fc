"""Describes the exception that ended student code, and shows the line of the notebook that raised it.

The sandbox's report of an exception is not trusted. Its text is cut here, and only shown. The text of the line comes
from the submitted notebook. No code of the grader itself is ever quoted.
"""

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from grader.judge.where_raised import (
    MAX_MESSAGE,
    MAX_SOURCE,
    error_in_words,
    line_called_wrongly,
    line_in_words,
    shapes_in_words,
)
from grader.records import CellResult, Evidence, Outcome, Place
from grader.sandbox.text import one_line, plain
from grader.submission.cells import Role, exercise_of, role
from grader.submission.code.source import cached_by_source, parsed

NEWLINE = re.compile(r"\r\n|\r|\n")
BEFORE, AFTER = 2, 1  # lines that are shown around the marked one
MAX_WIDTH = 160  # characters of one line
CARET_WIDTH = 70  # of a line with a caret, so that a terminal does not wrap it
TAB = "⇥   "  # a tab looks like spaces, and may be the mistake


def line_of(source: str, line: int) -> str | None:
    """Return the line of a cell with this number, counted from 1, or None if the cell has no such line."""
    lines = NEWLINE.split(source)
    return lines[line - 1] if source and 0 < line <= len(lines) else None


def excerpt(source: str, line: int, column: int = 0) -> str:
    """Return a line of a cell with its neighbours, and a caret below a column. The line must exist.

    Args:
        line: the number of the line, from 1.
        column: the column, from 1; 0 for no caret.
    """
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
    """Cut a line to CARET_WIDTH characters around a position.

    Returns:
        The cut line, and the position in it, as the number of displayed characters before it.
    """
    start = max(0, position - CARET_WIDTH * 2 // 3) if len(_shown(text)) > CARET_WIDTH else 0
    before = ("…" if start else "") + text[start:position]
    rest = text[position:]
    width = len(_shown(before))
    if width + len(rest) > CARET_WIDTH:
        rest = rest[: max(CARET_WIDTH - width - 1, 1)] + "…"
    return before + rest, width


def _shown(text: str) -> str:
    """Return a line for display: with visible tabs, without control characters, and cut to MAX_WIDTH characters."""
    return plain(text[: MAX_WIDTH + 1].replace("\t", TAB), MAX_WIDTH)


SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
UNDEFINED = re.compile(r"^name '(\w+)' is not defined")


@dataclass(frozen=True, kw_only=True)
class Undefined:
    """The reason why a name is undefined: the cell that should define the name, and what happened to this cell."""

    cell: str  # the cell's id
    why: str  # what happened to the cell, with the line: "stopped at line 3: `import numppy`: ModuleNotFoundError: …"
    briefly: str  # the same without the line's text
    excerpt: str = ""
    outcome: Outcome = Outcome.FAILED  # of an exercise that asks for the name


@dataclass(frozen=True, kw_only=True)
class NotebookCells:
    """The facts about the notebook that are needed to describe an exception."""

    sources: Mapping[str, str] = field(default_factory=dict)  # of the code cells, by id
    student: Collection[str] = ()  # the ids of answers, and of cells that the student added
    undefined: Mapping[str, Undefined] = field(default_factory=dict)  # by name


NO_CELLS = NotebookCells()  # where nothing is known of the notebook


@dataclass(frozen=True, kw_only=True)
class Raised:
    """The description of an exception, in parts that messages are made of."""

    where: str  # "line 4", "in your own cell, line 3"; empty where the line is not known
    source: str  # the line, cut
    what: str  # "RuntimeError: shape '[2, 3]' is invalid for input of size 24 (scores: 2 × 3 × 4)"
    excerpt: str

    @property
    def in_a_call(self) -> str:
        """The message for an exception that a call in the student's code raised."""
        return line_in_words(self.where, self.source, self.what)

    def in_a_cell(self, verb: str, *, briefly: bool = False) -> str:
        """The message about a cell that the exception ended.

        Args:
            verb: "stopped" or "does not parse".
            briefly: leave out the text of the line.
        """
        at = "at " if self.where.startswith("line") else ""
        if not self.where:
            return f"{verb}: {self.what}"
        return f"{verb} {at}{self.where} ({self.what})" if briefly else f"{verb} {at}{self.in_a_call}"


def raised(report: CellResult | Evidence, here: str, cells: NotebookCells) -> Raised:
    """Describe an exception that the sandbox reports, for a reader of the cell `here`.

    The description names the other cell if the exception was raised there.
    """
    place = report.place
    if place.cell not in cells.student or line_of(cells.sources.get(place.cell, ""), place.line) is None:
        line = line_called_wrongly(report.error, report.message, cells.sources.get(here, ""))
        place = replace(place, cell=here, line=line, column=0, shapes=())
    source = cells.sources.get(place.cell, "")
    text = line_of(source, place.line)
    what = error_in_words(report.error, report.message) + _in_given_code(place, cells)
    if known := cells.undefined.get(_undefined_name(report)):
        what += f": {_whose(known.cell)} {known.briefly}"
    elif report.error != "NameError":
        what += shapes_in_words(place.shapes, source)
    what = one_line(what, MAX_MESSAGE)  # a cell failed because of another, and that one of a third, and so on
    if text is None:
        return Raised(where="", source="", what=what, excerpt="")
    return Raised(
        where=_where(place.cell, place.line, here),
        source=one_line(text, MAX_SOURCE),
        what=what,
        excerpt=excerpt(source, place.line, place.column),
    )


def why_undefined(names: Collection[str], here: str, cells: NotebookCells) -> tuple[str, Undefined] | None:
    """Return why a name is undefined: a text for a reader of the cell `here`, and the `Undefined` record.

    The name is the first of `names` for which a reason is known.

    Returns:
        None if no reason is known for any of the names.
    """
    for name in names:
        if known := cells.undefined.get(name):
            unsolved, mine = known.outcome is Outcome.MISSING, known.cell == here
            start = "your cell" if mine else f"{name} is not defined: {_whose(known.cell)}"
            text = f"{start} {known.briefly if unsolved else known.why}"
            return one_line(known.why if unsolved and mine else text, MAX_MESSAGE), known
    return None


def _undefined_name(report: CellResult | Evidence) -> str:
    """Return the name that a NameError is about, or "" if the exception is not a NameError about a name."""
    found = UNDEFINED.search(report.message) if report.error == "NameError" else None
    return found[1] if found else ""


def _where(cell: str, line: int, here: str) -> str:
    """Return words for a line of a cell, for a reader of the cell `here`.

    They are "line 4", "in your exercise 1.4, line 4" or "in your own cell, line 4".
    """
    if cell == here:
        return f"line {line}"
    exercise = exercise_of(cell)
    return f"in your {f'exercise {exercise}' if exercise else 'own cell'}, line {line}"


def _whose(cell: str) -> str:
    """Return words for a cell that defines a name.

    They are "its cell, exercise 1.4,", "your own cell that defines it" or "the
    lesson's cell that defines it".
    """
    if role(cell) is Role.ANSWER:
        return f"its cell, exercise {exercise_of(cell)},"
    own = role(cell) in (Role.OWN, Role.PREDICTION)
    return "your own cell that defines it" if own else "the lesson's cell that defines it"


def _in_given_code(place: Place, cells: NotebookCells) -> str:
    """Return words for the lesson's function in which an exception was raised: ", in the lesson's draw".

    Return "" if the exception was not raised in provided code.
    """
    source = cells.sources.get(place.given_cell, "")
    if place.given_cell in cells.student or line_of(source, place.given_line) is None:
        return ""
    around = [name for name, first, last in _definition_lines(source) if first <= place.given_line <= last]
    return f", in the lesson's {around[0] if around else 'code'}"


@cached_by_source
def _definition_lines(source: str) -> tuple[tuple[str, int, int], ...]:
    """List the functions and classes that a cell defines at its top level, as (name, first line, last line)."""
    return tuple(
        (node.name, node.lineno, node.end_lineno or 0)
        for node in parsed(source).statements or ()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    )
