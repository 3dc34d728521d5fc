"""Small changes to calls, names and statements: operators of mutants, as in mutation_operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.explain.mutants.operators import Change, Place, assigned_layer, changed, literal
from grader.explain.mutants.phrases import KINDS, METHODS, SHAPERS, called, is_library, number_of, sentence, signed

INSTEAD = {
    "sum": "mean", "mean": "sum", "amax": "amin", "tril": "triu", "triu": "tril", "log": "exp", "exp": "log",
    "detach": "clone", "eval": "train", "train": "eval", "softmax": "log_softmax", "unsqueeze": "squeeze",
    "argmax": "argmin", "zeros": "ones", "ones": "zeros", "norm": "sum", "zero_grad": "state_dict",
    "step": "state_dict", "backward": "detach", "GELU": "ReLU", "elu": "relu",
    "any": "all", "all": "any",
}  # fmt: skip
RECUT = "a reshape or view stood where axes have to be swapped: the shape is right, but the numbers go elsewhere"
INSTEAD_SAYS = {
    "sum": "a mean stood in place of a sum", "mean": "a sum stood in place of a mean",
    "amax": "the smallest were taken for the largest", "tril": "the other triangle were kept",
    "triu": "the other triangle were kept", "log": "an exponential stood in place of the logarithm",
    "exp": "a logarithm stood in place of the exponential", "argmax": "the least likely were taken for the likeliest",
    "eval": "the model were put into training mode, not into evaluation mode",
    "train": "the model were put into evaluation mode, not into training mode",
    "softmax": "a log-softmax stood in place of the softmax", "norm": "a plain sum stood in place of the length",
    "zeros": "ones stood in place of zeros", "ones": "zeros stood in place of ones",
    "all": "one were enough where all are due", "any": "all were needed where one is enough",
    "GELU": "a ReLU stood in place of the GELU", "elu": "a relu stood in place of the elu",
}  # fmt: skip
AXIS = {
    "sum", "mean", "amax", "softmax", "log_softmax", "argmax", "flatten", "unflatten", "unsqueeze", "gather",
    "normalize", "cat", "norm", "any", "stable_softmax",
}  # fmt: skip
OTHER_AXES = {-1: (-2, 0, 1), -2: (-1, 0, 1, -3), -3: (-2, -1, 1), 0: (-1, 1), 1: (0, -1)}
OTHER_PAIRS = ((-2, -1), (-3, -2), (-3, -1), (0, 1), (1, 2))
TWICE = {"softmax", "stable_softmax", "normalize", "log", "exp", "sqrt", "elu"}
KEPT = {"unflatten", "flatten", "transpose", "reshape", "permute", "to", "double", "einsum", "squeeze"}


def call_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of a call, a name or a statement."""
    if isinstance(node, ast.Call):
        yield from _arguments(node, place)
        yield from _left_out(node, place)
        yield from _axes(node, place)
        yield from _layouts(node)
        yield from _losses(node)
        yield from _everything(node, place.words.callee(node))
        yield from _normalisers(node)
    elif isinstance(node, ast.Attribute) and node.attr in INSTEAD and isinstance(node.ctx, ast.Load):
        new = INSTEAD[node.attr]
        says = sentence(INSTEAD_SAYS[node.attr]) if node.attr in INSTEAD_SAYS else ""
        yield Change(f".{node.attr} → .{new}", changed(node, attr=new), says, joint=says)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        tensor, recut = node.value, method(node.value, "reshape", ast.Attribute(node, "shape", ast.Load()))
        yield Change(".T left out", tensor, sentence("two axes were not swapped that have to be"), cost=1)
        yield Change(".T → reshape", recut, sentence(RECUT), cost=1)


