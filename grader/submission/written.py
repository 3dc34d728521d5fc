"""Finds the texts that a student wrote for the questions of a lesson, and shows them safely."""

from collections.abc import Collection

from nbformat import NotebookNode

from grader.records import Written
from grader.submission.cells import (
    Role,
    marked_questions,
    question_of,
    question_title,
    role,
    with_question_marker,
    without_question_marker,
)
from grader.submission.file import Cell

MAX_TEXT = 20_000  # characters of one text; the rest is left out
CUT = "\n… (the rest was left out: the text is too long)"


def questions_of(cell: Cell) -> set[str]:
    """Return the questions that a submitted cell answers.

    They stand in its comments `<!-- @question … -->`. A cell without one, because the student deleted it, is known
    by nbgrader's id or by its own.
    """
    by_id = next((name for name in (cell.grade_id, cell.id) if role(name) is Role.WRITTEN), "")
    return marked_questions(cell.source) or ({found} if (found := question_of(by_id)) else set())


def written_texts(master: NotebookNode, texts: Collection[Cell]) -> tuple[Written, ...]:
    """Return for each question of the released notebook what the student wrote; "" for nothing.

    `texts` are the submitted cells that answer a question; several for one question are put together.
    """
    written = []
    for cell in master.cells:
        question = question_of(cell.id)
        if question is None or role(cell.id) is not Role.WRITTEN:
            continue
        stub = without_question_marker(cell.source)  # the line that the student was to write over
        answers = (without_question_marker(text.source) for text in texts if question in questions_of(text))
        said = "\n\n".join(filter(None, (answer.replace(stub, "").strip() for answer in answers)))
        text = said if len(said) <= MAX_TEXT else said[:MAX_TEXT] + CUT
        written.append(Written(id=question, title=question_title(cell), text=text))
    return tuple(written)


def shown(written: Written) -> str:
    """Return the source of a Markdown cell that shows a text as it was typed.

    formgrader shows Markdown to the instructor and lets HTML and scripts in it run. So every character that could
    mean something becomes an entity, and MathJax is told to leave the text alone.
    """
    inside = "".join(letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in written.text)
    box = f'<div class="tex2jax_ignore mathjax_ignore" style="white-space: pre-wrap">{inside}</div>'
    return with_question_marker(written.id, box if written.text else "*(nothing was written)*")
