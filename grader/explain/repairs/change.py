"""Changes of an answer, and copies of syntax trees in which some nodes are replaced.

A change says how much it tells, what the student reads, the line, and what stands in the node's place.
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
    """Return a copy of a node with other fields; the children are shared."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def called(node: ast.AST | None) -> str:
    """Return the last name of what a call calls; "" if it is no call."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_library(node: ast.AST) -> bool:
    """Return True if this is a library of LIBRARIES, or a part of one: `torch.linalg`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES


def is_text(node: ast.AST) -> bool:
    """Return True if a statement is a docstring, or another constant that does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def walk(
    node: ast.AST,
    skipped: Callable[[ast.AST], bool] = is_text,
    whole: Callable[[ast.AST], bool] = lambda node: False,
    path: Path = (),
    above: tuple[ast.AST, ...] = (),
) -> Iterator[tuple[Path, Any, tuple[ast.AST, ...]]]:
    """Yield every node that may change, with the path to it and the nodes around it, the outermost first.

    Args:
        skipped: tells of which items of a list nothing may change.
        whole: tells of which nodes nothing within may change.
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
    """Return a list in which other items stand in the place of one."""
    return [*items[:index], *new, *items[index + 1 :]]


def replaced(tree: Any, path: Path, new: ast.AST) -> Any:
    """Return a copy of a tree with another node at a path; all others are shared."""
    if not path:
        return new
    (field, index), inner = path[0], getattr(tree, path[0][0])
    if index is None:
        return changed(tree, **{field: replaced(inner, path[1:], new)})
    return changed(tree, **{field: put(inner, index, replaced(inner[index], path[1:], new))})


def rewritten(function: ast.FunctionDef, rewrite: Callable[[Any], Any], kind: type = ast.AST) -> ast.FunctionDef:
    """Return a copy of a function in which all nodes of a kind are rewritten, the inner ones first."""

    class Rewriter(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            node = self.generic_visit(node)
            return rewrite(node) if isinstance(node, kind) else node

    return changed(function, body=[Rewriter().visit(copy.deepcopy(statement)) for statement in function.body])


Piece = Callable[[Any], str]  # the source of a node
New = ast.AST | Callable[[], ast.AST]  # what stands in the place of a node; a function where it takes long to make

MAX_PIECE = 120  # characters of code that a hint quotes


class End(Enum):
    """The endings of a sentence about a change: the usual one, and one for a check that still fails."""

    PLAIN = "", ""
    RIGHT = " your answer is right.", " this check passes."
    COUNTED = (" counts its axes from the front, but inputs differ in their number of axes: count from the end.",) * 2


class Look(NamedTuple):
    """The place that a hint names."""

    at: str  # the words, without their end
    end: End = End.PLAIN

    def says(self, *, in_part: bool) -> str:
        """Return the whole words.

        Args:
            in_part: claim less, because another check fails all the same.
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
    """Return a text in one line, and its beginning if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def exchanged(items: Sequence[Any], index: int) -> list[Any]:
    """Return a list in which two items that follow one another have changed places."""
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]
