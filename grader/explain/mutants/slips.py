"""Slips that are one row of a table each: how it is written rightly, how wrongly, and what is said of it.

grader/explain/patterns.py says how a row is read. Its number tells how far-fetched a slip is: 1 for a frequent one.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from grader.explain.mutants.operators import Change, Place
from grader.explain.mutants.phrases import Words, number_of, sentence
from grader.explain.nodes import called, changed
from grader.explain.patterns import Table

LIBRARIES = {name: f"__import__('torch'){part}" for name, part in (("torch", ""), ("F", ".nn.functional"))}
LIBRARIES["math"] = "__import__('math')"
NAMES = {"REDUCED": ("sum", "mean", "amax"), "TRIANGLE": ("tril", "triu")}

ARITHMETIC = """
1 A @ B → B @ A  # the two factors of the matrix product were exchanged
1 NAME(A) @ NAME(B) → A.transpose(-2, -1) @ B  # {A} were transposed before the matrix product
1 A @ TURNED(B) → A.transpose(-2, -1) @ B  # the first factor were transposed, not the second
1 A @ TURNED(B) → A * B  # the numbers were multiplied one by one (*), where a matrix product (@) is due
1 A @ (R := TURNED(B)) → A * R  # the numbers were multiplied one by one (*), not as matrices (@)
1 A @ TURNED(B) → A / A.norm(dim=-1, keepdim=True) @ (B / B.norm(dim=-1, keepdim=True)).transpose(-2, -1)  # the vectors were brought to length 1 first (cosine similarity), where plain dot products are due
1 A @ B → A  # the matrix product with {B} were left out
2 A @ TURNED(B) → torch.cdist(A, B)  # the distances between the vectors were measured (cdist), not their dot products
2 A @ TURNED(B) → -torch.cdist(A, B)  # the distances between the vectors stood, with a minus, where their dot products are due
2 A @ TURNED(B) → (lambda p: p.reshape(*p.shape[:-2], p.shape[-1], p.shape[-2]))(B @ A.transpose(-2, -1))  # the product were made the other way round and then brought into shape by a reshape: only a transpose moves each number to its row

1 A + B → A - B  # {B:word} were subtracted where it should be added
1 A + B → A  # {B} were not added[ to {A}]
1 A + B → B  # {A} were not added to {B:word}
2 A + B → A + B + A  # {A} were added twice # everywhere: {A} were added twice in every step
1?* (C := G(A)) + NUMBER(N) → G(A + N)  # {N} were added inside {C:callee}, not to what it returns
1?* (C := G(A)) + NUMBER(N) → C  # {N} were not added to {C:callee}
2? A + B → torch.cat([A, B.expand_as(A)], -1)  # {B:public} were put beside {A:public} (concatenated), not added to it

1 A - B → A + B  # {B:word} were added where it should be subtracted
1 A - B → A  # {B} were not subtracted[ from {A}] # everywhere: {B:word} were not subtracted anywhere

1 A * B → A / B  # it were divided by {B:word} where it should be multiplied
1 A * B → A  # the multiplication by {B} were left out
1 A ** B → A * B  # it were multiplied by {B:word}, not raised to that power
1 A ** B → A
1 A % B → A * B
1 A % B → A
1 A ^ B → A
1 A // B → A * B  # it were multiplied by {B:word} where it should be divided
1 A // B → A  # the division by {B} were left out

1 A / B → A * B  # it were multiplied by {B:word} where it should be divided
1 A / B → A  # the division by {B} were left out
1 A / B → A / B / B  # it were divided by {B} twice
2 A / B → A // B  # the division cut off everything after the point (//)
2 A / (B := masked_fill(*Z)) → A / (B + E) for E in 0.1, 0.01, 0.001, 1e-6  # {E} were added to the divisor, which changes the result
2 A / (B := sum(*Z)) → A / (B + E) for E in 0.1, 0.01, 0.001, 1e-6  # {E} were added to the divisor, which changes the result
3 X / ROOT(W) → torch.sqrt(X / W)  # the root were taken of the whole quotient, not of the divisor alone
3 X / ROOT(W) → X / X.std()  # it were divided by the standard deviation that was measured, not by the root of the width
3 X / (R := ROOT(W)) → X / int(R)  # the root were rounded down to a whole number before the division

