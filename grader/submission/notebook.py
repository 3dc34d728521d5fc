"""Reads the code cells of a notebook, and the student's texts that answer questions, from the notebook's bytes.

When such a text is shown to an instructor, nothing in it can act as Markdown, HTML or a script.
"""

import json
import re
from collections.abc import Collection
from hashlib import sha256

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
from grader.submission.file import Cell, Submission, Unreadable

MAX_TEXT = 20_000  # characters of one text; the rest is left out
CUT = "\n… (the rest was left out: the text is too long)"


def questions_of(cell: Cell) -> set[str]:
    """Return the ids of the questions that a submitted cell answers.

    The cell's comments `<!-- @question … -->` name the questions. If the student deleted the comments, nbgrader's
    grade id or the cell's own id decides.
    """
    by_id = next((name for name in (cell.grade_id, cell.id) if role(name) is Role.WRITTEN), "")
    return marked_questions(cell.source) or ({found} if (found := question_of(by_id)) else set())


def written_texts(master: NotebookNode, texts: Collection[Cell]) -> tuple[Written, ...]:
    """Return the student's text for each question of the released notebook; it is "" if the student wrote nothing.

    Args:
        texts: the submitted cells that answer a question. Several cells for one question are joined.
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
    """Return the source of a Markdown cell that shows a text exactly as it was typed.

    formgrader shows Markdown to the instructor and lets HTML and scripts in it run. So every character that could
    have a special meaning becomes an entity, and MathJax ignores the text.
    """
    inside = "".join(letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in written.text)
    box = f'<div class="tex2jax_ignore mathjax_ignore" style="white-space: pre-wrap">{inside}</div>'
    return with_question_marker(written.id, box if written.text else "*(nothing was written)*")


# Signs in the file's bytes that make Python objects when JSON is read. A megabyte of `{},` would take 25 MB of memory.
MOST_SIGNS = {b"{": 500_000, b"[": 500_000, b",": 5_000_000}
MAX_CELLS = 2_000
MAX_SOURCE = 4 << 20  # characters, over all cells


def parse(content: bytes) -> Submission:
    """Read the code cells of a notebook, and the texts that answer questions, from the notebook's bytes.

    Raises:
        Unreadable: the bytes are not UTF-8 JSON or not nbformat 4, or the notebook is too large.
    """
    if not content.strip():
        raise Unreadable("the file is empty. Save the notebook again and submit that.")
    for sign, most in MOST_SIGNS.items():
        if content.count(sign) > most:
            raise Unreadable(
                f"the file has more than {most:,} times {sign.decode()!r}: outputs with very much data, or no notebook."
                " Clear the outputs (Edit, Clear all outputs) and save it again."
            )
    digest = sha256(content).hexdigest()
    try:
        text = content.decode("utf-8-sig")
        del content  # a file may have 48 MiB (MAX_BYTES): do not keep a third copy of it in memory
        notebook = json.loads(text)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"the file is not UTF-8 text (byte {error.start}). Save the notebook again in Jupyter."
        ) from error
    except RecursionError as error:
        raise Unreadable("the file is nested too deeply to be a notebook") from error
    except ValueError as error:
        place = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        marks = re.search(r"^(?:<{7}|={7}|>{7})(?: |$)", text, re.M)
        why = "Git left marks of a merge in it: settle them." if marks else "It may be cut off: download it again."
        raise Unreadable(f"the file is not complete JSON ({place}). {why}") from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("the file is not a Jupyter notebook: it has no list of cells. Submit the .ipynb file.")
    if notebook.get("nbformat") != 4 or isinstance(notebook.get("nbformat"), bool):
        raise Unreadable(
            f"nbformat {repr(notebook.get('nbformat'))[:40]} is not 4. Open it in a recent Jupyter and save it."
        )
    if len(notebook["cells"]) > MAX_CELLS:
        raise Unreadable(f"the notebook has {len(notebook['cells'])} cells; more than {MAX_CELLS} are not read")
    found = [(raw["cell_type"], cell) for raw in notebook["cells"] if (cell := _cell(raw)) is not None]
    # A text that was turned into code by mistake stays a text: as code it would only raise an error.
    texts = tuple(cell for _, cell in found if questions_of(cell))
    cells = tuple(cell for kind, cell in found if kind == "code" and not questions_of(cell))
    if sum(len(cell.source) for cell in cells) > MAX_SOURCE:
        raise Unreadable(f"the notebook contains more than {MAX_SOURCE >> 20} MiB of code")
    return Submission(cells, digest, texts)


def _cell(raw: object) -> Cell | None:
    """Convert a cell of the JSON to a `Cell`, or return None if it is not a valid code, markdown or raw cell."""
    if not isinstance(raw, dict) or raw.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = raw.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    metadata = raw.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return Cell(source=_text(source), grade_id=_text(grade_id), id=_text(raw.get("id")))


def _text(value: object) -> str:
    """Return a string that UTF-8 can encode, with newlines as line ends. Return "" for a value that is not a string."""
    text = value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
    return re.sub("\r\n?", "\n", text)
