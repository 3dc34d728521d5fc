"""Shows which answers of a class agree in what few write: as a table for the terminal, and as JSON lines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.report.similarity.exercise import ComparedExercise
from grader.report.similarity.pairs import LEAST_ANSWERS, Pair
from grader.report.text import clean

MOST_ROWS = 20  # pairs of students on the terminal


@dataclass(frozen=True)
class Both:
    """Two students, and all exercises in which their answers share much that is rare."""

    assignment: str
    students: tuple[str, str]
    found: tuple[tuple[ComparedExercise, Pair], ...]

    @property
    def rare(self) -> float:
        """The rare fragments that they share, over all exercises, by weight."""
        return sum(pair.rare for _, pair in self.found)


def by_students(compared: Sequence[ComparedExercise]) -> list[Both]:
    """Group the pairs of all exercises by assignment and students, those that agree in most exercises first."""
    groups: dict[tuple[str, tuple[str, str]], list[tuple[ComparedExercise, Pair]]] = {}
    for exercise in compared:
        for pair in exercise.comparison.pairs:
            groups.setdefault((exercise.assignment, pair.students), []).append((exercise, pair))
    both = [Both(assignment, students, tuple(found)) for (assignment, students), found in groups.items()]
    return sorted(both, key=lambda each: (each.assignment, -len(each.found), -each.rare, each.students))


def remark(exercise: ComparedExercise) -> str:
    """Say why the answers to an exercise tell little: too few, or too much alike; "" if they can tell something."""
    comparison = exercise.comparison
    if comparison.too_few:
        return f"fewer than {LEAST_ANSWERS} answers: nothing says what is rare"
    if comparison.telling < 2:
        return "everybody writes much the same: this cannot tell"
    return ""


def similar_table(compared: Sequence[ComparedExercise]) -> RenderableType:
    """Lay out what was compared, exercise by exercise, and the pairs of students that share most."""
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
        f"{len(found)} pairs of students share much that few write. That is a reason to look, and no proof; no points depend on it."
        if found
        else "No two answers share much that few write."
    )
    return Group(exercises, Text(), *((pairs, Text()) if found else ()), Text(said))


def as_lines(compared: Sequence[ComparedExercise]) -> Iterator[str]:
    """Yield a line of JSON for each exercise and pair."""
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