def method(node: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    """Return the node of a method's call."""
    return ast.Call(ast.Attribute(node, name, ast.Load()), list(arguments), [])


def _arguments(node: ast.Call, place: Place) -> Iterator[Change]:
    """Exchange two arguments, or leave one out."""
    words, callee = place.words, place.words.callee(node)
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    for one in range(len(node.args) - 1 if plain else min(len(node.args) - 1, 1)):
        args = [*node.args[:one], node.args[one + 1], node.args[one], *node.args[one + 2 :]]
        first, second = words.noun(node.args[one]), words.noun(node.args[one + 1])
        layer = callee or assigned_layer(place)
        alike = _is_number(node.args[one], place) == _is_number(node.args[one + 1], place)
        named = first and second and first != second and layer and alike
        says = sentence(f"{first} and {second} were exchanged in {layer}") if named else ""
        yield Change(
            "first two arguments swapped" if one == 0 else f"arguments {one + 1} and {one + 2} swapped",
            changed(node, args=args), says, cost=1,
        )  # fmt: skip
    for index, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:index], *node.keywords[index + 1 :]]
        says = sentence(f"{keyword.arg} were not handed on to {callee}") if callee in words.public else ""
        if not says and callee and keyword.arg in ("dim", "keepdim"):
            flag = "keepdim=True" if keyword.arg == "keepdim" else "dim"
            says = sentence(f"{flag} were left out of {callee}, which then takes its own default")
        if keyword.arg == "bias":  # as bias=True
            says = ""
        yield Change(f"argument {keyword.arg} dropped", changed(node, keywords=rest), says, cost=1)
    last = words.noun(node.args[-1]) if len(node.args) > 1 and plain else ""
    target = callee if callee in words.public else assigned_layer(place)
    if last and target and not _is_number(node.args[-1], place):
        says = sentence(f"{last} were not handed on to {target}")
        yield Change("last argument dropped", changed(node, args=node.args[:-1]), says, cost=1)


def _is_number(node: ast.expr, place: Place) -> bool:
    """Tell whether an argument is a number: a literal, an int or float that was handed in, or a stored one."""
    if isinstance(node, ast.Attribute):
        return node.attr not in place.layers and not is_library(node) and node.attr not in METHODS
    kind = place.parameters.get(node.id, "") if isinstance(node, ast.Name) else ""
    rate = isinstance(node, ast.Name) and "rate" in place.words.noun(node)
    return number_of(node) is not None or kind.split(" |")[0] in ("int", "float") or rate or _name_of(node) == "dropout"


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _input_of(node: ast.Call) -> ast.expr | None:
    """Return what a call works on: the first argument, or the object of a tensor's method; None if neither is clear."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not is_library(node.func.value):
        return node.func.value
    first = node.args[0] if node.args else None
    return None if isinstance(first, (ast.Starred, ast.GeneratorExp)) else first


def _left_out(node: ast.Call, place: Place) -> Iterator[Change]:
    """Leave a step out, do it twice, or exchange it with the step before."""
    callee, inner = place.words.callee(node), _input_of(node)
    if called(node) in SHAPERS and inner is not None:
        yield Change(f"{called(node)} left out", inner, sentence(SHAPERS[called(node)]))
    if called(node) == "pad" and isinstance(inner, ast.Subscript):
        shifted = inner.value
        says = sentence("the shift by one place were left out")
        yield Change("shift left out", shifted, says, cost=1)
    if called(node) == "max" or called(node) == "amax":
        floor = method(node, "clamp", literal(0))
        yield Change("maximum ≥ 0", floor, sentence("the maximum were never below 0"))
    if called(node) == "sqrt" and inner is not None:
        half = ast.BinOp(inner, ast.Div(), ast.Constant(2))
        says = sentence("it were halved where a root is due: `x ** 1/2` means (x ** 1) / 2, so put 1/2 in brackets")
        yield Change("sqrt → / 2", half, says, cost=1)
    if not callee or inner is None or (isinstance(place.parent, ast.Subscript) and callee in place.words.public):
        return  # a call whose result is a pair is no step from tensor to tensor
    if called(node) in KINDS or len(node.args) == 1:
        cost = 1 if callee in place.words.public else 2
        of = place.words.noun(inner) if callee not in place.words.public else ""
        said = f"{callee} of {of}" if of in place.words.public and number_of(inner) is None else callee
        says, joint = sentence(f"{said} were left out"), sentence(f"{callee} were left out everywhere")
        if called(node) == "masked_fill" and any(isinstance(part, ast.Compare) for part in node.args):
            says = sentence("a row without a single key were not treated apart: it gives 0/0 or −∞ − (−∞), and so NaN")
        yield Change(f"{called(node)} left out", inner, says, cost=cost, joint=joint)
    if called(node) in TWICE or place.layers.get(called(node)) in ("LayerNorm", "Sequential", "PositionEmbedding"):
        yield Change(f"{called(node)} twice", _around(node, node), sentence(f"{callee} were done twice"))
    before = inner if isinstance(inner, ast.Call) else None
    name = place.words.callee(before) if before else ""
    both_layers = {called(node), called(before)} <= place.layers.keys()
    first = _input_of(before) if before else None
    if before and name and first is not None and both_layers:
        says = sentence(f"{name} came after {callee} and not before it")
        yield Change("order of calls swapped", _around(before, _around(node, first)), says, cost=1)


def _around(call: ast.Call, inner: ast.expr) -> ast.Call:
    """Return a call with another input."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and not is_library(call.func.value):
        return changed(call, func=changed(call.func, value=inner))
    return changed(call, args=[inner, *call.args[1:]])


