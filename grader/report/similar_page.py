"""Makes the page that shows answers side by side which agree in what few of a class write."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from grader.records import Student
from grader.report.page import render
from grader.report.similar import Both, by_students, remark
from grader.report.similarity.exercise import ComparedExercise
from grader.report.text import clean_lines

MOST_PAIRS = 100  # of students, on one page
MOST_OPEN = 3  # pairs of students whose code is unfolded at first
MOST_LINES, MOST_WIDTH = 200, 200  # that are shown of an answer


def similar_page(compared: Sequence[ComparedExercise], students: Mapping[str, Student]) -> str:
    """Return one HTML file that needs no other file; `students` is everybody in the class, by id."""
    found = by_students(compared)
    return render(
        "similar.html.j2",
        exercises=[(each, remark(each)) for each in compared],
        pairs=[_pair(both, students) for both in found[:MOST_PAIRS]],
        more=max(len(found) - MOST_PAIRS, 0),
        open=MOST_OPEN,
    )


def _pair(both: Both, students: Mapping[str, Student]) -> dict[str, Any]:
    """Collect what the template shows of two students."""
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
    """Return the lines of an answer, cut to MOST_WIDTH, each with whether it is one of `lines`; last how many more."""
    shown = clean_lines(source).split("\n")
    cut = [(line[:MOST_WIDTH], number in lines) for number, line in enumerate(shown[:MOST_LINES], 1)]
    return [*cut, *([(f"… {len(shown) - MOST_LINES} more lines", False)] if len(shown) > MOST_LINES else [])]
