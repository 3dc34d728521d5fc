"""Name the parts of a reference in plain words, so that a mutant can be described without a line of the solution.

A phrase names an identifier only if it is public: a parameter, an attribute that the task prescribes, an earlier exercise.
Everything else is named by its kind: "the softmax", "the root", "the masking".
"""

import ast
from collections.abc import Mapping

from grader.declare.subject import Subject
from grader.explain.nodes import called, is_library

KINDS: Mapping[str, str] = {
    "softmax": "the softmax", "log_softmax": "the log-softmax",
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
STEPS = {
    "train": "the switch to training mode", "eval": "the switch to evaluation mode",
    "zero_grad": "the clearing of the old gradients", "step": "the optimizer's step",
    "backward": "the backward pass", "append": "the collecting in the list",
}  # fmt: skip


class Words:
    """What may be named, and how."""

    def __init__(self, public: frozenset[str], subject: Subject) -> None:
        self.public, self.subject, self.alike = public, subject, subject.alike

    def kind(self, call: ast.AST) -> str:
        """Return the name of the function that a call calls, or of PyTorch's that it counts as."""
        name = called(call)
        return self.alike.get(name, name)

    def callee(self, call: ast.AST) -> str:
        """Name what a call calls: "norm1", "the softmax"; "" if it has no name that a student knows."""
        name = called(call)
        return KINDS.get(self.kind(call)) or (name if name in self.public else "")

    def noun(self, node: ast.AST | None) -> str:
        """Name what an expression stands for; "" if there is no word for it."""
        if (number := number_of(node)) is not None:
            return signed(number)
        if isinstance(node, ast.Name):
            return node.id if node.id in self.public else self.subject.nouns.get(node.id, "")
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


def sentence(what: str) -> str:
    """Make the sentence that a student reads."""
    return f"It comes out as if {what}."


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
