"""Runs a lesson's solution, and copies its outputs to the student notebook.

A run takes minutes, so its result is kept in a folder until the solution notebook changes.
"""

import re
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from grader.paths import write_atomically
from grader.submission.cells import Role, role

SECONDS = 900  # for one cell
# A page shows no widgets: without ipywidgets, the lessons draw one picture in the place of each.
WITHOUT_WIDGETS = 'import sys\nsys.modules["ipywidgets"] = None'
ITALICS = re.compile(r"\*(?!\*)(.+?)(?<!\*)\*(?!\*)", re.DOTALL)
MARKS = re.compile(r"[*`$]")


def kept_run(notebook: NotebookNode, kept: Path) -> NotebookNode:
    """Return a notebook with the outputs of its run.

    Read the outputs from the file `kept` if they belong to this notebook. Otherwise run the
    notebook and write the file.

    Raises:
        CellExecutionError: a cell raises.
    """
    digest = sha256(nbformat.writes(notebook).encode()).hexdigest()
    if kept.is_file():
        known = nbformat.read(kept, as_version=4)
        if known.metadata.get("run_of") == digest:
            return known
    with TemporaryDirectory() as folder:
        made = executed(notebook, Path(folder))
    made.metadata["run_of"] = digest
    write_atomically(kept, nbformat.writes(made))
    return made


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Return a copy of a notebook, run in a folder, with its outputs.

    Raises:
        CellExecutionError: a cell raises.
    """
    made = deepcopy(notebook)
    made.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_WIDGETS, id="without-widgets"))
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(made, timeout=SECONDS, kernel_name="python3", resources=resources, force_raise_errors=True).execute()
    del made.cells[0]
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.metadata.pop("execution", None)
    return with_alternative_texts(made)


def with_outputs_of(student: NotebookNode, solution: NotebookNode) -> NotebookNode:
    """Return a copy of the student notebook with outputs from the solution's run, for cells of the lesson itself.

    Answers and self-checks get no outputs, because these would show that somebody has solved them.
    """
    outputs = {cell.id: cell.outputs for cell in solution.cells if cell.cell_type == "code"}
    made = deepcopy(student)
    for cell in made.cells:
        if cell.cell_type == "code" and role(cell.id) not in (Role.ANSWER, Role.CHECK, Role.CARRY_ON):
            cell.outputs = outputs.get(cell.id, [])
    return made


def with_alternative_texts(notebook: NotebookNode) -> NotebookNode:
    """Give each figure the caption below it as alternative text, and return the same notebook."""
    for cell, after in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        caption = ITALICS.match(after.source.strip()) if after and after.cell_type == "markdown" else None
        text = " ".join(MARKS.sub("", caption[1]).split()) if caption else ""
        for output in cell.get("outputs", ()) if text else ():
            if "image/png" in output.get("data", {}):
                output.metadata["image/png"] = {**output.metadata.get("image/png", {}), "alt": text}
    return notebook
