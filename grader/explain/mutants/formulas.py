"""Slips that write another formula in the place of one: operators of mutants, as in operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.explain.mutants.operators import Change, Place, changed, literal
from grader.explain.mutants.phrases import called, number_of, sentence

TURNED = ("transpose", "T", "mT")


def formula_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield other formulas for an expression."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from _divided_otherwise(node, place)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield from _compared_otherwise(node)
    elif isinstance(node, ast.Call):
        yield from _lengths(node)
        yield from _joined_otherwise(node)
        yield from _cross_entropies(node)
        yield from _fixed_axis(node, place)
        yield from _ranges(node, place)


def formula(code: str, **parts: ast.expr) -> ast.expr:
    """Parse an expression whose capital names stand for parts; TORCH and F stand for the libraries."""
    libraries = {"TORCH": "__import__('torch')", "F": "__import__('torch').nn.functional"}

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in libraries:
                return ast.parse(libraries[node.id], mode="eval").body
            return parts.get(node.id, node)

    return Filled().visit(ast.parse(code, mode="eval")).body


def _divided_otherwise(node: ast.BinOp, place: Place) -> Iterator[Change]:
    """Divide by something else than a root, or than a sum that makes weights of numbers."""
    width = _under_root(node.right)
    parameters = [name for name in ("query", "key") if name in place.parameters]
    if width is not None:
        forms = [
            ("root of all", "TORCH.sqrt(X / W)", "the root were taken of the whole quotient, not of the divisor alone"),
            ("÷ std", "X / X.std()", "it were divided by the standard deviation that was measured, not by the root of the width"),
            ("÷ int root", "X / int(R)", "the root were rounded down to a whole number before the division"),
        ]  # fmt: skip
        for name, code in (
            ("key", "X / key.norm(dim=-1).unsqueeze(-2)"),
            ("query", "X / query.norm(dim=-1, keepdim=True)"),
        ):
            if name in parameters:
                says = f"it were divided by the length of each {name}, not by the root of the width"
                forms.append((f"÷ length of {name}", code, says))
        for what, code, says in forms:
            yield Change(what, formula(code, X=node.left, W=width, R=node.right), sentence(says), cost=3)
    elif len(parameters) == 2 and number_of(node.right) is None:
        count = formula("X / key.shape[-2]", X=node.left)
        yield Change("÷ count", count, sentence("it were divided by the number of keys"), cost=2)


def _under_root(node: ast.expr) -> ast.expr | None:
    """Return what a root is taken of; None if an expression is no root."""
    if called(node) == "sqrt" and isinstance(node, ast.Call) and node.args:
        return node.args[0]
    is_power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and number_of(node.right) == 0.5
    return node.left if is_power and isinstance(node, ast.BinOp) else None


def _compared_otherwise(node: ast.BinOp) -> Iterator[Change]:
    """Measure distances in the place of dot products, or bring the products into shape by a reshape."""
    turned = node.right.func if isinstance(node.right, ast.Call) else node.right
    if not isinstance(turned, ast.Attribute) or turned.attr not in TURNED:
        return
    recut = "(lambda p: p.reshape(*p.shape[:-2], p.shape[-1], p.shape[-2]))(B @ A.transpose(-2, -1))"
    for what, code, says in (
        ("distances", "TORCH.cdist(A, B)", "the distances between the vectors were measured (cdist), not their dot products"),
        ("−distances", "-TORCH.cdist(A, B)", "the distances between the vectors stood, with a minus, where their dot products are due"),
        ("recut", recut, "the product were made the other way round and then brought into shape by a reshape: only a transpose moves each number to its row"),
    ):  # fmt: skip
        yield Change(what, formula(code, A=node.left, B=turned.value), sentence(says), cost=2)


def _lengths(node: ast.Call) -> Iterator[Change]:
    """Take one length for all vectors, forget a root, or take the length of a sum."""
    inner = node.func.value if isinstance(node.func, ast.Attribute) else None
    whole = sentence("one length were taken for the whole tensor, where each vector has its own")
    squared = sentence("it were divided by the squared length: a root is missing")
    if called(node) == "normalize" and node.args:
        for what, code, says in (
            ("one length", "X / X.norm()", whole),
            ("squared length", "X / X.square().sum(-1, keepdim=True)", squared),
        ):
            yield Change(what, formula(code, X=node.args[0]), says, joint=says)
    elif called(node) == "norm" and inner is not None and not node.args:
        if any(keyword.arg == "keepdim" for keyword in node.keywords):
            yield Change("one length", formula("X.norm()", X=inner), whole, joint=whole)
            squares = formula("X.square().sum(-1, keepdim=True)", X=inner)
            yield Change("squared length", squares, squared, joint=squared)
        else:
            added = formula("X.sum(-2, keepdim=True).expand_as(X).norm(dim=-1)", X=inner)
            says = sentence("everything along axis −2 were added up first, and the length taken of the sum")
            yield Change("length of the sum", added, says)


def _joined_otherwise(node: ast.Call) -> Iterator[Change]:
    """Average what should stand side by side, or join it along the axis in front."""
    turned = node.func.value if isinstance(node.func, ast.Attribute) else None
    last = called(node) == "flatten" and [number_of(argument) for argument in node.args] == [-2]
    if not last or not isinstance(turned, ast.Call) or called(turned) != "transpose":
        return
    assert isinstance(turned.func, ast.Attribute)
    heads = turned.func.value
    mean = "the mean of the heads were repeated{}, where their numbers have to stand side by side"
    first = "the heads were looked for along the first axis, which is the batch where there is one"
    for what, code, says in (
        ("mean, repeated", "X.mean(-3).repeat_interleave(X.shape[-3], -1)", mean.format(" (number by number)")),
        ("mean, tiled", "TORCH.cat([X.mean(-3)] * X.shape[-3], -1)", mean.format(" (number by number)")),
        ("along the first", "TORCH.cat(tuple(X), -1)", first),
    ):
        yield Change(what, formula(code, X=heads), sentence(says))


def _cross_entropies(node: ast.Call) -> Iterator[Change]:
    """Add the loss of the other direction, or divide by all places."""
    if called(node) != "cross_entropy" or len(node.args) < 2 or not isinstance(node.func, ast.Attribute):
        return
    scores, labels = node.args[:2]
    both = "(F.cross_entropy(S, L) + F.cross_entropy(S[:, L].T, TORCH.arange(len(S), device=S.device))) / 2"
    says = sentence("the loss of the other direction were added and the mean of both taken; one is asked for")
    yield Change("both directions", formula(both, S=scores, L=labels), says)
    total = changed(node, keywords=[*node.keywords, ast.keyword("reduction", ast.Constant("sum"))])
    says = sentence("the losses were divided by the number of all places, the ignored ones included")
    yield Change("÷ all places", formula("X / L.numel()", X=total, L=labels), says)


def _fixed_axis(node: ast.Call, place: Place) -> Iterator[Change]:
    """Run over a fixed axis, where the caller says which."""
    inner = place.words.callee(node)
    if not inner or not node.args or not isinstance(node.args[0], ast.Name) or node.args[0].id != "dim":
        return
    for axis, which in ((-1, "last"), (0, "first")):
        fixed = changed(node, args=[literal(axis), *node.args[1:]])
        says = sentence(f"{inner} ran over the {which} axis, whatever dim says")
        yield Change(f"dim → {axis}", fixed, says, cost=1)


def _ranges(node: ast.Call, place: Place) -> Iterator[Change]:
    """Go in steps of 1; or count what was there before, too."""
    if called(node) != "range":
        return
    if len(node.args) == 3 and isinstance(node.args[2], ast.Name):
        single = formula("range(A, B - S + 1)", A=node.args[0], B=node.args[1], S=node.args[2])
        says = sentence(f"the steps were 1 long, not {node.args[2].id}: the pieces overlap")
        if node.args[2].id in place.words.public:
            yield Change("steps of 1", single, says, joint=says)
    elif len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id in place.words.public:
        for name in place.parameters:
            if name.endswith("_ids"):
                fewer = formula("range(N - X.shape[-1])", N=node.args[0], X=ast.Name(name, ast.Load()))
                says = sentence(f"{node.args[0].id} counted the tokens of {name}, too, not the new ones alone")
                yield Change("count of all", changed(node, args=fewer.args), says)  # type: ignore[attr-defined]
