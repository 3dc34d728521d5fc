"""Tables of small changes: a pattern in Python, its replacement, and the hint about it.

    3 A - B → B - A  # look at the order of the two sides in `{it}`.
    3 X.REDUCED() → X.REDUCED(-1)  # `{it}` works on all axes at once. Choose one axis with `dim`.

A row begins with its mark, the rank of the change. A single capital letter is a
hole. A hole matches any expression. All holes with the same letter must match
the same expression, and the X in `X.name` does not match a library.

A word in capitals has a meaning that the table's owner defines. In `X.NAME` it is a set of names,
and matches any of them. In `NAME(X)` it is a view: a function that returns the parts of a node which
the arguments must match. In the hint, `it` is the whole expression.
"""

import ast
import copy
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grader.explain.repairs.change import called, is_library

ROW = re.compile(r"(?P<mark>\d) (?P<old>.+?) → (?P<new>.+?) +# (?P<says>.+)")
GOES_ON = re.compile(r"\n +")  # a row goes on in the next line, if that is indented

Node = Any  # of a syntax tree: which fields it has depends on its kind
Holes = dict[str, Any]  # what each hole stands for
View = Callable[[Any], "Sequence[Any] | None"]  # of a node: its parts; None if it is no such thing
Speaker = Callable[[Any, str], str]  # what a part is called, in the way that a format asks for


class Row(NamedTuple):
    """One row of a table: a pattern, its replacement, and the hint."""

    mark: int
    old: ast.expr
    new: ast.expr
    sentence: str


class Found(NamedTuple):
    """A row that matches a node, with the expressions that its holes match."""

    row: Row
    holes: Holes

    def says(self, speaker: Speaker) -> str:
        """Return the row's hint with its holes filled in by `speaker`."""
        parts = string.Formatter().parse(self.row.sentence)
        return "".join(text + (speaker(self.holes[hole], how or "") if hole else "") for text, hole, how, _ in parts)

    def new(self) -> Node:
        """Return the replacement of the node. It shares the nodes in the holes with the original."""
        return _filled(self.row.new, self.holes)


class Table:
    """The rows of a table, with the definitions of its views and sets of names."""

    def __init__(
        self, text: str, views: Mapping[str, View] | None = None, names: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Parse a table.

        Args:
            views: word in capitals that is used like a function → the view.
            names: word in capitals that is used like an attribute → the names of attributes that it matches.

        Raises:
            ValueError: a line is not a row.
        """
        self.views, self.names = views or {}, names or {}
        self.rows = _rows(text)
        self._by_kind: dict[Any, list[Row]] = {}

    def found(self, node: ast.AST) -> Iterator[Found]:
        """Yield the rows that match a node, in the table's order."""
        kind = _kind(node)
        if (rows := self._by_kind.get(kind)) is None:
            rows = [row for row in self.rows if self._may_fit(_kind(row.old), kind)]
            self._by_kind[kind] = rows
        for row in rows:
            holes: Holes = {"it": node}
            if self._fits(row.old, node, holes):
                yield Found(row, holes)

    def _may_fit(self, pattern: Any, kind: Any) -> bool:
        if pattern[1] in self.views:
            return True
        return pattern[0] is kind[0] and (pattern[1] in (kind[1], "") or kind[1] in self.names.get(pattern[1], ()))

    def _fits(self, pattern: Node, node: Node, holes: Holes) -> bool:
        """Return True if a pattern matches a node, and record the expressions that its holes match."""
        if isinstance(pattern, ast.Name) and is_hole(pattern.id):
            return hasattr(node, "_fields") and _same(holes.setdefault(pattern.id, node), node)
        if isinstance(pattern, ast.Call) and isinstance(pattern.func, ast.Name) and pattern.func.id in self.views:
            parts = self.views[pattern.func.id](node)
            return parts is not None and self._all_fit(pattern.args, parts, holes)
        if not isinstance(pattern, ast.AST):
            return pattern == node
        kind: type = type(node)
        if type(pattern) is not kind:
            return False
        if isinstance(pattern, ast.Attribute) and pattern.attr in self.names:
            holes[f".{pattern.attr}"] = node.attr
            return node.attr in self.names[pattern.attr] and self._fits(pattern.value, node.value, holes)
        if isinstance(pattern, ast.Call) and isinstance(pattern.func, ast.Attribute) and is_library(node.func):
            return False
        return all(
            self._all_fit(value, getattr(node, field), holes)
            if isinstance(value, list)
            else self._fits(value, getattr(node, field), holes)
            for field, value in ast.iter_fields(pattern)
            if field not in ("ctx", "kind")
        )

    def _all_fit(self, patterns: Sequence[Any], nodes: Sequence[Any], holes: Holes) -> bool:
        """Return True if each pattern matches its node.

        A starred argument, `f(*x)`, never matches, because the number of arguments is unknown.
        """
        return len(patterns) == len(nodes) and all(
            self._fits(one, node, holes) and not isinstance(node, ast.Starred)
            for one, node in zip(patterns, nodes, strict=True)
        )


def is_hole(name: str) -> bool:
    """Return True if a name in a pattern is a hole, which matches any expression."""
    return len(name) == 1 and name.isupper()


def _rows(text: str) -> tuple[Row, ...]:
    """Read the rows of a table. Their sides are parsed as the statements of one text, one on each line."""
    found = [(ROW.fullmatch(line), line) for line in GOES_ON.sub(" ", text).splitlines() if line]
    if wrong := [line for row, line in found if row is None]:
        raise ValueError(f"no row of a table: {wrong[0]!r}")
    rows = [row for row, _ in found if row is not None]
    statements = iter(ast.parse("\n".join(row[side] for row in rows for side in ("old", "new"))).body)
    sides = (statement.value for statement in statements if isinstance(statement, ast.Expr))
    return tuple(Row(int(row["mark"]), old, new, row["says"]) for row, old, new in zip(rows, sides, sides, strict=True))


def _kind(node: ast.AST) -> tuple[type, str]:
    """Return the key by which rows for a node are looked up: its class, and the called name or the operator."""
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return type(node), type(node.op).__name__
    name = called(node)
    return type(node), "" if is_hole(name) else name


def _same(one: Any, other: Any) -> bool:
    return one is other or ast.dump(one) == ast.dump(other)


def _filled(pattern: Any, holes: Holes) -> Any:
    """Return a copy of a pattern with its holes filled."""
    if isinstance(pattern, list):
        return [_filled(one, holes) for one in pattern]
    if not isinstance(pattern, ast.AST):
        return pattern
    if isinstance(pattern, ast.Name):
        return holes[pattern.id] if is_hole(pattern.id) else ast.Name(pattern.id, ast.Load())
    if isinstance(pattern, ast.UnaryOp) and isinstance(number := getattr(pattern.operand, "value", None), float):
        return ast.Constant(-number)  # which is written without brackets
    new: Any = copy.copy(pattern)
    for field, value in ast.iter_fields(pattern):
        setattr(new, field, _filled(value, holes))
    if isinstance(pattern, ast.Attribute):
        new.attr = holes.get(f".{pattern.attr}", pattern.attr)
    return new
