"""Defer probes until later cells have run, so that several exercises share one fork of the interpreter.

A cell that only defines names which no earlier cell mentions cannot change what earlier functions do: their probes may
run after it. A fork takes 10 ms and more, and the first calls in it are slow; with deferred probes a lesson needs a few
forks and not one for each exercise.
"""

import ast
from collections.abc import Collection, Mapping

from nbformat import NotebookNode

from grader.grading.pruning import student_looks_names_up
from grader.submission.code.source import cached_by_source, parsed

# Kinds of expression that call no function. An operator, as in `a + b`, calls a method of its operands; that
# is accepted.
CALL_FREE = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp)


def batch_probes(notebook: NotebookNode, skip: Collection[str], own: Collection[str]) -> Mapping[str, str]:
    """Map each cell to the cell after which its probes run: itself, or a later cell if they can be deferred.

    Args:
        skip: ids of cells that do not run.
        own: ids of the cells that the student added.
    """
    cells = [
        cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip() and cell.id not in skip
    ]
    if student_looks_names_up(cells, own):
        return {cell.id: cell.id for cell in cells}
    mentioned: set[str] = set()
    batch: list[str] = []  # cells whose probes can run after the current cell
    probed_after = {}
    for cell in cells:
        names = defined_alone(cell.source)
        if names is None or names & mentioned:
            batch = []
        mentioned |= parsed(cell.source).mentioned
        batch.append(cell.id)
        probed_after.update(dict.fromkeys(batch, cell.id))
    return probed_after


@cached_by_source
def defined_alone(source: str) -> frozenset[str] | None:
    """Return the names of a cell's functions and classes; None if it does anything but define these, or does not parse."""
    cell = parsed(source)
    only_defines = cell.is_plain and all(map(_only_defines, cell.statements or ()))  # a magic may do anything
    return cell.bound if only_defines else None


def _only_defines(node: ast.stmt) -> bool:
    """Tell whether a statement defines a function or a class and calls nothing, or is a docstring or `pass`."""
    match node:
        case ast.FunctionDef(args=arguments, decorator_list=[]):
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            annotated = [*named, arguments.vararg, arguments.kwarg]
            annotations = [node.returns, *(argument.annotation for argument in annotated if argument)]
            return all(map(_calls_nothing, [*annotations, *arguments.defaults, *arguments.kw_defaults]))
        case ast.ClassDef(decorator_list=[], keywords=[]):
            return all(map(_calls_nothing, node.bases)) and all(map(_only_defines, node.body))
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
    return False


def _calls_nothing(node: ast.expr | None) -> bool:
    """Tell whether an expression is absent, or has only parts of the kinds in CALL_FREE."""
    return node is None or all(isinstance(inner, CALL_FREE) for inner in ast.walk(node) if isinstance(inner, ast.expr))
