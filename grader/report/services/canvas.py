"""Canvas: the table that its gradebook imports.

The format is that of lib/gradebook_importer.rb and lib/gradebook_exporter.rb of canvas-lms: name
and numbers of the student, the section, and a column for each assignment, headed "Title (number)".
Canvas finds the assignment by the number. Without a number, Canvas uses the assignment with that
title, or creates one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from grader.records import Student
from grader.report.services.csv_table import CannotExport, Export, Scores, WrongOwnFile, exact, read_table, score, table
from grader.report.text import number

POINTS = "Points Possible"
IDENTITY = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
# Canvas recognises this row by its text; its own export indents the text by four spaces.
POINTS_CELL = f"    {POINTS}"
NUMBERED = re.compile(r".*\((?P<number>[0-9]+)\)")


def canvas(students: Scores, worth: Mapping[str, float], column: str = "", own: str = "") -> Export:
    """Return the table that Canvas imports.

    Args:
        students: each student, with their entries by assignment.
        worth: the maximum points of each assignment.
        column: the head of the assignment's column in Canvas, or the assignment's number there.
        own: Canvas's own gradebook export, whose columns about the student are kept; "" without
            one.

    Raises:
        CannotExport: there are several assignments for one column, or Canvas's export has no such
            column.
    """
    if column and len(worth) != 1:
        raise CannotExport(
            f"--column is for one assignment: pass --assignment, as in {min(worth, default='1-attention')}"
        )
    if own:
        return _filled_in(students, worth, column, _GradebookExport.read(own))
    heads = [_head(column, name) for name in worth]
    rows = [[*IDENTITY, *heads], [POINTS_CELL, "", "", "", "", *map(exact, worth.values())]]
    for student, scores in students:
        # The student's id is Canvas's own number, as in its zip, or else the student's login name.
        identity = [student.id, "", ""] if student.has_lms_id else ["", "", student.id]
        name = f"{student.last_name}, {student.first_name}".strip(", ") or student.id
        rows.append([name, *identity, "", *(score(scores.get(assignment)) for assignment in worth)])
    return Export(text=table(rows))


def _head(column: str, assignment: str) -> str:
    """Return the head of a column: `column`, or the assignment's name if `column` is "".

    If `column` is a number, the head is the assignment's name with the number in brackets.
    """
    if column.isdecimal():
        return f"{assignment} ({column})"
    return column or assignment


@dataclass(frozen=True)
class _GradebookExport:
    """The students and columns of Canvas's own export."""

    head: list[str]
    identity: int  # how many columns are about the student; the last of them is the section
    points: list[str]  # the row of points
    rows: list[list[str]]  # one for each student, and others without a student's number

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the content of Canvas's export.

        Raises:
            WrongOwnFile: the text is not Canvas's export.
        """
        head, *rows = read_table(text)
        if not {"ID", "Section"} <= set(head):
            raise WrongOwnFile("it is not an export of Canvas's gradebook: it lacks the columns ID and Section")
        points = next((row for row in rows if POINTS in row[0]), [""] * len(head))
        return cls(head, head.index("Section") + 1, points, rows)

    def column(self, wanted: str) -> int:
        """Return the index of an assignment's column, given the column's head, title or number.

        Raises:
            CannotExport: no column fits, or several columns do.
        """
        found = [
            place
            for place in range(self.identity, len(self.head))
            if wanted in (self.head[place], _number(self.head[place]), _title(self.head[place]))
        ]
        if len(found) == 1:
            return found[0]
        columns = ", ".join(name for name in self.head[self.identity :] if _number(name)) or "none"
        problem = "several columns" if found else "no column"
        raise CannotExport(f"Canvas's export has {problem} {wanted!r}; pass --column, one of: {columns}")

    def row(self, student: Student) -> list[str] | None:
        """Return the row of a student, or None if the export does not contain the student.

        A student is found by Canvas's number, or otherwise by the login or the school's number.
        """
        keys = ("ID",) if student.has_lms_id else ("SIS Login ID", "SIS User ID")
        for key in keys:
            if key in self.head:
                place = self.head.index(key)
                if found := [row for row in self.rows if row[place] == student.id]:
                    return found[0]
        return None


def _number(head: str) -> str:
    """Return the assignment's number in the head of a column, or "" if the head contains no number."""
    match = NUMBERED.fullmatch(head)
    return match["number"] if match else ""


def _title(head: str) -> str:
    """Return the assignment's title in the head of a column, or "" if the head contains no number."""
    return head.rpartition(" (")[0] if _number(head) else ""


def _filled_in(students: Scores, worth: Mapping[str, float], column: str, canvas_export: _GradebookExport) -> Export:
    """Return the table for Canvas. Its columns about the student are copied from Canvas's own export."""
    places = {name: canvas_export.column(column or name) for name in worth}
    identity = slice(0, canvas_export.identity)
    head = [*canvas_export.head[identity], *(canvas_export.head[place] for place in places.values())]
    points = [POINTS_CELL, *[""] * (canvas_export.identity - 1), *map(exact, worth.values())]
    rows, left_out = [head, points], []
    for student, scores in students:
        row = canvas_export.row(student)
        if row is None:
            left_out.append(student.id)
        else:
            rows.append([*row[identity], *(score(scores.get(name)) for name in worth)])
    remarks = (
        f"Canvas has {said} maximum points for {canvas_export.head[place]!r}, "
        f"but the gradebook has {number(worth[name])}"
        for name, place in places.items()
        if (said := canvas_export.points[place].strip()) and said not in _spellings(worth[name])
    )
    return Export(text=table(rows), left_out=tuple(left_out), remarks=tuple(remarks))


def _spellings(points: float) -> set[str]:
    """Return all texts that Canvas may write for points: with up to two decimals, and with a point or a comma."""
    plain = {exact(points), f"{points:.1f}", f"{points:.2f}"}
    return plain | {text.replace(".", ",") for text in plain}
