"""Small changes of numbers and sizes in the code: fixed sizes, axes counted from the front, slices and roots."""

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any

from grader.explain.repairs.change import LIBRARIES, Changes, End, Look, Piece, called, changed, look_at, rewritten

FIXED = "the {} is a fixed number, but the right number differs between inputs. Take it from the arguments."
RECUT = Look(
    "this reshape gives the right shape, but the numbers are in the wrong places. Swap axes instead of reshaping."
)
ROOT_OF = "`{}` takes the root of the wrong size. Use another size."
PLACED_BY = ("transpose", "unsqueeze", "squeeze", "swapaxes", "flatten", "sum", "mean", "softmax", "select", "unbind")


def of_sizes(node: Any, piece: Piece) -> Changes:
    """Yield changes of the sizes, axes, slices and roots in one node."""
    if isinstance(node, ast.Call):
        yield from _places_from_front(node, piece)
        if called(node) in ("reshape", "view") and isinstance(node.func, ast.Attribute):
            yield 3, RECUT, node.lineno, ast.Attribute(node.func.value, "mT", ast.Load())
    elif isinstance(node, ast.Subscript):
        yield from _indices_from_front(node, piece)
        yield from _from_minus_zero(node, piece)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float) and 1 < node.value < 2:
        tenth = round(1 + (node.value - 1) / 10, 6)  # 1.01 for 1.1
        yield 3, look_at(f"the `{piece(node)}`", "value"), node.lineno, ast.Constant(tenth)
    elif isinstance(node, ast.FunctionDef):
        yield from _fixed(node)
        yield from _roots(node, piece)


def _fixed(function: ast.FunctionDef) -> Changes:
    """Yield changes that replace a fixed number everywhere, by a size of an argument or by an attribute."""
    numbers: dict[int, int] = {}
    for node in (part for statement in function.body for part in ast.walk(statement)):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 2:
            numbers.setdefault(node.value, node.lineno)
    read = {ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.Attribute) and "head" in node.attr}
    for number, line in numbers.items():
        for size in (*_sizes(function), *sorted(read)):
            yield 4, Look(FIXED.format(number)), line, partial(_with_size, function, number, size)


def _sizes(function: ast.FunctionDef) -> Iterator[str]:
    """Yield expressions that a fixed number may stand for: an argument, a number of heads, or the length of an axis."""
    names = [argument.arg for argument in function.args.args]
    if "num_heads" in names and "tokens" in names:
        yield "tokens.shape[-1] // num_heads"
    for argument in (*function.args.args, *function.args.kwonlyargs):
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        if argument.arg in ("num_heads", "n", "patch_size") or kind == "int":
            yield argument.arg
        elif argument.arg == "self" or kind.endswith("Module") or "layer" in argument.arg or "attn" in argument.arg:
            yield f"{argument.arg}.num_heads"
    names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for name in [n for n in dict.fromkeys(names) if n in ("weights", "attn", "rows", "maps", "last", "w", "m")]:
        yield from (f"{name}.shape[-1]", f"{name}.shape[-3]")


def _with_size(function: ast.FunctionDef, number: int, size: str) -> ast.AST:
    """Return a copy of a function in which an expression replaces a number everywhere."""

    def rewrite(node: ast.Constant) -> ast.AST:
        is_it = type(node.value) is int and node.value == number
        return ast.parse(size, mode="eval").body if is_it else node

    return rewritten(function, rewrite, ast.Constant)


