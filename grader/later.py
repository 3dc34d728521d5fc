"""Which probes may wait for the cells that follow, so that they share a fork of the interpreter with later ones.

A function is the same after a cell that only defines names which nothing before it speaks of. Forking takes 10 ms and
more, and what runs first in a fork is slow; asked together, the exercises of a lesson need a few forks and not one each.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from nbformat import NotebookNode

from grader.names import bound, remembered, words
from grader.needed import look_around

HARMLESS = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp)


def later(notebook: NotebookNode, skip: Collection[str], own: Collection[str]) -> Mapping[str, str]:
    """The cell after which may be asked what is due after a cell: by id, itself where nothing may wait.

    Args:
        skip: ids of cells that do not run.
        own: ids of the cells that the student added.
    """
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.strip() and cell.id not in skip
    ]
    if look_around(cells, own):
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
            return all(map(_harmless, [*annotations, *asked.defaults, *asked.kw_defaults]))
        case ast.ClassDef(decorator_list=[], keywords=[]):
            return all(map(_harmless, node.bases)) and all(map(_only_defines, node.body))
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
    return False


def _harmless(node: ast.expr | None) -> bool:
    """An expression that calls nothing."""
    return node is None or all(
        isinstance(one, HARMLESS) for one in ast.walk(node) if isinstance(one, ast.expr)
    )
