"""What exceptions about matrix products mean, and about layers whose input has another width."""

import ast
import re
from collections.abc import Iterator

from grader.explain.code.read_code import (
    Raising,
    Shape,
    called_name,
    calls,
    integer,
    parameters_of,
    shape_of,
    text_of,
    values_of,
)

NAMED_WEIGHTS = re.compile(r"weights?|attn|attention|probs?|alpha|A|w", re.I)
REDUCING = {"mean", "sum", "amax", "amin", "prod", "select"}
NAMED_VALUES = re.compile(r"values?|v", re.I)


def wrong_factors(raising: Raising, _: re.Match) -> str:
    """Say how the two factors of a matrix product fail to fit."""
    for one, other in _products(raising.node):
        a, b = shape_of(one, raising.shapes), shape_of(other, raising.shapes)
        if a and b and len(a) >= 2 and len(b) == 1 and a[-1] != b[0]:
            return f"`{text_of(other)}` has one axis, and it must be as long as the last one of `{text_of(one)}`."
        if a and b and min(len(a), len(b)) >= 2 and a[-1] != b[-2]:
            first, second = text_of(one), text_of(other)
            fix = "" if raising.foreign else _fix_of_product(raising, one, other, a, b)
            return fix or (
                f"`{first}` and `{second}` cannot be multiplied:"
                " the last axis of the one must be as long as the last but one of the other."
            )
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
            front = f"In front of their last two axes `{text_of(one)}` and `{text_of(other)}` differ"
            if len(a) == len(b):
                return f"{front}."
            return f"{front}: one has more axes. Is that of the heads missing in the other?"
    return ""


def _fix_of_product(raising: Raising, one: ast.expr, other: ast.expr, a: Shape, b: Shape) -> str:
    """Say the one change with which a product fits; "" if there are several or none."""
    for factor in (one, other):
        if counted := _counts_from_front(factor, raising.tree):
            return f"`{counted}` counts its axis from the front, and that is another one with other axes in front. Count from the end: -1, -2, …"
    first, second = text_of(one), text_of(other)
    one_turned, other_turned = _is_turned(one, raising.tree), _is_turned(other, raising.tree)
    if one_turned and b[-1] == a[-2]:
        return f"`{first}` is turned here. It is the second factor whose last two axes have to be swapped."
    fits = []
    if b[-1] == a[-1]:
        fits.append(
            f"swap the last two axes of `{second}`" if not other_turned else f"leave out the swap in `{second}`"
        )
    mixes = NAMED_WEIGHTS.fullmatch(first) and NAMED_VALUES.fullmatch(second)
    if b[-2] == a[-2] and not mixes:
        fits.append(f"swap the last two axes of `{first}`" if not one_turned else f"leave out the swap in `{first}`")
    if b[-1] == a[-2] and not one_turned and not other_turned:
        fits.append("change their order")
    given = {
        name for node in ast.walk(raising.tree) if isinstance(node, ast.FunctionDef) for name in parameters_of(node)
    }
    if mixes and not fits and b[-2] == a[-2] and second in given and first not in given:
        return f"`{first}` has a row for each key: its two axes are the wrong way round. Rows belong to queries: look at the order of query and key."
    if mixes and not fits:
        return f"`{first}` has a column for each key, and `{second}` another number of rows. Each key needs one value."
    return f"`{first}` and `{second}` cannot be multiplied as they are: {fits[0]}." if len(fits) == 1 else ""


def _counts_from_front(node: ast.expr, tree: ast.AST) -> str:
    """Return what takes an axis away that it counts from the front, `x.mean(1)`: the factor, or what its name stands for."""
    value = next((value for value in reversed(values_of(node.id, tree))), node) if isinstance(node, ast.Name) else node
    if isinstance(value, ast.Call) and called_name(value) in REDUCING:
        given = [word.value for word in value.keywords if word.arg in ("dim", "axis")] or value.args[-1:]
        if given and (integer(given[0]) or 0) > 0:
            return text_of(value)
    return ""


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


def _is_turned(node: ast.AST, tree: ast.AST) -> bool:
    """Tell whether an expression swaps axes, itself or where its name gets its value."""
    if isinstance(node, ast.Name):
        for inner in ast.walk(tree):
            if isinstance(inner, ast.Assign) and any(text_of(target) == node.id for target in inner.targets):
                return not isinstance(inner.value, ast.Name) and _is_turned(inner.value, tree)
        return False
    if isinstance(node, ast.Attribute):
        return node.attr in ("T", "mT")
    return isinstance(node, ast.Call) and called_name(node) in ("transpose", "t", "swapaxes", "swapdims")


def _reads_another_width(raising: Raising) -> str:
    """Name the layer whose input is of another width than the layer was made for."""
    factors = re.search(r"\((\d+)x(\d+) and", raising.message)
    if not factors or raising.foreign:
        return ""
    rows, width = int(factors[1]), int(factors[2])
    found = {}
    for call in calls(raising.node):
        shape = shape_of(call.args[0], raising.shapes) if len(call.args) == 1 else None
        if shape and shape[-1] == width and _count(shape[:-1]) == rows and text_of(call.func) not in raising.shapes:
            found[text_of(call.func)] = text_of(call.args[0])
    layer, given = next(iter(found.items()), ("A layer on this line", "its input"))
    handed = {text_of(call.func) for call in calls(raising.node) if _is_layer_of_an_argument(call, raising)}
    if not found and len(handed) == 1:
        return f"`{handed.pop()}` is made for another width than what it is given here. Is it all that it needs, and in its place?"
    layers = [call for call in calls(raising.node) if text_of(call.func).startswith("self.")]
    if not found and all(len(one.args) == 1 and shape_of(one.args[0], raising.shapes) for one in layers):
        return ""  # no layer on this line, or each gets an input of another shape
    layer, given = (f"`{layer}`", f"`{given}`") if len(found) == 1 else ("A layer on this line", "its input")
    return (
        f"{layer} is made for another width than {given} has. Is it the right input, and are the layer's sizes right?"
    )


def _is_layer_of_an_argument(call: ast.Call, raising: Raising) -> bool:
    """Tell whether a call is that of a layer which belongs to an argument, such as `layer.linear(…)`."""
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return False
    owner = call.func.value.id
    if owner in raising.shapes or not call.func.attr[:1].isupper():
        return False
    functions = (node for node in ast.walk(raising.tree) if isinstance(node, ast.FunctionDef))
    return any(owner in parameters_of(function) for function in functions)


def _count(sizes: Shape) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
