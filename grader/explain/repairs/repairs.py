"""Small changes to a wrong answer: which one makes it right shows where its mistake is.

A change that makes an answer right on fresh random inputs is hardly there by chance. The student reads the place and not the
change: where to look, and not what to write.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from grader.explain.repairs.edits import (
    Change,
    Node,
    become,
    becomes,
    bracket_the_exponent,
    drop_method,
    drops,
    negate,
    out_of_place,
    puts,
    sets,
    swap_sides,
    unwrap_block,
    without_underscore,
)
from grader.explain.repairs.expressions import is_negative, of_expressions, other_constants
from grader.explain.repairs.statements import of_statements

MOST = 160  # changes of one answer
MAX_SOURCE = 10_000  # characters; a solution has at most 3,000
MAX_PIECE = 60

RIGHT_HERE = "this check comes out right"

OWNERS = (
    "torch",
    "F",
    "nn",
    "math",
    "np",
    "self",
)  # of functions and layers: what stands before the point is no tensor

LINE_END = re.compile(r"\r\n|\r|\n")

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.MatMult), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.MatMult: (ast.Mult,),
}  # fmt: skip
COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
METHODS = {
    "sum": "mean", "mean": "sum", "amax": "amin", "amin": "amax", "max": "amax", "tril": "triu", "triu": "tril",
    "T": "mT", "view": "reshape", "softmax": "log_softmax", "detach": "clone", "argmin": "argmax", "argmax": "argmin",
    "train": "eval", "zeros": "ones", "ones": "zeros", "all": "any", "any": "all", "exp": "log", "log": "exp",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "log2": "log", "log10": "log", "append": "extend",
}  # fmt: skip


class Repair(NamedTuple):
    """One small change of an answer."""

    line: int  # of the answer, from 1
    what: str  # what to look at
    source: str  # the changed answer
    rank: int  # the smaller, the more it says
    text: str  # the line

    def in_part(self) -> Repair:
        """Claim less, where the answer has another mistake elsewhere."""
        what = self.what.replace("; with another one it comes out right", "").replace("it comes out right", RIGHT_HERE)
        return self._replace(what=f"{what} Another check fails all the same.")

    @property
    def says(self) -> str:
        """Where to look, as the student reads it."""
        return f"Line {self.line}, `{_cut(self.text, 90)}`: {self.what}"


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
    words = _compared_words(tree)
    # Sort before anything is copied: to write out a changed answer takes most of the time.
    places = [
        (rank, line, number, path, says, change)
        for number, (path, node, names) in enumerate(_inside(tree))
        for rank, says, line, change in (*_changes(node, names, lines), *_of_defaults(node, words))
    ]
    places.sort(key=lambda place: place[:3])
    found: dict[str, Repair] = {}
    for rank, line, _, path, says, change in places[:MOST]:
        changed = _copy_along(tree, path)
        change(_at(changed, path))
        try:
            text = ast.unparse(ast.fix_missing_locations(changed))
        except (ValueError, RecursionError):
            continue
        whole = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        found.setdefault(text, Repair(line, says, text, rank, whole))
    return list(found.values())


Path = tuple[tuple[str, int | None], ...]


def _inside(tree: Node, path: Path = (), names: tuple[str, ...] = ()) -> Iterator[tuple[Path, Node, tuple[str, ...]]]:
    """Yield every node with its path, and the names of the parameters of the function around it."""
    if isinstance(tree, ast.FunctionDef):
        names = tuple(argument.arg for argument in (*tree.args.args, *tree.args.kwonlyargs))
    yield path, tree, names
    if is_negative(tree):
        return
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if isinstance(value, ast.AST):
            # In a condition another name is hardly a repair: `if query.any()` is always true.
            yield from _inside(value, (*path, (field, None)), () if field == "test" else names)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST) and not _is_docstring(item):
                    yield from _inside(item, (*path, (field, index)), names)


def _copy_along(tree: Node, path: Path) -> Node:
    """Copy the nodes along a path; all others are shared, so a change may set fields of the last one and its lists alone."""
    new = copy.copy(tree)
    for field, value in ast.iter_fields(tree):
        if isinstance(value, list):
            setattr(new, field, list(value))
    if path:
        (field, index), rest = path[0], path[1:]
        if index is None:
            setattr(new, field, _copy_along(getattr(tree, field), rest))
        else:
            getattr(new, field)[index] = _copy_along(getattr(tree, field)[index], rest)
    return new


def _at(tree: Node, path: Path) -> Node:
    for field, index in path:
        tree = getattr(tree, field) if index is None else getattr(tree, field)[index]
    return tree


def _is_docstring(node: Node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


Changes = Iterator[tuple[int, str, int, Change]]  # rank, what the student reads, line, change


def _changes(node: Node, names: tuple[str, ...], lines: list[str]) -> Changes:
    """Yield the changes at one node of the tree."""

    def piece(part: Node) -> str:
        return _cut(_text(part, lines))

    line = getattr(node, "lineno", 0)
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While, ast.With)):
        yield from _dropped_statements(node)
    if isinstance(node, ast.With) and len(node.items) == 1:
        says = "without this block around them the lines below come out right."
        yield 1, says, line, unwrap_block
    if isinstance(node, ast.If):
        yield 6, "look at this condition: turned around, the rest comes out right.", line, negate
        yield 5, "this condition is all that is in the way.", line, sets("test", ast.Constant(True))
    elif isinstance(node, ast.BinOp):
        yield from _of_operator(node, piece)
    elif isinstance(node, ast.Compare):
        for new in COMPARISONS.get(type(node.ops[0]), ()):
            says = f"look at the comparison in `{piece(node)}`; with another one it comes out right."
            yield 3, says, line, puts("ops", 0, new())
    elif isinstance(node, ast.UnaryOp) and not is_negative(node):
        says = (
            f"look at the `{piece(node)}`."
            if isinstance(node.operand, ast.Constant)
            else f"look at the sign of `{piece(node)}`."
            if isinstance(node.op, ast.USub)
            else f"look at `{piece(node)}`: the opposite is right."
        )
        yield 4, says, line, becomes("operand")
    elif isinstance(node, ast.BoolOp):
        new = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield 3, "look at how the conditions are joined: `and` or `or`?", line, sets("op", new())
    elif isinstance(node, ast.Constant):
        for value in other_constants(node.value):
            says = f"look at the `{piece(node)}`; with another one it comes out right."
            yield 5, says, line, sets("value", value)
    elif isinstance(node, ast.AugAssign):
        says = "it changes a tensor in place; a new one comes out right."
        yield 1, says, line, out_of_place
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        yield 2, f"look at the order in `{piece(node)}`.", line, lambda n: n.elts.reverse()
    elif isinstance(node, ast.Call):
        yield from _of_call(node, piece)
    yield from _of_name(node, names, lines)
    yield from of_statements(node)
    yield from of_expressions(node, piece)


def _dropped_statements(node: Node) -> Changes:
    for field in ("body", "orelse"):
        for index, statement in enumerate(getattr(node, field, [])):
            if _is_docstring(statement) or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Pass)):
                continue
            if isinstance(statement, ast.Return) and not isinstance(node, (ast.If, ast.For, ast.With)):
                continue
            says = (
                "without this block it comes out right."
                if hasattr(statement, "body")
                else "without this line it comes out right."
            )
            yield (0, says, statement.lineno, puts(field, index, ast.Pass()))


def _of_operator(node: Node, piece: Callable[[Node], str]) -> Changes:
    line = node.lineno
    for new in OPERATORS.get(type(node.op), ()):
        says = f"look at the operation in `{piece(node)}`; with another one it comes out right."
        yield 3, says, line, sets("op", new())
    if isinstance(node.op, (ast.MatMult, ast.Sub, ast.Div, ast.Pow)):
        yield 3, f"look at the order of the two sides in `{piece(node)}`.", line, swap_sides
    yield (
        2,
        f"without `{piece(node.right)}` after `{_cut(piece(node.left), 30)}` it comes out right.",
        line,
        becomes("left"),
    )
    yield (
        4,
        f"`{piece(node.right)}` alone, without `{_cut(piece(node.left), 30)}`, comes out right.",
        line,
        becomes("right"),
    )
    if isinstance(node.op, (ast.Div, ast.Mult)):
        says = f"a root is missing: look at `{piece(node.right)}`."
        yield 2, says, line, sets("right", ast.BinOp(node.right, ast.Pow(), ast.Constant(0.5)))
    if isinstance(node.op, ast.Pow):
        yield (3, f"look at the exponent of `{piece(node)}`.", line, sets("right", ast.Constant(0.5)))
        yield (3, f"look at the exponent of `{piece(node)}`.", line, sets("right", ast.Constant(-0.5)))
    if isinstance(node.op, ast.Div) and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Pow):
        says = f"`{piece(node)}` first takes the power and then divides: brackets are missing around the fraction."
        yield 1, says, line, bracket_the_exponent


def _of_call(node: Node, piece: Callable[[Node], str]) -> Changes:
    line = node.lineno
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    is_method = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in OWNERS
    if is_method:
        yield 2, f"without `.{name}(…)` it comes out right.", line, drop_method
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield (
            2,
            f"without `{name}` around `{_cut(piece(node.args[0]), 30)}` it comes out right.",
            line,
            lambda n: become(n, n.args[0]),
        )
    if len(node.args) >= 2:
        says = f"look at the order of the arguments of `{name}`."
        yield 3, says, line, lambda n: n.args.insert(0, n.args.pop(1))
        yield 4, f"look at the arguments of `{name}`: one is too many.", line, drops("args", -1)
    for index, keyword in enumerate(node.keywords):
        if keyword.arg:
            says = f"look at the argument `{keyword.arg}` of `{name}`."
            yield 3, says, line, drops("keywords", index)
    if name.endswith("_") and not name.startswith("_") and isinstance(node.func, ast.Attribute):
        says = f"`{name}` changes a tensor in place; without the underscore it comes out right."
        yield 1, says, line, without_underscore


def _of_name(node: Node, names: tuple[str, ...], lines: list[str]) -> Changes:
    """Put another parameter in the place of a name, or another method in the place of one."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if node.attr in METHODS:
            says = f"look at `{node.attr}`; with another one it comes out right."
            yield 3, says, node.lineno, sets("attr", METHODS[node.attr])
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        where = "in one place, " if len(re.findall(rf"\b{node.id}\b", lines[node.lineno - 1])) > 1 else ""
        for other in names:
            if other not in (node.id, "self"):
                says = f"{where}`{node.id}` stands where another argument belongs."
                yield 4, says, node.lineno, sets("id", other)


def _compared_words(tree: Node) -> list[str]:
    """List the texts that an answer compares something with, such as the names of methods."""
    compared = [inner for node in ast.walk(tree) if isinstance(node, ast.Compare) for inner in ast.walk(node)]
    found = [node.value for node in compared if isinstance(node, ast.Constant)]
    return list(dict.fromkeys(value for value in found if isinstance(value, str)))


def _of_defaults(node: Node, words: list[str]) -> Changes:
    """Put another text that the answer knows in the place of a default."""
    if isinstance(node, ast.arguments):
        for index, default in enumerate(node.defaults):
            if isinstance(default, ast.Constant) and default.value in words:
                for word in words:
                    if word != default.value:
                        says = f"look at the default `{default.value!r}`; with another one it comes out right."
                        yield 1, says, default.lineno, puts("defaults", index, ast.Constant(word))


def _text(node: Node, lines: list[str]) -> str:
    """Return the source of a node; ast.get_source_segment reads the whole source for each."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    taken = [line.encode() for line in lines[first : last + 1]]
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return b" ".join(taken).decode(errors="replace")


def _cut(text: str, most: int = MAX_PIECE) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
