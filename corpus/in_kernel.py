"""Run a whole notebook as Jupyter does, in a kernel of its own, and read what its self-checks say."""

from __future__ import annotations

import re
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from corpus.notebooks import WholeNotebook, notebook_of
from grader.course import lessons
from grader.submission.cells import Role, only_draws, role

RIGHT = "✔"
CHECKED = re.compile(r'check\("([\w.]+)"\)')


def self_checks(case: WholeNotebook) -> dict[str, str]:
    """Return what the self-check of each exercise says, right after its answer, or else at the end.

    The lesson's cells that only draw or train are left out. At the end, each check is asked once more: a student who
    corrects an answer further down runs it again.
    """
    notebook = notebook_of(case)
    trains = lessons()[case.assignment].training_cells
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code" and not _is_left_out(cell, trains)]
    asked = [f'check("{exercise.id}")' for exercise in lessons()[case.assignment].exercises]
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in asked]
    with TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": folder}}).execute()
    said: dict[str, str] = {}
    for cell in notebook.cells:
        if found := CHECKED.match(cell.source):
            text = _text(cell)
            if not said.get(found[1], "").startswith(RIGHT):
                said[found[1]] = text
    return said


def _is_left_out(cell: NotebookNode, trains: frozenset[str]) -> bool:
    return only_draws(cell) or cell.id in trains or role(cell.id) is Role.PREDICTION


def _text(cell: NotebookNode) -> str:
    """Return what a cell printed or raised, without colours and HTML."""
    parts = []
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html", "")
        parts += [output.get("text", ""), re.sub(r"<[^>]+>", " ", html), *output.get("traceback", ())]
    return re.sub(r"\x1b\[\d+m", "", " ".join(parts)).strip()
