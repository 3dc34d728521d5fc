"""Defer probes until later cells have run, so that several exercises share one fork of the interpreter.

A function is the same after a cell that only defines names which no cell before it mentions. A fork takes 10 ms and
more, and what runs first in it is slow; batched, the exercises of a lesson need a few forks and not one each.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from nbformat import NotebookNode

from grader.notebook.source_names import bound, remembered, words
from grader.notebook.student_code import student_looks_names_up

CALL_FREE = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.UnaryOp,
)


def batch_probes(notebook: NotebookNode, skip: Collection[str], own: Collection[str]) -> Mapping[str, str]:
    """Map each cell to the cell after which its probes run; itself if they cannot be deferred.

    Args:
        skip: ids of cells that do not run.
        own: ids of the cells that the student added.
    """
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.strip() and cell.id not in skip
    ]
    if student_looks_names_up(cells, own):
        return {cell.id: cell.id for cell in cells}
    spoken: set[str] = set()
    waiting: list[str] = []
    found = {}
    for cell in cells:
        names = defined_alone(cell.source)
        if names is None or names & spoken:
            waiting = []
        spoken |= words(cell.source)
        waiting.append(cell.id)
        found.update(dict.fromkeys(waiting, cell.id))
    return found


@remembered
def defined_alone(source: str) -> frozenset[str] | None:
    """The functions and classes that a cell defines, if that is all it does; else None."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return bound(source) if all(map(_only_defines, statements)) else None


def _only_defines(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(args=asked, decorator_list=[]):
            every = [*asked.posonlyargs, *asked.args, *asked.kwonlyargs, asked.vararg, asked.kwarg]
            annotations = [node.returns, *(one.annotation for one in every if one)]
            return all(map(_calls_nothing, [*annotations, *asked.defaults, *asked.kw_defaults]))
        case ast.ClassDef(decorator_list=[], keywords=[]):
            return all(map(_calls_nothing, node.bases)) and all(map(_only_defines, node.body))
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
    return False


def _calls_nothing(node: ast.expr | None) -> bool:
    """An expression that calls nothing."""
    return node is None or all(
        isinstance(one, CALL_FREE) for one in ast.walk(node) if isinstance(one, ast.expr)
    )
