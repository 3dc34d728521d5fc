"""Small changes of statements: their order, their place inside or after a block, and a missing return."""

import ast
from typing import Any

from grader.explain.repairs.change import Changes, Look, changed, exchanged, is_text, put

BLOCKS = (ast.For, ast.While, ast.If, ast.With)
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
BEHIND = Look("this line must run after the block, not inside it: check the indentation.")


def of_statements(node: Any) -> Changes:
    """Yield changes of the statements in a block."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, (ast.ClassDef, ast.Module)):
        return
    for index, statement in enumerate(body):
        after = body[index + 1] if index + 1 < len(body) else None
        if isinstance(statement, BLOCKS):
            yield from _moved(node, index, statement)
        if isinstance(statement, SIMPLE) and isinstance(after, (*SIMPLE, *BLOCKS)) and not is_text(statement):
            says = "this line runs too early: move it below the next statement."
            yield 3, Look(says), statement.lineno, changed(node, body=exchanged(body, index))
        if isinstance(statement, ast.Assign) and isinstance(after, ast.Assign) and _alike(statement, after):
            says = "the right sides of this line and the next one are swapped."
            both = changed(statement, value=after.value), changed(after, value=statement.value)
            yield 2, Look(says), statement.lineno, changed(node, body=[*body[:index], *both, *body[index + 2 :]])
    if isinstance(node, ast.FunctionDef):
        yield from _returned(node)


def _moved(node: Any, index: int, block: Any) -> Changes:
    """Yield changes that move the last statements of a block behind it."""
    for count in (1, 2, 3):
        if len(block.body) > count:
            shorter = changed(block, body=block.body[:-count])
            new = changed(node, body=put(node.body, index, shorter, *block.body[-count:]))
            yield 2, BEHIND, block.body[-count].lineno, new


def _returned(node: ast.FunctionDef) -> Changes:
    """Yield the `return` that a function lacks. It returns the value that the function prints or computes last."""
    if any(isinstance(part, (ast.Return, ast.Yield)) for part in ast.walk(node)) or node.name == "__init__":
        return
    last = node.body[-1]

    def ends(value: ast.expr | None) -> ast.FunctionDef:
        return changed(node, body=[*node.body[:-1], ast.Return(value)])

    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and last.value.args:
        if getattr(last.value.func, "id", "") == "print":
            says = "`print` shows the result, but the function returns nothing. Return the result."
            yield 0, Look(says), last.lineno, ends(last.value.args[-1])
    elif isinstance(last, ast.Expr):
        yield (
            0,
            Look("the result is computed here but not returned. Write `return` in front."),
            last.lineno,
            ends(last.value),
        )
    elif isinstance(last, ast.Assign):
        says = "the result is computed here, but the function does not return it."
        yield 0, Look(says), last.lineno, ends(last.value)


def _alike(one: ast.Assign, other: ast.Assign) -> bool:
    """Return True if two assignments call the same function, such as nn.Linear, with any arguments."""
    calls = [value.func for value in (one.value, other.value) if isinstance(value, ast.Call)]
    return len(calls) == 2 and ast.dump(calls[0]) == ast.dump(calls[1])
