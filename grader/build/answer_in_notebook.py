"""Where the answer to an exercise stands in a running notebook: the cell that defines it, and cells that ran since."""

import ast
from collections.abc import Mapping, Sequence
from os.path import exists
from typing import Any

from grader.explain.exceptions.where_raised import file_of, source_of_file
from grader.submission.cells import CARRY_ON, MARKER
from grader.submission.code.source_names import without_magics

LESSON_CELL = "# @title "
STUB = 'raise NotImplementedError("TODO '


def files_of_cells(names: Mapping[str, Any], exercise: str, defines: Sequence[str]) -> dict[str, str]:
    """Map the file of each cell that made a value of the notebook to the exercise it answers, or ""; none on disk."""
    files: dict[str, str] = {}
    for value in list(names.values()):
        file = file_of(value)
        if file and file not in files and not exists(file) and (source := source_of_file(file)):
            marked = MARKER.search(source)
            files[file] = marked[1] if marked else ""
    here = {file_of(names[name]) for name in defines}
    return {file: exercise if file in here else answered for file, answered in files.items()}


def own_cells(files: Mapping[str, str]) -> list[str]:
    """Return the sources of the student's own cells: they answer no exercise and are not the lesson's."""
    sources = (source_of_file(file) for file, exercise in files.items() if not exercise)
    return [source for source in sources if not source.startswith(LESSON_CELL) and CARRY_ON not in source]


def trouble(names: Mapping[str, Any], exercise: str, defines: Sequence[str]) -> str:
    """Say that an exercise's cell, as it ran last, is no Python or defines another name; "" if not, or if none ran.

    `names` is the notebook's globals. IPython keeps in `In` what ran, also where Python could not read it.
    """
    ran = [cell for cell in names.get("In", ()) if (found := MARKER.search(cell)) and found[1] == exercise]
    if not ran:
        return ""
    before = (
        " What stands there was not tried: the answer of an earlier run is in its place." if defines[0] in names else ""
    )
    try:
        tree = ast.parse(without_magics(ran[-1]))
    except SyntaxError as error:
        return f"Python cannot read the cell: {error.msg}, line {error.lineno}.{before}"
    there = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    missing = [name for name in defines if name not in there]
    if there and missing and not any(_binds(tree, name) for name in missing):
        return f"the cell defines {', '.join(there)}, and the task asks for {missing[0]}. Names count letter by letter.{before}"
    return ""


def two_cells(names: Mapping[str, Any], exercise: str) -> str:
    """Say that an answer ran before the cell that is not solved yet took its place; "" if none did."""
    ran = [cell for cell in names.get("In", ()) if (found := MARKER.search(cell)) and found[1] == exercise]
    answered = any(STUB not in cell for cell in ran)
    return " Another cell held an answer: of two cells, the one that ran last counts." if answered else ""


def _binds(tree: ast.Module, name: str) -> bool:
    """Tell whether a cell gives a value to a name in another way than by def and class."""
    return any(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name)
        or (isinstance(node, ast.alias) and (node.asname or node.name) == name)
        for node in ast.walk(tree)
    )
