"""Explains exceptions about shapes: sums, masks, einsum, matrix products, and the input width of layers."""

import ast
import re
from collections.abc import Iterator, Mapping

from grader.explain.code.read_code import (
    Raising,
    Shape,
    called_name,
    calls,
    owner_of,
    parts_of,
    shape_of,
    text_of,
    values_of,
)
from grader.explain.exceptions.rules import Rule, sentence


def wrong_factors(raising: Raising, _: re.Match) -> str:
    """Return a message on why the two factors of a matrix product do not fit together."""
    for one, other in _products(raising.node):
        a, b = shape_of(one, raising.shapes), shape_of(other, raising.shapes)
        if a and b and len(a) >= 2 and len(b) == 1 and a[-1] != b[0]:
            return f"`{text_of(other)}` has only one axis. It must be as long as the last axis of `{text_of(one)}`."
        if a and b and len(a) == len(b) + 1 >= 3 and (*a[:-2], a[-1]) == b:
            return (
                f"`{text_of(other)}` has one vector for each batch entry. "
                f"Add an axis with `{text_of(other)}.unsqueeze(-1)`, and remove this axis from the product."
            )
        if a and b and min(len(a), len(b)) >= 2 and a[-1] != b[-2]:
            start = f"`{text_of(one)}` and `{text_of(other)}` cannot be multiplied as they are"
            if raising.foreign:
                return f"{start}: the last axis of the first must be as long as the second-to-last axis of the second."
            return f"{start}: the sizes fit {fit}." if (fit := _fit(raising, one, other, a, b)) else ""
    return _reads_another_width(raising) or _weight_of_a_layer(raising)


def _weight_of_a_layer(raising: Raising) -> str:
    """Return a message that an nn.Linear's weight must be transposed, if the product then fits. Otherwise return ""."""
    sizes = re.search(r"\(\d+x(\d+) and \d+x(\d+)\)", raising.message)
    if not sizes or sizes[1] != sizes[2]:
        return ""
    weights = {text_of(other) for _, other in _products(raising.node) if ".weight" in text_of(other)}
    if len(weights) != 1 or "transpose" in raising.line or ".T" in raising.line:
        return ""
    return (
        f"`{weights.pop()}` cannot be multiplied as it is: nn.Linear stores its weight as (outputs, inputs). "
        "Swap the two axes of the weight."
    )


def batches_differ(raising: Raising, _: re.Match) -> str:
    """Return a message that the batch axes of two factors do not match in a matrix product."""
    for one, other in _products(raising.node):
        a, b = shape_of(one, raising.shapes), shape_of(other, raising.shapes)
        fits = shape_of(ast.BinOp(one, ast.MatMult(), other), raising.shapes) is not None
        if a and b and min(len(a), len(b)) >= 2 and a[-1] == b[-2] and not fits:
            return (
                f"The leading axes of `{text_of(one)}` and `{text_of(other)}` do not match. "
                "In a product, all axes except the last two must be equally long, or have length 1."
            )
    return ""


def _fit(raising: Raising, one: ast.expr, other: ast.expr, a: Shape, b: Shape) -> str:
    """Return a phrase for the only change that makes the sizes of a product fit, or "" if there is not exactly one."""
    first, second = text_of(one), text_of(other)
    one_turned, other_turned = _is_turned(one, raising.tree), _is_turned(other, raising.tree)
    fits = []
    if b[-1] == a[-1]:
        fits.append(f"if the last two axes of `{second}` are swapped")
    if b[-2] == a[-2] and one_turned:
        fits.append(f"if the last two axes of `{first}` are swapped back")
    if b[-1] == a[-2] and not other_turned:
        fits.append(f"if `{second}` is transposed, and `{first}` is not" if one_turned else "in the other order")
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
    """Return True if an expression swaps axes, either itself or in an assignment to its name."""
    return any(
        called_name(part) in ("transpose", "t", "swapaxes", "swapdims", "T", "mT")
        for part in (values_of(node.id, tree) if isinstance(node, ast.Name) else [node])
    )


def _reads_another_width(raising: Raising) -> str:
    """Return a message that names the only layer whose input has another width than it was created for, or ""."""
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
    return (
        f"`{given}` does not have the width that `{layer}` was created for. "
        f"Is `{given}` the right input, and are the sizes of the layer right?"
    )


def _count(sizes: Shape) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


REDUCTIONS = ("sum", "mean", "amax", "amin", "norm", "std", "var", "logsumexp")
ALL_AXES = "{} all axes. With a batch in front, swap only the last two: .transpose(-2, -1)."


