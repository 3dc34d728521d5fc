"""Tables of small changes: a pattern in Python, what stands in its place, and below it what is said of it.

    1 A - B → A + B  # {B} were added where it should be subtracted
    2?* X / R → X / (R + E) for E in 0.1, 0.01  # {E} were added to {R}[ before {X} was divided]

A single capital other than F is a hole: it stands for any expression, and for the same one wherever it stands; L is a library,
as torch is, and X in `X.name` is none. `*Z` is all that is given besides, `**K` all that is given besides by name. `name(X)` is
a call of a function and of a method alike: X is what it works on. `X.NAME` and `NAME(X)` are those of a set or a view that the
table's owner explains. `(R := …)` names a whole. A small name that only the new text has must be one that is known there.

Behind the # stands the sentence, which is said if all its words are known, apart from what stands in brackets; the first that is
known of {A,B}. `?`: no change without a sentence. `*`: made in all places at once, too, and with the same sentence; a second one
that begins with `everywhere: ` is said of that alone.
"""

import ast
import builtins
import copy
import re
import string
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grader.explain.nodes import LIBRARIES, called, is_library, is_method

ROW = re.compile(
    r"(?P<mark>\d)(?P<said>\??)(?P<joint>\*?) (?P<old>.+?) → (?P<new>.+?)"
    r"(?: for (?P<hole>[A-Z]) in (?P<values>.+?))?(?: if (?P<public>\w+))?"
    r"(?:  # (?P<says>.+?)(?: # everywhere: (?P<everywhere>.+))?)?"
)
OPTIONAL = re.compile(r"\[([^]]*)\]")

Node = Any  # of a syntax tree: which fields it has depends on its kind
Holes = dict[str, Any]  # what each hole stands for; of `*Z` and `**K` lists of arguments and keywords
View = Callable[[Any, Any], "Sequence[Any] | None"]  # of a node at a place: its parts; None if it is no such thing
Speaker = Callable[[Any, str], str]  # what a part is called, in the way that a format asks for; "" if nothing


NOTHING: Mapping[str, str] = {}


class Row(NamedTuple):
    """One change of a table."""

    mark: int
    only_said: bool
    change: str  # as it is written
    old: ast.expr
    new: ast.expr
    given: Holes
    says: str
    joint: str  # said where all places are changed at once
    needs: frozenset[str]  # names that must be known
    public: str  # a name that the task must tell; "" if none


class Found(NamedTuple):
    """A row that fits a node."""

    row: Row
    holes: Holes

    def says(self, speaker: Speaker) -> str:
        """Return the first sentence whose words are all known; "" if there is none."""
        return said(self.row.says, self.holes, speaker)

    def joint(self, speaker: Speaker) -> str:
        """Return what is said of the change in all places at once; "" if nothing."""
        return said(self.row.joint, self.holes, speaker)

    def new(self, libraries: Mapping[str, str]) -> Node:
        """Return what stands in the place of the node; it shares the holes' nodes with it.

        Args:
            libraries: what is written for torch and its kind.
        """
        return _filled(self.row.new, self.holes, libraries)


