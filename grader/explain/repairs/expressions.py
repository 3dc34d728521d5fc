"""Small changes of expressions: how places are hidden, counts that are off by one, axes, other names, and one change made throughout."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from grader.explain.repairs.edits import Change, become, becomes_constant, puts, sets
from grader.explain.repairs.sizes import of_sizes

Changes = Iterator[tuple[int, str, int, Change]]  # rank, what the student reads, line, change
Piece = Callable[[Any], str]  # the source of a node

MOST_PARTS = 14  # of an object that are tried in the place of one another
FUNCTIONS = {"all": "any", "any": "all", "min": "max", "max": "min"}
MASKING = ("masked_fill", "masked_fill_", "where")
FACTOR = "where `{}` is 0 the score becomes 0, and e⁰ = 1 still is a share of the softmax. What is hidden needs the score −∞."
FILLED = "look at what is filled in: what is hidden needs the score −∞."
OPPOSITE = "look at `{}`: the opposite is meant here."
ONE_OFF = "`{}` is off by one."
FROM_BEHIND = "`{}` can be negative, and a negative index counts from the end."
OTHER_PART = "look at `{}`: another part belongs here."
OTHER_NAME = "look at `{}`: another variable belongs here."


def of_expressions(node: Any, piece: Piece) -> Changes:
    """Yield changes of one expression."""
    line = getattr(node, "lineno", 0)
    yield from of_sizes(node, piece)
    if isinstance(node, ast.BinOp):
        yield from _sums(node, piece)
    elif isinstance(node, ast.Call):
        yield from _masks(node, piece)
        yield from _axes(node, piece)
        yield from _arguments(node, piece)
        if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            other = ast.Name(FUNCTIONS[node.func.id], ast.Load())
            yield 3, f"look at `{node.func.id}`; with another one it comes out right.", line, sets("func", other)
    elif isinstance(node, ast.Slice):
        yield from _slices(node, piece)
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store) and len(node.elts) == 2:
        says = f"look at the order in `{piece(node)}`."
        yield 3, says, line, lambda n: n.elts.reverse()
    elif is_negative(node):
        for value in other_constants(-node.operand.value):
            says = f"look at the `{piece(node)}`; with another one it comes out right."
            yield 5, says, line, becomes_constant(value)
    if isinstance(node, ast.FunctionDef):
        yield from _throughout(node, piece)
        yield from _other_names(node)


def _sums(node: ast.BinOp, piece: Piece) -> Changes:
    """Hide by −∞ what is hidden by a product; move a place by one, or keep it from being negative."""
    if isinstance(node.op, ast.Mult):
        says = FACTOR.format(piece(node.right))
        yield 4, says, node.lineno, lambda n: become(n, _hidden(n.left, n.right))
    if isinstance(node.op, (ast.Add, ast.Sub)) and all(
        isinstance(part, (ast.Name, ast.Constant)) for part in (node.left, node.right)
    ):
        if isinstance(node.op, ast.Sub):
            floor = ast.Call(ast.Name("max", ast.Load()), [ast.Constant(0), node], [])
            says = FROM_BEHIND.format(piece(node))
            yield 4, says, node.lineno, _copies(floor)
        for step in (ast.Add(), ast.Sub()):
            new = ast.BinOp(node, step, ast.Constant(1))
            says = ONE_OFF.format(piece(node))
            yield 5, says, node.lineno, _copies(new)


def _copies(new: Any) -> Change:
    return lambda node: become(node, copy.deepcopy(new))


def _masks(node: ast.Call, piece: Piece) -> Changes:
    """Hide the opposite places, or hide by −∞."""
    name = _called(node)
    if name in MASKING and node.args:
        says = OPPOSITE.format(piece(node.args[0]))
        yield 2, says, node.lineno, puts("args", 0, _inverted(node.args[0]))
        for index, argument in enumerate(node.args[1:], 1):
            if isinstance(argument, (ast.Constant, ast.UnaryOp)):
                yield 3, FILLED, node.lineno, puts("args", index, ast.Constant(float("-inf")))
    for index, keyword in enumerate(node.keywords):
        if keyword.arg and "mask" in keyword.arg:
            says = OPPOSITE.format(piece(keyword.value))
            new = ast.keyword(keyword.arg, _inverted(keyword.value))
            yield 2, says, node.lineno, puts("keywords", index, new)


def _inverted(node: Any) -> Any:
    is_inverted = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    return node.operand if is_inverted else ast.UnaryOp(ast.Invert(), node)


def _hidden(scores: Any, mask: Any) -> ast.Call:
    """Return scores.masked_fill(mask == 0, -inf)."""
    nowhere = ast.Compare(mask, [ast.Eq()], [ast.Constant(0)])
    fill = ast.Attribute(scores, "masked_fill", ast.Load())
    return ast.Call(fill, [nowhere, ast.Constant(float("-inf"))], [])


def _axes(node: ast.Call, piece: Piece) -> Changes:
    """Let two axes of a permutation change places."""
    if _called(node) == "permute" and not any(isinstance(each, ast.Starred) for each in node.args):
        at_once = node.args[-1] if node.args else None
        axes = at_once.elts if isinstance(at_once, (ast.Tuple, ast.List)) else node.args
        for one, other in combinations(range(len(axes)), 2):
            says = f"look at the order of the axes in `{piece(node)}`."
            yield 3, says, node.lineno, _permutes(one, other, isinstance(at_once, (ast.Tuple, ast.List)))


def _permutes(one: int, other: int, at_once: bool) -> Change:
    def change(node: Any) -> None:
        axes = list(node.args[-1].elts) if at_once else node.args
        axes[one], axes[other] = axes[other], axes[one]
        if at_once:
            node.args[-1] = ast.Tuple(axes, ast.Load())

    return change


def _arguments(node: ast.Call, piece: Piece) -> Changes:
    """Let two arguments that follow one another change places, behind the first two."""
    for index in range(1, len(node.args) - 1):
        if isinstance(node.args[index], ast.Name) and isinstance(node.args[index + 1], ast.Name):
            says = f"look at the order of the arguments of `{_called(node)}`."
            yield 4, says, node.lineno, _exchanges(index)
    if _called(node) == "range":
        for index, argument in enumerate(node.args[:2]):
            for step in (ast.Sub(), ast.Add()):
                says = ONE_OFF.format(piece(argument))
                yield 3, says, node.lineno, _steps(index, step)


def _exchanges(index: int) -> Change:
    def change(node: Any) -> None:
        node.args[index], node.args[index + 1] = node.args[index + 1], node.args[index]

    return change


def _steps(index: int, step: ast.operator) -> Change:
    return lambda node: node.args.__setitem__(index, ast.BinOp(node.args[index], step, ast.Constant(1)))


def _slices(node: ast.Slice, piece: Piece) -> Changes:
    """Move an end of a slice by one, or stop it from counting from behind."""
    for field in ("lower", "upper"):
        bound = getattr(node, field)
        if bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp)):
            continue
        if field == "lower":
            says = FROM_BEHIND.format(piece(bound))
            floor = ast.Call(ast.Name("max", ast.Load()), [ast.Constant(0), bound], [])
            yield 2, says, bound.lineno, sets(field, floor)
        for step in (ast.Add(), ast.Sub()) if isinstance(bound, ast.BinOp) else ():
            new = ast.BinOp(bound, step, ast.Constant(1))
            yield 4, ONE_OFF.format(piece(bound)), bound.lineno, sets(field, new)


def _throughout(function: ast.FunctionDef, piece: Piece) -> Changes:
    """Make one change in several places of a function: leave out all calls of a name, all that is added, use another part."""
    calls: dict[str, list[ast.Call]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
            calls.setdefault(ast.unparse(node.func), []).append(node)
    for name, found in calls.items():
        if len(found) > 1:
            says = f"without `{name}`, here and wherever it stands, it comes out right."
            yield 3, says, found[0].lineno, _rewrites(function, ast.Call, _leaves_out(name))
    attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    first = {node.attr: node for node in reversed(attributes)}
    parts = Counter(node.attr for node in attributes if _is_part(node))
    for one in list(parts)[:MOST_PARTS]:
        for other in _siblings(one, parts):
            says = OTHER_PART.format(piece(first[one]))
            yield 4, says, first[one].lineno, _rewrites(function, ast.Attribute, _renames("attr", one, other))
    sums = [n for n in ast.walk(function) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add)]
    for field in ("left", "right"):
        if len(sums) > 1:
            says = f"look at what is added in `{piece(sums[0])}`, and in the other sums."
            yield 5, says, sums[0].lineno, _rewrites(function, ast.BinOp, _keeps(field))


def _is_part(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id not in ("torch", "F", "nn", "math", "np")


def _siblings(name: str, parts: Counter) -> Iterator[str]:
    """Yield parts that a name may be taken for: those of the same function with a like name, and W_Q for W_K."""
    known = [*parts, *(f"W_{letter}" for letter in "QKVO" if name.startswith("W_"))]
    for other in dict.fromkeys(known):
        if other != name and (other[:2] == name[:2] or other.rpartition("_")[2] == name.rpartition("_")[2]):
            yield other


def _other_names(function: ast.FunctionDef) -> Changes:
    """Put another variable in the place of a variable; a function's parameters are among them."""
    stored = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    if len(stored) > 14:
        return
    known = [*stored, *(each.arg for each in function.args.args if each.arg != "self")]
    # In a condition another name is hardly a repair: `if query.any()` is always true.
    tests = {id(node) for test in ast.walk(function) if hasattr(test, "test") for node in ast.walk(test.test)}
    uses = [
        node for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known and id(node) not in tests
    ]  # fmt: skip
    for node in uses:
        for other in known:
            both_given = node.id not in stored and other not in stored
            if other != node.id and not both_given:
                place = (node.lineno, node.col_offset)
                yield 7, OTHER_NAME.format(node.id), node.lineno, _puts_name(function, place, other)


