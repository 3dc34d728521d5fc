"""Leave out of a code what changes no result: lines that are never reached, values that nobody reads, prints."""

import ast
from collections.abc import Collection, Iterator, Sequence

from grader.submission.code.words import without_docs

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCK_PARTS = (ast.stmt, ast.excepthandler, ast.match_case)  # what the blocks of a statement hold
MOST_ROUNDS = 10  # each takes out what only the code of the round before has read
BLOCKS = ("body", "orelse", "finalbody")
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)
IDLE_CALLS = frozenset(("print", "display"))


def live(statements: list[ast.stmt], wanted: Collection[str]) -> list[ast.stmt]:
    """Return code without comments and dead code, for comparing and not for running; the trees are changed in place.

    Args:
        statements: short and flat, as `is_small` tells.
        wanted: names that count as read, such as those that an exercise asks to define.
    """
    module = ast.Module(body=statements, type_ignores=[])
    without_docs(module)
    size = 0
    for _ in range(MOST_ROUNDS):
        before, size = size, sum(1 for _ in ast.walk(module))
        if size == before:
            break
        module.body = _pruned(module.body, {*wanted, *_read(module.body)}, inside_class=False)
    return module.body


def _read(block: Sequence[ast.AST], inside: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a block reads, but for those that only the statement that binds them reads.

    `inside` has the functions and classes around the block: what they read of themselves does not count.
    """
    for node in block:
        own = inside.union(_only_binds(node))
        parts = [*ast.iter_child_nodes(node)]
        blocks = [part for part in parts if isinstance(part, BLOCK_PARTS)]
        for part in parts:
            if part not in blocks:
                for inner in ast.walk(part):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id not in own:
                        yield inner.id
        yield from _read(blocks, own if isinstance(node, DEFINITIONS) else inside)


def _only_binds(node: ast.AST) -> list[str]:
    """Return the names of a definition, or of an assignment that sets nothing but names; [] of any other statement."""
    if isinstance(node, DEFINITIONS):
        return [node.name]
    match node:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            targets = [target]
        case _:
            return []
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _pruned(block: list[ast.stmt], read: Collection[str], *, inside_class: bool) -> list[ast.stmt]:
    """Return a block without its dead statements."""
    kept: list[ast.stmt] = []
    for statement in block:
        for one in _reached(statement):
            for name in BLOCKS:
                if inner := getattr(one, name, None):
                    setattr(one, name, _pruned(inner, read, inside_class=isinstance(one, ast.ClassDef)))
            if not _is_dead(one, read, inside_class=inside_class):
                kept.append(one)
            if isinstance(one, ENDS):
                return kept
    return kept


def _reached(statement: ast.stmt) -> list[ast.stmt]:
    """Return the branch that runs, where the condition is a constant; else the statement itself."""
    match statement:
        case ast.If(test=ast.Constant(value=value)):
            return statement.body if value else statement.orelse
        case ast.While(test=ast.Constant(value=value)) if not value:
            return statement.orelse
    return [statement]


def _is_dead(node: ast.stmt, read: Collection[str], *, inside_class: bool) -> bool:
    """Tell whether a statement, whose own blocks are pruned, changes no result."""
    match node:
        case ast.Pass() | ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in IDLE_CALLS
        case ast.Expr(value=value):
            return not any(isinstance(inner, EFFECTS) for inner in ast.walk(value))
        case ast.If() | ast.For():
            return not node.body and not node.orelse
    names = _only_binds(node)
    # What a class binds is read as an attribute, under any name for the object.
    return bool(names) and not inside_class and not any(name in read for name in names)
