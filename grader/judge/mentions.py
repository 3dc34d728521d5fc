"""Find names in the source of an answer, however it refers to them; the self-check in a notebook has a copy of this."""

import ast
from collections import deque
from collections.abc import Collection, Sequence

from grader.submission.code.source_names import names_bound_by, parse_statements, without_magics

HIDDEN = "something out of sight"
HINT = "Write it yourself here, with the operations of the lesson; the built-in is yours afterwards."
MOST_PARTS = 200  # nodes of a sum of string constants that are read: no name has a hundred letters


def complaint(used: Sequence[str]) -> str:
    """Return the sentence that tells the student what is wrong; of the banned built-ins used, it names only the first."""
    if used[0] == HIDDEN:
        return "it hides what it calls from the grader, so it cannot be seen that you wrote this yourself"
    return f"it calls {used[0]}, which does what this exercise asks you to write"


def mentions(answer: str, banned: Collection[str], others: Sequence[str] = ()) -> tuple[str, ...]:
    """List the banned names that an answer mentions, directly or through the student's own helpers.

    Args:
        answer: source of the exercise's cell.
        others: sources of the cells that the student added. A helper in them counts if the answer mentions
            it, or if another helper that counts mentions it.
    """
    used: list[str] = []
    for statement in reachable(answer, others):
        for node in ast.walk(statement):
            used += [name for name in _mentioned(node) if name in banned and name not in used]
    return tuple(used)


def reachable(answer: str, others: Sequence[str] = ()) -> list[ast.stmt]:
    """List the top-level statements of an answer, and of the student's own helpers that it uses, directly or through others."""
    helpers: dict[str, ast.stmt] = {}
    for source in others:
        for statement in statements(source):
            for name in names_bound_by(statement):
                helpers[name] = statement
    found: dict[int, ast.stmt] = {}
    queue = deque(statements(answer))
    while queue:
        statement = queue.popleft()
        if id(statement) not in found:
            found[id(statement)] = statement
            names = (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
            queue.extend(helpers[name] for name in names if name in helpers)
    return list(found.values())


def _mentioned(node: ast.AST) -> list[str]:
    """List the names by which a node of the syntax tree, without its children, may refer to a function."""
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
    if isinstance(node, (ast.BinOp, ast.JoinedStr)) and (text := _constant_text(node)):
        return [text]  # "scaled_dot_product" + "_attention"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return [node.slice.value] if isinstance(node.slice.value, str) else []
    return []


def _constant_text(node: ast.AST) -> str:
    """Return the text of a string constant, of a sum of string constants, or of an f-string of them.

    Return "" for any other node, where any part is empty, and for more nodes than a name that is banned has.
    """
    parts: list[str] = []
    todo = [node]
    for _ in range(MOST_PARTS):  # a loop: a sum of a thousand terms is too deep for a call
        if not todo:
            return "".join(parts)
        match todo.pop():
            case ast.Constant(value=str(text)) if text:
                parts.append(text)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                todo += (right, left)
            case ast.JoinedStr(values=[_, *_] as values):
                todo += reversed(values)
            case ast.FormattedValue(value=value):
                todo.append(value)
            case _:
                return ""
    return ""


def statements(source: str) -> list[ast.stmt]:
    """Parse a cell to its top-level statements, magics left out; return [] if it does not parse."""
    return parse_statements(without_magics(source)) or []
