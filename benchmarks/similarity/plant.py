"""Disguise an answer as somebody who copied it might: other names, another order, lines that do nothing, or all three.

None of this uses the grader's own normal form (grader/submission/code), which is what is measured. A copy need not pass its checks.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Callable, Collection, Iterator

KINDS = ("renamed", "reordered", "dead code", "all three")  # that must be found
BEYOND = ("values named", "other calls")  # rewritings that nobody promised to see through
WORDS = "alpha beta gamma delta left right first second part total piece item temp buffer result array matrix carry state".split()
STAY = (
    ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Expr, ast.If, ast.Assert, ast.Import, ast.ImportFrom,
)  # fmt: skip


def copies(source: str, keep: Collection[str], seed: str) -> Iterator[tuple[str, str]]:
    """Yield disguises of an answer, each with its kind; none for an answer that Python cannot read.

    Where no two statements can change places, there is no copy of the kind "reordered".

    Args:
        keep: the names that the exercise asks to define.
    """
    try:
        plain = ast.unparse(ast.parse(source))
    except (SyntaxError, ValueError):
        return
    chance = random.Random(seed)
    yield "renamed", renamed(source, keep, chance)
    other_order = reordered(source, chance)
    if other_order != plain:
        yield "reordered", other_order
    yield "dead code", with_dead_code(source, chance)
    yield "all three", with_dead_code(reordered(renamed(source, keep, chance), chance), chance)
    for kind, rewritten in zip(BEYOND, (with_values_named(source), with_other_calls(source)), strict=True):
        if rewritten != plain:
            yield kind, rewritten


# ---------------------------------------------------------------- other names


def renamed(source: str, keep: Collection[str], chance: random.Random) -> str:
    """Give other names to parameters, variables and helpers."""
    tree = ast.parse(source)
    names, imported = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                imported |= {alias.asname or alias.name for alias in aliases}
    names |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    old = sorted(names - {*keep, *imported, *dir(builtins), "self", "_"})
    new = chance.sample([f"{word}{end}" for word in WORDS for end in ("", "_2", "_3", "_4")], len(old))
    to = dict(zip(old, new, strict=True))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name in to:
                node.id = to[name]
            case ast.arg(arg=name) if name in to:
                node.arg = to[name]
            case ast.FunctionDef(name=name) if name in to:
                node.name = to[name]
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                node.names = [to.get(name, name) for name in several]
    return ast.unparse(tree)


# ---------------------------------------------------------------- another order


def reordered(source: str, chance: random.Random) -> str:
    """Move statements that do not need each other past each other, in every block; methods and helpers, too."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and len(block) > 1:
                setattr(node, name, _shuffled(block, chance))
    return ast.unparse(tree)


def _shuffled(block: list[ast.stmt], chance: random.Random) -> list[ast.stmt]:
    """Return a block in another order, in which each statement still comes after what it needs."""
    kept = list(block)
    for _ in range(3 * len(kept)):
        place = chance.randrange(len(kept) - 1)
        if _independent(kept[place], kept[place + 1]):
            kept[place : place + 2] = kept[place + 1], kept[place]
    return kept


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    """Tell whether two neighbours may change places: neither binds what the other one uses."""
    if isinstance(one, STAY) or isinstance(other, STAY):
        return False
    return not (_bound(one) & _used(other) or _bound(other) & _used(one))


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    return {_name(node) for node in ast.walk(statement) if isinstance(getattr(node, "ctx", None), ast.Store)}


def _used(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef):  # its body runs later
        now = (*statement.decorator_list, *statement.args.defaults)
        return {statement.name, *(_name(node) for part in now for node in ast.walk(part))}
    return {_name(node) for node in ast.walk(statement)} - {""}


def _name(node: ast.AST) -> str:
    """Return the name of a variable, or of an attribute with a dot; "" of anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return f".{name}"
        case ast.Subscript(value=value):
            return _name(value)
    return ""


# ---------------------------------------------------------------- lines that do nothing

IDLE: tuple[Callable[[str, str], str], ...] = (
    lambda new, known: f"{new} = {known}",
    lambda new, known: f"{new} = getattr({known}, 'shape', None)\n{new} = str({new})",
    lambda new, known: f"if False:\n    {new} = {known} + 1",
    lambda new, known: f"if 0:\n    print({known})\n    {new} = None",
    lambda new, known: f"print(type({known}))",
    lambda new, known: f"{new} = [1, 2, 3]\n{new} = len({new}) + 4",
    lambda new, known: f"for {new} in range(3):\n    pass",
    lambda new, known: f"assert {known} is not None",
)


def with_dead_code(source: str, chance: random.Random) -> str:
    """Add lines that change nothing: unused variables, branches that are never taken, prints, docstrings, a helper."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for number, function in enumerate(functions):
        known = [arg.arg for arg in function.args.args if arg.arg != "self"] or ["torch"]
        places = chance.sample(range(len(function.body) + 1), min(2, len(function.body) + 1))
        for place in sorted(places, reverse=True):
            lines = chance.choice(IDLE)(f"unused_{number}_{place}", chance.choice(known))
            function.body[place:place] = ast.parse(lines).body
        if chance.random() < 0.5:
            function.body[0:0] = ast.parse('"""What this does is described in the lesson."""').body
    helper = f"def check_of_mine_{chance.randrange(100)}(x):\n    y = x * 2 + 1\n    return y - 1"
    tree.body[0:0] = ast.parse(helper).body
    return ast.unparse(tree)


# ---------------------------------------------------------------- values that get a name


def with_values_named(source: str) -> str:
    """Give a name to the first value within each assignment and return: `return a @ b, c` becomes two lines."""
    tree = ast.parse(source)
    number = 0
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        body: list[ast.stmt] = []
        for statement in function.body:
            inner = _first_value(statement)
            if inner is not None:
                number += 1
                name = f"step_{number}"
                body.append(ast.Assign([ast.Name(name, ast.Store())], inner, lineno=0))
                statement = _Replace(inner, ast.Name(name, ast.Load())).visit(statement)
            body.append(statement)
        function.body = body
    return ast.unparse(tree)


def _first_value(statement: ast.stmt) -> ast.expr | None:
    """Return the first call or operation within the value of a statement that is always computed; None if there is none."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, (ast.Assign, ast.Return)) or value is None:
        return None
    late = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
    todo: list[ast.AST] = [*ast.iter_child_nodes(value)] if not isinstance(value, late) else []
    while todo:
        node = todo.pop(0)
        if isinstance(node, (ast.Call, ast.BinOp)):
            return node
        if not isinstance(node, late):
            todo += ast.iter_child_nodes(node)
    return None


class _Replace(ast.NodeTransformer):
    """Puts another expression in the place of one."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


# ---------------------------------------------------------------- another way to call the same

METHODS = frozenset(
    "softmax transpose exp sum mean amax masked_fill reshape unsqueeze squeeze matmul permute clamp sqrt log".split()
)


def with_other_calls(source: str) -> str:
    """Write `a @ b` as `torch.matmul(a, b)`, and the methods of tensors as functions of torch."""
    return ast.unparse(ast.fix_missing_locations(_OtherCalls().visit(ast.parse(source))))


class _OtherCalls(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _of_torch("matmul", node.left, node.right) if isinstance(node.op, ast.MatMult) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=value, attr=name) if name in METHODS and ast.unparse(value) not in (
                "torch",
                "F",
                "math",
            ):
                return ast.Call(_of_torch(name).func, [value, *node.args], node.keywords)
        return node


def _of_torch(name: str, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
    return ast.Call(function, [*arguments], [])
