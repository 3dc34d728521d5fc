"""Find lines that cut off gradients, change the dtype or the device, or write into inputs.

Each function yields pairs of a line number and a text that explains what the line does.
"""

import ast
from collections.abc import Iterator

from grader.explain.code.data_flow import Flow, Found, Place, base_of, is_view, place_of, targets_and_value
from grader.explain.code.read_code import (
    called_name,
    calls,
    has_keyword,
    in_init,
    owner_of,
    parameters_of,
    statements_of,
    text_of,
)

CUTS = {
    "item": "`.item()` turns a tensor into a plain number, which carries no gradient. Keep the tensor",
    "tolist": "`.tolist()` turns a tensor into plain numbers, which carry no gradient. Keep the tensor",
    "numpy": "`.numpy()` makes a NumPy array, which carries no gradient. Keep the tensor",
    "detach": "`.detach()` cuts the tensor off from the gradient. Leave it out",
    "data": "`.data` cuts the tensor off from the gradient. Leave it out",
}
COPIES = ("torch.tensor", "torch.Tensor", "torch.FloatTensor", "torch.asarray")
NO_SLOPE = ("round", "floor", "ceil", "sign", "argmax", "argmin", "long", "int", "one_hot")
FLOATS = ("torch.float32", "torch.float")
NEW = ("zeros", "ones", "full", "empty", "eye", "linspace", "rand", "randn")


# ---------------------------------------------------------------- gradients


def cut_off(flow: Flow) -> Iterator[Found]:
    """Find the lines that cut the result off from the gradient of the followed input.

    A line is found only if it cuts the result off by itself, whatever the rest of the code does. If there is no such
    line, find functions without a slope.
    """
    found = [(line, says) for places, line, says in _cuts(flow) if flow.is_held_up_at(places)]
    yield from [*found, *_switched_off(flow)] or _without_slope(flow)


def _without_slope(flow: Flow) -> Iterator[Found]:
    for line, node in flow.expressions():
        if isinstance(node, ast.Call) and called_name(node) in NO_SLOPE and flow.holds(node):
            yield line, f"`{called_name(node)}` has no slope, so no gradient passes through it"


def _cut_inside(flow: Flow, node: ast.Call) -> bool:
    """Return True if a call's arguments were already cut off from the followed input, as in `float(x.item())`."""
    inside = (inner for inner in ast.walk(node) if isinstance(inner, ast.Attribute) and inner is not node.func)
    return any(inner.attr in CUTS and flow.holds(inner.value) for inner in inside)


def _cuts(flow: Flow) -> Iterator[tuple[set[Place], int, str]]:
    """Yield the expressions that cut off the input that they hold: their places, a line, and a text about it."""
    for _, node in flow.expressions():
        says = ""
        if isinstance(node, ast.Attribute) and node.attr in CUTS and flow.holds(node.value):
            says = CUTS[node.attr]
        elif isinstance(node, ast.Call) and flow.holds(node) and not _cut_inside(flow, node):
            name, function = called_name(node), text_of(node.func)
            if function in COPIES:
                says = f"`{function}(…)` copies only the numbers, and the copy carries no gradient. Keep the tensor"
            elif function.startswith(("np.", "numpy.")) or name == "from_numpy":
                says = f"`{function}` belongs to numpy, which records no gradients. Use torch instead"
            elif function in ("float", "int"):
                what = f"`{function}(…)` turns a tensor into a plain number"
                says = f"{what}, which carries no gradient. Keep the tensor"
            elif name == "Parameter" and not in_init(flow.functions, node):
                says = "a new nn.Parameter is cut off from the tensors that it is made of. Use a tensor instead"
        if says:
            yield {place_of(node)}, place_of(node)[0], says
    for block in flow.statements:
        inner = [value for one in statements_of(block)[1:] if (value := targets_and_value(one)[1]) is not None]
        if isinstance(block, ast.With):
            for text in (text_of(item.context_expr) for item in block.items):
                if "no_grad" in text or "inference_mode" in text or "set_grad_enabled(False)" in text:
                    yield set(map(place_of, inner)), block.lineno, f"under `{text}`, no gradients are recorded"
        elif isinstance(block, ast.FunctionDef):
            for decorator in block.decorator_list:
                if "no_grad" in (text := text_of(decorator)) or "inference_mode" in text:
                    places = set(map(place_of, (*inner, *calls(flow.tree, block.name))))
                    yield places, decorator.lineno, f"under `@{text}`, no gradients are recorded"


def _switched_off(flow: Flow) -> Iterator[Found]:
    """Find lines that keep a parameter from being learned, or gradients from being recorded at all."""
    followed = flow.name.partition(".")[0]
    for node in flow.statements:
        base = base_of(targets_and_value(node)[0][0]) if targets_and_value(node)[0] else ""
        of_another = bool(followed) and base.startswith("self.") and base != f"self.{followed}"
        if isinstance(node, ast.Assign) and text_of(node).endswith(".requires_grad = False") and not of_another:
            yield node.lineno, "`requires_grad = False` freezes a parameter, so training never changes it"
        for call in calls(node) if isinstance(node, (ast.Assign, ast.Expr, ast.AnnAssign)) else ():
            if (
                called_name(call) == "requires_grad_"
                and call.args
                and text_of(call.args[0]) == "False"
                and not of_another
            ):
                yield call.lineno, "`.requires_grad_(False)` freezes a parameter, so training never changes it"
            if called_name(call) == "Parameter" and has_keyword(call, "requires_grad", "False") and not of_another:
                yield call.lineno, "`requires_grad=False` freezes a parameter, so training never changes it"
            if called_name(call) == "register_buffer" and text_of(call.args[0]).strip("'") == followed:
                yield call.lineno, "a buffer is not a parameter, so training never changes it"
            if text_of(call) == "torch.set_grad_enabled(False)":
                yield call.lineno, "`torch.set_grad_enabled(False)` switches gradients off. Leave it out"


