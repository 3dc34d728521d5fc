"""Slips that concern a function as a whole, such as what its steps read: operators of mutants, as in operators."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator

from grader.explain.mutants.operators import Change, Place, parameters_of
from grader.explain.mutants.phrases import sentence
from grader.explain.nodes import called, changed, rewritten
from grader.explain.patterns import Table

POOLED = "each part of the batch were treated on its own, where all tokens have to be pooled first"
RATIOS = "each row were divided by its own sum and the ratios averaged: add up over all rows, then divide"
PARALLEL = "all steps read what comes in: each has to read what the step before it left"

POOLING = Table("1 X.flatten(0, -2) → X")
EACH_MEAN = Table("1 X.mean(0, **K) → X.mean(-2, keepdim=True)")
EACH_RATIO = Table("""
1 X.sum() → X.sum(-1)
1 A / B → (A / B).mean()
""")


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


def _is_sum_of_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called(node) == "sum" and not node.args and not node.keywords


def _ratios(node: ast.FunctionDef) -> Iterator[Change]:
    """Average ratios, in the place of a ratio of sums."""
    assigned = [part for part in node.body if isinstance(part, ast.Assign) and _is_sum_of_all(part.value)]
    named = {target.id for part in assigned for target in part.targets if isinstance(target, ast.Name)}

    def is_total(part: ast.AST) -> bool:
        return _is_sum_of_all(part) or (isinstance(part, ast.Name) and part.id in named)

    quotients = [part for part in ast.walk(node) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)]
    if any(is_total(part.left) and is_total(part.right) for part in quotients):
        yield Change("mean of ratios", _throughout(node, EACH_RATIO), sentence(RATIOS))


def _unpooled(node: ast.FunctionDef) -> Iterator[Change]:
    """Keep the leading axes, and average each part of the batch by itself."""
    if any(found for part in ast.walk(node) for found in POOLING.found(part)):
        yield Change("not pooled", _throughout(_throughout(node, POOLING), EACH_MEAN), sentence(POOLED), cost=1)


def _throughout(node: ast.FunctionDef, table: Table) -> ast.FunctionDef:
    """Make the changes of a table wherever they fit, in the inner expressions first."""
    return rewritten(node, lambda part: next((found.new({}) for found in table.found(part)), part))


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
