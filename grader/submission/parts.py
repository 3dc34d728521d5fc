"""Joins the cells of one exercise to its answer.

A student who splits a cell in JupyterLab gets two cells with the same metadata. They contain helpers and the answer, or
the two halves of one function. Such cells belong together, in their order. A copy of the answer is different: it is an
alternative. If several cells define the same name, the last of them is the answer.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.submission.cells import is_stub_line
from grader.submission.code.scopes import statements_of_cell
from grader.submission.code.source import parsed

# Halves are searched for among at most so many characters, times the square of the number of cells: every few cells
# that stand together may be one, and each try reads their text. That is 10 cells of 10,000 characters, or 50 of 80.
MOST_WORK = 10_000_000
CELL_MAGIC = re.compile(r"\A\s*%%[^\n]*\n?")


@dataclass(frozen=True)
class Joined:
    """The answer to an exercise, joined from its cells."""

    source: str
    parts: int  # the number of cells in it, without those that only define helpers
    alternatives: int  # the number of cells that define the name; only the last of them counts
    scratch: frozenset[int]  # indices of cells that are not part of the answer, but the student's own


@dataclass(frozen=True)
class _Part:
    """One cell, or several neighbouring cells that make up one piece of code, with their joined source."""

    indices: tuple[int, ...]
    source: str


def join(cells: Mapping[int, str], names: set[str]) -> Joined:
    """Join the cells of an exercise to its answer. At least one cell must define one of its names.

    Halves of a split cell are put together first. Then there are four kinds of parts: scratch, which is left out;
    parts that a later part replaces, because it defines the same names; replaced parts that the rest still needs;
    and all others. The answer consists of the last two kinds.

    Args:
        cells: the sources, by the index of the cell in the notebook, in order.
        names: the names that the exercise asks students to define.
    """
    # A cell of comments alone is no part.
    parts = [part for part in _whole_parts(cells) if parsed(part.source).statements != ()]
    defining = {part: found for part in parts if (found := defined(part.source) & names)}
    scratch = {part for part in parts if part not in defining and _is_scratch(part.source)}
    parts = [part for part in parts if part not in scratch]
    replaced = _replaced(defining)
    kept = [part for part in parts if part not in replaced]
    helping = _still_needed({part: defining[part] for part in replaced}, kept, names)
    kept = [part for part in parts if part not in replaced or part in helping]
    used = [index for part in kept for index in part.indices]
    return Joined(
        # A magic that must stand in the first line of a cell is left out of several.
        source="\n".join(CELL_MAGIC.sub("", part.source) for part in kept) if len(kept) > 1 else kept[0].source,
        parts=len(used) - sum(len(part.indices) for part in helping),
        alternatives=len(replaced) + 1,
        scratch=frozenset(index for part in scratch for index in part.indices),
    )


def _still_needed(replaced: Mapping[_Part, frozenset[str]], kept: Sequence[_Part], names: set[str]) -> set[_Part]:
    """Return the replaced parts that the kept parts need, for a helper or for a class that they complete.

    Args:
        replaced: for each part, those of the exercise's names that it defines.
        names: the names that the exercise asks students to define.
    """
    # A copy of the answer may be the only cell that still has the helpers.
    mentioned = frozenset().union(*(parsed(part.source).mentioned for part in kept))
    # `class Layer(Layer)` and `Layer.forward = forward` complete a class of an earlier cell.
    completed = frozenset().union(*(completes(part.source) for part in kept)) & names
    return {
        part
        for part, defines in replaced.items()
        if ((parsed(part.source).bound or set()) - names) & mentioned or defines & completed
    }


def is_rest(above: str, below: str) -> bool:
    """Return True if the cell `below` is the second half of the cell `above`.

    A second half begins with white space and parses only together with the cell above.
    """
    return below[:1].isspace() and not _parses(below) and _parses(f"{above}\n{below}")


def _whole_parts(cells: Mapping[int, str]) -> list[_Part]:
    """Join neighbouring cells that parse only together. Leave all other cells as they are."""
    parts = [_Part((index,), source) for index, source in cells.items()]
    whole: list[_Part] = []
    search = len(parts) ** 2 * sum(len(part.source) for part in parts) <= MOST_WORK
    while parts:
        size = _size_of_whole(parts) if search else 1
        indices = tuple(index for part in parts[:size] for index in part.indices)
        whole.append(_Part(indices, "\n".join(part.source for part in parts[:size])))
        parts = parts[size:]
    return whole


def _size_of_whole(parts: Sequence[_Part]) -> int:
    """Return the number of leading parts that are one piece of split code, or 1 if the first part was not split."""
    for size in range(1, len(parts) + 1):
        complete = size == len(parts) or _parses(parts[size].source)
        if complete and _parses("\n".join(part.source for part in parts[:size])):
            return size
    return 1


def _replaced(defining: dict[_Part, frozenset[str]]) -> set[_Part]:
    """Return the parts that later cells replace, because they define all the exercise's names that the part defines."""
    replaced: set[_Part] = set()
    later: set[str] = set()
    for part, names in reversed(defining.items()):
        if names <= later:
            replaced.add(part)
        later |= names
    return replaced


def _parses(source: str) -> bool:
    return parsed(source).bound is not None


def _is_scratch(source: str) -> bool:
    """Return True if a cell cannot contribute to an answer, but could make the answer fail.

    Such a cell contains only expressions and assertions, or does not parse.
    """
    statements = parsed(source).statements
    return statements is None or all(isinstance(one, (ast.Expr, ast.Assert)) for one in statements)


def defined(source: str) -> frozenset[str]:
    """Return the names that a cell defines at its top level.

    If Python cannot read the cell, these are the names of the lines that begin with `def name`,
    `class name` or `name =`.
    """
    bound = parsed(source).bound
    return frozenset(name for name, _ in parsed(source).binding_lines) if bound is None else bound


def completes(source: str) -> frozenset[str]:
    """Return the names that a cell takes from a cell above and binds again or changes.

    Examples are `Layer` in `class Layer(Layer)` and in `Layer.forward = …`.
    """
    statements = statements_of_cell(source)
    needed: set[str] = set()
    bound: set[str] = set()
    for statement in statements:
        needed |= (statement.reads | statement.changes) - bound
        bound |= statement.binds
    changed = frozenset().union(*(statement.changes for statement in statements))
    return frozenset(needed & (bound | changed))


def changed(source: str) -> frozenset[str]:
    """Return the names that a cell does not bind, but whose attributes or items it changes.

    An example is `Layer` in `Layer.forward = forward`.
    """
    statements = statements_of_cell(source)
    bound = frozenset().union(*(statement.binds for statement in statements))
    return frozenset().union(*(statement.changes for statement in statements)) - bound


def stubs(source: str) -> frozenset[str]:
    """Return the names of the functions and classes that a cell leaves unsolved: still the stub, or an empty body."""
    last: dict[str, ast.AST] = {}
    for statement in statements_of_cell(source):
        last |= dict.fromkeys(statement.binds, statement.node)
    return frozenset(name for name, node in last.items() if _is_stub(node))


def _is_stub(node: ast.AST) -> bool:
    """Return True if a definition still contains the stub's `raise`, or is a function with an empty body."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return False
    if any(isinstance(inner, ast.Raise) and is_stub_line(ast.unparse(inner)) for inner in ast.walk(node)):
        return True
    return isinstance(node, ast.FunctionDef) and all(map(_says_nothing, node.body))


def _says_nothing(statement: ast.stmt) -> bool:
    """Return True if a statement does nothing: `pass`, a constant such as `...` or a docstring, or `return None`."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant(value=None)):
            return True
    return False