# ---------------------------------------------------------------- dtypes and devices


def narrow(flow: Flow) -> Iterator[Found]:
    """Find lines that create float32 tensors regardless of the dtype of the inputs."""
    filled = {
        base_of(target)
        for node in flow.statements
        for target in targets_and_value(node)[0]
        if isinstance(target, ast.Subscript)
    }
    made = []
    for node in flow.statements:
        targets, value = targets_and_value(node)
        for call in calls(value) if flow.feeds(node) else ():
            text = text_of(call.func)
            if has_keyword(call, "dtype", "torch.float32", "torch.float"):
                yield (
                    call.lineno,
                    f"`{text}` gets the dtype float32, whatever dtype the inputs have. Pass the dtype of an input",
                )
            elif called_name(call) in ("to", "type") and any(text_of(one) in FLOATS for one in call.args):
                yield (
                    call.lineno,
                    f"`.{called_name(call)}({text_of(call.args[0])})` returns float32, whatever dtype the inputs have. "
                    "Pass the dtype of an input",
                )
            elif called_name(call) == "float" and owner_of(call) is not None:
                yield (
                    call.lineno,
                    "`.float()` returns float32, whatever dtype the inputs have. "
                    "Use `.to(x.dtype)`, where x is an input",
                )
            elif (
                text.startswith("torch.")
                and called_name(call) in (*NEW, "tensor", "Tensor")
                and not has_keyword(call, "dtype")
            ):
                made.append((any(base_of(one) in filled for one in targets), call.lineno, text))
    for first in (True, False):  # first those that are filled, since a sum with the inputs would have had their dtype
        for is_filled, line, text in made:
            if is_filled is first:
                yield line, f"`{text}` returns float32, whatever dtype the inputs have. Pass the dtype of an input"
        if any(is_filled for is_filled, _, _ in made):
            return


def on_cpu(flow: Flow) -> Iterator[Found]:
    """Find lines that create tensors on the CPU regardless of the device of the inputs."""
    for node in flow.statements:
        for call in calls(targets_and_value(node)[1]) if flow.feeds(node) else ():
            text = text_of(call.func)
            is_new = text.startswith("torch.") and called_name(call) in (
                *NEW,
                "arange",
                "tensor",
                "randint",
                "randperm",
            )
            if is_new and not has_keyword(call, "device") and not in_init(flow.functions, call):
                says = f"`{text}` makes a tensor on the CPU, wherever the inputs are. Pass the device of an input"
                yield call.lineno, says
            elif text.endswith(".cpu"):
                yield call.lineno, "`.cpu()` moves the tensor away from the inputs' device. Leave it out"


def in_place(source: str, name: str) -> list[Found]:
    """Find the lines that write into an input. With `name`, find only those that write into this input."""
    found: list[tuple[int, str, bool]] = []  # line, words, and whether it may only count
    flow = Flow(source)
    for function in flow.functions:
        views = {one: {one} for one in parameters_of(function) if not name or one == name}  # by input: its names
        for node in sorted(
            statements_of(function) if isinstance(function, ast.FunctionDef) else (), key=lambda one: one.lineno
        ):
            for names in views.values():
                if says := _written(node, names):
                    may_count = isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub))
                    found.append((node.lineno, says, may_count))
                _rename(node, names)
    # `n += 1` may count: an argument need not be a tensor.
    surely = [one for one in found if not one[2]]
    return [(line, says) for line, says, _ in surely or found]


def _rename(node: ast.stmt, names: set[str]) -> None:
    """Follow an assignment: add its target to the names of a tensor and its views, or remove the target from them."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                (names.add if is_view(node.value, names) else names.discard)(target.id)


def _written(node: ast.stmt, names: set[str]) -> str:
    """Return a text on how a statement writes into a tensor with one of these names, or "" if it does not."""
    if isinstance(node, ast.AugAssign) and is_view(node.target, names):
        sign = text_of(node).split(text_of(node.target), 1)[1].split("=")[0].strip()
        what = f"`{text_of(node.target)} {sign}= …` changes the input tensor in place"
        return f"{what}. `{sign}` without `=` makes a new tensor"
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and is_view(target.value, names):
                return f"`{text_of(target)} = …` writes into the input tensor. Make a copy first: `.clone()`"
    value = targets_and_value(node)[1]
    for call in calls(value):
        method = called_name(call)
        owner = owner_of(call)
        if method.endswith("_") and not method.endswith("__") and owner is not None and is_view(owner, names):
            if method == "requires_grad_":
                continue
            what = f"`.{method}(…)` changes the input tensor in place"
            return f"{what}. The method without the underscore makes a new tensor"
        if any(is_view(one, names) for one in (owner, *call.args) if one is not None) and has_keyword(
            call, "inplace", "True"
        ):
            return "`inplace=True` overwrites the input tensor: leave it out"
        if any(word.arg == "out" and is_view(word.value, names) for word in call.keywords):
            return "`out=` overwrites the input tensor: leave it out"
    return ""
