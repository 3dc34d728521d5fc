"""Small changes to a wrong answer: which one makes it right shows where its mistake is.

A change that makes an answer right on fresh random inputs is hardly there by chance. The student reads the place and not the
change: where to look, and not what to write.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from grader.explain.nodes import changed, is_text, put, replaced, walk
from grader.explain.repairs.change import Changes, End, Look, cut, without
from grader.explain.repairs.expressions import is_negative, of_expressions, of_places
from grader.explain.repairs.sizes import of_sizes
from grader.explain.repairs.statements import of_statements

MOST = 160  # changes of one answer
MAX_SOURCE = 10_000  # characters; a solution has at most 3,000
LINE_END = re.compile(r"\r\n|\r|\n")

Node = Any  # of a syntax tree: which fields it has depends on its kind


class Repair(NamedTuple):
    """One small change of an answer."""

    line: int  # of the answer, from 1
    look: Look
    source: str  # the changed answer
    rank: int  # the smaller, the more it says
    text: str  # the line
    in_part: bool = False  # whether another check fails all the same

    def of_axes(self) -> Repair:
        """Return it with words that do not speak of other numbers of axes, for where all inputs have the same."""
        is_counted = self.look.end is End.COUNTED
        return self._replace(look=Look(f"look at the axes in {self.look.at}.")) if is_counted else self

    @property
    def what(self) -> str:
        """What to look at, as the student reads it."""
        return self.look.says(in_part=self.in_part)

    @property
    def says(self) -> str:
        """Where to look, as the student reads it."""
        return f"Line {self.line}, `{cut(self.text, 90)}`: {self.what}"


def repairs(source: str) -> list[Repair]:
    """List the small changes of an answer, those that say most first."""
    if len(source) > MAX_SOURCE:
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    # Only definitions are tried: a cell may also train something, or print.
    tree.body = [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign))
    ]
    lines = LINE_END.split(source)  # as Python counts them
    # Sort before anything is copied: to write out a changed answer takes most of the time.
    places = [
        (rank, line, number, path, look, new)
        for number, (path, node, _) in enumerate(walk(tree, whole=is_negative))
        for rank, look, line, new in _changes(node, lines)
    ]
    places.sort(key=lambda place: place[:3])
    found: dict[str, Repair] = {}
    for rank, line, _, path, look, new in places[:MOST]:
        other = replaced(tree, path, new() if callable(new) else new)
        try:
            text = ast.unparse(other)
        except (ValueError, RecursionError):
            continue
        whole = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        found.setdefault(text, Repair(line, look, text, rank, whole))
    return list(found.values())


def _changes(node: Node, lines: list[str]) -> Changes:
    """Yield the changes at one node of the tree."""

    def piece(part: Node) -> str:
        return cut(_text(part, lines))

    line = getattr(node, "lineno", 0)
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While, ast.With)):
        yield from _dropped_statements(node)
    if isinstance(node, ast.With) and len(node.items) == 1:
        look = Look("without this block around them the lines below come out right.")
        yield 1, look, line, ast.If(test=ast.Constant(True), body=node.body, orelse=[])
    if isinstance(node, ast.If) and node.orelse:
        yield 2, without("a case of its own, and all as under `else`,"), line, changed(node, test=ast.Constant(False))
    yield from of_expressions(node, piece)
    yield from of_statements(node)
    yield from of_sizes(node, piece)
    yield from of_places(node, piece)


def _dropped_statements(node: Node) -> Changes:
    for field in ("body", "orelse"):
        for index, statement in enumerate(getattr(node, field, [])):
            if is_text(statement) or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Pass)):
                continue
            if isinstance(statement, ast.Return) and not isinstance(node, (ast.If, ast.For, ast.With)):
                continue
            look = without(f"this {'block' if hasattr(statement, 'body') else 'line'}")
            yield 0, look, statement.lineno, changed(node, **{field: put(getattr(node, field), index, ast.Pass())})


def _text(node: Node, lines: list[str]) -> str:
    """Return the source of a node; ast.get_source_segment reads the whole source for each."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    taken = [line.encode() for line in lines[first : last + 1]]
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return b" ".join(taken).decode(errors="replace")
