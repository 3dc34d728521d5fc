"""Small changes to one place of a program, each as a slip of the hand would make it: the operators of mutants.

An operator takes a node and yields `Change`s. Those with a sentence also explain wrong answers; those without only measure
the checks (benchmarks/truth).
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.explain.mutants.phrases import Words, number_of, ordinal_place, sentence, signed
from grader.explain.nodes import changed, is_library, literal


class Change(NamedTuple):
    """One change of a node."""

    what: str  # for the author of the course: "Add → Sub"
    new: ast.AST  # shares its children with the old node
    says: str = ""  # for a student, a whole sentence; "" if there are no words for it
    effect: str = "values"  # or "gradient": the values stay the same
    cost: int = 2  # how far-fetched: 1 for a frequent slip
    joint: str = ""  # a sentence for the program in which all changes with this sentence are made at once


class Place(NamedTuple):
    """Where a node stands."""

    above: Sequence[ast.AST]  # the nodes around it, the outermost first
    words: Words
    parameters: dict[str, str]  # of the function around it, with their annotations
    layers: dict[str, str]  # attributes that __init__ sets, with what they are made of: {"first": "Linear"}
    takes_dim: frozenset[str] = frozenset()  # functions of the reference with a parameter `dim`

    @property
    def parent(self) -> ast.AST | None:
        """The node directly around it."""
        return self.above[-1] if self.above else None


def changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of an operator, a comparison or a literal."""
    if isinstance(node, ast.UnaryOp):
        yield from _unary(node, place)
    elif isinstance(node, ast.BoolOp):
        new = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield Change("and/or swapped", changed(node, op=new()))
    elif isinstance(node, ast.IfExp):
        yield from _branches(node, place.words)
    elif isinstance(node, ast.Constant):
        yield from _constant(node, place)
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        says = sentence("the two results came back in the other order") if isinstance(place.parent, ast.Return) else ""
        yield Change("pair swapped", changed(node, elts=node.elts[::-1]), says, cost=1)


def parameters_of(node: ast.FunctionDef) -> dict[str, str]:
    """Return the parameters of a function, with their annotations."""
    listed = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {
        each.arg: ast.unparse(each.annotation) if each.annotation else "Tensor" for each in listed if each.arg != "self"
    }


def _unary(node: ast.UnaryOp, place: Place) -> Iterator[Change]:
    """Drop a sign or an inversion."""
    inner = place.words.noun(node.operand)
    says = ""
    filled = inner == "∞" and isinstance(place.parent, ast.Call)
    if isinstance(node.op, ast.USub) and (number_of(node) is None or filled):
        says = sentence(
            "a minus sign were left out: +∞ in place of −∞" if inner == "∞" else "the minus sign were left out"
        )
    elif isinstance(node.op, ast.Invert):
        says = sentence(
            f"{inner} were turned around: True where it should be False" if inner else "a mask were turned around"
        )
    yield Change(f"{type(node.op).__name__} dropped", node.operand, says, cost=1)
    if isinstance(node.op, ast.USub) and inner == "∞" and isinstance(place.parent, ast.Call):
        for number, words in ((0.0, "0"), (-1e9, "−1e9")):
            yield Change(f"−inf → {words}", literal(number), sentence(f"{words} were put in where −∞ is due"), cost=1)


def _branches(node: ast.IfExp, words: Words) -> Iterator[Change]:
    """Take one branch always."""
    tested = node.test.left if isinstance(node.test, ast.Compare) else node.test
    if isinstance(tested, ast.Attribute) and tested.attr == "training":
        says = sentence("evaluation mode were the same as training mode")
    else:
        noun = words.noun(tested) or next((words.noun(part) for part in ast.walk(tested) if words.noun(part)), "")
        none = isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.Is)
        flag = isinstance(tested, ast.Name) and tested.id in words.public
        done = "were ignored" if none else "made no difference" if flag else "were not treated apart"
        says = sentence(f"{noun} {done}") if noun else ""
    yield Change("first branch always", node.body, says, cost=1)
    yield Change("second branch always", node.orelse)


