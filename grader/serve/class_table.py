"""Makes the table of the class: one row for each student, one column for each assignment."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from grader.course import lessons
from grader.records import GradebookEntry, Student
from grader.report.services.csv_table import score, table
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.flags import Flagged, Key, flags_of
from grader.serve.site import Site

STUDENT, NAME = "student", "name"  # the columns before those of the assignments
LONGEST_SEARCH = 100  # characters


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A student's attempts at an assignment, and the submission's record in the gradebook."""

    attempts: Sequence[Attempt] = ()  # the newest first
    entry: GradebookEntry | None = None  # None without a submission

    @property
    def attempt(self) -> Attempt | None:
        """The attempt that counts, or the newest attempt if none of them counts. None without attempts."""
        return next((attempt for attempt in self.attempts if attempt.counts), next(iter(self.attempts), None))

    @property
    def score(self) -> float | None:
        """The submission's score in the gradebook, or None if it has no score."""
        return self.entry.score if self.entry else None

    @property
    def flags(self) -> list[Flagged]:
        """The flags of all the student's attempts at the assignment."""
        return flags_of(self.attempts, self.entry)

    @property
    def is_empty(self) -> bool:
        """Return True if the student has submitted nothing."""
        return not self.attempts and self.entry is None

    @property
    def remarks(self) -> list[str]:
        """Notes for the instructor next to the score, such as "late" or "in the queue"."""
        states, entry, flags = {attempt.state for attempt in self.attempts}, self.entry, len(self.flags)
        is_fault = entry.fault != "" if entry else attempts.FAULT in states
        told = {
            "nothing submitted": self.is_empty,
            "being graded": attempts.GRADING in states,
            "in the queue": attempts.WAITING in states,
            "unreadable": entry is not None and entry.status == attempts.UNREADABLE,
            "not graded: grader error": is_fault,
            "late": entry is not None and bool(entry.seconds_late),
            "1 flag" if flags == 1 else f"{flags} flags": flags > 0,
            "needs manual grading": entry is not None and entry.waits_for_person,
            "open appeal": entry is not None and any(not appeal.outcome for appeal in entry.appeals),
        }
        return [remark for remark, holds in told.items() if holds]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A student, and the student's cell for each assignment."""

    student: Student
    cells: Mapping[str, Cell]

    def value(self, column: str) -> Any:
        """Return the value by which a column sorts this row, or None if the student has no name or no score there."""
        if column == NAME:
            names = (self.student.last_name.casefold(), self.student.first_name.casefold())
            return names if any(names) else None
        return self.student.id if column == STUDENT else self.cells[column].score


@dataclass(frozen=True, kw_only=True)
class ClassTable:
    """The rows of the class table in the order in which a page shows them."""

    columns: Mapping[str, str]  # the name of each assignment, and its title
    rows: Sequence[Row]
    size: int  # number of all students, including those that the search hides
    sort: str = STUDENT  # a column
    descending: bool = False
    find: str = ""

    @property
    def heads(self) -> Sequence[str]:
        """The names of all columns."""
        return (STUDENT, NAME, *self.columns)

    def query(self, sort: str = "") -> str:
        """Return the query of the address that shows this table, sorted by the column `sort`.

        A column by which the table is sorted already gives the opposite order, as a click on its
        head does. Without `sort`, return the query of the table as it is.
        """
        descending = not self.descending if sort == self.sort else self.descending and not sort
        values = {"sort": sort or self.sort, "order": "desc" if descending else "asc", "find": self.find}
        return urlencode({name: value for name, value in values.items() if value})

    def aria_sort(self, column: str) -> str:
        """Return the value of `aria-sort` for a column: "" if the table is sorted by another column."""
        return ("descending" if self.descending else "ascending") if column == self.sort else ""

    def arranged(self, asked: Mapping[str, str]) -> "ClassTable":
        """Return the table sorted and filtered as the query `asked` demands. Ignore unknown parts of the query.

        In both orders, rows without a value in the sorted column are the last rows.
        """
        find = asked.get("find", "").strip()[:LONGEST_SEARCH]
        sort, descending = asked.get("sort", ""), asked.get("order") == "desc"
        sort = sort if sort in self.heads else STUDENT
        found = [row for row in self.rows if find.casefold() in f"{row.student.id} {row.student.name}".casefold()]
        rows = sorted(found, key=lambda row: row.student.id)
        sortable = [row for row in rows if row.value(sort) is not None]
        sortable.sort(key=lambda row: row.value(sort), reverse=descending)
        rows = [*sortable, *(row for row in rows if row.value(sort) is None)]
        return replace(self, rows=rows, sort=sort, descending=descending, find=find)


def class_table(site: Site, everybody: Iterable[Attempt], entries: Iterable[GradebookEntry]) -> ClassTable:
    """Return the table of all attempts and all gradebook entries.

    A gradebook entry is the record of one submission. The columns are the assignments that students
    see, and closed assignments that have submissions.
    """
    by_key: dict[Key, list[Attempt]] = defaultdict(list)
    for attempt in everybody:
        by_key[attempt.assignment, attempt.student].insert(0, attempt)
    scores = {(entry.assignment, entry.student.id): entry for entry in entries if entry.status != "missing"}
    keys = by_key.keys() | scores.keys()
    known = {name: lesson.title for name, lesson in lessons().items()}
    closed = {name: known.get(name, "") for name in sorted({assignment for assignment, _ in keys})}
    columns = dict(sorted({**closed, **site.open_assignments()}.items()))
    students = {id: Student(id=id) for _, id in keys} | site.students()
    rows = [
        Row(
            student=student,
            cells={name: Cell(attempts=by_key.get((name, id), ()), entry=scores.get((name, id))) for name in columns},
        )
        for id, student in sorted(students.items())
    ]
    return ClassTable(columns=columns, rows=rows, size=len(rows))


def as_csv(shown: ClassTable) -> str:
    """Return the table as CSV text, in the table's order.

    Apostrophes in front of some texts keep spreadsheets from running them as formulas (see
    csv_table.py).
    """
    heads = [head for name in shown.columns for head in (name, f"{name} attempt", f"{name} remarks")]
    rows = [["student", "last_name", "first_name", *heads]]
    for row in shown.rows:
        cells = [text for cell in row.cells.values() for text in _texts(cell)]
        rows.append([row.student.id, row.student.last_name, row.student.first_name, *cells])
    return table(rows)


def _texts(cell: Cell) -> tuple[str, str, str]:
    """Return a cell's score, attempt number and remarks, each as text."""
    return score(cell.entry), str(cell.attempt.nth) if cell.attempt else "", "; ".join(cell.remarks)