class Table:
    """Rows, and what explains their views and sets of names."""

    def __init__(
        self, text: str, views: Mapping[str, View] | None = None, names: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Read a table.

        Args:
            views: by the names in capitals that stand in the place of functions.
            names: by the names in capitals that stand in the place of attributes: which attributes they are.

        Raises:
            ValueError: a line cannot be read.
        """
        self.views, self.names = views or {}, names or {}
        self.rows = tuple(_rows(text))
        self._by_kind: dict[Any, list[Row]] = {}

    def found(
        self, node: ast.AST, place: Any = None, known: Collection[str] = (), alike: Mapping[str, str] = NOTHING
    ) -> Iterator[Found]:
        """Yield the rows that fit a node, in the table's order.

        Args:
            place: is handed on to the views.
            known: the names that a new text may use.
            alike: functions that count as other ones: {"my_softmax": "softmax"}.
        """
        kind = _kind(node, alike)
        if (rows := self._by_kind.get(kind)) is None:
            rows = [row for row in self.rows if self._may_fit(_kind(row.old, NOTHING), kind)]
            self._by_kind[kind] = rows
        for row in rows:
            holes = {**row.given, "it": node, "alike": alike}
            if all(name in known for name in row.needs) and self._fits(row.old, node, holes, place):
                yield Found(row, holes)

    def _may_fit(self, pattern: Any, kind: Any) -> bool:
        if pattern[1] in self.views or pattern[0] is ast.Name:
            return True
        return pattern[0] is kind[0] and (pattern[1] in (kind[1], "") or kind[1] in self.names.get(pattern[1], ()))

    def _fits(self, pattern: Any, node: Any, holes: Holes, place: Any) -> bool:
        """Tell whether a pattern fits, and fill the holes."""
        if isinstance(pattern, ast.Name) and is_hole(pattern.id):
            if pattern.id == "L" and not is_library(node):
                return False
            return isinstance(node, ast.AST) and _same(holes.setdefault(pattern.id, node), node)
        if isinstance(pattern, ast.NamedExpr):
            holes[pattern.target.id] = node
            return self._fits(pattern.value, node, holes, place)
        if isinstance(pattern, ast.Call) and isinstance(pattern.func, ast.Name) and pattern.func.id in self.views:
            parts = self.views[pattern.func.id](node, place)
            return parts is not None and self._all_fit(pattern.args, parts, holes, place)
        if type(pattern) is not type(node):
            return False
        if isinstance(pattern, ast.Call):
            return self._fits_call(pattern, node, holes, place)
        if isinstance(pattern, ast.Attribute) and pattern.attr in self.names:
            holes[f".{pattern.attr}"] = node.attr
            return node.attr in self.names[pattern.attr] and self._fits(pattern.value, node.value, holes, place)
        for field, value in ast.iter_fields(pattern):
            other = getattr(node, field)
            if field in ("ctx", "kind"):
                continue
            if isinstance(value, list):
                if not self._all_fit(value, other, holes, place):
                    return False
            elif not (self._fits(value, other, holes, place) if isinstance(value, ast.AST) else value == other):
                return False
        return True

    def _fits_call(self, pattern: ast.Call, node: ast.Call, holes: Holes, place: Any) -> bool:
        arguments: list[Any] = list(node.args)
        func = pattern.func
        if isinstance(func, ast.Name) and not is_hole(func.id):
            name = called(node)
            if holes["alike"].get(name, name) != func.id:
                return False
            holes[f"{func.id}()"] = node.func
            if is_method(node):
                arguments = [node.func.value, *arguments]  # type: ignore[attr-defined]
        elif not self._fits(func, node.func, holes, place) or (
            isinstance(func, ast.Attribute) and is_library(node.func) and getattr(func.value, "id", "") != "L"
        ):
            return False
        rest = {keyword.arg: keyword for keyword in node.keywords}
        for keyword in pattern.keywords:
            if keyword.arg is None:
                continue
            if keyword.arg not in rest or not self._fits(keyword.value, rest.pop(keyword.arg).value, holes, place):
                return False
        names = [rest_of(one) for one in pattern.keywords if one.arg is None]
        names = names or [f"{rest_of(one)}=" for one in pattern.args if rest_of(one)]
        if names:
            holes[names[0]] = list(rest.values())
        return (bool(names) or not rest) and self._all_fit(pattern.args, arguments, holes, place)

    def _all_fit(self, patterns: Sequence[Any], nodes: Sequence[Any], holes: Holes, place: Any) -> bool:
        """Tell whether a list of patterns fits; one of them may be `*Z`, which stands for any number of nodes."""
        starred = [index for index, one in enumerate(patterns) if isinstance(one, ast.AST) and rest_of(one)]
        if not starred:
            return len(patterns) == len(nodes) and all(
                self._fits(one, node, holes, place) and not isinstance(node, ast.Starred)
                if isinstance(one, ast.AST)
                else one == node
                for one, node in zip(patterns, nodes, strict=True)
            )
        at, behind = starred[0], len(patterns) - starred[0] - 1
        end = len(nodes) - behind
        if end < at:
            return False
        holes[patterns[at].value.id] = list(nodes[at:end])
        rest = [*nodes[:at], *nodes[end:]]
        fixed = [*patterns[:at], *patterns[at + 1 :]]
        # What stands in a fixed place must be there: f(*x) has no first argument.
        return not any(isinstance(node, ast.Starred) for node in rest) and self._all_fit(fixed, rest, holes, place)


def is_hole(name: str) -> bool:
    """Tell whether a name in a pattern stands for any expression."""
    return len(name) == 1 and name.isupper() and name != "F"


def said(sentence: str, holes: Holes, speaker: Speaker) -> str:
    """Fill the words into a sentence; "" if one is not known outside of brackets."""
    sentence = OPTIONAL.sub(lambda part: said(part[1], holes, speaker), sentence)
    words = []
    for text, hole, how, _ in string.Formatter().parse(sentence):
        words.append(text)
        if hole:
            words.append(next(filter(None, (speaker(holes[one], how or "") for one in hole.split(","))), ""))
            if not words[-1]:
                return ""
    return "".join(words)


def _rows(text: str) -> Iterator[Row]:
    """Yield the rows that a table's text describes."""
    for line in filter(None, text.splitlines()):
        row = ROW.fullmatch(line)
        if row is None:
            raise ValueError(f"no row of a table: {line!r}")
        old, new = (ast.parse(row[side], mode="eval").body for side in ("old", "new"))
        there = {node.id for node in ast.walk(old) if isinstance(node, ast.Name)}
        there |= {node.arg for node in ast.walk(new) if isinstance(node, ast.arg)}
        names = {node.id for node in ast.walk(new) if isinstance(node, ast.Name) and not is_hole(node.id)}
        needs = frozenset(name for name in names - there if name not in LIBRARIES and not hasattr(builtins, name))
        joint = row["says"] if row["joint"] else row["everywhere"]
        values = ast.parse(f"[{row['values']}]", mode="eval").body.elts if row["hole"] else [None]  # type: ignore[attr-defined]
        for value in values:
            given = {row["hole"]: value} if value is not None else {}
            change = f"{row['old']} → {row['new']}"
            yield Row(
                int(row["mark"]), bool(row["said"]), change, old, new, given, row["says"] or "", joint or "", needs,
                row["public"] or "",
            )  # fmt: skip


def rest_of(node: ast.AST) -> str:
    """Return the name of the hole in `*Z` or `**K`; "" if it is another thing with a star."""
    is_rest = isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None)
    name = getattr(node.value, "id", "") if is_rest else ""  # type: ignore[attr-defined]
    return name if is_hole(name) else ""


