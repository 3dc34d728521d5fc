"""Small changes of the order and the place of statements: in a loop or behind it, before or after another, overwritten or added up."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

from grader.explain.repairs.edits import Change

Changes = Iterator[tuple[int, str, int, Change]]  # rank, what the student reads, line, change

BLOCKS = (ast.For, ast.While, ast.If, ast.With)
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
BEHIND = "this belongs behind the block that it stands in: look at the indentation."
WITHIN = "this belongs into the block above: look at the indentation."
OVERWRITTEN = "each round overwrites `{}`; what the rounds bring has to be put together."


def of_statements(node: Any) -> Changes:
    """Yield changes of the statements in a block."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, (ast.ClassDef, ast.Module)):
        return
    for index, statement in enumerate(body):
        after = body[index + 1] if index + 1 < len(body) else None
        if isinstance(statement, BLOCKS):
            yield from _moved(index, statement, after)
        if isinstance(statement, ast.For):
            yield from _put_together(node, index, statement)
        if isinstance(statement, ast.If) and statement.orelse:
            says = "what stands under `else` or `elif` is not tried where this condition holds."
            yield 5, says, statement.orelse[0].lineno, _unwraps_else(index)
        if isinstance(statement, SIMPLE) and isinstance(after, (*SIMPLE, *BLOCKS)) and not _is_text(statement):
            says = "look at the order of this line and what follows: it comes too early."
            yield 3, says, statement.lineno, _exchanges(index)
        if isinstance(statement, ast.Assign) and isinstance(after, ast.Assign) and _alike(statement, after):
            says = "look at this line and the next: their right sides have changed places."
            yield 2, says, statement.lineno, _exchanges_values(index)
    if isinstance(node, ast.FunctionDef):
        yield from _returned(node)


def _moved(index: int, block: Any, after: ast.stmt | None) -> Changes:
    """Move the end of a block behind it, or what follows into it."""
    for count in (1, 2, 3):
        if len(block.body) > count:
            yield 2, BEHIND, block.body[-count].lineno, _moves_out(index, count)
    if after is not None and not isinstance(after, (ast.Return, ast.FunctionDef)):
        yield 4, WITHIN, after.lineno, _moves_in(index)


def _put_together(node: Any, index: int, loop: ast.For) -> Changes:
    """Add up, or put into one list, what each round of a loop overwrites."""
    for place, statement in enumerate(loop.body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            begins = any(_assigns(before, name) for before in node.body[:index])
            yield (
                3, OVERWRITTEN.format(name), statement.lineno,
                _adds_up(index, place, begins, isinstance(statement.value, ast.List)),
            )  # fmt: skip


def _returned(node: ast.FunctionDef) -> Changes:
    """Return what a function without a `return` prints or computes last."""
    if any(isinstance(part, (ast.Return, ast.Yield)) for part in ast.walk(node)) or node.name == "__init__":
        return
    last = node.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and last.value.args:
        if getattr(last.value.func, "id", "") == "print":
            says = "`print` shows the result, and the function returns nothing. Return it."
            yield 0, says, last.lineno, _ends_with(ast.Return(last.value.args[-1]))
    elif isinstance(last, ast.Expr):
        yield 0, "the result is made here and not returned.", last.lineno, _ends_with(ast.Return(last.value))
    elif isinstance(last, ast.Assign):
        says = "the result is made here, and the function ends without a return."
        yield 0, says, last.lineno, _ends_with(ast.Return(last.value))


def _assigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == name


def _alike(one: ast.Assign, other: ast.Assign) -> bool:
    """Tell whether two assignments call the same function, as nn.Linear twice."""
    calls = [value.func for value in (one.value, other.value) if isinstance(value, ast.Call)]
    return len(calls) == 2 and ast.dump(calls[0]) == ast.dump(calls[1])


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# ---------------------------------------------------------------- changes of a block, in place


def _exchanges(index: int) -> Change:
    def change(node: Any) -> None:
        node.body[index], node.body[index + 1] = node.body[index + 1], node.body[index]

    return change


def _exchanges_values(index: int) -> Change:
    def change(node: Any) -> None:
        one, other = copy.copy(node.body[index]), copy.copy(node.body[index + 1])
        one.value, other.value = other.value, one.value
        node.body[index : index + 2] = [one, other]

    return change


def _moves_out(index: int, count: int) -> Change:
    def change(node: Any) -> None:
        block = copy.copy(node.body[index])
        moved, block.body = block.body[-count:], block.body[:-count]
        node.body[index : index + 1] = [block, *moved]

    return change


def _moves_in(index: int) -> Change:
    def change(node: Any) -> None:
        block = copy.copy(node.body[index])
        block.body = [*block.body, node.body.pop(index + 1)]
        node.body[index] = block

    return change


def _adds_up(index: int, place: int, begins: bool, listed: bool) -> Change:
    def change(node: Any) -> None:
        loop = copy.copy(node.body[index])
        loop.body = list(loop.body)
        old = loop.body[place]
        name = old.targets[0].id
        total = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), old.value)
        loop.body[place] = ast.Assign([ast.Name(name, ast.Store())], total, lineno=old.lineno)
        start: ast.expr = ast.List([], ast.Load()) if listed else ast.Constant(0)
        first = [] if begins else [ast.Assign([ast.Name(name, ast.Store())], start, lineno=loop.lineno)]
        node.body[index : index + 1] = [*first, loop]

    return change


def _unwraps_else(index: int) -> Change:
    def change(node: Any) -> None:
        block = copy.copy(node.body[index])
        rest, block.orelse = block.orelse, []
        node.body[index : index + 1] = [block, *rest]

    return change


def _ends_with(statement: ast.stmt) -> Change:
    def change(node: Any) -> None:
        node.body[-1] = statement

    return change
