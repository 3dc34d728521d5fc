"""Find lines that count axes from the front, draw random numbers, leave something unused, or are surely mistaken."""

import ast
from collections.abc import Callable, Iterator

from torch import Tensor

from grader.explain.code.data_flow import SIZES, Flow, Found, Place, base_of, place_of, targets_and_value
from grader.explain.code.read_code import (
    called_name,
    calls,
    has_keyword,
    in_init,
    integer,
    owner_of,
    parameters_of,
    self_attributes,
    text_of,
)

DRAWS = (
    *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "bernoulli", "multinomial", "normal"),
    *("uniform_", "normal_", "bernoulli_", "shuffle", "random", "rrelu", "gumbel_softmax"),
)
WITH_AXIS = {  # by function: the place of the axis among the arguments, the tensor counted
    **dict.fromkeys("softmax log_softmax sum mean amax amin max min argmax argmin std var cumsum".split(), 1),
    **dict.fromkeys("size unsqueeze squeeze cat stack chunk logsumexp gather flatten".split(), 1),
    **dict.fromkeys(("norm", "normalize", "split"), 2),
}
TURNED = ".T reverses all axes. With a batch in front, swap only the last two: .transpose(-2, -1)"
IS_BATCH = (
    "`{}` is the size of the batch only with one batch axis. Flatten the leading axes first, or use all leading axes"
)
WITHOUT_PARAMETERS = frozenset("Dropout GELU ReLU Softmax LogSoftmax Identity Tanh Sigmoid Flatten".split())


def from_front(flow: Flow, *, turned: bool = True, one_batch: bool = False) -> Iterator[Found]:
    """Find lines that count an axis from the front.

    Args:
        turned: also find lines that reverse all axes.
        one_batch: the answer is right with exactly one batch axis. If lines need exactly three axes, find only these.
    """
    fixed = _with_fixed_axes(flow)
    if products := [*_of_three_axes(flow, fixed)] if one_batch else []:
        yield from products
        return
    # `for b in range(len(q))` counts entries, whatever they are.
    counted = _places(flow, lambda node: isinstance(node, ast.Call) and called_name(node) in ("range", "enumerate"))
    # Under `if x.ndim == 3:` axes may be counted from the front; under `> 2` axis 0 is the batch, and an einsum fits.
    asked = _places(flow, lambda node: isinstance(node, (ast.If, ast.IfExp)) and _asks_for_axes(node.test))
    exactly = _places(
        flow, lambda node: isinstance(node, (ast.If, ast.IfExp)) and _asks_for_axes(node.test, exactly=True)
    )
    found: list[tuple[bool, int, str]] = []  # whether it may well be meant, line, words
    for line, node in flow.expressions():
        if (
            place_of(node) in counted | exactly
            or not flow.holds(_measured(node))
            or _has_fixed_axes(_measured(node), fixed)
        ):
            continue
        if isinstance(node, ast.Attribute) and node.attr == "T":
            if turned:
                found.append((False, line, TURNED))
        elif isinstance(node, ast.Subscript):
            axis = integer(node.slice)
            if axis is not None and axis >= 0:
                is_batch = one_batch and axis == 0
                says = IS_BATCH.format(text_of(node)) if is_batch else _said_of_front(f"`{text_of(node)}`", axis)
                found.append((axis == 0, line, says))
        elif isinstance(node, ast.Call) and (of_call := _axes_of_call(node)):
            says, axes = of_call
            is_meant = place_of(node) in asked and (axes == (0,) or called_name(node) == "einsum")
            if not is_meant:
                found.append((called_name(node) in ("len", "size", "cat", "stack"), line, says))
    yield from ((line, says) for maybe, line, says in found if maybe == all(one[0] for one in found))


def _asks_for_axes(test: ast.expr, *, exactly: bool = False) -> bool:
    """Return True if a condition reads the number of axes of a tensor.

    With `exactly`, the condition must compare this number with a single number, by `==`.
    """
    text = text_of(test, 200)
    return (".ndim" in text or ".dim()" in text) and (not exactly or " == " in text)


def _with_fixed_axes(flow: Flow) -> set[str]:
    """Return the names of values that have the same number of axes whatever the inputs are."""
    fixed = set()
    for statement in (one for one in flow.statements if isinstance(one, ast.Assign)):
        targets, value = targets_and_value(statement)
        values = value.elts if isinstance(value, ast.Tuple) else [value] * len(targets)
        fixed |= {
            base_of(one) for one, its in zip(targets, values, strict=False) if its and _has_fixed_axes(its, set())
        }
    return fixed


