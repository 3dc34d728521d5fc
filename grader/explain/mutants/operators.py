"""Small changes to one place of a program, each as a slip of the hand would make it: the operators of mutants.

An operator takes a node and yields `Change`s. Those with a sentence also explain wrong answers; those without only measure
the checks (benchmarks/truth).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from grader.explain.mutants.phrases import Words, number_of, sentence


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
    layers: dict[str, str]  # attributes that __init__ sets, with what they are made of: {"W_Q": "Linear"}
    takes_dim: frozenset[str] = frozenset()  # functions of the reference with a parameter `dim`

    @property
    def parent(self) -> ast.AST | None:
        """The node directly around it."""
        return self.above[-1] if self.above else None


ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
INSTEAD = {
    ast.Add: "{right} were added where it should be subtracted",
    ast.Sub: "{right} were subtracted where it should be added",
    ast.Mult: "it were multiplied by {right} where it should be divided",
    ast.Div: "it were divided by {right} where it should be multiplied",
    ast.BitOr: "one of two conditions were enough where both must hold",
    ast.BitAnd: "two conditions had to hold where one is enough",
}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
REVERSED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
LIMITS = {
    ast.LtE: "the comparison{about} let in its limit, which must stay out (≤ for <, or ≥ for >)",
    ast.GtE: "the comparison{about} let in its limit, which must stay out (≤ for <, or ≥ for >)",
    ast.Lt: "the comparison{about} left out its limit, which must be let in (< for ≤, or > for ≥)",
    ast.Gt: "the comparison{about} left out its limit, which must be let in (< for ≤, or > for ≥)",
    ast.NotEq: "the comparison{about} were turned around",
    ast.Eq: "the comparison{about} were turned around",
}


AFTER = "the norms came after the additions (post-norm) and not before the steps (pre-norm)"


def changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of an operator, a comparison or a literal."""
    if isinstance(node, ast.BinOp):
        yield from _binary(node, place.words)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield from _comparison(node, place.words)
    elif isinstance(node, ast.UnaryOp):
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


