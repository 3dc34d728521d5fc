"""Writes tables as CSV in which spreadsheets run no formulas, and reads tables that a learning platform wrote."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from grader.complaint import Complaint
from grader.records import GradebookEntry, Student
from grader.report.text import clean

FORMULA_STARTS = ("=", "+", "-", "@")  # spreadsheets run a cell that starts with one of these
Scores = Sequence[tuple[Student, Mapping[str, GradebookEntry]]]  # each student's entries by assignment
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


class CannotExport(Complaint):
    """The service has no file for this request. The message names the next step."""


class WrongOwnFile(CannotExport):
    """The given file is not the service's own file. The message states the reason, without naming the file."""


@dataclass(frozen=True, kw_only=True)
class Export:
    """The content of the file that a service imports, and messages about it."""

    text: str
    encoding: str = "utf-8"
    left_out: tuple[str, ...] = ()  # students without a row, because the service does not know their ids
    remarks: tuple[str, ...] = ()  # messages to read before the import


def exact(points: float) -> str:
    """Return points as text for another program, with up to six decimals. Pages show only two."""
    return f"{points:.6f}".rstrip("0").rstrip(".")


def score(entry: GradebookEntry | None) -> str:
    """Return the final score as the text of a cell, or "" without a score."""
    return "" if entry is None or entry.score is None else exact(entry.score)


def table(
    rows: Iterable[Sequence[str]], trusted: Set[str] = frozenset(), *, separator: str = ",", quoted: bool = False
) -> str:
    """Return rows as CSV text, as RFC 4180 defines it.

    A cell that a spreadsheet would run as a formula gets an apostrophe in front, unless its text is
    in `trusted`. Negative numbers get no apostrophe, although they begin with "-", because a
    platform could not read them.

    Args:
        separator: the text between two cells, for a platform that needs another one than ",".
        quoted: write quotation marks around all cells.
    """
    text = io.StringIO()
    writer = csv.writer(
        text, lineterminator="\r\n", delimiter=separator, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    )
    writer.writerows([cell if cell in trusted else _without_formula(cell) for cell in row] for row in rows)
    return text.getvalue()


def _without_formula(cell: str) -> str:
    """Return the text of a cell without unprintable characters.

    Put an apostrophe in front if a spreadsheet would run the text as a formula.
    """
    # Clean only cells with unprintable characters: `clean` would remove the indentation that Canvas expects.
    text = cell if cell.isprintable() else clean(cell)
    # Some spreadsheets read the full-width forms of these characters, too: NFKC turns them into the plain ones.
    plain = unicodedata.normalize("NFKC", text).lstrip()
    formula = plain.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(text)
    return f"'{text}" if formula else text


def read_table(text: str, *, whole: bool = False) -> list[list[str]]:
    """Return the rows of CSV text with commas, semicolons or tabs.

    All rows get as many cells as the first row, and empty rows are left out.

    Args:
        whole: keep the rows as they are, for a file that does not begin with its head.

    Raises:
        WrongOwnFile: the text is not CSV, or is empty.
    """
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    lines = text.splitlines() or [""]
    separator = max(",;\t", key=max(lines[: 3 if whole else 1], key=len).count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise WrongOwnFile(f"it is not a CSV file: {error}. Download it again.") from error
    if not any(rows):
        raise WrongOwnFile("it is empty. Download it again.")
    if whole:
        return rows
    rows = [row for row in rows if row]
    width = len(rows[0])
    return [[*row[:width], *[""] * (width - len(row))] for row in rows]
