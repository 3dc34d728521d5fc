"""Small changes of expressions: of operations, masks, counts that are off by one, axes and names.

Some changes apply to every place in a function.

ROWS contains changes in the form that `patterns` explains. In a hint's text, `{A:30}` is the source of A, cut to 30
characters; `{it:name}` is the name of a call; and `{it:end}` is the right side of an operation with its operator.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from grader.explain.repairs.change import (
    Changes,
    End,
    Look,
    Piece,
    called,
    changed,
    cut,
    exchanged,
    look_at,
    put,
    rewritten,
    without,
)
from grader.explain.repairs.patterns import Table

MOST_PARTS = 14  # of an object, or variables, that are tried in the place of one another
OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.MatMult), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.MatMult: (ast.Mult,),
}  # fmt: skip
COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.Lt, ast.LtE), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
METHODS = {
    "sum": "mean", "mean": "sum", "amax": "amin", "amin": "amax", "max": "amax", "tril": "triu", "triu": "tril",
    "T": "mT", "view": "reshape", "softmax": "log_softmax", "detach": "clone", "argmin": "argmax", "argmax": "argmin",
    "train": "eval", "zeros": "ones", "ones": "zeros", "all": "any", "any": "all", "exp": "log", "log": "exp",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "log2": "log", "log10": "log", "append": "extend",
}  # fmt: skip
FUNCTIONS = {"all": "any", "any": "all", "min": "max", "max": "min"}
MASKING = ("masked_fill", "masked_fill_", "where")
# Of functions and layers: what stands before the point is no tensor.
OWNERS = ("torch", "F", "nn", "math", "np", "self")
FILLED = Look("check the value that you fill in: hidden scores must become −∞.")
OPPOSITE = "check `{}`. If you swap True and False in it,"
ONE_OFF = "`{}` is off by one."
FROM_BEHIND = "`{}` can be negative, but a negative index counts from the end. Use 0 instead of a negative index."
ORDER = "check the order of the arguments of `{}`."
OTHER_PART = "check `{}`: another attribute belongs here."
OTHER_ARGUMENT = "`{}` is used where another argument belongs."
OTHER_NAME = "check `{}`: another variable belongs here."
COMES_RIGHT = " …"  # how a sentence below ends whose change is known to make the answer right

ROWS = """
3 A @ B → B @ A  # check the order of the two sides in `{it}`.
3 A - B → B - A  # check the order of the two sides in `{it}`.
3 A / B → B / A  # check the order of the two sides in `{it}`.
3 A ** B → B ** A  # check the order of the two sides in `{it}`.
2 SIDES(A, B) → A  # if you leave out `{it:end}` after `{A:30}`, …
4 SIDES(A, B) → B  # if you use only `{B}` here and leave out `{A:30}`, …
2 A / B → A / B ** 0.5  # a root is missing: check `{B}`.
2 A * B → A * B ** 0.5  # a root is missing: check `{B}`.
3 A ** B → A ** -B  # check the sign of the exponent in `{it}`.
3 A ** B → A ** 0.5  # check the exponent of `{it}`.
3 A ** B → A ** -0.5  # check the exponent of `{it}`.
1 A ** B / C → A ** (B / C)
    # `{it}` first computes the power and then divides: brackets are missing around the fraction.
2 A * B % C → A * (B % C)  # `{it}` multiplies first and then takes the remainder: brackets are missing.
2 A * B // C → A * (B // C)  # `{it}` multiplies first and then divides: brackets are missing.
3 X.repeat(A, 1, 1) → X.repeat_interleave(A, 0)
    # `{it}` repeats the whole tensor, but each entry must be next to its copies: use `repeat_interleave`.
3 X.repeat_interleave(A, dim=B) → torch.cat([X] * A, dim=B)
    # `{it}` puts each entry next to its copies. Repeat the whole tensor instead, with torch.cat or `.repeat`.
4 A * B → A.masked_fill(B == 0, -1e309)
    # where `{B}` is 0, the score becomes 0, but e⁰ = 1 still counts in the softmax. Hidden scores must become −∞.
4 SIMPLE(A) - SIMPLE(B) → max(0, A - B)
    # `{it}` can be negative, but a negative index counts from the end. Use 0 instead of a negative index.