def _constant(node: ast.Constant, place: Place) -> Iterator[Change]:
    """Another number, or the other truth value."""
    value = node.value
    if isinstance(value, bool):
        says = _flag(node, place)
        joint = sentence("the linear layers had biases") if says else ""
        yield Change(f"{value} → {not value}", ast.Constant(not value), says, cost=1, joint=joint)
    elif isinstance(value, int):
        for step in (1, -1):
            yield Change(
                f"{value} → {value + step}", ast.Constant(value + step), one_off(node, value + step, step, place)
            )
    elif isinstance(value, float):
        for new in (value * 2, value + 1.0):
            yield Change(f"{value} → {new}", ast.Constant(new))


def _flag(node: ast.Constant, place: Place) -> str:
    """Say that a layer has a bias where it should have none, or that a flag is the other way round."""
    if not isinstance(place.parent, ast.keyword):
        return ""
    name = place.parent.arg or ""
    layer = assigned_layer(place)
    if name == "bias" and node.value is False:
        return sentence(f"{layer} had a bias" if layer else "a linear layer had a bias")
    return ""


def assigned_layer(place: Place) -> str:
    """Name the public attribute that the statement around a node sets; "" if it sets none."""
    for node in reversed(place.above):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            public = isinstance(target, ast.Attribute) and target.attr in place.words.public
            return target.attr if public and isinstance(target, ast.Attribute) else ""
    return ""


def one_off(node: ast.Constant, new: int, step: int, place: Place) -> str:
    """Say that a slice begins or ends one place off, where `new` stands in the place of `node`: larger by `step`."""
    for inner, outer in zip(reversed([*place.above, node]), reversed(place.above), strict=False):
        if isinstance(outer, ast.Slice):
            of = next((place.words.noun(n) for n in reversed(place.above) if isinstance(n, ast.Subscript)), "")
            end = "began" if inner is outer.lower else "ended"
            later = step if not isinstance(place.parent, ast.UnaryOp) else -step
            when = "later" if later > 0 else "earlier"
            return sentence(f"the slice of {of} {end} one place {when}") if of else ""
    if isinstance(place.parent, ast.BinOp) and isinstance(place.parent.op, (ast.Add, ast.Sub)):
        other = place.words.noun(place.parent.left)
        if other in place.words.public and place.parent.right is node and new:
            done = "added to" if isinstance(place.parent.op, ast.Add) else "subtracted from"
            return sentence(f"{new} were {done} {other}")
    return ""


def index_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of what stands in square brackets."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield from _sizes(node, place)
        yield from _elements(node, place)


def _elements(node: ast.Subscript, place: Place) -> Iterator[Change]:
    """Another element: the first for the last, the second for the first; another axis of a shape."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    for at, part in enumerate(parts):
        old = number_of(part)
        if not isinstance(old, int) or is_library(node.value):
            continue
        for new in {0: (1, -1), -1: (0, -2, 1), 1: (0,), -2: (-1, 0, 1)}.get(old, ()):
            other = [*parts[:at], literal(new), *parts[at + 1 :]]
            index = changed(node.slice, elts=other) if isinstance(node.slice, ast.Tuple) else other[0]
            says = _element(node, int(old), new, shape, place)
            yield Change(f"[{old}] → [{new}]", changed(node, slice=index), says)


def _sizes(node: ast.Subscript, place: Place) -> Iterator[Change]:
    """The size of another tensor in the place of a size."""
    if not (
        isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(node.value.value, ast.Name)
    ):
        return
    own = node.value.value.id
    for name, kind in place.parameters.items():
        if name != own and kind == "Tensor" and {name, own} <= place.words.public:
            for axis in (-1, -2, 0):
                shape = changed(node.value, value=ast.Name(name, ast.Load()))
                says = sentence(f"the size of axis {signed(axis)} of {name} stood where a size of {own} is due")
                new = changed(node, value=shape, slice=literal(axis))
                yield Change(f"{own}.shape → {name}.shape[{axis}]", new, says)


def _element(node: ast.Subscript, old: int, new: int, shape: bool, place: Place) -> str:
    """Say which element was taken for which."""
    if shape and isinstance(node.value, ast.Attribute):
        of = place.words.noun(node.value.value)
        return (
            sentence(f"the size of axis {signed(new)} of {of} stood where that of axis {signed(old)} is due")
            if of
            else ""
        )
    of = place.words.noun(node.value)
    if isinstance(node.value, ast.Call):
        return sentence(f"the other one were taken of {of}") if of and new in (0, 1) else ""
    return sentence(f"{ordinal_place(new)} of {of} were read, not {ordinal_place(old)}") if of else ""