def all_axes_turned(raising: Raising, _: re.Match) -> str:
    """Explain that `.T` or `.t()` is applied to a tensor with more than two axes. Return "" if it is not."""
    for node in parts_of(raising.node):
        owner = node.value if isinstance(node, ast.Attribute) and node.attr == "T" else None
        if isinstance(node, ast.Call) and called_name(node) == "t" and isinstance(node.func, ast.Attribute):
            owner = node.func.value
        if owner is not None and len(shape_of(owner, raising.shapes) or ()) > 2:
            return ALL_AXES.format(".T reverses" if isinstance(node, ast.Attribute) else ".t() and .T reverse")
    return ""


# ---------------------------------------------------------------- masks


def mask_in_another_place(raising: Raising, _: re.Match) -> str:
    """Explain that a mask is passed to a layer as its second argument, which is the context."""
    for call in calls(raising.node):
        second = call.args[1] if len(call.args) == 2 else None
        of_layer = isinstance(call.func, ast.Attribute) and text_of(call.func.value) == "self"
        if of_layer and isinstance(second, ast.Name) and "mask" in second.id:
            return (
                f"`{second.id}` is the second argument here, but `{text_of(call.func)}` expects its context there. "
                f"Pass the mask by name: `mask={second.id}`."
            )
    return ""


def wrong_attention(raising: Raising, _: re.Match) -> str:
    """Return a message that names the argument of an attention function which does not fit: the values or the mask."""
    for call in calls(raising.node):
        given = {word.arg: word.value for word in call.keywords if word.arg}
        shapes = [shape_of(node, raising.shapes) for node in call.args]
        mask = next((given[name] for name in given if "mask" in name), None)
        tensors = [(node, shape) for node, shape in zip(call.args, shapes, strict=True) if shape and len(shape) >= 2]
        if mask is None:
            mask = next((node for node in reversed(call.args) if "mask" in text_of(node) or text_of(node) == "m"), None)
        tensors = [(node, shape) for node, shape in tensors if node is not mask]
        if "attention" in called_name(call) and len(tensors) >= 3:
            (query, q), (key, k), (value, v) = tensors[:3]
            if k[-2] != v[-2]:
                too = f" `{text_of(value)}` has as many rows as `{text_of(query)}`." if v[-2] == q[-2] else ""
                return (
                    f"`{text_of(key)}` and `{text_of(value)}` differ in "
                    f"their number of rows.{too} Each key needs one value."
                )
            if q[-1] != k[-1]:
                return f"`{text_of(query)}` and `{text_of(key)}` differ in width, so their rows have no dot product."
            scores: Shape | None = (*max(q[:-2], k[:-2], key=len), q[-2], k[-2])
        else:
            scores = _scores_of(call, raising.shapes, mask)
        shape = shape_of(mask, raising.shapes)
        if scores is None and shape and any(isinstance(part, ast.Starred) for part in call.args):
            sizes = [int(size) for size in re.findall(r"tensor [ab] \((\d+)\)", raising.message)]
            if len(shape) == 3 and "attention" in called_name(call) and shape[0] in sizes:
                return _without_heads(_name_of(mask))
        # A product fails before a mask is used.
        if (
            raising.message.startswith("The ")
            and shape
            and scores
            and (text := _wrong_mask(_name_of(mask), shape, scores, raising))
        ):
            return text
    return ""


def _name_of(node: ast.AST | None) -> str:
    """Return the only name in an expression: "mask" for `~mask`. If it has several names, return its text."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} if node else set()
    return names.pop() if len(names) == 1 else text_of(node) if node else ""


def _scores_of(call: ast.Call, shapes: Mapping[str, Shape], mask: ast.expr | None) -> Shape | None:
    """Return the shape of the scores that a call masks, possibly without batch axes, or None if it is unknown."""
    if called_name(call) in ("masked_fill", "masked_fill_", "where"):
        sides = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        known = [shape_of(side, shapes) for side in (*sides, *call.args) if side is not mask]
        return next((shape for shape in known if shape), None)
    inner = [_only_tensor(node, shapes) for node in call.args if node is not mask]
    tokens = [shape for shape in inner if shape and len(shape) >= 2]
    is_layer = text_of(call.func).startswith("self.") or "att" in called_name(call).lower()
    return (tokens[0][-2], tokens[min(1, len(tokens) - 1)][-2]) if tokens and is_layer and mask is not None else None


def _only_tensor(node: ast.AST, shapes: Mapping[str, Shape]) -> Shape | None:
    """Return the shape of the only tensor that an expression names, or None if there is not exactly one."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id in shapes}
    return shapes[names.pop()] if len(names) == 1 else None


