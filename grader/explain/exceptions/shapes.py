"""What exceptions about shapes mean: sums, masks, einsum; those about products are in `products`."""

import ast
import re
from collections.abc import Mapping

from grader.explain.code.read_code import Raising, Shape, called_name, calls, owner_of, parts_of, shape_of, text_of
from grader.explain.exceptions.products import batches_differ, wrong_factors
from grader.explain.exceptions.rules import Rule, sentence

REDUCTIONS = ("sum", "mean", "amax", "amin", "norm", "std", "var", "logsumexp")
ALL_AXES = "{} all axes around. With a batch in front, swap only the last two: .transpose(-2, -1)."


def all_axes_turned(raising: Raising, _: re.Match) -> str:
    """Recognise `.T` and `.t()` of a tensor with more than two axes."""
    for node in parts_of(raising.node):
        owner = node.value if isinstance(node, ast.Attribute) and node.attr == "T" else None
        if isinstance(node, ast.Call) and called_name(node) == "t" and isinstance(node.func, ast.Attribute):
            owner = node.func.value
        if owner is not None and len(shape_of(owner, raising.shapes) or ()) > 2:
            return ALL_AXES.format(".T turns" if isinstance(node, ast.Attribute) else ".t() and .T turn")
    return ""


# ---------------------------------------------------------------- masks


def mask_in_another_place(raising: Raising, _: re.Match) -> str:
    """Recognise a mask that is handed to a layer as its second argument, which is the context."""
    for call in calls(raising.node):
        second = call.args[1] if len(call.args) == 2 else None
        of_layer = isinstance(call.func, ast.Attribute) and text_of(call.func.value) == "self"
        if of_layer and isinstance(second, ast.Name) and "mask" in second.id:
            return f"`{second.id}` stands where `{text_of(call.func)}` takes its context. Name it: mask={second.id}."
    return ""


def wrong_attention(raising: Raising, _: re.Match) -> str:
    """Say which argument of an attention does not fit the others: the values, the mask."""
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
                too = f" `{text_of(value)}` has as many as `{text_of(query)}`." if v[-2] == q[-2] else ""
                return f"`{text_of(key)}` and `{text_of(value)}` differ in their number of rows.{too} Each key needs its value."
            if q[-1] != k[-1]:
                return f"`{text_of(query)}` and `{text_of(key)}` differ in width, and cannot be compared."
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
    """Return the name in an expression that has only one, or else its text: "mask" of `~mask`."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} if node else set()
    return names.pop() if len(names) == 1 else text_of(node) if node else ""


def _scores_of(call: ast.Call, shapes: Mapping[str, Shape], mask: ast.expr | None) -> Shape | None:
    """Return the shape of the scores that a call masks, as far as the line shows it; None if it does not."""
    if called_name(call) in ("masked_fill", "masked_fill_", "where"):
        sides = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        known = [shape_of(side, shapes) for side in (*sides, *call.args) if side is not mask]
        return next((shape for shape in known if shape), None)
    inner = [_only_tensor(node, shapes) for node in call.args if node is not mask]
    tokens = [shape for shape in inner if shape and len(shape) >= 2]
    is_layer = text_of(call.func).startswith("self.") or "att" in called_name(call).lower()
    return (tokens[0][-2], tokens[min(1, len(tokens) - 1)][-2]) if tokens and is_layer and mask is not None else None


def _only_tensor(node: ast.AST, shapes: Mapping[str, Shape]) -> Shape | None:
    """Return the shape of the only tensor that an expression names."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id in shapes}
    return shapes[names.pop()] if len(names) == 1 else None


def _wrong_mask(name: str, mask: Shape, scores: Shape, raising: Raising) -> str:
    """Say why a mask does not broadcast to scores of a shape, which may lack the axes in front."""
    whole = len(scores) > 2
    if not mask or _broadcasts(mask if whole else mask[-2:], scores):
        return ""
    if whole and len(mask) >= 3 and _broadcasts((*mask[:-2], 1, *mask[-2:]), scores):
        if len(scores) > 4:
            return f"`{name}` lacks an axis in front of its last two: the scores have more there, for the heads or the groups of them."
        return _without_heads(name)
    if whole and len(mask) >= 3 and _broadcasts((*mask[:-2], 1, 1, *mask[-2:]), scores):
        return f"`{name}` lacks two axes in front of its last two. Give it both: .unsqueeze(-3), twice."
    if whole and len(mask) >= 3 and mask[-2] == 1 and _broadcasts((*mask[:-3], 1, mask[-3], mask[-1]), scores):
        return (
            f"An axis of length 1 stands at the wrong place in `{name}`."
            " Its last two axes are those of queries and keys; others stand in front of them."
        )
    if len(mask) >= 2 and _broadcasts((*(mask[:-2] if whole else ()), mask[-1], mask[-2]), scores):
        return (
            f"In `{name}` rows and columns stand the wrong way round: rows are for the queries, columns for the keys."
            " Is it turned, or have queries and keys changed places?"
        )
    if mask[-1] not in (1, scores[-1]):
        says = (
            f"`{name}` does not have one column for each key."
            " Is it the right mask, and do the keys come from the right tokens?"
        )
        return f"{says} {raising.lengths()}".strip()
    if len(mask) >= 2 and mask[-2] not in (1, scores[-2]):
        return f"`{name}` does not have one row for each query."
    return ""


