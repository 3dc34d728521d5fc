"""From scratch: an exercise that asks to write a thing may not call the ready-made one.

Found in the source, by names: as function, method, module, import under another name, or a string handed to
getattr. Comments and strings elsewhere are fine, and so is every other exercise.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from grader.exercise import Exercise

# What an exercise's `bans` may name: the built-ins of torch that do its work.
BUILTINS: Mapping[str, frozenset[str]] = {
    "softmax": frozenset(
        {
            "softmax", "log_softmax", "softmin", "logsumexp", "_softmax", "_log_softmax", "special_softmax",
            "_safe_softmax", "special_log_softmax", "special_logsumexp", "gumbel_softmax",
            "Softmax", "LogSoftmax", "Softmin", "Softmax2d", "AdaptiveLogSoftmaxWithLoss",
            "cross_entropy", "CrossEntropyLoss", "logaddexp", "logcumsumexp",
        }
    ),
    "fused attention": frozenset(
        {
            "scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward", "flex_attention",
            "_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention",
            "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_cudnn_attention", "_native_multi_head_attention",
            "_transformer_encoder_layer_fwd", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer",
        }
    ),
}  # fmt: skip


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
            for name in _binds(node):
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
    ours, theirs = (_definitions(source, set(names)) for source in (answer, given))
    return bool(ours) and ours == theirs


def _definitions(source: str, names: set[str]) -> dict[str, str]:
    found = {}
    for top in _parse(source):
        for node in [top, *(top.body if isinstance(top, ast.If) else ())]:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
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


def _binds(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
