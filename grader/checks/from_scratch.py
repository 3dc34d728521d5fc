"""From scratch: an exercise that asks to write a thing may not call the ready-made one.

Found twice. In the source, by names: as function, method, module, import under another name, or a string handed to
getattr. And by the sandbox's tripwire, as what ran while the exercise was probed, whatever it was called. Comments
and strings elsewhere are fine, and so is every other exercise.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from grader.declaration.builtin_names import ATTENTION_OPERATORS, BUILTINS, HEAD_OPERATORS, operators
from grader.declaration.exercise import Exercise
from grader.notebook.source_names import binds, remembered

HIDDEN = "something out of sight"
SWITCHED_OFF = "switched off"  # what the tripwire reports of itself


def ran_builtins(
    exercise: Exercise, trips: Iterable[tuple[str, str]], flagged: Collection[str]
) -> tuple[str, ...]:
    """The banned built-ins that ran while an exercise was probed, in words.

    Args:
        trips: as evidence has them; not to be trusted, and of no use to anybody.
        flagged: exercises that have paid for theirs already: what runs in their answers is not paid for again.
    """
    banned = {*operators(exercise.bans), SWITCHED_OFF} if exercise.bans else set()
    ran = [operator for operator, other in trips if operator in banned and other not in flagged]
    return tuple(dict.fromkeys(_spoken(operator) for operator in ran))


def complaint(used: Sequence[str]) -> str:
    """What the student is told, in one sentence."""
    if used[0] == HIDDEN:
        return "it hides what it calls from the grader, so it cannot be seen that you wrote this yourself"
    return f"it calls {used[0]}, which does what this exercise asks you to write"


def _spoken(operator: str) -> str:
    if operator == SWITCHED_OFF:
        return HIDDEN
    if operator in ATTENTION_OPERATORS:
        return "flex_attention" if operator == "flex_attention" else "scaled_dot_product_attention"
    if operator in HEAD_OPERATORS:
        return "nn.Transformer" if "ransformer" in operator else "nn.MultiheadAttention"
    return operator.removeprefix("aten::").removeprefix("special_").lstrip("_")


def used_builtins(exercise: Exercise, answer: str, others: Sequence[str] = ()) -> tuple[str, ...]:
    """The banned built-ins that an answer uses, itself or through the student's own helpers.

    Args:
        answer: source of the exercise's cell.
        others: sources of the student's own cells; a helper there counts where the answer, or a helper that it
            calls, names it. Earlier exercises are judged on their own.
    """
    banned = frozenset().union(*(BUILTINS[ban] for ban in exercise.bans))
    if not banned:
        return ()
    helpers: dict[str, ast.stmt] = {}
    for source in others:
        for node in _parse(source):
            for name in binds(node):
                helpers[name] = node
    found: list[str] = []
    seen: set[int] = set()
    todo = list(_parse(answer))
    while todo:
        node = todo.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        for inner in ast.walk(node):
            found += [name for name in _names(inner) if name in banned and name not in found]
            if isinstance(inner, ast.Name) and inner.id in helpers:
                todo.append(helpers[inner.id])
    return tuple(found)


def same_definitions(answer: str, given: str, names: Sequence[str]) -> bool:
    """Whether an answer defines the names just as a given cell does, docstrings and annotations aside."""
    ours, theirs = (
        {name: bare for name, bare in _definitions(source).items() if name in names}
        for source in (answer, given)
    )
    return bool(ours) and ours == theirs


@remembered
def _definitions(source: str) -> Mapping[str, str]:
    """The functions and classes of a cell, by name: as text without docstrings and annotations."""
    found = {}
    for top in _parse(source):
        for node in [top, *(top.body if isinstance(top, ast.If) else ())]:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                with suppress(RecursionError):  # a sum of a thousand terms: no given cell has one
                    found[node.name] = ast.dump(_Bare().visit(node))
    return found


class _Bare(ast.NodeTransformer):
    """Without docstrings and annotations."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.Call) and any(isinstance(argument, ast.Constant) for argument in node.args):
        # getattr(F, "softmax"), operator.attrgetter("softmax"), vars(F).get("softmax")
        return [
            argument.value
            for argument in node.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
    if isinstance(node, (ast.BinOp, ast.JoinedStr)) and (text := _folded(node)):
        return [text]  # "scaled_dot_product" + "_attention"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return [node.slice.value] if isinstance(node.slice.value, str) else []
    return []


def _folded(node: ast.AST) -> str:
    """The text that a sum of string constants, or an f-string of them, comes to; empty if it is none."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            parts = [_folded(left), _folded(right)]
        case ast.JoinedStr(values=values):
            parts = [_folded(value) for value in values]
        case ast.FormattedValue(value=value):
            return _folded(value)
        case _:
            return ""
    return "".join(parts) if all(parts) else ""


def _parse(source: str) -> list[ast.stmt]:
    lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    try:
        return ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