def _axes(node: ast.Call, place: Place) -> Iterator[Change]:
    """Run over another axis, or swap other axes."""
    name, callee = called(node), place.words.callee(node)
    if name == "transpose" and len(node.args) == 2:
        yield from _swapped_axes(node)
    if name not in AXIS:
        return
    at = 1 if not (isinstance(node.func, ast.Attribute) and not is_library(node.func.value)) else 0
    keywords = [index for index, keyword in enumerate(node.keywords) if keyword.arg in ("dim", "start_dim")]
    old = node.keywords[keywords[0]].value if keywords else node.args[at] if len(node.args) > at else None
    number = number_of(old)
    for new in OTHER_AXES.get(number, ()) if isinstance(number, int) else ():
        if keywords:
            keyword = changed(node.keywords[keywords[0]], value=literal(new))
            fields = {"keywords": [*node.keywords[: keywords[0]], keyword, *node.keywords[keywords[0] + 1 :]]}
        else:
            fields = {"args": [*node.args[:at], literal(new), *node.args[at + 1 :]]}
        yield _axis_change(node, name, callee, number, new, fields)
    if old is None and name in place.takes_dim:
        for new in (-2, 0, 1):
            fields = {"keywords": [*node.keywords, ast.keyword("dim", literal(new))]}
            yield _axis_change(node, name, callee, -1, new, fields)


def _everything(node: ast.Call, callee: str) -> Iterator[Change]:
    """Reduce everything to one number, or one axis where everything is due."""
    if called(node) not in ("sum", "mean", "amax") or not isinstance(node.func, ast.Attribute):
        return
    if node.args or node.keywords:
        says = sentence(f"{callee} ran over everything, where one axis is due")
        bare = changed(node, args=[], keywords=[])
        yield Change(f"{called(node)} of everything", bare, says, cost=1, joint=says)
    else:
        for axis in (-1, 0):
            says = sentence(f"{callee} ran over axis {signed(axis)} alone, where everything is due")
            args = [literal(axis)]
            yield Change(f"{called(node)} over {axis}", changed(node, args=args), says, cost=1)


def _axis_change(node: ast.Call, name: str, callee: str, old: object, new: int, fields: dict) -> Change:
    says = sentence(f"{callee} ran over axis {signed(new)}") if callee else ""
    if name == "gather":
        says = sentence(f"the places were picked along axis {signed(new)}")
    if name == "unsqueeze" and isinstance(node.func, ast.Attribute) and "mask" in ast.unparse(node.func.value):
        says = sentence(f"the new axis of the mask stood at place {signed(new)}")
    return Change(f"{name}: axis {old} → {new}", changed(node, **fields), says, cost=1, joint=says)


def _swapped_axes(node: ast.Call) -> Iterator[Change]:
    """Swap another pair of axes; `.T`, `reshape` and nothing in the place of the swap."""
    assert isinstance(node.func, ast.Attribute)
    tensor = node.func.value
    old = {number_of(argument) for argument in node.args}
    for one, other in OTHER_PAIRS:
        if {one, other} != old:
            says = sentence(f"the axes {signed(one)} and {signed(other)} were swapped")
            args = [literal(one), literal(other)]
            yield Change(f"transpose: {one}, {other}", changed(node, args=args), says, cost=1, joint=says)
    says = sentence("two axes were not swapped that have to be")
    yield Change("transpose left out", tensor, says, cost=1, joint=says)
    if old == {-1, -2}:
        says = sentence("`.T` turned all axes around, where only the last two have to be swapped")
        yield Change("transpose → .T", ast.Attribute(tensor, "T", ast.Load()), says, cost=1)
    recut = method(tensor, "reshape", ast.Attribute(node, "shape", ast.Load()))
    says = sentence(RECUT)
    yield Change("transpose → reshape", recut, says, cost=1, joint=says)