def _wrong_mask(name: str, mask: Shape, scores: Shape, raising: Raising) -> str:
    """Return a message on why a mask does not fit scores of this shape, or "" if it does. Batch axes may be missing."""
    whole = len(scores) > 2
    if not mask or _broadcasts(mask if whole else mask[-2:], scores):
        return ""
    if whole and len(mask) >= 3 and _broadcasts((*mask[:-2], 1, *mask[-2:]), scores):
        if len(scores) > 4:
            return (
                f"`{name}` lacks an axis in front of its last two axes: "
                "the scores have more leading axes, for the heads or for groups of heads."
            )
        return _without_heads(name)
    if whole and len(mask) >= 3 and _broadcasts((*mask[:-2], 1, 1, *mask[-2:]), scores):
        return f"`{name}` lacks two axes in front of its last two axes. Add both: call `.unsqueeze(-3)` twice."
    if whole and len(mask) >= 3 and mask[-2] == 1 and _broadcasts((*mask[:-3], 1, mask[-3], mask[-1]), scores):
        return (
            f"`{name}` has an axis of length 1 in the wrong place."
            " Its last two axes must be those of the queries and the keys: put the new axis directly in front of them."
        )
    if len(mask) >= 2 and _broadcasts((*(mask[:-2] if whole else ()), mask[-1], mask[-2]), scores):
        return (
            f"The rows and columns of `{name}` do not fit: rows are for the queries, columns for the keys."
            " Is the mask transposed, or are queries and keys swapped?"
        )
    if mask[-1] not in (1, scores[-1]):
        says = (
            f"`{name}` does not have one column for each key."
            " Is this the right mask, and are the keys made from the right tokens?"
        )
        return f"{says} {raising.lengths()}".strip()
    if len(mask) >= 2 and mask[-2] not in (1, scores[-2]):
        return f"`{name}` does not have one row for each query. Is this the right mask?"
    return ""


def _without_heads(mask: str) -> str:
    return f"`{mask}` has no axis for the heads. Add an axis in front of its last two axes: `.unsqueeze(-3)`."


def _broadcasts(shape: Shape, to: Shape) -> bool:
    """Return True if a tensor with the first shape can be expanded to the second."""
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape[::-1], to[::-1], strict=False))


# ---------------------------------------------------------------- sums and other operations number by number


def not_aligned(raising: Raising, _: re.Match) -> str:
    """Return a message on why two tensors cannot be added, multiplied or compared entry by entry."""
    for node in parts_of(raising.node):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            one, other = node.left, node.right
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            one, other = node.left, node.comparators[0]
        else:
            continue
        for masking, scores in ((one, shape_of(other, raising.shapes)), (other, shape_of(one, raising.shapes))):
            masks = {part.id for part in ast.walk(masking) if isinstance(part, ast.Name) and "mask" in part.id}
            mask = masks.pop() if len(masks) == 1 else ""
            if scores and mask in raising.shapes and (text := _wrong_mask(mask, raising.shapes[mask], scores, raising)):
                return text
        if text := _misaligned(raising, node, one, other):
            return text
    if any(len(call.args) == 1 and not call.keywords for call in calls(raising.node, "one_hot")):
        return "F.one_hot makes only as many columns as the largest number in its input needs. Pass num_classes."
    for call in calls(raising.node, "where", "masked_fill"):
        parts = [*([owner] if (owner := owner_of(call)) is not None else []), *call.args]
        known = [(text_of(part), shape) for part in parts if (shape := shape_of(part, raising.shapes))]
        for index, (first, a) in enumerate(known):
            for second, b in known[index + 1 :]:
                if not (_broadcasts(a, b) or _broadcasts(b, a)) and (text := _lacks_last(first, a, second, b)):
                    return text
    return ""