def _puts_name(function: ast.FunctionDef, place: tuple[int, int], other: str) -> Change:
    def rewrite(node: Any) -> Any:
        is_it = (node.lineno, node.col_offset) == place and isinstance(node.ctx, ast.Load)
        return ast.copy_location(ast.Name(other, ast.Load()), node) if is_it else node

    return _rewrites(function, ast.Name, rewrite)


def _rewrites(function: ast.FunctionDef, kind: type, rewrite: Callable[[Any], Any]) -> Change:
    """Return a change that rewrites all nodes of a kind within a function."""

    class Rewriter(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            node = self.generic_visit(node)
            return rewrite(node) if isinstance(node, kind) else node

    def change(node: Any) -> None:
        node.body = [Rewriter().visit(copy.deepcopy(statement)) for statement in node.body]

    return change


def _leaves_out(name: str) -> Callable[[Any], Any]:
    return lambda node: node.args[0] if ast.unparse(node.func) == name and node.args else node


def _renames(field: str, one: str, other: str) -> Callable[[Any], Any]:
    def rewrite(node: Any) -> Any:
        if getattr(node, field) == one:
            setattr(node, field, other)
        return node

    return rewrite


def _keeps(field: str) -> Callable[[Any], Any]:
    return lambda node: getattr(node, field) if isinstance(node.op, ast.Add) else node


def is_negative(node: Any) -> bool:
    """Tell whether a node is a negative whole number, as -1."""
    number = getattr(node, "operand", None)
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(getattr(number, "value", None), int)
    )


def other_constants(value: object) -> list:
    """List values that may have been meant in the place of a constant."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        # Of axes, the heads' is the third from the end.
        return [other for other in (-1, -2, 0, 1, value + 1, value - 1, -value, -3) if other != value]
    if isinstance(value, float):
        inverse = 1.0 / value if value else 1.0
        return [other for other in (-value, inverse, value / 2, 0.0, 1.0) if other != value]
    if isinstance(value, str) and "_" in value:
        return [value.replace("_", " ")]
    return []


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