def _layouts(node: ast.Call) -> Iterator[Change]:
    """Deal numbers out one by one where they are cut into blocks."""
    if called(node) == "unflatten" and len(node.args) == 2 and isinstance(node.args[1], ast.Tuple):
        size = changed(node.args[1], elts=node.args[1].elts[::-1])
        dealt = method(changed(node, args=[node.args[0], size]), "transpose", literal(-2), literal(-1))
        says = sentence(
            "the features were dealt out one by one: each head gets every H-th feature, not a block of its own"
        )
        yield Change("unflatten interleaved", dealt, says, cost=1, joint=says)
        taken = changed(node, args=[node.args[0], size])
        says = sentence("the number of heads were taken for the width of a head")
        yield Change("unflatten: sizes swapped", taken, says, cost=1, joint=says)
    if called(node) == "flatten" and [number_of(argument) for argument in node.args] == [-2]:
        assert isinstance(node.func, ast.Attribute)
        turned = method(node.func.value, "transpose", literal(-2), literal(-1))
        says = sentence("the features of the heads were interleaved, where each head's features have to stay together")
        yield Change("flatten interleaved", changed(node, func=changed(node.func, value=turned)), says, cost=1)


def _losses(node: ast.Call) -> Iterator[Change]:
    """Sum up what is averaged, hand back one loss for each, or take a softmax before the cross-entropy."""
    if called(node) != "cross_entropy":
        return
    for how, says in (
        ("sum", "the losses were added up where their mean is due"),
        ("none", "there were one loss for each place, where their mean is due"),
    ):
        keywords = [*node.keywords, ast.keyword("reduction", ast.Constant(how))]
        yield Change(f"reduction {how}", changed(node, keywords=keywords), sentence(says), cost=1)
    soft = [method(node.args[0], "softmax", literal(-1)), *node.args[1:]]
    if isinstance(node.func, ast.Attribute):
        plain = changed(node, func=changed(node.func, attr="nll_loss"), args=soft)
        says = sentence("the logarithm were missing in the loss: minus the mean probability came out")
        yield Change("no logarithm in the loss", plain, says)
    says = sentence("a softmax came before the cross-entropy, which does one itself")
    yield Change("softmax before cross-entropy", changed(node, args=soft), says, cost=1)


def _normalisers(node: ast.Call) -> Iterator[Change]:
    """Make weights of scores in another way than by a softmax."""
    scores = _input_of(node)
    if called(node) not in ("softmax", "stable_softmax") or scores is None:
        return
    total = ast.Call(
        ast.Attribute(scores, "sum", ast.Load()), [literal(-1)], [ast.keyword("keepdim", ast.Constant(True))]
    )
    hardest = method(scores, "argmax", literal(-1))
    width = ast.Subscript(ast.Attribute(scores, "shape", ast.Load()), literal(-1), ast.Load())
    hot = ast.Call(ast.parse("__import__('torch').nn.functional.one_hot", mode="eval").body, [hardest, width], [])
    shape = ast.Subscript(ast.Attribute(scores, "shape", ast.Load()), ast.Slice(lower=literal(-2)), ast.Load())
    later = ast.Call(ast.parse("__import__('torch').ones", mode="eval").body, [shape], [])
    causal = method(scores, "masked_fill", method(method(later, "triu", literal(1)), "bool"), literal(-float("inf")))
    for what, new, says in (
        (
            "causal",
            _around(node, causal),
            "no query saw a key behind its own place (a causal mask), which nobody asked for",
        ),
        ("sigmoid", method(scores, "sigmoid"), "a sigmoid stood where the softmax is due"),
        (
            "no exp",
            ast.BinOp(scores, ast.Div(), total),
            "the scores were divided by their sum, without the exponential",
        ),
        ("argmax", method(hot, "to", scores), "all the weight went to the largest score"),
    ):
        yield Change(f"softmax → {what}", new, sentence(says))
