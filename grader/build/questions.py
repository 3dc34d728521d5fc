"""Makes the cells of a question: its text, and the cell for the student's answer, which a person may grade.

In the script, a question is one Markdown cell, `# %% [markdown] question="1.Q1"`. It begins with a
heading and ends with its mark scheme, between nbgrader's markers. The mark scheme becomes the
"solution" of the cell for the answer, so nbgrader removes it from the student notebook.
"""

import re

import nbformat
from nbformat import NotebookNode

from grader.declare.lesson import Lesson
from grader.submission.cells import QUESTION_TITLE, question_cell, with_question_marker, written_cell

BEGIN, END = "=== BEGIN MARK SCHEME ===", "=== END MARK SCHEME ==="
SCHEME = re.compile(rf"^[ \t]*{BEGIN}[ \t]*$\n(.*)^[ \t]*{END}[ \t]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{2,6}[ \t]+(.+?)[ \t]*$", re.MULTILINE)
# nbgrader looks for these words in any line; as comments they do not show in the solution notebook.
SOLUTION = "<!-- ### BEGIN SOLUTION -->", "<!-- ### END SOLUTION -->"


def question_cells(id: str, source: str, lesson: Lesson) -> list[NotebookNode]:
    """Return the cell with the question, and the cell for the answer, which contains the mark scheme.

    Args:
        source: the heading, the question and the mark scheme.

    Raises:
        ValueError: the heading or the mark scheme is missing, the mark scheme is not at the end, or
            an exercise has this id.
    """
    scheme = SCHEME.search(source)
    if scheme is None or not scheme[1].strip():
        raise ValueError(f"question {id} has no mark scheme: '{BEGIN}' … '{END}' at its end")
    if source[scheme.end() :].strip():
        raise ValueError(f"question {id} goes on after its mark scheme, which must be its end")
    asked = source[: scheme.start()].strip()
    title, body = title_of(asked), asked.partition("\n")[2].strip()
    if not title:
        raise ValueError(f"question {id} has no title: begin it with a heading, as in '### Why three of them?'")
    if id in {exercise.id for exercise in lesson.exercises}:
        raise ValueError(f"{id} is an exercise; give the question another id, as in 1.Q1")
    points = lesson.questions.get(id, 0.0)
    text = f"{heading(id, title, points)}\n\n{body}"
    begin, end = SOLUTION
    inside = "\n".join((begin, "**Mark scheme.**", "", scheme[1].strip(), "", end))
    written = nbformat.v4.new_markdown_cell(with_question_marker(id, inside), id=written_cell(id))
    written.metadata["nbgrader"] = nbgrader_metadata(written_cell(id), solution=True, points=points)
    written.metadata[QUESTION_TITLE] = title
    return [nbformat.v4.new_markdown_cell(text, id=question_cell(id)), written]


def nbgrader_metadata(grade_id: str, *, solution: bool, points: float | None = None) -> dict:
    """Return nbgrader's metadata of a cell. A cell with a solution is editable, and a cell with points is graded."""
    metadata = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return metadata if points is None else {**metadata, "points": points}


def title_of(source: str) -> str:
    """Return the first heading of a question, or "" if it does not begin with a heading."""
    title = HEADING.match(source.strip())
    return title[1] if title else ""


def heading(id: str, title: str, points: float) -> str:
    """Return a question's heading: "### Question 1.Q1 · Why three of them? — in words, no points"."""
    worth = f"{points:g} point{'s' * (points != 1)}" if points else "no points"
    return f"### Question {id} · {title} — in words, {worth}"