def _of_three_axes(flow: Flow, fixed: set[str]) -> Iterator[Found]:
    """Find products that need tensors with exactly three axes, and unpacked shapes that need a fixed number of axes."""
    for statement in (one for one in flow.statements if isinstance(one, ast.Assign)):
        (target, *_), value = statement.targets, statement.value
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Attribute) or value.attr != "shape":
            continue
        is_whole = len(target.elts) > 2 and not any(isinstance(one, ast.Starred) for one in target.elts)
        if is_whole and flow.holds(value.value) and not _has_fixed_axes(value.value, fixed):
            first, *rest = map(text_of, target.elts)
            better = f"`*batch, {', '.join(rest)} = {text_of(value)}`"
            says = f"the shape has exactly {len(target.elts)} sizes only with one batch axis. Write {better}"
            yield statement.lineno, f"{says}, and `*batch` in place of `{first}`"
    for line, node in flow.expressions():
        if isinstance(node, ast.Call) and called_name(node) in ("bmm", "baddbmm") and flow.holds(node):
            what = f"`{called_name(node)}` needs tensors with exactly three axes"
            yield line, f"{what}. Use `@`, which accepts any number of leading axes, and count axes from the end"


def _places(flow: Flow, wanted: Callable[[ast.AST], bool]) -> set[Place]:
    """Return the places of all expressions within the nodes for which `wanted` returns True."""
    around = [node for node in ast.walk(flow.tree) if wanted(node)]
    return {place_of(inner) for node in around for inner in ast.walk(node) if isinstance(inner, ast.expr)}


def _measured(node: ast.AST) -> ast.AST:
    """Return the tensor whose axes an expression counts, or an empty statement if it does not count axes."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return node.value.value
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    if isinstance(node, ast.Call):
        return owner_of(node) or (ast.Tuple(elts=node.args, ctx=ast.Load()) if node.args else ast.Pass())
    return ast.Pass()


def _has_fixed_axes(node: ast.AST, fixed: set[str]) -> bool:
    """Return True if an expression has the same number of axes whatever the inputs are.

    Such an expression was reshaped, or is a layer's weight.
    """
    if text_of(node, 200).endswith((".weight", ".bias")) or ".weight[" in text_of(node, 200):
        return True
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and called_name(inner) in ("reshape", "view"):
            return not any(isinstance(one, ast.Starred) and not _are_last(one.value) for one in inner.args)
        if isinstance(inner, ast.Call) and called_name(inner) == "flatten":
            return not inner.args or integer(inner.args[0]) == 0
    return any(base_of(one) in fixed for one in getattr(node, "elts", [node]))


def _are_last(node: ast.AST) -> bool:
    """Return True if an expression takes a fixed number of sizes from the end of a shape: `x.shape[-2:]`."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and node.slice.lower is not None
        and (integer(node.slice.lower) or 0) < 0
        and node.slice.upper is None
    )


def _axes_of_call(node: ast.Call) -> tuple[str, tuple[int, ...]] | None:
    """Return a phrase about the axes that a call counts from the front, and these axes.

    Return None if the call counts no axis from the front.
    """
    name, given = called_name(node), [word for word in node.keywords if word.arg in ("dim", "axis")]
    whole = [*([owner] if (owner := owner_of(node)) is not None else []), *node.args]
    if name == "len" and node.args and isinstance(node.args[0], ast.Name):
        what = f"`{text_of(node)}` is the length of the first axis, which is the batch if there is a batch"
        return f"{what}. If you mean another axis, use its size, counted from the end", ()
    if name in ("transpose", "swapaxes", "swapdims") and len(whole) == 3:
        axes = [axis for one in whole[1:] if (axis := integer(one)) is not None and axis >= 0]
        return (_said_of_front(f"`.{name}`", *axes), tuple(axes)) if len(axes) == 2 else None
    if name == "normalize" and not given and len(whole) < 3:
        says = "`F.normalize` uses axis 1 by default, which is a different axis with a batch in front: pass `dim`"
        return says, ()
    if (
        name == "einsum"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and "..." not in str(node.args[0].value)
    ):
        return "the letters of this einsum stand for a fixed number of axes. Write `...` for all leading axes", ()
    if name == "squeeze" and len(whole) == 1 and not given:
        return "`.squeeze()` removes every axis of length 1, even that of a batch or a single token: pass `dim`", ()
    place = WITH_AXIS.get(name, 0)
    axis = integer(given[0].value) if given else integer(whole[place]) if 0 < place < len(whole) else None
    if place and axis is not None and axis >= (name == "flatten"):  # flatten(0, …) takes in whatever is in front
        return _said_of_front(f"`{name}`", axis), (axis,)
    return None


def _said_of_front(what: str, *axes: int) -> str:
    named = (
        f"axis {axes[0]}, which is a different axis"
        if len(axes) == 1
        else f"axes {axes[0]} and {axes[1]}, which are different axes"
    )
    return f"{what} uses {named} if the number of batch axes changes: count from the end"


# ---------------------------------------------------------------- random, rounded and other values