def changed(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields; the children are shared."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def parameters_of(node: ast.FunctionDef) -> dict[str, str]:
    """Return the parameters of a function, with their annotations."""
    listed = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {
        each.arg: ast.unparse(each.annotation) if each.annotation else "Tensor" for each in listed if each.arg != "self"
    }


def literal(number: float) -> ast.expr:
    """Return the node of a number."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-number)) if number < 0 else ast.Constant(number)


def _says(template: str, **words: str) -> str:
    """Fill a template; "" if one of its words is missing."""
    return sentence(template.format(**words)) if all(words.values()) else ""


def _binary(node: ast.BinOp, words: Words) -> Iterator[Change]:
    """Exchange an operator, drop one side, do it twice."""
    left, right, kind = words.noun(node.left), words.noun(node.right), type(node.op)
    if kind is ast.MatMult:
        says = sentence("the two factors of the matrix product were exchanged")
        yield Change("operands of @ swapped", changed(node, left=node.right, right=node.left), says, cost=1)
        yield from _products(node, words)
    elif kind in ARITHMETIC:
        new = ARITHMETIC[kind]
        says = "" if number_of(node.right) else _says(INSTEAD.get(new, ""), right=right) if new in INSTEAD else ""
        yield Change(f"{kind.__name__} → {new.__name__}", changed(node, op=new()), says, cost=1)
    dropped = {
        ast.Add: _says("{right} were not added to {left}", right=right, left=left) or _says("{right} were not added", right=right),
        ast.Sub: _says("{right} were not subtracted from {left}", right=right, left=left)
        or _says("{right} were not subtracted", right=right),
        ast.Mult: _says("the multiplication by {right} were left out", right=right),
        ast.Div: _says("the division by {right} were left out", right=right),
        ast.FloorDiv: _says("the division by {right} were left out", right=right),
        ast.MatMult: _says("the matrix product with {right} were left out", right=right),
        ast.BitAnd: _second_condition(node.right, words), ast.BitOr: _second_condition(node.right, words),
    }  # fmt: skip
    steps = kind is ast.Sub and number_of(node.right) is None
    joint = _says("{right} were not subtracted anywhere", right=right) if steps else ""
    yield Change("right operand dropped", node.left, dropped.get(kind, ""), cost=1, joint=joint)
    if kind is ast.Add:
        says = _says(
            "{left} were not added to {right}", left=left, right=right if number_of(node.right) is None else ""
        )
        yield Change("left operand dropped", node.right, says, cost=1)
        says = _says("{left} were added twice", left=left)
        yield Change(
            "left operand twice", ast.BinOp(node, ast.Add(), node.left), says,
            joint=_says("{left} were added twice in every step", left=left),
        )  # fmt: skip
    if kind in (ast.BitAnd, ast.BitOr):
        yield Change("left operand dropped", node.right, _second_condition(node.left, words), cost=1)
    if kind is ast.Div:
        twice = ast.BinOp(node, ast.Div(), node.right)
        yield Change("divided twice", twice, _says("it were divided by {right} twice", right=right), cost=1)
        says = sentence("the division cut off everything after the point (//)")
        yield Change("Div → FloorDiv", changed(node, op=ast.FloorDiv()), says, cost=2)


def _products(node: ast.BinOp, words: Words) -> Iterator[Change]:
    """Multiply in another way than matrices do, where one of them is turned for it."""
    turned = node.right.func if isinstance(node.right, ast.Call) else node.right
    noun = words.noun(node.left)
    if isinstance(node.left, ast.Name) and isinstance(node.right, ast.Name):
        crossed = ast.Call(ast.Attribute(node.left, "transpose", ast.Load()), [literal(-2), literal(-1)], [])
        says = sentence(f"{noun} were transposed before the matrix product") if noun else ""
        yield Change("the left side turned", changed(node, left=crossed), says, cost=1)
    if not isinstance(turned, ast.Attribute) or turned.attr not in ("transpose", "T"):
        return
    other = turned.value

    def turn(tensor: ast.expr) -> ast.expr:
        return ast.Call(ast.Attribute(tensor, "transpose", ast.Load()), [literal(-2), literal(-1)], [])

    def unit(tensor: ast.expr) -> ast.expr:
        length = [ast.keyword("dim", literal(-1)), ast.keyword("keepdim", ast.Constant(True))]
        return ast.BinOp(tensor, ast.Div(), ast.Call(ast.Attribute(tensor, "norm", ast.Load()), [], length))

    for what, new, says in (
        ("the left side turned", ast.BinOp(turn(node.left), ast.MatMult(), other), "the first factor were transposed, not the second"),
        ("* for @", ast.BinOp(node.left, ast.Mult(), other), "the numbers were multiplied one by one (*), where a matrix product (@) is due"),
        ("* for @, turned", changed(node, op=ast.Mult()), "the numbers were multiplied one by one (*), not as matrices (@)"),
        ("cosine", ast.BinOp(unit(node.left), ast.MatMult(), turn(unit(other))), "the vectors were brought to length 1 first (cosine similarity), where plain dot products are due"),
    ):  # fmt: skip
        yield Change(what, new, sentence(says), cost=1)


def _second_condition(node: ast.expr, words: Words) -> str:
    """Say that one of two conditions is not looked at."""
    names = [words.noun(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    about = next((name for name in names if name), "")
    return sentence(
        f"one of two conditions were left out: that on {about}" if about else "one of two conditions were left out"
    )


def _replaced(tree: ast.AST, old: ast.AST, new: ast.AST) -> Any:
    """Return a copy of an expression in which one node is another."""
    if tree is old:
        return new
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            fields[name] = _replaced(value, old, new)
        elif isinstance(value, list):
            fields[name] = [_replaced(item, old, new) if isinstance(item, ast.AST) else item for item in value]
    return changed(tree, **fields)


def _comparison(node: ast.Compare, words: Words) -> Iterator[Change]:
    """Take the limit in or out, or turn the comparison around."""
    noun = words.noun(node.comparators[0]) or words.noun(node.left)
    about = f" with {noun}" if noun else ""
    old = type(node.ops[0])
    new = COMPARISONS[old]
    known = new in LIMITS and (new not in (ast.Eq, ast.NotEq) or noun in words.public)
    says = sentence(LIMITS[new].format(about=about)) if known else ""
    yield Change(f"{old.__name__} → {new.__name__}", changed(node, ops=[new()]), says, cost=1)
    if old in (ast.Lt, ast.LtE):
        says = sentence(f"the comparison{about} asked for equality (==)")
        yield Change(f"{old.__name__} → Eq", changed(node, ops=[ast.Eq()]), says)
    if old in REVERSED:
        turned = REVERSED[old]
        says = sentence(_of_axes(node, words) or f"the comparison{about} were the wrong way round (< for >)")
        yield Change(f"{old.__name__} → {turned.__name__}", changed(node, ops=[turned()]), says)


def _of_axes(node: ast.Compare, words: Words) -> str:
    """Say what a comparison of a number of axes decides; "" if it compares something else."""
    left = node.left.func if isinstance(node.left, ast.Call) else node.left
    if not isinstance(left, ast.Attribute) or left.attr not in ("ndim", "dim"):
        return ""
    name = words.noun(left.value) or "a tensor"
    return f"{name} got an axis where it needs none, or none where it needs one"


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
    """Say that a slice begins or ends one place off."""
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
