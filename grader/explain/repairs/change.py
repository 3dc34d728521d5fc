"""The record of a change, and functions that copy a syntax tree with some nodes replaced.

A change consists of its rank, a `Look` (the text for the student), a line number, and the new node. The lower the rank,
the more the change tells about the mistake.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

Path = tuple[tuple[str, int | None], ...]  # the fields that lead to a node, with the index where a field is a list

NO_CODE = ("annotation", "returns", "decorator_list", "bases")
LIBRARIES = ("torch", "F", "nn", "math", "np")


def changed(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other values of some fields. The children are shared with the original."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def called(node: ast.AST | None) -> str:
    """Return the last name of a called function, or "" if the node is not a call or the function has no name."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_library(node: ast.AST) -> bool:
    """Return True if an expression is a library of LIBRARIES or a part of one, such as `torch.linalg`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES


def is_text(node: ast.AST) -> bool:
    """Return True if a statement is only a constant, such as a docstring, and so does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def walk(
    node: ast.AST,
    skipped: Callable[[ast.AST], bool] = is_text,
    whole: Callable[[ast.AST], bool] = lambda node: False,
    path: Path = (),
    above: tuple[ast.AST, ...] = (),
) -> Iterator[tuple[Path, Any, tuple[ast.AST, ...]]]:
    """Yield every node that may be changed, with the path to it and the nodes around it, the outermost first.

    Args:
        skipped: returns True for an item of a list in which nothing may be changed.
        whole: returns True for a node within which nothing may be changed.
        path: the path to `node`.
        above: the nodes around `node`.
    """
    yield path, node, above
    if whole(node):
        return
    for field, value in ast.iter_fields(node):
        if field not in NO_CODE:
            for index, item in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(item, ast.AST) and (index is None or not skipped(item)):
                    yield from walk(item, skipped, whole, (*path, (field, index)), (*above, node))


def put(items: Sequence[Any], index: int, *new: Any) -> list[Any]:
    """Return a list with new items in place of the item at an index."""
    return [*items[:index], *new, *items[index + 1 :]]


def replaced(tree: Any, path: Path, new: ast.AST) -> Any:
    """Return a copy of a tree with another node at a path. All unchanged nodes are shared with the original."""
    if not path:
        return new
    (field, index), inner = path[0], getattr(tree, path[0][0])
    if index is None:
        return changed(tree, **{field: replaced(inner, path[1:], new)})
    return changed(tree, **{field: put(inner, index, replaced(inner[index], path[1:], new))})


def rewritten(function: ast.FunctionDef, rewrite: Callable[[Any], Any], kind: type = ast.AST) -> ast.FunctionDef:
    """Return a copy of a function in which all nodes of a type are rewritten, the inner nodes first."""

    class Rewriter(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            node = self.generic_visit(node)
            return rewrite(node) if isinstance(node, kind) else node

    return changed(function, body=[Rewriter().visit(copy.deepcopy(statement)) for statement in function.body])


Piece = Callable[[Any], str]  # the source of a node
New = ast.AST | Callable[[], ast.AST]  # what stands in the place of a node; a function where it takes long to make

MAX_PIECE = 120  # characters of code that a hint quotes


class End(Enum):
    """The possible ends of a hint's sentence. The second form is for a change after which another check still fails."""

    PLAIN = "", ""
    RIGHT = " your answer is right.", " this check passes."
    COUNTED = (" counts its axes from the front, but inputs differ in their number of axes: count from the end.",) * 2


class Look(NamedTuple):
    """The text of a hint that tells the student where to look."""

    at: str  # the words, without their end
    end: End = End.PLAIN

    def says(self, *, in_part: bool) -> str:
        """Return the whole text of the hint.

        Args:
            in_part: promise less, because another check fails even with the change.
        """
        whole, less = self.end.value
        return f"{self.at}{less} Another check still fails." if in_part else f"{self.at}{whole}"


Changes = Iterator[tuple[int, Look, int, New]]  # rank, what the student reads, line


def look_at(what: str, kind: str) -> Look:
    """Return the words for a part that must be another one of its kind, such as another comparison."""
    return Look(f"check {what}. With another {kind} in its place,", End.RIGHT)


def without(what: str) -> Look:
    """Return the words for a part without which the answer is right."""
    return Look(f"if you leave out {what},", End.RIGHT)


def cut(text: str, most: int = MAX_PIECE) -> str:
    """Return a text in one line, cut to `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def exchanged(items: Sequence[Any], index: int) -> list[Any]:
    """Return a list in which the item at an index and the next one have changed places."""
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]