def _misaligned(raising: Raising, node: ast.AST, one: ast.expr, other: ast.expr) -> str:
    a, b = shape_of(one, raising.shapes), shape_of(other, raising.shapes)
    first, second = text_of(one), text_of(other)
    if a and b and not (_broadcasts(a, b) or _broadcasts(b, a)):
        if says := _lacks_last(first, a, second, b):
            return says
        if min(len(a), len(b)) >= 2 and a[-1] == b[-1] and isinstance(getattr(node, "op", None), ast.Mult):
            return (
                "`*` multiplies number by number, but its two sides differ in front of their last axis."
                " To combine each row with each row, use a matrix product: `A @ B.transpose(-2, -1)`."
            )
    for side, shape, opposite in ((one, a, other), (other, b, one)):
        summed = shape_of(owner_of(opposite), raising.shapes) if called_name(opposite) in REDUCTIONS else None
        if shape and summed == shape and "keepdim" not in text_of(opposite, 200):
            return (
                f"`{text_of(opposite)}` lacks an axis of `{text_of(side)}`, so their rows do not line up. "
                "Keep this axis, with length 1: pass keepdim=True."
            )
        if shape and len(shape) == 1 and any(calls(opposite, "arange")):
            return (
                f"`{_name_of(side)}` has only one axis. Add a second axis with `.unsqueeze(-1)`: "
                "then each of its numbers is combined with a whole row."
            )
    return ""


def _lacks_last(first: str, a: Shape, second: str, b: Shape) -> str:
    """Return a message if one tensor has only the other's leading axes and lacks its last ones, and "" otherwise."""
    longer, shorter, more = (first, second, a[len(b) :]) if len(a) > len(b) else (second, first, b[len(a) :])
    if not more or (a[: len(b)] != b and b[: len(a)] != a):
        return ""
    if len(more) == 1:
        return (
            f"`{shorter}` lacks the last axis of `{longer}`, so their rows do not line up. "
            "Keep this axis with keepdim=True, or add it with `.unsqueeze(-1)`."
        )
    return (
        f"`{shorter}` lacks the last axes of `{longer}`, but broadcasting matches axes from the end. "
        f"Add axes of length 1 at the end of `{shorter}`."
    )


# ---------------------------------------------------------------- einsum


def einsum_axes(raising: Raising, found: re.Match) -> str:
    """Return a message that a tensor has more or fewer axes than an einsum has letters for it."""
    if "no ellipsis" in raising.message:
        return (
            "In this einsum, a tensor does not have one axis for each letter. "
            "Write `...` for any number of leading axes."
        )
    return "In this einsum, a tensor has fewer axes than letters. Check its letters and its shape."


def einsum_letter(raising: Raising, found: re.Match) -> str:
    """Return a message that names the two operands of an einsum in which a letter has different lengths."""
    for call in calls(raising.node, "einsum"):
        if not (call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)):
            continue
        parts, place = call.args[0].value.partition("->")[0].split(","), int(found[2])
        other = next((index for index, part in enumerate(parts) if found[1] in part), place)
        if other < place < len(call.args) - 1:
            names = f"an axis of `{text_of(call.args[other + 1])}` and an axis of `{text_of(call.args[place + 1])}`"
            return f"The letter {found[1]} stands for {names}, but these axes differ in length. Check the letters."
    return ""


PRODUCT = (
    r"RuntimeError: (?:(?:\w+: )?mat1 and mat2 shapes|Expected size for first two dimensions|.*size mismatch, got)"
)
UNEQUAL = r"RuntimeError: The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton"
EXPANDED = r"RuntimeError: The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"

SHAPE_RULES: tuple[Rule, ...] = (
    ("AssertionError: expecting (?:key|value) weights shape", mask_in_another_place),
    (rf"{PRODUCT}|{UNEQUAL}|t\(\) expects a tensor with <= 2 dimensions", all_axes_turned),
    (f"{PRODUCT}|{UNEQUAL}|{EXPANDED}", wrong_attention),
    (PRODUCT, wrong_factors),
    (f"{PRODUCT}|{UNEQUAL}", batches_differ),
    (UNEQUAL, not_aligned),
    (
        "IndexError: The shape of the mask",
        sentence(
            "The mask in the square brackets does not have the shape of the tensor. Use masked_fill or torch.where: "
            "they accept every mask that broadcasts to the tensor."
        ),
    ),
    (r"einsum\(\): the number of subscripts in the equation", einsum_axes),
    (
        r"einsum\(\): output subscript (\w) does not appear",
        sentence("The letter {1} is after the arrow of this einsum, but not before it."),
    ),
    (
        r"einsum\(\): (?:fewer|more) operands were provided",
        sentence("This einsum needs one tensor for each group of letters; commas separate the groups."),
    ),
    (r"einsum\(\): subscript (\w) has size \d+ for operand (\d+) which", einsum_letter),
)  # fmt: skip
