"""Name the parts of a reference in plain words, so that a mutant can be described without a line of the solution.

A phrase names an identifier only if it is public: a parameter, an attribute that the task prescribes, an earlier exercise.
Everything else is named by its kind: "the softmax", "the root", "the masking".
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "softmax": "the softmax", "stable_softmax": "the softmax", "log_softmax": "the log-softmax",
    "exp": "the exponential", "log": "the logarithm", "sqrt": "the root", "square": "the square",
    "sum": "the sum", "mean": "the mean", "amax": "the maximum", "max": "the maximum", "argmax": "the argmax",
    "masked_fill": "the masking", "normalize": "the normalisation to length 1",
    "cross_entropy": "the cross-entropy", "dropout": "the dropout", "elu": "the elu", "gelu": "the GELU",
    "clamp": "the clamp", "abs": "the absolute value", "norm": "the length",
}  # fmt: skip
# Methods that leave the numbers as they are: what they return goes by the name of what they work on.
TRANSPARENT = {
    "masked_fill", "to", "double", "unsqueeze", "squeeze", "detach", "flatten", "unflatten", "reshape", "transpose",
    "expand", "permute", "clone", "T", "mT",
}  # fmt: skip
METHODS = KINDS.keys() | TRANSPARENT | {"gather", "tril", "roll", "any", "all", "item", "diagonal", "scatter"}
# Local variables of the reference that a student knows by the field's word, whatever they are called in the answer.
FIELD = {
    "scores": "the scores", "weights": "the weights", "targets": "the targets", "logits": "the logits",
    "heads": "the heads", "loss": "the loss", "value": "the values", "key": "the keys", "query": "the queries",
    "tokens": "the tokens", "context": "the context", "similarity": "the similarities", "output": "the output",
    "token_ids": "the token ids", "ended": "the rows that have ended", "maps": "the maps", "slices": "the slices of W_O",
    "position": "the positions", "following": "the next tokens", "entropy": "the entropy", "total": "the total",
    "exps": "the exponentials", "largest": "the largest score", "answers": "the choice of the answer",
    "before": "the tokens", "after": "the aligned tokens", "dropout": "the dropout rate", "mask": "the mask",
    "real": "the padding", "near": "the window", "neighbour": "the positions of the neighbours",
    "somewhere": "the queries that may attend nowhere", "nowhere": "the queries that may attend nowhere",
    "seen": "what cross_attn returns", "image_tokens": "the image tokens", "update": "the update",
}  # fmt: skip
STEPS = {
    "train": "the switch to training mode", "eval": "the switch to evaluation mode",
    "zero_grad": "the clearing of the old gradients", "step": "the optimizer's step",
    "backward": "the backward pass", "append": "the collecting in the list",
}  # fmt: skip
LIBRARIES = ("torch", "F", "nn", "math")


class Words:
    """What may be named, and how."""

    def __init__(self, public: frozenset[str]) -> None:
        self.public = public

    def callee(self, call: ast.expr) -> str:
        """Name what a call calls: "norm1", "the softmax"; "" if it has no name that a student knows."""
        name = called(call)
        return KINDS.get(name) or (name if name in self.public else "")

    def noun(self, node: ast.AST | None) -> str:
        """Name what an expression stands for; "" if there is no word for it."""
        if (number := number_of(node)) is not None:
            return signed(number)
        if isinstance(node, ast.Name):
            return node.id if node.id in self.public else FIELD.get(node.id, "")
        if isinstance(node, ast.Attribute) and node.attr in TRANSPARENT:
            return self.noun(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr if node.attr in self.public and not is_library(node.value) else ""
        if isinstance(node, ast.Call):
            callee = self.callee(node)
            if called(node) in TRANSPARENT and isinstance(node.func, ast.Attribute):
                return self.noun(node.func.value) or callee
            return f"what {callee} returns" if callee in self.public else callee
        if isinstance(node, ast.Subscript):
            return self._part(node)
        if isinstance(node, ast.BinOp):
            names = {ast.MatMult: "the matrix product", ast.Div: "the quotient", ast.Add: "the sum"}
            return names.get(type(node.op), "")
        return ""

    def _part(self, node: ast.Subscript) -> str:
        """Name a part of something: a size, or the whole it is a part of."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            of, axis = self.noun(node.value.value), number_of(node.slice)
            return f"the size of axis {signed(axis)} of {of}" if of and axis is not None else ""
        return self.noun(node.value)


# What it says when a call is left out that changes the axes and not the numbers.
SHAPERS = {
    "flatten": "axes were not joined that have to be (flatten or reshape)",
    "reshape": "axes were not joined that have to be (flatten or reshape)",
    "unflatten": "an axis were not split that has to be (unflatten or view)",
    "item": ".item() were left out: a tensor came back, not a number",
}


def sentence(what: str) -> str:
    """Make the sentence that a student reads."""
    return f"It comes out as if {what}."


def called(node: ast.AST | None) -> str:
    """Return the last name of what a call calls; "" if it is no call."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_library(node: ast.AST) -> bool:
    """Tell whether this is torch, F, nn or math, or a part of them."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES


def number_of(node: ast.AST | None) -> float | int | None:
    """Return the number that a literal stands for, with its sign; None if it is no number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Attribute) and node.attr == "inf":
        return float("inf")
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    return None


def signed(number: float) -> str:
    """Write a number as the pages do: "−2", "−∞"."""
    text = "∞" if abs(number) == float("inf") else f"{abs(number):g}"
    return f"−{text}" if number < 0 else text


def ordinal_place(index: int) -> str:
    """Name a position: "the first", "the last", "position 2"."""
    return {0: "the first", -1: "the last"}.get(index, f"position {signed(index)}")
