"""Slips that concern a function as a whole, such as what its steps read: operators of mutants, as in operators."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator

from grader.explain.mutants.operators import Change, Place, parameters_of
from grader.explain.mutants.phrases import number_of, sentence
from grader.explain.nodes import called, changed, literal

POOLED = "each part of the batch were treated on its own, where all tokens have to be pooled first"
RATIOS = "each row were divided by its own sum and the ratios averaged: add up over all rows, then divide"
PARALLEL = "all steps read what comes in: each has to read what the step before it left"


def function_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of a function as a whole."""
    if not isinstance(node, ast.FunctionDef):
        return
    yield from _ratios(node)
    yield from _unpooled(node)
    yield from _also(node)
    yield from _as_handed_in(node)
    yield from _side_by_side(node)
    yield from _of_subject(node, place)


def _rewritten(node: ast.FunctionDef, rewrite: Callable[[ast.AST], ast.AST]) -> ast.FunctionDef:
    """Return a copy of a function in which some nodes are others."""

    class Rewriter(ast.NodeTransformer):
        def visit(self, inner: ast.AST) -> ast.AST:
            return rewrite(self.generic_visit(inner))

    return changed(node, body=[Rewriter().visit(copy.deepcopy(statement)) for statement in node.body])


def _is_sum_of_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called(node) == "sum" and not node.args and not node.keywords


def _ratios(node: ast.FunctionDef) -> Iterator[Change]:
    """Average ratios, in the place of a ratio of sums."""
    named = {
        target.id
        for part in node.body
        if isinstance(part, ast.Assign) and _is_sum_of_all(part.value)
        for target in part.targets
        if isinstance(target, ast.Name)
    }

    def is_total(part: ast.AST) -> bool:
        return _is_sum_of_all(part) or (isinstance(part, ast.Name) and part.id in named)

    def is_ratio(part: ast.AST) -> bool:
        is_quotient = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)
        return is_quotient and is_total(part.left) and is_total(part.right)  # type: ignore[attr-defined]

    if not any(map(is_ratio, ast.walk(node))):
        return

    def rewrite(part: ast.AST) -> ast.AST:
        if _is_sum_of_all(part):
            return changed(part, args=[literal(-1)])
        # Its sums have been rewritten by now, so it is known by the operator alone.
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            return ast.Call(ast.Attribute(part, "mean", ast.Load()), [], [])
        return part

    yield Change("mean of ratios", _rewritten(node, rewrite), sentence(RATIOS))


def _unpooled(node: ast.FunctionDef) -> Iterator[Change]:
    """Keep the leading axes, and average each part of the batch by itself."""

    def is_pooling(part: ast.AST) -> bool:
        numbers = [number_of(argument) for argument in part.args] if isinstance(part, ast.Call) else []
        return called(part) == "flatten" and numbers == [0, -2]

    if not any(map(is_pooling, ast.walk(node))):
        return

    def rewrite(part: ast.AST) -> ast.AST:
        if is_pooling(part):
            return part.func.value  # type: ignore[attr-defined]
        if called(part) == "mean" and [number_of(one) for one in part.args] == [0]:  # type: ignore[attr-defined]
            return changed(part, args=[literal(-2)], keywords=[ast.keyword("keepdim", ast.Constant(True))])
        return part

    yield Change("not pooled", _rewritten(node, rewrite), sentence(POOLED), cost=1)


def _own_steps(node: ast.FunctionDef) -> Iterator[tuple[int, str, ast.Assign]]:
    """Yield the statements that make a parameter of itself alone: key = f(key)."""
    parameters = parameters_of(node)
    for index, part in enumerate(node.body):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            name = part.targets[0].id
            reads = {inner.id for inner in ast.walk(part.value) if isinstance(inner, ast.Name)}
            if (
                parameters.get(name, "").startswith("Tensor")
                and name in reads
                and not (reads & (parameters.keys() - {name}))
            ):
                yield index, name, part


def _renamed(node: ast.AST, one: str, other: str) -> ast.AST:
    new = copy.deepcopy(node)
    for part in ast.walk(new):
        if isinstance(part, ast.Name) and part.id == one:
            part.id = other
    return new


def _also(node: ast.FunctionDef) -> Iterator[Change]:
    """Do to one input more what is done to another."""
    steps = list(_own_steps(node))
    done = {name for _, name, _ in steps}
    for name, kind in parameters_of(node).items():
        if steps and name not in done and kind == "Tensor":
            index, other, step = steps[-1]
            body = [*node.body[: index + 1], _renamed(step, other, name), *node.body[index + 1 :]]
            says = sentence(f"{name} went through the same function as {other}")
            yield Change(f"also {name}", changed(node, body=body), says, cost=1)


def _as_handed_in(node: ast.FunctionDef) -> Iterator[Change]:
    """Use an input in one place as it was handed in, before the step that makes something of it."""
    for index, name, _ in _own_steps(node):
        uses = [
            part
            for later in node.body[index + 1 :]
            for part in ast.walk(later)
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        ]
        kept = ast.parse(f"raw = {name}").body
        for use in uses if len(uses) > 1 else ():
            use.id = "raw"
            body = [*kept, *copy.deepcopy(node.body)]
            use.id = name
            says = sentence(
                f"{name} were used as it was handed in, before anything was done to it, in one place of several"
            )
            yield Change(f"raw {name}", changed(node, body=body), says)


def _side_by_side(node: ast.FunctionDef) -> Iterator[Change]:
    """Let all steps read the input, where each reads what the one before it left."""
    sums = Counter(name for part in ast.walk(node) if (name := _added_to(part)))
    name, count = next(iter(sums.most_common(1)), ("", 0))
    if count < 2:
        return
    new = copy.deepcopy(node)
    kept = {id(part.left) for part in ast.walk(new) if _added_to(part) == name}  # type: ignore[attr-defined]
    for part in ast.walk(new):
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load) and id(part) not in kept:
            part.id = "incoming"
    first = [
        index
        for index, part in enumerate(node.body)
        if isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == name
    ]
    at = 0 if name in parameters_of(node) else first[0] + 1 if first else 0
    new.body.insert(at, ast.parse(f"incoming = {name}").body[0])
    yield Change("steps in parallel", new, sentence(PARALLEL), cost=1)


def _added_to(node: ast.AST) -> str:
    """Return the name of what the result of a step is added to; "" if this is no such sum."""
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.Name)
    return node.left.id if is_sum and not isinstance(node.right, ast.Constant) else ""  # type: ignore[attr-defined]


def _of_subject(node: ast.FunctionDef, place: Place) -> Iterator[Change]:
    """Call the function on other inputs, or do something to its inputs first, as the subject knows."""
    parameters = list(parameters_of(node))
    for one in place.words.subject.instead:
        may_wrap = one.first or (node.name != "forward" and not node.decorator_list)
        fits = {*one.needs} <= {*parameters} and one.returns in ("", ast.unparse(node.returns or ast.Pass()))
        if may_wrap and fits:
            rest = "".join(f", {name}" for name in parameters if name not in one.needs)
            body = ast.parse(one.body.replace(", REST", rest)).body
            new = [*body, *node.body] if one.first else [changed(node, name="inner"), *body]
            yield Change(one.says, changed(node, body=new), sentence(one.says), cost=one.cost)
