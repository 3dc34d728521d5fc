"""Fills in those parts of a script's texts that the builder computes.

They are the table of points, the glossary and the minutes of reading.
"""

import re
from collections.abc import Iterable, Mapping
from math import ceil
from pathlib import Path

from grader.build.errors import BuildError
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.submission.cells import ANSWER_IN_SCRIPT

# Lines of the script's text, in whose place something is put.
POINTS_PLACE = re.compile(r"^<!-- table of points -->$", re.MULTILINE)
GLOSSARY_PLACE = re.compile(r"^<!-- glossary -->$", re.MULTILINE)
MINUTES_PLACE = re.compile(r'<!-- minutes to read(?: up to "(?P<heading>[^"]+)")? -->')
GLOSSARY = Path("docs", "glossary.md")
WORDS_A_MINUTE = 220
# What nobody reads as prose: code, hints, mark schemes and our answers, comments; pictures and addresses.
NOT_READ = (
    r"```.*?```",
    r"<details>.*?</details>",
    r"=== BEGIN MARK SCHEME ===.*?=== END MARK SCHEME ===",
    r"<!--.*?-->",
    r"!\[.*?\]\(.*?\)",
    r"(?<=\])\(.*?\)",
)


def with_points_table(text: str, lesson: Lesson, questions: Mapping[str, str]) -> str:
    """Return a text in which the table of points replaces the line `<!-- table of points -->`, if it exists.

    Args:
        questions: the titles of the questions, by id.
    """
    return POINTS_PLACE.sub(lambda _: points_table(lesson, questions), text)


def points_table(lesson: Lesson, questions: Mapping[str, str]) -> str:
    """Return the table of points in Markdown.

    It has a row for each graded exercise, their sum, and then a row for each practice exercise and
    each question.

    Args:
        questions: the titles of the questions, by id.
    """
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
    """Return a text in which no character ends a cell of a table."""
    return text.replace("|", "\\|")


def with_glossary(text: str, root: Path) -> str:
    """Return a text in which docs/glossary.md replaces the line `<!-- glossary -->`, if it exists.

    The glossary is folded and has no title. A link to one of its terms works wherever the notebook
    is opened.

    Raises:
        BuildError: docs/glossary.md cannot be read.
    """
    if not GLOSSARY_PLACE.search(text):
        return text
    try:
        page = (root / GLOSSARY).read_text("utf-8")
    except OSError as error:
        raise BuildError(
            f"{root / GLOSSARY}: {error.strerror or error}; a text has a line <!-- glossary -->: "
            "write the page or take out the line"
        ) from error
    words = re.sub(r"^## ", "#### ", page.partition("\n")[2].strip(), flags=re.MULTILINE)
    folded = f"<details><summary>The words of the course</summary>\n\n{words}\n</details>"
    return GLOSSARY_PLACE.sub(lambda _: folded, text)


def with_reading_time(text: str, texts: Iterable[str]) -> str:
    """Return a text in which the number of minutes replaces `<!-- minutes to read -->`.

    The comment `<!-- minutes to read up to "## Practice" -->` counts only up to that heading.

    Args:
        texts: all texts of the lesson's script, whose minutes are counted.

    Raises:
        ValueError: no text contains the heading.
    """
    return MINUTES_PLACE.sub(lambda match: str(minutes_to_read(texts, match["heading"])), text)


def minutes_to_read(texts: Iterable[str], up_to: str | None = None) -> int:
    """Return the minutes that a lesson's prose takes to read, rounded up.

    Args:
        texts: the texts of the lesson.
        up_to: the heading at which to stop; None for all texts.

    Raises:
        ValueError: the heading is missing.
    """
    prose = "\n\n".join(texts)
    if up_to is not None:
        prose, heading, _ = prose.partition(f"\n{up_to}\n")
        if not heading:
            raise ValueError(f"no text has the heading {up_to!r}, up to which the minutes are to be counted")
    prose = ANSWER_IN_SCRIPT.sub("", prose)
    for part in NOT_READ:
        prose = re.sub(part, "", prose, flags=re.DOTALL)
    words = [word for word in prose.split() if re.search(r"\w", word)]
    return ceil(len(words) / WORDS_A_MINUTE)