1 A & B → A | B
1 A & KNOWN(B) → A | B  # one of two conditions were enough where both must hold
1 A & B → A  # one of two conditions were left out[: that on {B:inside}]
1 A & B → B  # one of two conditions were left out[: that on {A:inside}]
1 A | B → A & B
1 A | KNOWN(B) → A & B  # two conditions had to hold where one is enough
1 A | B → A  # one of two conditions were left out[: that on {B:inside}]
1 A | B → B  # one of two conditions were left out[: that on {A:inside}]
"""

OTHER_NAMES = """
2* X.sum → X.mean  # a mean stood in place of a sum
2* X.mean → X.sum  # a sum stood in place of a mean
2* X.amax → X.amin  # the smallest were taken for the largest
2* X.tril → X.triu  # the other triangle were kept
2* X.triu → X.tril  # the other triangle were kept
2* X.log → X.exp  # an exponential stood in place of the logarithm
2* X.exp → X.log  # a logarithm stood in place of the exponential
2* X.argmax → X.argmin  # the least likely were taken for the likeliest
2* X.eval → X.train  # the model were put into training mode, not into evaluation mode
2* X.train → X.eval  # the model were put into evaluation mode, not into training mode
2* X.softmax → X.log_softmax  # a log-softmax stood in place of the softmax
2* X.norm → X.sum  # a plain sum stood in place of the length
2* X.zeros → X.ones  # ones stood in place of zeros
2* X.ones → X.zeros  # zeros stood in place of ones
2* X.all → X.any  # one were enough where all are due
2* X.any → X.all  # all were needed where one is enough
2* X.GELU → X.ReLU  # a ReLU stood in place of the GELU
2* X.elu → X.relu  # a relu stood in place of the elu
2 X.detach → X.clone
2 X.unsqueeze → X.squeeze
2 X.zero_grad → X.state_dict
2 X.step → X.state_dict
2 X.backward → X.detach
1 X.T → X  # two axes were not swapped that have to be
1 X.T → X.reshape(X.T.shape)  # a reshape or view stood where axes have to be swapped: the shape is right, but the numbers go elsewhere
"""

COMPARISONS = """
1 A < B → A <= B  # the comparison[ with {B,A}] let in its limit, which must stay out (≤ for <, or ≥ for >)
2 A < B → A == B  # the comparison[ with {B,A}] asked for equality (==)
2 A < B → A > B  # {it:way round}
1 A <= B → A < B  # the comparison[ with {B,A}] left out its limit, which must be let in (< for ≤, or > for ≥)
2 A <= B → A == B  # the comparison[ with {B,A}] asked for equality (==)
2 A <= B → A >= B  # {it:way round}
1 A > B → A >= B  # the comparison[ with {B,A}] let in its limit, which must stay out (≤ for <, or ≥ for >)
2 A > B → A < B  # {it:way round}
1 A >= B → A > B  # the comparison[ with {B,A}] left out its limit, which must be let in (< for ≤, or > for ≥)
2 A >= B → A <= B  # {it:way round}
1 A == B → A != B  # the comparison with {B,A:public} were turned around
1 A != B → A == B  # the comparison with {B,A:public} were turned around
1 A is B → A is not B
1 A is not B → A is B
1 A in B → A not in B
1 A not in B → A in B
"""

SLICES = """
1? X[:NAME(N)] → X  # all of {X} were taken, where only the first few are due
1? X[:NAME(N)] → X[-N:]  # the last ones of {X} were taken, where the first ones are due
"""

STEPS_LEFT_OUT = """
2 flatten(X, *Z) → X  # axes were not joined that have to be (flatten or reshape)
2 reshape(X, *Z) → X  # axes were not joined that have to be (flatten or reshape)
2 unflatten(X, *Z) → X  # an axis were not split that has to be (unflatten or view)
2 item(X, *Z) → X  # .item() were left out: a tensor came back, not a number
1 pad(X[I], *Z) → X  # the shift by one place were left out
2 (M := max(*Z)) → M.clamp(0)  # the maximum were never below 0
2 (M := amax(*Z)) → M.clamp(0)  # the maximum were never below 0
1 sqrt(X, *Z) → X / 2  # it were halved where a root is due: `x ** 1/2` means (x ** 1) / 2, so put 1/2 in brackets
"""

CALLS = """
1* X.transpose(A, B) → X.transpose(-2, -1)  # the axes −2 and −1 were swapped
1* X.transpose(A, B) → X.transpose(-3, -2)  # the axes −3 and −2 were swapped
1* X.transpose(A, B) → X.transpose(-3, -1)  # the axes −3 and −1 were swapped
1* X.transpose(A, B) → X.transpose(0, 1)  # the axes 0 and 1 were swapped
1* X.transpose(A, B) → X.transpose(1, 2)  # the axes 1 and 2 were swapped
1* X.transpose(A, B) → X  # two axes were not swapped that have to be
1 X.transpose(-2, -1) → X.T  # `.T` turned all axes around, where only the last two have to be swapped
1 X.transpose(-1, -2) → X.T  # `.T` turned all axes around, where only the last two have to be swapped
1* X.transpose(A, B) → X.reshape(X.transpose(A, B).shape)  # a reshape or view stood where axes have to be swapped: the shape is right, but the numbers go elsewhere
1 cross_entropy(*Z) → cross_entropy(*Z, reduction='sum')  # the losses were added up where their mean is due
1 cross_entropy(*Z) → cross_entropy(*Z, reduction='none')  # there were one loss for each place, where their mean is due
2 L.cross_entropy(A, *Z) → L.nll_loss(A.softmax(-1), *Z)  # the logarithm were missing in the loss: minus the mean probability came out
1 cross_entropy(A, *Z) → cross_entropy(A.softmax(-1), *Z)  # a softmax came before the cross-entropy, which does one itself
1* X.REDUCED(*Z) → X.REDUCED()  # {it:callee} ran over everything, where one axis is due
1 X.REDUCED() → X.REDUCED(N) for N in -1, 0  # {it:callee} ran over axis {N} alone, where everything is due
1 X.TRIANGLE() → X.TRIANGLE(-1)  # the triangle left out the diagonal
1 X.TRIANGLE() → X.TRIANGLE(1)  # the triangle reached one place beyond the diagonal
1 arange(N, **K) → arange(1, N + 1, **K)  # the positions were counted from 1, not from 0
2 X.norm(**K) → X.norm(1, **K)  # absolute values were added up where the Euclidean length is due
2 cat([A, *Z], *Y) → A  # only the first part were kept and nothing joined to it
2 cat([*Z, A], *Y) → A  # only the last part were kept and nothing joined to it
3 (C := LINEAR(A)) → F.gelu(C)  # a GELU followed {C:callee} # everywhere: a GELU followed every linear layer
2 LOG(X) → math.log2(X)  # a logarithm to base 2 stood where the natural one is due
2 entr(X) → -(X * (X + E).log()) for E in 0.1, 0.01, 0.001, 1e-6  # {E} were added inside the logarithm, which changes the result
2 X.log(*Z) → (X + E).log(*Z) for E in 0.1, 0.01, 0.001, 1e-6  # {E} were added inside the logarithm, which changes the result
"""

FORMULAS = """
2* normalize(X, *Z) → X / X.norm()  # one length were taken for the whole tensor, where each vector has its own
2* normalize(X, *Z) → X / X.square().sum(-1, keepdim=True)  # it were divided by the squared length: a root is missing
2* X.norm(*Z, keepdim=B) → X.norm()  # one length were taken for the whole tensor, where each vector has its own
2* X.norm(*Z, keepdim=B) → X.square().sum(-1, keepdim=True)  # it were divided by the squared length: a root is missing
2 X.norm() → X.sum(-2, keepdim=True).expand_as(X).norm(dim=-1)  # everything along axis −2 were added up first, and the length taken of the sum
2 X.norm(dim=D) → X.sum(-2, keepdim=True).expand_as(X).norm(dim=-1)  # everything along axis −2 were added up first, and the length taken of the sum
1? G(dim, *Z) → G(-1, *Z)  # {it:callee} ran over the last axis, whatever dim says
1? G(dim, *Z) → G(0, *Z)  # {it:callee} ran over the first axis, whatever dim says
2?* range(A, B, NAME(S)) → range(A, B - S + 1)  # the steps were 1 long, not {S:public}: the pieces overlap
"""


def _name(node: Any, place: Any) -> list[ast.AST] | None:
    return [node] if isinstance(node, ast.Name) else None


def _number(node: Any, place: Any) -> list[ast.AST] | None:
    return [node] if number_of(node) is not None else None


def _turned(node: Any, place: Any) -> list[ast.AST] | None:
    """A tensor that is transposed."""
    turned = node.func if isinstance(node, ast.Call) else node
    return [turned.value] if isinstance(turned, ast.Attribute) and turned.attr in ("transpose", "T", "mT") else None


def _known(node: Any, place: Place) -> list[ast.AST] | None:
    """What has a name that students know."""
    return [node] if place.words.noun(node) and number_of(node) is None else None


def root(node: Any, place: Any) -> list[ast.AST] | None:
    """What a root is taken of."""
    if called(node) == "sqrt" and node.args:
        return [node.args[0]]
    is_power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and number_of(node.right) == 0.5
    return [node.left] if is_power else None


def _quantity(node: Any, place: Any) -> list[ast.AST] | None:
    """What is neither a root nor a number."""
    return [node] if root(node, place) is None and number_of(node) is None else None


def _parameter(node: Any, place: Place) -> list[ast.AST] | None:
    """A parameter of which more is used than its shape and the like."""
    around = place.parent
    is_used = isinstance(around, ast.Call) or (
        isinstance(around, ast.Attribute) and around.attr not in ("shape", "device", "dtype")
    )
    return [node] if is_used and isinstance(node, ast.Name) and node.id in place.parameters else None


def _compared(node: Any, place: Place) -> list[ast.AST] | None:
    """A whole number that is handed in and compared with something."""
    is_number = isinstance(node, ast.Name) and place.parameters.get(node.id) == "int"
    return [node] if is_number and isinstance(place.parent, ast.Compare) else None


def _linear(node: Any, place: Place) -> list[ast.AST] | None:
    """The input of a linear layer."""
    is_layer = place.layers.get(called(node)) == "Linear" and len(node.args) == 1
    return list(node.args) if is_layer else None


def _log(node: Any, place: Any) -> list[ast.AST] | None:
    """What math's logarithm is taken of."""
    is_log = called(node) == "log" and isinstance(node.func, ast.Name)
    return list(node.args) if is_log else None