def _without_heads(mask: str) -> str:
    return f"`{mask}` has no axis for the heads. Give it one in front of its last two: .unsqueeze(-3)."


def _broadcasts(shape: Shape, to: Shape) -> bool:
    """Tell whether a tensor of one shape can be expanded to another."""
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape[::-1], to[::-1], strict=False))


# ---------------------------------------------------------------- sums and other operations number by number


def not_aligned(raising: Raising, _: re.Match) -> str:
    """Say why two tensors cannot be added, multiplied or compared number by number."""
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
        return "F.one_hot without a second argument has as many columns as the largest number in it asks for: say how many there are."
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
                "`*` multiplies number by number, and the two differ in front of their last axis."
                " A matrix product takes each row with each row."
            )
    for side, shape, opposite in ((one, a, other), (other, b, one)):
        summed = shape_of(owner_of(opposite), raising.shapes) if called_name(opposite) in REDUCTIONS else None
        if shape and summed == shape and "keepdim" not in text_of(opposite, 200):
            return f"`{text_of(opposite)}` lacks an axis of `{text_of(side)}`, so the rows do not meet: keepdim=True keeps it, with length 1."
        if shape and len(shape) == 1 and any(calls(opposite, "arange")):
            return f"`{_name_of(side)}` has one axis. With a second one, .unsqueeze(-1), each of its numbers meets a whole row."
    return ""


def _lacks_last(first: str, a: Shape, second: str, b: Shape) -> str:
    """Say that one tensor has the axes in front of another, and none for its last; "" if that is not so."""
    longer, shorter, more = (first, second, a[len(b) :]) if len(a) > len(b) else (second, first, b[len(a) :])
    if not more or (a[: len(b)] != b and b[: len(a)] != a):
        return ""
    if len(more) == 1:
        return f"`{shorter}` lacks the last axis of `{longer}`, so the rows do not meet: keepdim=True keeps it, .unsqueeze(-1) adds it."
    return f"`{shorter}` lacks the last axes of `{longer}`, and axes are matched from the last one on. Give it axes of length 1 behind its own."


# ---------------------------------------------------------------- einsum


def einsum_axes(raising: Raising, found: re.Match) -> str:
    """Say that the letters of an einsum name another number of axes than there are."""
    if "no ellipsis" in raising.message:
        return "The letters of this einsum stand for another number of axes than a tensor has here. `...` stands for any number in front."
    return "An operand of this einsum has fewer axes than its letters say."


def einsum_letter(raising: Raising, found: re.Match) -> str:
    """Name the two operands of an einsum in which a letter stands for axes of different lengths."""
    for call in calls(raising.node, "einsum"):
        if not (call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)):
            continue
        parts, place = call.args[0].value.partition("->")[0].split(","), int(found[2])
        other = next((index for index, part in enumerate(parts) if found[1] in part), place)
        if other < place < len(call.args) - 1:
            names = f"`{text_of(call.args[other + 1])}` and of `{text_of(call.args[place + 1])}`"
            return f"The letter {found[1]} stands for an axis of {names}, and the two are not equally long."
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
            "A mask in square brackets must have exactly the shape of what it picks from. masked_fill and "
            "torch.where take every mask that broadcasts to it."
        ),
    ),
    (
        r"einsum\(\): the number of subscripts in the equation",
        einsum_axes,
    ),
    (
        r"einsum\(\): output subscript (\w) does not appear",
        sentence("The letter {1} stands behind the arrow of this einsum, and nowhere before it."),
    ),
    (
        r"einsum\(\): (?:fewer|more) operands were provided",
        sentence("This einsum needs a tensor for each part of its letters; commas part them."),
    ),
    (
        r"einsum\(\): subscript (\w) has size \d+ for operand (\d+) which",
        einsum_letter,
    ),
)  # fmt: skip
