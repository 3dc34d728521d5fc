"""Put each value that is used once in the place where it is used: a value may be named, or written where it is needed."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inlined(module: list[ast.stmt]) -> list[ast.stmt]:
    """Return code in which no function names a value that it uses once, for comparing and not for running.

    The trees are changed in place. A variable that is set again in the body of a function counts as another one from there on.
    The code must be live, and short and flat as `is_small` tells.
    """
    for node in ast.walk(ast.Module(body=module, type_ignores=[])):
        if isinstance(node, FUNCTIONS):
            _tell_versions_apart(node)
            node.body = _put_in_place(node)
    return module


def _plain_target(statement: ast.AST) -> str:
    """Return "a" for an assignment `a = value`, which sets one name and no more; "" for anything else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _names(nodes: Sequence[ast.AST]) -> Iterator[ast.Name]:
    for node in nodes:
        yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _tell_versions_apart(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Give a variable another name each time that the body of a function sets it, if no block in the body does."""
    plain = Counter(filter(None, map(_plain_target, function.body)))
    stored = Counter(name.id for name in _names(function.body) if isinstance(name.ctx, ast.Store))
    versions = {name: 0 for name, count in plain.items() if stored[name] == count}
    for statement in function.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        for name in _names([statement]):
            if name is not target and versions.get(name.id):
                name.id = f"{name.id}'{versions[name.id]}"
        if isinstance(target, ast.Name) and target.id in versions:
            versions[target.id] += 1
            target.id = f"{target.id}'{versions[target.id]}"


def _put_in_place(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Return the body of a function without the assignments whose value is used once, and was put there."""
    uses = Counter(name.id for name in _names(function.body))  # its assignment, and where it is read
    taken: dict[str, ast.expr] = {}
    kept: list[ast.stmt] = []
    for statement in function.body:
        _replace(statement, taken)
        name = _plain_target(statement)
        if name and uses[name] == 2 and isinstance(statement, ast.Assign):
            taken[name] = statement.value
        else:
            kept.append(statement)
    # What nobody read after all, as a value that only a function further up reads, stays.
    return [*(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0) for name, value in taken.items()), *kept]


def _replace(statement: ast.stmt, taken: dict[str, ast.expr]) -> None:
    """Put values in the places where a statement reads their names, and take them out of `taken`."""
    for parent in ast.walk(statement):  # it does not go into what is put there, which is done already
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                value[:] = [taken.pop(one.id, one) if isinstance(one, ast.Name) else one for one in value]
            elif isinstance(value, ast.Name) and value.id in taken:
                setattr(parent, field, taken.pop(value.id))
