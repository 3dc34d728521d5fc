"""Finds the answer to an exercise in a running notebook.

The answer is in the cell that defines its names, and in cells that ran since then.
"""

import ast
from collections.abc import Mapping, Sequence
from os.path import exists
from typing import Any

from grader.judge.reach import StudentCode
from grader.judge.where_raised import file_of, source_of_file
from grader.submission.cells import MARKER
from grader.submission.code.source import without_magics

LESSON_CELL = "# @title "
STUB = 'raise NotImplementedError("TODO '


def files_of_cells(names: Mapping[str, Any], exercise: str, defines: Sequence[str]) -> dict[str, str]:
    """Map each cell that made a value in the notebook to the exercise that it answers, or to "" for any other cell.

    A cell is identified by the file name that IPython gives it. Values from real files are left
    out.

    Args:
        names: the notebook's globals.
        exercise: the exercise whose answer is checked now.
        defines: the names that this exercise defines.
    """
    files: dict[str, str] = {}
    for value in list(names.values()):
        file = file_of(value)
        if file and file not in files and not exists(file) and (source := source_of_file(file)):
            marked = MARKER.search(source)
            files[file] = marked[1] if marked else ""
    here = {file_of(names[name]) for name in defines}
    return {file: exercise if file in here else answered for file, answered in files.items()}


def students_code(names: Mapping[str, Any], files: Mapping[str, str], exercise: str) -> StudentCode:
    """Return the student's code as it ran: an exercise's answer, and all cells that the lesson does not provide.

    Outside IPython there is no history of cells. Then the code is that of the cells that made a
    value in the notebook.

    Args:
        names: the notebook's globals.
        files: as `files_of_cells` returns them.
        exercise: the id of the exercise.
    """
    answer = next((source_of_file(file) for file, answered in files.items() if answered == exercise), "")
    ran = raw_history(names) or [source_of_file(file) for file in files]
    lesson = {cell.strip() for cell in ran if cell.startswith(LESSON_CELL)}
    return StudentCode(answer, [cell for cell in ran if cell.strip() not in lesson])


def raw_history(names: Mapping[str, Any]) -> list[str]:
    """Return the source of each cell that ran in this notebook, in order, as the student wrote it.

    The list is empty if IPython does not run.
    """
    shell = getattr(names.get("get_ipython"), "__self__", None)
    return list(getattr(getattr(shell, "history_manager", None), "input_hist_raw", names.get("In", ())))


def trouble(names: Mapping[str, Any], exercise: str, defines: Sequence[str]) -> str:
    """Return a message if an exercise's cell last ran with code that cannot be its answer, or "" otherwise.

    That is code that is not Python, or that defines another name. IPython also records cells that
    Python could not read.

    Args:
        names: the notebook's globals.
        exercise: the id of the exercise.
        defines: the names that the exercise defines.
    """
    ran = [cell for cell in raw_history(names) if (found := MARKER.search(cell)) and found[1] == exercise]
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
        return (
            f"the cell defines {', '.join(there)}, and the task asks for {missing[0]}. "
            f"Names count letter by letter.{before}"
        )
    return ""


def two_cells(names: Mapping[str, Any], exercise: str) -> str:
    """Return a message if an unsolved cell ran after a cell that answered the exercise, or "" otherwise."""
    ran = [cell for cell in raw_history(names) if (found := MARKER.search(cell)) and found[1] == exercise]
    answered = any(STUB not in cell for cell in ran)
    return " Another cell held an answer: of two cells, the one that ran last counts." if answered else ""


def _binds(tree: ast.Module, name: str) -> bool:
    """Return True if a cell sets a name in another way than by `def` or `class`."""
    return any(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name)
        or (isinstance(node, ast.alias) and (node.asname or node.name) == name)
        for node in ast.walk(tree)
    )
