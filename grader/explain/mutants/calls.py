"""Slips in calls of any function: arguments exchanged or left out, a step left out, another axis."""

import ast
from collections.abc import Iterator

from grader.explain.mutants.operators import Change, Place, assigned_layer
from grader.explain.mutants.phrases import KINDS, METHODS, number_of, sentence, signed
from grader.explain.nodes import called, changed, is_library, literal

AXIS = {
    "sum", "mean", "amax", "softmax", "log_softmax", "argmax", "flatten", "unflatten", "unsqueeze", "gather",
    "normalize", "cat", "norm", "any",
}  # fmt: skip
OTHER_AXES = {-1: (-2, 0, 1), -2: (-1, 0, 1, -3), -3: (-2, -1, 1), 0: (-1, 1), 1: (0, -1)}
TWICE = {"softmax", "normalize", "log", "exp", "sqrt", "elu"}


def other_arguments(node: ast.AST, place: Place) -> Iterator[Change]:
    """Exchange two arguments, or leave one out."""
    if not isinstance(node, ast.Call):
        return
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
    return (
        number_of(node) is not None
        or kind.split(" |")[0] in ("int", "float")
        or rate
        or getattr(node, "id", "") == "dropout"
    )


def _input_of(node: ast.Call) -> ast.expr | None:
    """Return what a call works on: the first argument, or the object of a tensor's method; None if neither is clear."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not is_library(node.func.value):
        return node.func.value
    first = node.args[0] if node.args else None
    return None if isinstance(first, (ast.Starred, ast.GeneratorExp)) else first


def steps_left_out(node: ast.AST, place: Place) -> Iterator[Change]:
    """Leave a step out, do it twice, or exchange it with the step before."""
    if not isinstance(node, ast.Call):
        return
    callee, inner = place.words.callee(node), _input_of(node)
    if not callee or inner is None or (isinstance(place.parent, ast.Subscript) and callee in place.words.public):
        return  # a call whose result is a pair is no step from tensor to tensor
    if place.words.kind(node) in KINDS or len(node.args) == 1:
        cost = 1 if callee in place.words.public else 2
        of = place.words.noun(inner) if callee not in place.words.public else ""
        said = f"{callee} of {of}" if of in place.words.public and number_of(inner) is None else callee
        says, joint = sentence(f"{said} were left out"), sentence(f"{callee} were left out everywhere")
        if called(node) == "masked_fill" and any(isinstance(part, ast.Compare) for part in node.args):
            says = sentence("a row without a single key were not treated apart: it gives 0/0 or −∞ − (−∞), and so NaN")
        yield Change(f"{called(node)} left out", inner, says, cost=cost, joint=joint)
    layer = place.layers.get(called(node))
    alone = layer in place.words.subject.layers and len(node.args) + len(node.keywords) == 1
    if place.words.kind(node) in TWICE or layer in ("LayerNorm", "Sequential") or alone:
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


def other_axes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Run over another axis."""
    if not isinstance(node, ast.Call):
        return
    name, callee = called(node), place.words.callee(node)
    if place.words.alike.get(name, name) not in AXIS:
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


def _axis_change(node: ast.Call, name: str, callee: str, old: object, new: int, fields: dict) -> Change:
    says = sentence(f"{callee} ran over axis {signed(new)}") if callee else ""
    if name == "gather":
        says = sentence(f"the places were picked along axis {signed(new)}")
    if name == "unsqueeze" and isinstance(node.func, ast.Attribute) and "mask" in ast.unparse(node.func.value):
        says = sentence(f"the new axis of the mask stood at place {signed(new)}")
    return Change(f"{name}: axis {old} → {new}", changed(node, **fields), says, cost=1, joint=says)


def other_chains(node: ast.AST, place: Place) -> Iterator[Change]:
    """One activation more, or another width inside."""
    if not isinstance(node, ast.Call) or called(node) != "Sequential":
        return
    layer, links = assigned_layer(place), node.args
    active = [link for link in links if called(link) in ("GELU", "ReLU")]
    if layer and active:
        says = sentence(f"another GELU followed at the end of {layer}")
        longer = changed(node, args=[*links, active[0]])
        yield Change("activation at the end", longer, says, cost=1)
    linear = [link for link in links if isinstance(link, ast.Call) and called(link) == "Linear"]
    if not layer or len(linear) != 2 or len(links) != 3 or not isinstance(linear[0].args[1], ast.Name):
        return
    hidden = linear[0].args[1].id
    for name in place.parameters:
        if name.startswith("d_") and name != hidden:
            width = ast.Name(name, ast.Load())
            first = changed(linear[0], args=[linear[0].args[0], width])
            second = changed(linear[1], args=[width, linear[1].args[1]])
            new = changed(node, args=[first, links[1], second])
            says = sentence(f"the hidden layer of {layer} were {name} wide")
            yield Change(f"hidden width {name}", new, says, cost=1)