5 SIMPLE(A) - SIMPLE(B) → A - B + 1  # `{it}` is off by one.
5 SIMPLE(A) - SIMPLE(B) → A - B - 1  # `{it}` is off by one.
5 SIMPLE(A) + SIMPLE(B) → A + B + 1  # `{it}` is off by one.
5 SIMPLE(A) + SIMPLE(B) → A + B - 1  # `{it}` is off by one.
4 -CONSTANT(A) → A  # check the `{it}`.
4 -OTHER(A) → A  # check the sign of `{it}`.
4 not A → A  # if you leave out the `not` in `{it}`, …
4 ~A → A  # if you leave out the `~` in `{it}`, …
4 G(A + B) → G(A) + B  # `{G}` applies to too much here: it should apply to only one part of the sum.
4 G(A + B) → A + G(B)  # `{G}` applies to too much here: it should apply to only one part of the sum.
4 G(A * B) → G(A) * B  # `{G}` applies to too much here: it should apply to only one factor.
4 G(A * B) → A * G(B)  # `{G}` applies to too much here: it should apply to only one factor.
4 G(A) + B → G(A + B)  # `{G}` applies to too little here: check `{it}`.
4 A + G(B) → G(A + B)  # `{G}` applies to too little here: check `{it}`.
4 G(A) * B → G(A * B)  # `{G}` applies to too little here: check `{it}`.
4 A * G(B) → G(A * B)  # `{G}` applies to too little here: check `{it}`.
4 G(H(A)) → H(G(A))  # check the order of `{G}` and `{H}`.
3 A <= B → A <= B.unsqueeze(-1)
    # `{it}` compares entries at the same place. To compare every entry with every other, give one side a second
    axis.
3 A >= B → A.unsqueeze(-1) >= B
    # `{it}` compares entries at the same place. To compare every entry with every other, give one side a second
    axis.