def _kind(node: ast.AST, alike: Mapping[str, str]) -> tuple[type, str]:
    """Return what a node is looked up by: its class, and the name of what it calls or its operator."""
    if isinstance(node, ast.NamedExpr):
        return _kind(node.value, alike)
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return type(node), type(node.op).__name__
    if isinstance(node, ast.Compare):
        return type(node), type(node.ops[0]).__name__
    name = called(node)
    return type(node), "" if is_hole(name) else alike.get(name, name)


def _same(one: Any, other: Any) -> bool:
    return one is other or ast.dump(one) == ast.dump(other)


def _filled(pattern: Any, holes: Holes, libraries: Mapping[str, str]) -> Any:
    """Return a copy of a pattern with its holes filled, and each library named as the code names it."""
    if isinstance(pattern, list):
        return [new for one in pattern for new in _filled_item(one, holes, libraries)]
    if not isinstance(pattern, ast.AST):
        return pattern
    if isinstance(pattern, ast.Name):
        if pattern.id in libraries:
            return ast.parse(libraries[pattern.id], mode="eval").body
        return holes[pattern.id] if is_hole(pattern.id) else ast.Name(pattern.id, ast.Load())
    if isinstance(pattern, ast.UnaryOp) and isinstance(number := getattr(pattern.operand, "value", None), float):
        return ast.Constant(-number)  # which is written without brackets
    new: Any = copy.copy(pattern)
    for field, value in ast.iter_fields(pattern):
        setattr(new, field, _filled(value, holes, libraries))
    if isinstance(pattern, ast.Attribute):
        new.attr = holes.get(f".{pattern.attr}", pattern.attr)
    if isinstance(pattern, ast.Call):
        # What a `*Z` holds was given by name as well.
        new.keywords[:0] = [each for one in pattern.args for each in holes.get(f"{rest_of(one)}=", ())]
        if isinstance(pattern.func, ast.Name) and (func := holes.get(f"{pattern.func.id}()")) is not None:
            as_method = is_method(ast.Call(func, [], []))
            new.func = func
            if as_method:
                new.func, new.args = ast.Attribute(new.args[0], func.attr, ast.Load()), new.args[1:]
    return new


def _filled_item(pattern: Any, holes: Holes, libraries: Mapping[str, str]) -> list[Any]:
    """Fill an item of a list: `*Z` and `**K` become any number of items."""
    return holes[rest] if (rest := rest_of(pattern)) else [_filled(pattern, holes, libraries)]