VIEWS = {
    "NAME": _name, "NUMBER": _number, "KNOWN": _known, "TURNED": _turned, "ROOT": root, "QUANTITY": _quantity, "LINEAR": _linear, "LOG": _log,
    "PARAMETER": _parameter, "COMPARED": _compared,
}  # fmt: skip


class Slips:
    """An operator: yields the changes of the rows that fit a node."""

    def __init__(self, text: str) -> None:
        self.table = Table(text, VIEWS, NAMES)

    def __call__(self, node: ast.AST, place: Place) -> Iterator[Change]:
        """Yield the changes of a node."""
        words = place.words
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return

        def name(part: Any, how: str) -> str:
            if isinstance(part, str):
                return part
            if how == "callee":
                return words.callee(part)
            if how == "way round":
                return _way_round(part, words)
            if how == "inside":
                names = (words.noun(one) for one in ast.walk(part) if isinstance(one, (ast.Name, ast.Attribute)))
                return next((one for one in names if one), "")
            noun = words.noun(part)
            is_other = (how == "word" and number_of(part) is not None) or (how == "public" and noun not in words.public)
            return "" if is_other else noun

        for found in self.table.found(node, place, place.parameters, words.alike):
            says, new = found.says(name), found.new(LIBRARIES)
            if found.row.public and found.row.public not in words.public:
                continue
            if (says or not found.row.only_said) and ast.dump(new) != ast.dump(node):
                joint = found.joint(name)
                yield Change(
                    found.row.change, new, says and sentence(says), cost=found.row.mark, joint=joint and sentence(joint)
                )


