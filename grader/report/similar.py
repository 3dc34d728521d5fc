"""Shows answers of a class that share rare code: as a table, as JSON lines, and side by side on a page.

Rare code is code that few answers of the class contain.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.records import Student
from grader.report.page import render
from grader.report.similarity.pairs import LEAST_ANSWERS, ComparedExercise, Pair
from grader.report.text import clean, clean_lines

MOST_ROWS = 20  # pairs of students on the terminal


@dataclass(frozen=True)
class Both:
    """Two students, and all exercises in which their answers share much rare code."""

    assignment: str
    students: tuple[str, str]
    found: tuple[tuple[ComparedExercise, Pair], ...]

    @property
    def rare(self) -> float:
        """The weight of the rare code that the two students share, summed over all exercises."""
        return sum(pair.rare for _, pair in self.found)


def by_students(compared: Sequence[ComparedExercise]) -> list[Both]:
    """Return the pairs of students in each assignment, sorted by the number of exercises in which they agree."""
    groups: dict[tuple[str, tuple[str, str]], list[tuple[ComparedExercise, Pair]]] = {}
    for exercise in compared:
        for pair in exercise.comparison.pairs:
            groups.setdefault((exercise.assignment, pair.students), []).append((exercise, pair))
    both = [Both(assignment, students, tuple(found)) for (assignment, students), found in groups.items()]
    return sorted(both, key=lambda each: (each.assignment, -len(each.found), -each.rare, each.students))


def remark(exercise: ComparedExercise) -> str:
    """Return the reason why the answers to an exercise prove little, or "" if they can be compared well."""
    comparison = exercise.comparison
    if comparison.too_few:
        return f"fewer than {LEAST_ANSWERS} answers: too few to find rare code"
    if comparison.telling < 2:
        return "the answers are too alike to compare"
    return ""


def nothing_found(compared: Sequence[ComparedExercise]) -> str:
    """Return a sentence for a comparison that found no pair; it says so if there were too few answers to compare."""
    if compared and all(each.comparison.too_few for each in compared):
        return f"Nothing was compared: no exercise has {LEAST_ANSWERS} answers."
    return "No two answers share much rare code."


def similar_table(compared: Sequence[ComparedExercise]) -> RenderableType:
    """Return a table of the compared exercises, and a table of the pairs of students that share most."""
    exercises = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("exercise", "answers", "telling", "pairs"):
        exercises.add_column(name, justify="left" if name == "exercise" else "right")
    exercises.add_column("")
    for each in compared:
        counts = (each.comparison.answers, each.comparison.telling, len(each.comparison.pairs))
        exercises.add_row(each.id, *map(str, counts), remark(each))
    found = by_students(compared)
    pairs = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("students", "assignment", "exercises, with the share of rare fragments"):
        pairs.add_column(name, overflow="fold")
    for both in found[:MOST_ROWS]:
        shares = ", ".join(f"{exercise.id} {100 * pair.share:.0f} %" for exercise, pair in both.found)
        pairs.add_row(Text(" and ".join(map(clean, both.students))), both.assignment, shares)
    said = (
        f"{len(found)} pairs of students share much rare code. "
        "This is a reason to look, and not a proof. No points depend on it."
        if found
        else nothing_found(compared)
    )
    return Group(exercises, Text(), *((pairs, Text()) if found else ()), Text(said))


def as_lines(compared: Sequence[ComparedExercise]) -> Iterator[str]:
    """Yield a line of JSON for each pair of students in each exercise."""
    return (
        json.dumps(
            {
                "assignment": exercise.assignment,
                "exercise": exercise.id,
                "students": pair.students,
                "share": round(pair.share, 4),
                "rare": round(pair.rare, 2),
                "lines": [sorted(lines) for lines in pair.lines],
            }
        )
        for exercise in compared
        for pair in exercise.comparison.pairs
    )


MOST_PAIRS = 100  # of students, on one page
MOST_OPEN = 3  # pairs of students whose code is unfolded at first
MOST_LINES, MOST_WIDTH = 200, 200  # that are shown of an answer


def similar_page(compared: Sequence[ComparedExercise], students: Mapping[str, Student]) -> str:
    """Return one HTML file that needs no other file.

    Args:
        students: all students of the class, by id.
    """
    found = by_students(compared)
    return render(
        "similar.html.j2",
        exercises=[(each, remark(each)) for each in compared],
        pairs=[_pair(both, students) for both in found[:MOST_PAIRS]],
        nothing=nothing_found(compared),
        more=max(len(found) - MOST_PAIRS, 0),
        open=MOST_OPEN,
    )


def _pair(both: Both, students: Mapping[str, Student]) -> dict[str, Any]:
    """Return the values that the template shows about two students."""
    return {
        "assignment": both.assignment,
        "students": [students.get(id, Student(id=id)) for id in both.students],
        "exercises": [
            {
                "id": exercise.id,
                "title": exercise.title,
                "share": round(100 * pair.share),
                "sides": [
                    (student, _marked(exercise.sources[student], lines))
                    for student, lines in zip(pair.students, pair.lines, strict=True)
                ],
            }
            for exercise, pair in both.found
        ],
    }


def _marked(source: str, lines: Collection[int]) -> list[tuple[str, bool]]:
    """Return the lines of an answer, cut to MOST_WIDTH characters. Each line has True if it is in `lines`.

    If the answer has more than MOST_LINES lines, the last line states how many are missing.
    """
    shown = clean_lines(source).split("\n")
    cut = [(line[:MOST_WIDTH], number in lines) for number, line in enumerate(shown[:MOST_LINES], 1)]
    return [*cut, *([(f"… {len(shown) - MOST_LINES} more lines", False)] if len(shown) > MOST_LINES else [])]
