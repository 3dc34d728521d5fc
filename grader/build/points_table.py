"""Makes the table of points at the top of a lesson, from the declaration and the questions of the script."""

import re
from collections.abc import Mapping

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson

PLACE = re.compile(r"^<!-- table of points -->$", re.MULTILINE)  # a line of the script's text


def with_points_table(text: str, lesson: Lesson, questions: Mapping[str, str]) -> str:
    """Put the table in the place of the line `<!-- table of points -->`, if a text has one.

    Args:
        questions: the titles of the lesson's questions, by id.
    """
    return PLACE.sub(lambda _: points_table(lesson, questions), text)


def points_table(lesson: Lesson, questions: Mapping[str, str]) -> str:
    """Return the table in Markdown: a row for each exercise, practice below the sum, and the questions."""
    graded = [exercise for exercise in lesson.exercises if exercise.points]
    practice = [exercise for exercise in lesson.exercises if not exercise.points]
    rows = ["| exercise | you write | points | minutes |", "|---|---|--:|--:|", *map(_row, graded)]
    rows.append(f"| **together** | | **{lesson.max_score:g}** | **{_minutes(graded)}** |")
    if practice:
        rows += map(_row, practice)
        rows.append(f"| **practice together** | | – | **{_minutes(practice)}** |")
    for id, title in questions.items():
        points = lesson.questions.get(id, 0)
        rows.append(f"| {id} {_cell(title)} | a few sentences | {f'{points:g}' if points else '–'} | |")
    return "\n".join(rows)


def _row(exercise: Exercise) -> str:
    names = ", ".join(f"`{name}`" for name in exercise.defines)
    points = f"{exercise.points:g}" if exercise.points else "–"
    return f"| {exercise.id} {_cell(exercise.title)} | {names} | {points} | {exercise.minutes} |"


def _minutes(exercises: list[Exercise]) -> int:
    return sum(exercise.minutes for exercise in exercises)


def _cell(text: str) -> str:
    """Escape what would end a cell of a table."""
    return text.replace("|", "\\|")
