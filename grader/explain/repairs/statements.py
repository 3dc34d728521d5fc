"""Small changes of the order and the place of statements: in a loop or behind it, before or after another, overwritten or added up."""

import ast
from typing import Any

from grader.explain.nodes import changed, is_text, put
from grader.explain.repairs.change import Changes, exchanged

BLOCKS = (ast.For, ast.While, ast.If, ast.With)
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
BEHIND = "this belongs behind the block that it stands in: look at the indentation."
WITHIN = "this belongs into the block above: look at the indentation."
KEPT = "what `{}` makes is thrown away here: keep it in a name."
OVERWRITTEN = "each round overwrites `{}`; what the rounds bring has to be put together."


def of_statements(node: Any) -> Changes:
    """Yield changes of the statements in a block."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, (ast.ClassDef, ast.Module)):
        return
    for index, statement in enumerate(body):
        after = body[index + 1] if index + 1 < len(body) else None
        if isinstance(statement, BLOCKS):
            yield from _moved(node, index, statement, after)
        if isinstance(statement, ast.For):
            yield from _put_together(node, index, statement)
        if isinstance(statement, ast.Expr):
            yield from _kept(node, index, statement.value)
        if isinstance(statement, ast.If) and statement.orelse:
            says = "what stands under `else` or `elif` is not tried where this condition holds."
            behind = put(body, index, changed(statement, orelse=[]), *statement.orelse)
            yield 5, says, statement.orelse[0].lineno, changed(node, body=behind)
        if isinstance(statement, SIMPLE) and isinstance(after, (*SIMPLE, *BLOCKS)) and not is_text(statement):
            says = "look at the order of this line and what follows: it comes too early."
            yield 3, says, statement.lineno, changed(node, body=exchanged(body, index))
        if isinstance(statement, ast.Assign) and isinstance(after, ast.Assign) and _alike(statement, after):
            says = "look at this line and the next: their right sides have changed places."
            both = changed(statement, value=after.value), changed(after, value=statement.value)
            yield 2, says, statement.lineno, changed(node, body=[*body[:index], *both, *body[index + 2 :]])
    if isinstance(node, ast.FunctionDef):
        yield from _returned(node)


def _moved(node: Any, index: int, block: Any, after: ast.stmt | None) -> Changes:
    """Move the end of a block behind it, or what follows into it."""
    for count in (1, 2, 3):
        if len(block.body) > count:
            shorter = changed(block, body=block.body[:-count])
            new = changed(node, body=put(node.body, index, shorter, *block.body[-count:]))
            yield 2, BEHIND, block.body[-count].lineno, new
    if after is not None and not isinstance(after, (ast.Return, ast.FunctionDef)):
        longer = changed(block, body=[*block.body, after])
        yield 4, WITHIN, after.lineno, changed(node, body=[*node.body[:index], longer, *node.body[index + 2 :]])


def _put_together(node: Any, index: int, loop: ast.For) -> Changes:
    """Add up, or put into one list, what each round of a loop overwrites."""
    for place, statement in enumerate(loop.body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            start: ast.expr = ast.List([], ast.Load()) if isinstance(statement.value, ast.List) else ast.Constant(0)
            begins = any(_assigns(before, name) for before in node.body[:index])
            first = [] if begins else [_assign(name, start, loop.lineno)]
            total = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), statement.value)
            summing = changed(loop, body=put(loop.body, place, _assign(name, total, statement.lineno)))
            says = OVERWRITTEN.format(name)
            yield 3, says, statement.lineno, changed(node, body=put(node.body, index, *first, summing))


def _kept(node: Any, index: int, call: ast.expr) -> Changes:
    """Give a name what a method makes of it and what is thrown away."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        new = ast.Assign([ast.Name(call.func.value.id, ast.Store())], call, lineno=call.lineno)
        yield 1, KEPT.format(call.func.attr), call.lineno, changed(node, body=put(node.body, index, new))


def _assign(name: str, value: ast.expr, line: int) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=line)


def _returned(node: ast.FunctionDef) -> Changes:
    """Add the `return` that a function lacks, of what it prints or computes last."""
    if any(isinstance(part, (ast.Return, ast.Yield)) for part in ast.walk(node)) or node.name == "__init__":
        return
    last = node.body[-1]

    def ends(value: ast.expr | None) -> ast.FunctionDef:
        return changed(node, body=[*node.body[:-1], ast.Return(value)])

    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and last.value.args:
        if getattr(last.value.func, "id", "") == "print":
            says = "`print` shows the result, and the function returns nothing. Return it."
            yield 0, says, last.lineno, ends(last.value.args[-1])
    elif isinstance(last, ast.Expr):
        yield 0, "the result is made here and not returned.", last.lineno, ends(last.value)
    elif isinstance(last, ast.Assign):
        says = "the result is made here, and the function ends without a return."
        yield 0, says, last.lineno, ends(last.value)


def _assigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == name


def _alike(one: ast.Assign, other: ast.Assign) -> bool:
    """Tell whether two assignments call the same function, as nn.Linear twice."""
    calls = [value.func for value in (one.value, other.value) if isinstance(value, ast.Call)]
    return len(calls) == 2 and ast.dump(calls[0]) == ast.dump(calls[1])