def draws(flow: Flow) -> Iterator[Found]:
    """Find lines that draw random numbers each time the layer or function is called."""
    has_init = any(getattr(function, "name", "") == "__init__" for function in flow.functions)
    for node in flow.statements:
        for call in calls(targets_and_value(node)[1]) if flow.feeds(node) else ():
            name, function = called_name(call), text_of(call.func)
            if name in ("dropout", "alpha_dropout") and not function.startswith("self."):
                if not has_keyword(call, "training") and len(call.args) < 3:
                    yield (
                        call.lineno,
                        f"`{function}` also drops entries in evaluation mode, unless you pass `training=`",
                    )
            elif in_init(flow.functions, call):
                continue
            elif isinstance(call.func, ast.Call) and called_name(call.func) == "Dropout":
                yield call.lineno, "an nn.Dropout made here is always in training mode: create it in __init__"
            elif function.startswith("nn.") and name in ("Linear", "LayerNorm", "Embedding", "Parameter") and has_init:
                yield call.lineno, f"`{function}` creates a new layer in each call: create it once, in __init__"
            elif name in DRAWS and not has_keyword(call, "generator"):  # with one, the same call gives the same
                yield call.lineno, f"`{name}` draws random numbers, so each call returns other numbers"


def slips(flow: Flow) -> Iterator[Found]:
    """Find code that is almost certainly not intended.

    Examples are wrong precedence, conditions that are always true, and exceptions that are not raised.
    """
    for node in ast.walk(flow.tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            sides = [node.left, *([node.left.right] if isinstance(node.left, ast.BinOp) else [])]
            for side in sides:
                if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Pow) and integer(side.right) == 1:
                    base, root = text_of(side.left), text_of(node.right)
                    yield line, f"`{base} ** 1/{root}` means `({base} ** 1) / {root}`: put brackets around the fraction"
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            constants = [one for one in node.values[1:] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if constants and isinstance(node.values[0], ast.Compare):
                yield (
                    line,
                    f"`… or {constants[0].value!r}` is always true: each side of `or` needs its own comparison",
                )
        elif isinstance(node, (ast.Return, ast.Expr)) and isinstance(node.value, ast.Call) and _is_error(node.value):
            name = called_name(node.value)
            yield (
                line,
                f"`{name}(…)` alone only creates an exception. To refuse an input, raise it: `raise {name}(…)`",
            )
        elif isinstance(node, ast.Call) and called_name(node) == "take" and node.args:
            if text_of(node.args[-1]) in {name for function in flow.functions for name in parameters_of(function)}:
                yield (
                    line,
                    "`take` counts through all numbers as if they were in one row. "
                    "Use gather, which counts along an axis",
                )
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare):
            compared = node.value.left
            of_size = isinstance(compared, ast.Attribute) and compared.attr in SIZES - {"requires_grad"}
            if (
                isinstance(node.value.ops[0], ast.Eq)
                and isinstance(compared, (ast.Name, ast.Attribute))
                and not of_size
            ):
                yield line, "`==` only compares two values. Use `=` to set a value"
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            name = text_of(node.targets[0]).rpartition(".")[2]
            if isinstance(node.targets[0], ast.Attribute) and name.endswith("_") and hasattr(Tensor, name):
                yield line, f"`{name}` is a method, but `=` replaces it instead of calling it. Call it with brackets"


def _is_error(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id.endswith(("Error", "Exception"))


def unused(flow: Flow) -> Iterator[Found]:
    """Find parameters that a function never reads, and layers with parameters that are never used.

    Helper functions are left out.
    """
    helpers = {called_name(call) for call in calls(flow.tree)}
    for top in flow.tree.body:
        functions = [
            node for node in (top.body if isinstance(top, ast.ClassDef) else [top]) if isinstance(node, ast.FunctionDef)
        ]
        for function in functions:
            read = {node.id for one in function.body for node in ast.walk(one) if isinstance(node, ast.Name)}
            if function.name in helpers or _only_raises(function):
                continue
            names = [f"`{name}`" for name in parameters_of(function) if name not in read and not name.startswith("_")]
            if names:
                yield function.lineno, f"{' and '.join(names)} {'are' if names[1:] else 'is'} never used"
    yield from idle_layers(flow)


def idle_layers(flow: Flow) -> Iterator[Found]:
    """Find layers with parameters that are never used."""
    for top in flow.tree.body:
        if isinstance(top, ast.ClassDef):
            yield from ((line, says) for line, says, made in _idle(top) if not made <= WITHOUT_PARAMETERS)


def idle(flow: Flow) -> Iterator[Found]:
    """Find layers without parameters, such as a dropout, that are never used."""
    for top in flow.tree.body:
        if isinstance(top, ast.ClassDef):
            yield from ((line, says) for line, says, made in _idle(top) if made <= WITHOUT_PARAMETERS)


def _idle(top: ast.ClassDef) -> Iterator[tuple[int, str, set[str]]]:
    """Yield line, text and types of layers for each attribute that contains layers and is never used."""
    loads = [node for node in ast.walk(top) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
    read = {node.attr for node in loads}
    for name, value in self_attributes(top).items():
        if value is None or name in read:
            continue
        if made := {called_name(call) for call in calls(value) if text_of(call.func).startswith("nn.")}:
            yield value.lineno, f"`self.{name}` is created but never used", made


def _only_raises(function: ast.FunctionDef) -> bool:
    return isinstance(function.body[-1], (ast.Raise, ast.Pass))
