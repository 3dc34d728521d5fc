"""List the statements of a cell that can run, and leave out those that never do."""

import ast
from collections.abc import Iterator, Sequence

JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def flat(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.AST, bool]]:
    """Yield statements, and for a block its head and its statements, each with whether it runs for certain."""
    todo: list[tuple[ast.AST, bool]] = [(node, True) for node in reversed(live(body))]
    while todo:
        node, certain = todo.pop()
        match node:
            case ast.If(test=test) | ast.While(test=test):
                yield test, certain
                todo += [(inner, False) for inner in reversed(taken(node))]
            case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
                yield node, False  # of which the reader takes only the head
                todo += [(inner, False) for inner in reversed([*live(body), *live(orelse)])]
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                yield from ((item, certain) for item in items)
                # `with suppress(…)` may end anywhere.
                todo += [(inner, False) for inner in reversed(live(body))]
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                blocks = [body, *(handler.body for handler in handlers), orelse, finalbody]
                todo += [(inner, False) for block in reversed(blocks) for inner in reversed(live(block))]
            case _:
                yield node, certain


def live(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a block that can run: those up to the first that leaves the block."""
    end = next((index for index, node in enumerate(body) if isinstance(node, JUMPS)), len(body))
    return [*body[: end + 1]]


def taken(node: ast.If | ast.While | ast.IfExp) -> list:
    """Return the parts of a branch that can run: none under a constant condition that rules them out."""
    always = _constant(node.test)
    if isinstance(node, ast.IfExp):
        return [*([] if always is False else [node.body]), *([] if always is True else [node.orelse])]
    orelse = [] if always is True and isinstance(node, ast.If) else live(node.orelse)
    return [*([] if always is False else live(node.body)), *orelse]


def _constant(test: ast.expr) -> bool | None:
    """Return whether a condition always holds or never does; None if that depends."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            known = _constant(operand)
            return None if known is None else not known
        case ast.BoolOp(op=ast.And(), values=values) if any(_constant(value) is False for value in values):
            return False
        case ast.BoolOp(op=ast.Or(), values=values) if any(_constant(value) is True for value in values):
            return True
    return None