def _roots(function: ast.FunctionDef, piece: Piece) -> Changes:
    """Yield changes that take the root of another size.

    The size is the width of an argument, or the width of a layer's output, either whole or for one head.
    """
    inner: list[Any] = [part for statement in function.body for part in ast.walk(statement)]
    widths = [f"{argument.arg}.shape[-1]" for argument in function.args.args if argument.arg not in ("self", "mask")]
    for made in {ast.unparse(node.func): None for node in inner if _calls_layer(node)}:
        widths += [f"{made}.out_features", f"{made}.out_features // {made.partition('.')[0]}.num_heads"]
    for node in inner:
        is_power = isinstance(node, ast.BinOp) and ast.unparse(node.right) in ("0.5", "-0.5", "1 / 2")
        if not is_power and not (isinstance(node, ast.Call) and called(node) == "sqrt" and len(node.args) == 1):
            continue
        field, size = ("left", node.left) if is_power else ("args", node.args[0])
        for width in (each for each in widths if each != ast.unparse(size)):
            new = ast.parse(width, mode="eval").body
            other = changed(node, **{field: new if is_power else [new]})
            yield 2, Look(ROOT_OF.format(piece(node))), node.lineno, partial(_with_node, function, node, other)


def _calls_layer(node: ast.AST) -> bool:
    """Return True if a node calls a layer of `self` or of an argument, as in self.layer(x)."""
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id in LIBRARIES:
        return False
    return func.value.id == "self" or not func.attr.islower()  # a method of a tensor has no capitals


def _with_node(function: ast.FunctionDef, old: ast.AST, new: ast.AST) -> ast.AST:
    """Return a copy of a function in which one expression is replaced by another."""
    text = ast.dump(old)
    return rewritten(function, lambda node: new if ast.dump(node) == text else node, type(old))


def _places_from_front(node: ast.Call, piece: Piece) -> Changes:
    """Yield changes that count the axes in a call from the end. Tensors with three and four axes are assumed."""
    at = [
        index
        for index, argument in enumerate(node.args)
        if isinstance(argument, ast.Constant) and type(argument.value) is int and argument.value >= 0
    ]
    if called(node) not in PLACED_BY or not at:
        return
    # An unsqueezed tensor has one axis more.
    for axes in (3, 4, 5) if called(node) == "unsqueeze" else (3, 4):
        numbers = {index: axes - node.args[index].value for index in at}  # type: ignore[attr-defined]
        if min(numbers.values()) > 0:
            from_end = {index: ast.UnaryOp(ast.USub(), ast.Constant(number)) for index, number in numbers.items()}
            args = [from_end.get(index, each) for index, each in enumerate(node.args)]
            yield 3, Look(f"`{piece(node)}`", End.COUNTED), node.lineno, changed(node, args=args)


def _indices_from_front(node: ast.Subscript, piece: Piece) -> Changes:
    """Yield changes that write `...` for the leading axes of an index: x[:, i] becomes x[..., i, :, :]."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    front = 0
    while front < len(parts) and isinstance(parts[front], ast.Slice) and ast.unparse(parts[front]) == ":":
        front += 1
    # A slice, such as W[:, a:b], is of something with as many axes as that.
    if not front or front == len(parts) or isinstance(parts[front], ast.Slice):
        return
    for behind in (0, 1, 2):
        whole = [ast.Constant(...), *parts[front:], *(ast.Slice() for _ in range(behind))]
        yield 2, Look(f"`{piece(node)}`", End.COUNTED), node.lineno, changed(node, slice=ast.Tuple(whole, ast.Load()))


def _from_minus_zero(node: ast.Subscript, piece: Piece) -> Changes:
    """Yield a change of a slice that begins at minus a count.

    With the change, the slice begins at the end of the axis if the count is 0.
    """
    last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
    start = last.lower if isinstance(last, ast.Slice) and last.upper is None else None
    if (
        isinstance(start, ast.UnaryOp)
        and isinstance(start.op, ast.USub)
        and not isinstance(start.operand, ast.Constant)
    ):
        length = ast.Subscript(ast.Attribute(node.value, "shape", ast.Load()), ast.Constant(-1), ast.Load())
        new = ast.Slice(ast.BinOp(length, ast.Sub(), start.operand))
        whole = ast.Tuple([*node.slice.elts[:-1], new], ast.Load()) if isinstance(node.slice, ast.Tuple) else new
        says = (
            f"if `{piece(start.operand)}` is 0, this slice begins at −0, which is 0, so it takes everything. "
            "Count its start from the front."
        )
        yield 1, Look(says), node.lineno, changed(node, slice=whole)