3 X.REDUCED() → X.REDUCED(-1)  # `{it}` works on all axes at once. Choose one axis with `dim`.
2 METHOD(X) → X  # if you leave out `.{it:name}(…)`, …
2 FUNCTION(X) → X  # if you leave out `{it:name}` around `{X:30}`, …
"""


def _is_method(node: Any) -> bool:
    """Return True if a call is that of a tensor's method, and not of a library function or the student's layer."""
    return isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in OWNERS


def _method(node: Any) -> list[Any] | None:
    """Return a list with the object that a method is called on, or None if the node is not a call of a method."""
    return [node.func.value] if isinstance(node, ast.Call) and _is_method(node) else None  # type: ignore[attr-defined]


def _function(node: Any) -> list[Any] | None:
    """Return a list with the first argument of a call of a function or layer, or None for any other node."""
    if not isinstance(node, ast.Call) or _is_method(node) or not node.args:
        return None
    return None if isinstance(node.args[0], ast.Starred) else node.args[:1]


TABLE = Table(
    ROWS,
    {
        "SIDES": lambda node: [node.left, node.right] if isinstance(node, ast.BinOp) else None,
        "SIMPLE": lambda node: [node] if isinstance(node, (ast.Name, ast.Constant)) else None,
        "CONSTANT": lambda node: [node] if isinstance(node, ast.Constant) else None,
        "OTHER": lambda node: None if isinstance(node, ast.Constant) else [node],
        "METHOD": _method,
        "FUNCTION": _function,
    },
    {"REDUCED": ("sum", "mean", "amax", "softmax", "norm")},
)


def of_expressions(node: Any, piece: Piece) -> Changes:
    """Yield the changes of one expression."""
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield 3, look_at(f"the operation in `{piece(node)}`", "operation"), line, changed(node, op=operator())
    if not is_negative(node):
        yield from _of_table(node, piece)
    if isinstance(node, ast.Compare):
        for new in COMPARISONS.get(type(node.ops[0]), ()):
            look = look_at(f"the comparison in `{piece(node)}`", "comparison")
            yield 3, look, line, changed(node, ops=put(node.ops, 0, new()))
    elif isinstance(node, ast.BoolOp):
        joined = changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        yield 3, Look("check how the conditions are combined: `and` or `or`?"), line, joined
    elif isinstance(node, ast.Constant) or is_negative(node):
        for value in other_constants(node.value if isinstance(node, ast.Constant) else -node.operand.value):
            yield 5, look_at(f"the `{piece(node)}`", "value"), line, ast.Constant(value)
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
        rank = 2 if isinstance(node.ctx, ast.Load) else 3
        yield rank, Look(f"check the order in `{piece(node)}`."), line, changed(node, elts=node.elts[::-1])
    elif isinstance(node, ast.Call):
        yield from _arguments(node, piece)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in METHODS:
        kind = "attribute" if node.attr == "T" else "function"
        yield 3, look_at(f"`{node.attr}`", kind), line, changed(node, attr=METHODS[node.attr])


def of_places(node: Any, piece: Piece) -> Changes:
    """Yield changes of masks and slices, and changes that apply throughout a function."""
    if isinstance(node, ast.Call):
        yield from _masks(node, piece)
    elif isinstance(node, ast.Slice):
        yield from _slices(node, piece)
    elif isinstance(node, ast.FunctionDef):
        yield from _throughout(node, piece)
        yield from _other_names(node)


def _of_table(node: Any, piece: Piece) -> Changes:
    """Yield the changes of the rows in ROWS that fit a node."""

    def name(part: Any, how: str) -> str:
        if how == "name":
            return called(part) or piece(part.func)
        if how == "end":
            return _with_operator(part, piece)
        return cut(piece(part), int(how)) if how else piece(part)

    for found in TABLE.found(node):
        words, is_right = found.says(name), found.row.sentence.endswith(COMES_RIGHT)
        look = Look(words.removesuffix(COMES_RIGHT), End.RIGHT) if is_right else Look(words)
        yield found.row.mark, look, node.lineno, found.new


def _with_operator(node: ast.BinOp, piece: Piece) -> str:
    """Return the right side of an operation with its operator: "/ 2". Leave out the operator if brackets follow it."""
    sign = ast.unparse(ast.BinOp(ast.Name("a"), node.op, ast.Name("b")))[1:-1].strip()
    right = piece(node.right)
    return next((end for end in (f"{sign} {right}", f"{sign}{right}") if end in piece(node)), right)


def _arguments(node: ast.Call, piece: Piece) -> Changes:
    """Yield changes of the arguments of a call.

    They swap two arguments, leave one out, replace min by max, or move an end of a `range` by one.
    """
    line, name, args = node.lineno, called(node), node.args
    if len(args) >= 2:
        yield 3, Look(ORDER.format(name)), line, changed(node, args=exchanged(args, 0))
        yield (
            4,
            Look(f"check the arguments of `{name}`: there is one argument too many."),
            line,
            changed(node, args=args[:-1]),
        )
    for index, keyword in enumerate(node.keywords):
        if keyword.arg:
            look = Look(f"check the argument `{keyword.arg}` of `{name}`.")
            yield 3, look, line, changed(node, keywords=put(node.keywords, index))
    for index in range(1, len(args) - 1):
        if isinstance(args[index], ast.Name) and isinstance(args[index + 1], ast.Name):
            yield 4, Look(ORDER.format(name)), line, changed(node, args=exchanged(args, index))
    if name == "range":
        for index, argument in enumerate(args[:2]):
            for step in (ast.Sub(), ast.Add()):
                other = ast.BinOp(argument, step, ast.Constant(1))
                look = Look(ONE_OFF.format(piece(argument)))
                yield 3, look, line, changed(node, args=put(args, index, other))
    if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        other_one = ast.Name(FUNCTIONS[node.func.id], ast.Load())
        yield 3, look_at(f"`{node.func.id}`", "function"), line, changed(node, func=other_one)


def _masks(node: ast.Call, piece: Piece) -> Changes:
    """Yield changes of a call that masks: invert its mask, or fill in another value."""
    if called(node) in MASKING and node.args:
        opposite = changed(node, args=put(node.args, 0, _inverted(node.args[0])))
        yield 2, Look(OPPOSITE.format(piece(node.args[0])), End.RIGHT), node.lineno, opposite
        for index, argument in enumerate(node.args[1:], 1):
            if isinstance(argument, (ast.Constant, ast.UnaryOp)):
                filled = changed(node, args=put(node.args, index, ast.Constant(float("-inf"))))
                yield 3, FILLED, node.lineno, filled
    for index, keyword in enumerate(node.keywords):
        if keyword.arg and "mask" in keyword.arg:
            other = changed(keyword, value=_inverted(keyword.value))
            look = Look(OPPOSITE.format(piece(keyword.value)), End.RIGHT)
            yield 2, look, node.lineno, changed(node, keywords=put(node.keywords, index, other))


def _inverted(node: Any) -> Any:
    is_inverted = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    return node.operand if is_inverted else ast.UnaryOp(ast.Invert(), node)


def _slices(node: ast.Slice, piece: Piece) -> Changes:
    """Yield changes of a slice: move an end by one, or keep the start from becoming negative."""
    for field in ("lower", "upper"):
        bound = getattr(node, field)
        if bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp)):
            continue
        if field == "lower":
            floor = ast.Call(ast.Name("max", ast.Load()), [ast.Constant(0), bound], [])
            yield 2, Look(FROM_BEHIND.format(piece(bound))), bound.lineno, changed(node, lower=floor)
        for step in (ast.Add(), ast.Sub()) if isinstance(bound, ast.BinOp) else ():
            new = ast.BinOp(bound, step, ast.Constant(1))
            yield 4, Look(ONE_OFF.format(piece(bound))), bound.lineno, changed(node, **{field: new})


def _throughout(function: ast.FunctionDef, piece: Piece) -> Changes:
    """Yield changes that apply to a whole function: leave out all calls of a function, or use another attribute."""
    calls: dict[str, list[ast.Call]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
            calls.setdefault(ast.unparse(node.func), []).append(node)
    for name, found in calls.items():
        if len(found) > 1:
            look = without(f"`{name}`, here and everywhere else")
            yield 3, look, found[0].lineno, partial(rewritten, function, _leaves_out(name), ast.Call)
    attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    first = {node.attr: node for node in reversed(attributes)}
    parts = Counter(node.attr for node in attributes if _is_part(node))
    for one in list(parts)[:MOST_PARTS]:
        for other in _siblings(one, parts):
            look = Look(OTHER_PART.format(piece(first[one])))
            yield 4, look, first[one].lineno, partial(rewritten, function, _renames("attr", one, other), ast.Attribute)
            on_line = Counter(node.lineno for node in attributes if node.attr == one)
            for node in attributes if parts[one] > 1 else ():
                if node.attr == one and _is_part(node):
                    places = "in one place, check" if on_line[node.lineno] > 1 else "check"
                    look = Look(f"{places} `{piece(node)}`: another attribute belongs here.")
                    yield 4, look, node.lineno, partial(_with_part, function, (node.lineno, node.col_offset), other)


def _is_part(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id not in ("torch", "F", "nn", "math", "np")


def _siblings(name: str, parts: Counter) -> Iterator[str]:
    """Yield attributes that may have been meant instead of `name`: attributes in the function with a similar name.

    For an attribute such as W_K, also yield its siblings, such as W_Q.
    """
    known = [*parts, *(f"W_{letter}" for letter in "QKVO" if name.startswith("W_"))]
    for other in dict.fromkeys(known):
        if other != name and (other[:2] == name[:2] or other.rpartition("_")[2] == name.rpartition("_")[2]):
            yield other


def _other_names(function: ast.FunctionDef) -> Changes:
    """Yield changes that replace one use of a variable or parameter by another variable or parameter."""
    stored = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    given = [each.arg for each in (*function.args.args, *function.args.kwonlyargs) if each.arg != "self"]
    known = dict.fromkeys([*given, *stored] if len(stored) <= MOST_PARTS else given)
    # In a condition another name is hardly a repair: `if query.any()` is always true.
    tests = {id(node) for test in ast.walk(function) if hasattr(test, "test") for node in ast.walk(test.test)}
    uses = [
        node for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known and id(node) not in tests
    ]  # fmt: skip
    on_line = Counter((node.lineno, node.id) for node in uses)
    for node in uses:
        where = "in one place, " if on_line[node.lineno, node.id] > 1 else ""
        for other in known:
            if other != node.id:
                both = node.id in given and other in given
                rank, says = (4, OTHER_ARGUMENT) if both else (7, OTHER_NAME)
                place = (node.lineno, node.col_offset)
                yield rank, Look(where + says.format(node.id)), node.lineno, partial(_with_name, function, place, other)


def _with_name(function: ast.FunctionDef, place: tuple[int, int], other: str) -> ast.AST:
    """Return a copy of a function with another name at a place (line, column)."""

    def rewrite(node: Any) -> Any:
        is_it = (node.lineno, node.col_offset) == place and isinstance(node.ctx, ast.Load)
        return ast.copy_location(ast.Name(other, ast.Load()), node) if is_it else node

    return rewritten(function, rewrite, ast.Name)


def _with_part(function: ast.FunctionDef, place: tuple[int, int], other: str) -> ast.AST:
    """Return a copy of a function with another attribute at a place (line, column)."""

    def rewrite(node: Any) -> Any:
        is_it = (node.lineno, node.col_offset) == place
        return changed(node, attr=other) if is_it else node

    return rewritten(function, rewrite, ast.Attribute)


def _leaves_out(name: str) -> Callable[[Any], Any]:
    return lambda node: node.args[0] if ast.unparse(node.func) == name and node.args else node


def _renames(field: str, one: str, other: str) -> Callable[[Any], Any]:
    def rewrite(node: Any) -> Any:
        if getattr(node, field) == one:
            setattr(node, field, other)
        return node

    return rewrite


def is_negative(node: Any) -> bool:
    """Return True if a node is a negative whole number, such as -1."""
    number = getattr(node, "operand", None)
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(getattr(number, "value", None), int)
    )


def other_constants(value: object) -> list:
    """Return values that may have been meant instead of a constant."""
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
