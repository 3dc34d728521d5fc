"""Slips that write another formula in the place of one: operators of mutants, as in operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.diagnosis.mutants.operators import Change, Place, changed, literal
from grader.diagnosis.mutants.phrases import called, number_of, sentence

TURNED = ("transpose", "T", "mT")


def formula_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield other formulas for an expression."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from _divided_otherwise(node, place)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield from _compared_otherwise(node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _averaged_out(node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _exponential_features(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _other_losses(node.operand)
    elif isinstance(node, ast.Call):
        yield from _lengths(node)
        yield from _joined_otherwise(node)
        yield from _cross_entropies(node)
        yield from _shifted_otherwise(node)
        yield from _ridge(node)
        yield from _fixed_axis(node, place)
        yield from _ranges(node, place)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield from _one_later(node, place)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield from _windows_recut(node)


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
    left, column = node.left, None
    if isinstance(left, ast.Call) and called(left) == "max" and isinstance(left.func, ast.Attribute):
        column = left.func.value
    if isinstance(column, ast.Call) and called(column) == "sum" and isinstance(column.func, ast.Attribute):
        single = formula("X.max()", X=column.func.value)
        yield Change(
            "largest number",
            single,
            sentence("a single large weight were enough, where those of a column have to be added up"),
            cost=1,
        )
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


def _averaged_out(node: ast.BinOp) -> Iterator[Change]:
    """Put a mean in the place of what a mask takes out."""
    mask = node.right.value if isinstance(node.right, ast.Subscript) else node.right
    if called(mask) == "to":
        filled = formula("X * M + X.mean(-2, keepdim=True) * (1 - M)", X=node.left, M=node.right)
        says = sentence(
            "what is taken out were replaced by its mean over the tokens, where nothing of it should be left"
        )
        yield Change("mean for zero", filled, says)


def _exponential_features(node: ast.BinOp) -> Iterator[Change]:
    """Take an exponential in the place of elu + 1."""
    if called(node.left) == "elu" and number_of(node.right) == 1 and isinstance(node.left, ast.Call):
        says = sentence("an exponential stood in place of elu + 1")
        yield Change("exp features", formula("TORCH.exp(X)", X=node.left.args[0]), says, joint=says)


def _other_losses(node: ast.expr) -> Iterator[Change]:
    """Compare weights with a one-hot target in another way than by minus their logarithm."""
    pick = next((part for part in ast.walk(node) if called(part) == "gather"), None)
    if not isinstance(pick, ast.Call) or not isinstance(pick.func, ast.Attribute) or len(pick.args) != 2:
        return
    if called(pick.args[1]) != "unsqueeze" or not any(called(part) == "log" for part in ast.walk(node)):
        return
    hot = formula("F.one_hot(I.squeeze(-1), W.shape[-1]).to(W)", I=pick.args[1], W=pick.func.value)
    for what, code, says in (
        ("BCE", "F.binary_cross_entropy(W, T)", "a binary cross-entropy with the one-hot target were taken: it also counts the weights beside the target"),
        ("squares", "F.mse_loss(W, T)", "the squared error to the one-hot target were taken, not minus the logarithm of the weight on the target"),
        ("square sums", "(W - T).square().sum(-1).mean()", "the squared error to the one-hot target were taken, added up over each row, not minus the logarithm of the weight on the target"),
    ):  # fmt: skip
        yield Change(what, formula(code, W=pick.func.value, T=hot), sentence(says))


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


def _shifted_otherwise(node: ast.Call) -> Iterator[Change]:
    """Shift to the other side, or in a circle; or learn every next token."""
    if called(node) == "pad" and node.args and isinstance(node.args[0], ast.Subscript):
        rest = [*node.args[1:]]
        value = next((keyword.value for keyword in node.keywords if keyword.arg == "value"), ast.Constant(0))
        backwards = "the tokens were shifted to the other side: each place got the token before it"
        circle = "the shift went round in a circle (roll): the last place got the first token"
        for what, code, says in (
            ("backwards", "X.roll(1, -1)", f"{backwards}, the first one the last token"),
            ("backwards, padded", "F.pad(X[..., :-1], (1, 0), value=V)", backwards),
            ("in a circle", "X.roll(-1, -1)", circle),
        ):
            if rest:
                yield Change(what, formula(code, X=node.args[0].value, V=value), sentence(says))
    if called(node) == "shift_targets" and node.args:
        everything = formula("F.pad(X[..., 1:], (0, 1), value=-100)", X=node.args[0])
        says = sentence("every next token were learned, those of the question and the padding, too")
        yield Change("all next tokens", everything, says)


def _ridge(node: ast.Call) -> Iterator[Change]:
    """Add a penalty to the normal equations."""
    if called(node) == "pinv" and len(node.args) == 1:
        penalised = formula("TORCH.linalg.inv(X.T @ X + TORCH.eye(X.shape[1]).to(X)) @ X.T", X=node.args[0])
        says = sentence("1 were added along the diagonal before the fit (a ridge penalty): that is not the best fit")
        yield Change("ridge", penalised, says)


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


def _one_later(node: ast.Subscript, place: Place) -> Iterator[Change]:
    """Take as many rows, from the second one on."""
    assert isinstance(node.slice, ast.Slice)
    noun, upper = place.words.noun(node.value), node.slice.upper
    if node.slice.lower is None and upper is not None and noun and number_of(upper) is None:
        later = ast.Slice(lower=literal(1), upper=ast.BinOp(upper, ast.Add(), literal(1)))
        says = sentence(f"the slice of {noun} began at its second row, not at its first")
        yield Change("one row later", changed(node, slice=later), says, cost=1)


def _windows_recut(node: ast.Subscript) -> Iterator[Change]:
    """Mix the numbers of neighbours, x[..., place, :], by a reshape."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    if len(parts) == 3 and isinstance(parts[1], ast.Name) and isinstance(parts[2], ast.Slice):
        mixed = formula("(lambda p: p.transpose(-2, -1).reshape(p.shape))(X)", X=node)
        says = sentence(
            "the last two axes of the windows were brought into place by a reshape, where only a transpose keeps each neighbour's numbers together"
        )
        yield Change("windows recut", mixed, says, joint=says)