def _way_round(node: ast.Compare, words: Words) -> str:
    """Say what it does to turn a comparison the other way round."""
    left = node.left.func if isinstance(node.left, ast.Call) else node.left
    if isinstance(left, ast.Attribute) and left.attr in ("ndim", "dim"):
        return f"{words.noun(left.value) or 'a tensor'} got an axis where it needs none, or none where it needs one"
    noun = words.noun(node.comparators[0]) or words.noun(node.left)
    return f"the comparison{f' with {noun}' if noun else ''} were the wrong way round (< for >)"


def unshifted(node: ast.AST, place: Place) -> Iterator[Change]:
    """Compare with a parameter, where something that was made of it is due."""
    if not isinstance(node, ast.Name) or not isinstance(place.parent, ast.Compare) or node.id in place.parameters:
        return
    noun = place.words.noun(node)
    for name, kind in place.parameters.items():
        with_parameter = isinstance(place.parent.comparators[0], ast.Name)
        if with_parameter and noun and kind == "Tensor" and name in place.words.public:
            says = sentence(f"{name} stood where {noun} should stand")
            yield Change(f"{node.id} → {name}", changed(node, id=name), says)


def of_subject(table: str) -> Callable[[ast.AST, Place], Iterator[Change]]:
    """Return an operator: the rows that only a subject has, in its table `slips` or `formulas`."""
    return lambda node, place: _slips(getattr(place.words.subject, table))(node, place)


_slips = cache(Slips)
