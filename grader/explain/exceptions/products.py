"""What exceptions about matrix products mean, and about layers whose input has another width."""

import ast
import re
from collections.abc import Iterator

from grader.explain.code.read_code import Raising, Shape, called_name, calls, owner_of, shape_of, text_of, values_of


def wrong_factors(raising: Raising, _: re.Match) -> str:
    """Say how the two factors of a matrix product fail to fit."""
    for one, other in _products(raising.node):
        a, b = shape_of(one, raising.shapes), shape_of(other, raising.shapes)
        if a and b and len(a) >= 2 and len(b) == 1 and a[-1] != b[0]:
            return f"`{text_of(other)}` has one axis, and it must be as long as the last one of `{text_of(one)}`."
        if a and b and min(len(a), len(b)) >= 2 and a[-1] != b[-2]:
            start = f"`{text_of(one)}` and `{text_of(other)}` cannot be multiplied as they are"
            if raising.foreign:
                return f"{start}: the last axis of the one must be as long as the last but one of the other."
            return f"{start}: the sizes fit {fit}." if (fit := _fit(raising, one, other, a, b)) else ""
    return _reads_another_width(raising) or _weight_of_a_layer(raising)


def _weight_of_a_layer(raising: Raising) -> str:
    """Say that the weight of an nn.Linear has to be turned, where a product would fit then."""
    sizes = re.search(r"\(\d+x(\d+) and \d+x(\d+)\)", raising.message)
    if not sizes or sizes[1] != sizes[2]:
        return ""
    weights = {text_of(other) for _, other in _products(raising.node) if ".weight" in text_of(other)}
    if len(weights) != 1 or "transpose" in raising.line or ".T" in raising.line:
        return ""
    return f"`{weights.pop()}` cannot be multiplied as it is: nn.Linear keeps its weight as (outputs, inputs). Swap its two axes."


def batches_differ(raising: Raising, _: re.Match) -> str:
    """Say that the axes in front of the last two do not fit together in a product."""
    for one, other in _products(raising.node):
        a, b = shape_of(one, raising.shapes), shape_of(other, raising.shapes)
        fits = shape_of(ast.BinOp(one, ast.MatMult(), other), raising.shapes) is not None
        if a and b and min(len(a), len(b)) >= 2 and a[-1] == b[-2] and not fits:
            return f"In front of their last two axes `{text_of(one)}` and `{text_of(other)}` differ."
    return ""


def _fit(raising: Raising, one: ast.expr, other: ast.expr, a: Shape, b: Shape) -> str:
    """Say the one change with which the sizes of a product fit; "" if there are several or none."""
    first, second = text_of(one), text_of(other)
    one_turned, other_turned = _is_turned(one, raising.tree), _is_turned(other, raising.tree)
    fits = []
    if b[-1] == a[-1]:
        fits.append(f"if the last two axes of `{second}` are swapped")
    if b[-2] == a[-2] and one_turned:
        fits.append(f"if the last two axes of `{first}` are swapped back")
    if b[-1] == a[-2] and not other_turned:
        fits.append(f"if `{second}` is turned, and `{first}` is not" if one_turned else "in the other order")
    sizes = {*a[-2:], *b[-2:]}  # those that are the same fit in many ways
    return fits[0] if len(fits) == 1 and len(sizes) > 2 else ""


def _products(node: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the factors of the matrix products in a statement."""
    for inner in ast.walk(node) if node else ():
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.MatMult):
            yield inner.left, inner.right
    for call in calls(node, "matmul", "mm", "bmm"):
        if len(call.args) == 2:
            yield call.args[0], call.args[1]
        elif len(call.args) == 1 and isinstance(call.func, ast.Attribute):
            yield call.func.value, call.args[0]


def _is_turned(node: ast.expr, tree: ast.AST) -> bool:
    """Tell whether an expression swaps axes, itself or where its name gets its value."""
    return any(
        called_name(part) in ("transpose", "t", "swapaxes", "swapdims", "T", "mT")
        for part in (values_of(node.id, tree) if isinstance(node, ast.Name) else [node])
    )


def _reads_another_width(raising: Raising) -> str:
    """Name the layer whose input is of another width than the layer was made for."""
    factors = re.search(r"\((\d+)x(\d+) and", raising.message)
    if not factors or raising.foreign:
        return ""
    rows, width = int(factors[1]), int(factors[2])
    found = set()
    layers = [call for call in calls(raising.node) if len(call.args) == 1 and owner_of(call) is not None]
    handed_on = [id(call.args[0]) for call in layers]  # to another layer, which may be the one that it does not fit
    for call in calls(raising.node):
        shape = shape_of(call.args[0], raising.shapes) if len(call.args) == 1 and id(call) not in handed_on else None
        if shape and shape[-1] == width and _count(shape[:-1]) == rows and text_of(call.func) not in raising.shapes:
            found.add((text_of(call.func), text_of(call.args[0])))
    if len(found) != 1:
        return ""
    layer, given = found.pop()
    return f"`{layer}` is made for another width than `{given}` has. Is it the right input, and are the layer's sizes right?"


def _count(sizes: Shape) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
