"""Find lines that use an object itself where a copy is needed, or that create a layer or value that is lost."""

import ast
from collections.abc import Iterable, Iterator
from itertools import repeat

from grader.explain.code.data_flow import SIZES, VIEWS, Flow, Found, base_of, targets_and_value
from grader.explain.code.read_code import called_name, calls, text_of, values_of

ONCE = ("parameters", "named_parameters", "modules", "named_modules", "children", "buffers", "zip", "map", "filter")
LISTS = ("list", "tolist", "sorted", "split", "chunk", "unbind", "numpy")
GOES_THROUGH = ("list", "tuple", "set", "sorted", "sum", "any", "all", "max", "min", "dict")


def same_thing(flow: Flow) -> Iterator[Found]:
    """Find places that use the same object but need a copy.

    These are two rows that are swapped, a tensor that is appended to a list and
    then written into, and an iterator that is used twice.
    """
    for function in flow.functions:
        yield from _used_up(function)
    for loop in (node for node in ast.walk(flow.tree) if isinstance(node, (ast.For, ast.While))):
        given = {base_of(one) for node in ast.walk(loop) if not _writes(node) for one in targets_and_value(node)[0]}
        written = {base_of(target) for node in ast.walk(loop) if _writes(node) for target in targets_and_value(node)[0]}
        for call in calls(loop, "append"):
            name = text_of(call.args[0]) if len(call.args) == 1 else ""
            if name in written - given and base_of(call) != name:
                yield (
                    call.lineno,
                    f"the list gets `{name}` itself, so later changes appear in every entry. Append a copy instead",
                )
    for node in flow.statements:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            left, right = ([text_of(one) for one in side.elts] for side in (node.targets[0], node.value))
            rows = [one for one in node.value.elts if isinstance(one, ast.Subscript) and _is_number(one.slice, flow)]
            if len(rows) == len(right) == 2 and left == right[::-1] and not _is_list(base_of(rows[0]), flow):
                yield (
                    node.lineno,
                    "the first row is overwritten before it is read, because a row of a tensor is not a copy. "
                    "Copy the row first: `.clone()`",
                )


def _used_up(function: ast.AST) -> Iterator[Found]:
    """Find an iterator, such as model.parameters(), that is used a second time, when it is already empty."""
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name, made = node.targets[0].id, node.value
        once = isinstance(made, ast.GeneratorExp) or (isinstance(made, ast.Call) and called_name(made) in ONCE)
        if not once or len(values_of(name, function)) > 1:
            continue
        through = [one.iter for one in ast.walk(function) if isinstance(one, (ast.For, ast.comprehension))]
        through += [one for call in calls(function, *GOES_THROUGH) for one in call.args]
        lines = sorted(one.lineno for one in through if text_of(one) == name)
        if len(lines) > 1:
            yield (
                lines[1],
                f"`{name}` can be iterated only once, and line {lines[0]} has already done so. Make a list of it first",
            )


def _writes(node: ast.AST) -> bool:
    """Return True if a statement writes into a tensor or list, such as `x[i] = …`. Return False for `x += …`."""
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Subscript) for one in node.targets)
    method = called_name(node.value) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ""
    return method.endswith("_") and not method.startswith("_") and method != "requires_grad_"


def _is_number(index: ast.AST, flow: Flow) -> bool:
    """Return True if an index is a single integer, such as a loop variable. A tensor as an index makes a copy."""
    if not isinstance(index, ast.Name):
        return isinstance(index, ast.Constant)
    counted = [node for node in ast.walk(flow.tree) if isinstance(node, ast.For) and text_of(node.target) == index.id]
    made = [
        node.value for node in flow.statements if isinstance(node, ast.Assign) and text_of(node.targets[0]) == index.id
    ]
    whole = [called_name(node.iter) == "range" for node in counted] + [
        called_name(one) in ("item", "int") for one in made
    ]
    return all(whole) and bool(whole)


def _is_list(name: str, flow: Flow) -> bool:
    """Return True if a name may be a list or a NumPy array. Unlike in a tensor, the numbers in it are not views."""
    made = [inner for value in values_of(name, flow.tree) for inner in ast.walk(value)]
    return any(
        isinstance(one, (ast.List, ast.ListComp))
        or (isinstance(one, ast.Call) and (called_name(one) in LISTS or text_of(one.func).startswith("np.")))
        for one in made
    )


def wasted(flow: Flow) -> Iterator[Found]:
    """Find a method that a statement names but does not call, and a layer that is stored under two names.

    Both names must be attributes of self that are used.
    """
    for node in ast.walk(flow.tree):
        value = getattr(node, "value", None)
        if (
            isinstance(node, ast.Expr)
            and isinstance(value, ast.Attribute)
            and value.attr not in SIZES | VIEWS | {"grad"}
        ):
            yield node.lineno, f"`{text_of(value)}` names a method but does not call it: brackets are missing"
    yield from shared(flow)


def shared(flow: Flow) -> Iterator[Found]:
    """Find a layer that is stored under two attributes of self, if both are used."""
    read = [
        node.attr for node in ast.walk(flow.tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    ]
    assigned = [one for node in flow.statements if isinstance(node, ast.Assign) for one in _apart(node)]
    made = {text_of(node.targets[0]) for node in assigned if called_name(node.value)[:1].isupper()}  # by a class
    kept: dict[str, str] = {name: name for name in made if name.startswith("self.")}
    for node, target, value in _given(assigned):
        if value not in made or not target.startswith("self."):
            continue
        other = kept.setdefault(value, target)
        used = read.count(other.removeprefix("self.")) > (text_of(node.value) == value == other)
        if other != target and used and target.removeprefix("self.") in read:
            yield node.lineno, f"`{target}` and `{other}` are the same layer here: make a separate layer for each"


def _apart(node: ast.Assign) -> list[ast.Assign]:
    """Return a separate assignment for each target of `a, b = c, d`. Return any other assignment in a list as it is."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return [node]
    return [ast.copy_location(ast.Assign([one], its), node) for one, its in zip(target.elts, value.elts, strict=True)]


def _given(assigned: Iterable[ast.Assign]) -> Iterator[tuple[ast.Assign, str, str]]:
    """Yield each assignment with each of its targets and the value of that target, as text.

    In `a = b = c`, a gets c, and b gets a. Constants are left out, as they are not layers.
    """
    for node in (one for one in assigned if not isinstance(one.value, ast.Constant)):
        names = [text_of(target) for target in node.targets]
        yield from zip(repeat(node), names, [text_of(node.value), *names], strict=False)
