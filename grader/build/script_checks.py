"""Checks a declaration's fields `review` and `builds_on`, and the script's texts for students."""

import ast
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from nbformat import NotebookNode

from grader.build.errors import BuildError
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.submission.code.source import parsed

# What code says to tools and not to people.
DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?:fmt:|noqa\b|ruff:|isort:|mypy:|type:|pragma:|pylint:).*$", re.MULTILINE)
ALT = re.compile(r"!\[\s*\]\(")  # a picture without alternative text
DRAWING = re.compile(r"(?<![\w.])show_\w+(?=\()|\bplt\.show(?=\()")
CAPTION = re.compile(r"\s*\*[^*\s]")  # a text that begins in italics
HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*$", re.MULTILINE)


def check_against_script(script: str | Path, lesson: Lesson, cells: Sequence[NotebookNode]) -> None:
    """Raise BuildError if a solution and its declaration do not fit together.

    This is the case if a solution lacks names that the exercise defines, if `review` is not a
    heading, or if the solution uses a name that an exercise outside `builds_on` defines.

    Args:
        script: the path of the script, only for the message.
        cells: the cells, with their markers as metadata.
    """
    headings = [heading for cell in cells if cell.cell_type == "markdown" for heading in HEADING.findall(cell.source)]
    solutions = {
        cell.metadata["exercise"]: cell.source
        for cell in cells
        if cell.cell_type == "code" and "exercise" in cell.metadata
    }
    for exercise in lesson.exercises:
        problems = (
            *_solution_problems(exercise, solutions.get(exercise.id, "")),
            *_review_problems(exercise, headings),
            *_builds_on_problems(exercise, lesson, solutions.get(exercise.id, "")),
        )
        for problem in problems:
            raise BuildError(f"{script}: exercise {exercise.id}, {problem}")


def without_directives(source: str) -> str:
    """Return code without the comments that control a formatter, a linter or a type checker."""
    return DIRECTIVE.sub("", source)


def check_what_students_read(script: str | Path, cells: Sequence[NotebookNode]) -> None:
    """Raise BuildError if a text, picture or figure is not ready for students.

    This is the case for a comment that controls a tool, a picture without alternative text, and a
    figure without a caption. A caption is the text after the cell that draws the figure. It begins
    with a description of the figure in italics, which a screen reader reads instead of the figure.
    """
    code = [cell for cell in cells if cell.cell_type == "code"]
    own = {name for cell in code for name in parsed(cell.source).definitions}
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        head = cell.source.strip().partition("\n")[0]
        if cell.cell_type == "markdown":
            if ALT.search(cell.source):
                raise BuildError(f"{script}: a picture has no text between ![ and ] (cell that begins with {head!r})")
            continue
        if directive := DIRECTIVE.search(cell.source):
            raise BuildError(
                f"{script}: students would read {directive[0].strip()!r}; set it in pyproject.toml for the file "
                f"(cell that begins with {head!r})"
            )
        draws = [name for name in DRAWING.findall(cell.source) if name not in own]
        captioned = after is not None and after.cell_type == "markdown" and CAPTION.match(after.source)
        if draws and not captioned:
            raise BuildError(
                f"{script}: {draws[0]} draws a figure, and no caption follows: begin the text after it with what is to "
                f"be seen, in *italics* (cell that begins with {head!r})"
            )


def _solution_problems(exercise: Exercise, solution: str) -> Iterator[str]:
    try:
        ast.parse(solution)
    except SyntaxError as error:
        yield f"the solution's line {error.lineno} is not valid Python: {error.msg}"
    if missing := [name for name in exercise.defines if name not in parsed(solution).definitions]:
        yield f"the solution does not define {', '.join(missing)}, as the declaration asks"


def _review_problems(exercise: Exercise, headings: Sequence[str]) -> Iterator[str]:
    if not exercise.review or exercise.review in headings:
        return
    similar = get_close_matches(exercise.review, headings, n=1)
    advice = f"did you mean {similar[0]!r}?" if similar else f"there are {', '.join(map(repr, headings)) or 'none'}"
    yield f"review: {exercise.review!r} is no heading of the lesson; {advice}"


def _builds_on_problems(exercise: Exercise, lesson: Lesson, solution: str) -> Iterator[str]:
    used = parsed(solution).free
    for other in lesson.exercises:
        names = [name for name in other.defines if name in used]
        if names and other is not exercise and other.id not in exercise.builds_on:
            yield f'builds_on: the solution uses {", ".join(names)} of exercise {other.id}; add "{other.id}"'
