"""Mechanical mutants of a solution: one small change each, as a slip of the hand would make it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SWAPPED_NAMES = [
    ("query", "key"), ("key", "value"), ("W_Q", "W_K"), ("W_K", "W_V"), ("text_tokens", "image_tokens"),
    ("norm1", "norm2"), ("norm2", "norm3"), ("first", "second"), ("tokens", "context"), ("aligned", "words"),
]  # fmt: skip
METHODS = {
    "sum": "mean", "mean": "sum", "amax": "amin", "tril": "triu", "triu": "tril", "log": "exp", "exp": "log",
    "transpose": "swapdims", "detach": "clone", "eval": "train", "train": "eval", "softmax": "log_softmax",
    "unsqueeze": "squeeze", "argmax": "argmin", "zeros": "ones", "ones": "zeros", "norm": "sum",
    "zero_grad": "state_dict", "step": "state_dict", "backward": "detach", "clamp": "clip",
}  # fmt: skip
METHODS = {
    old: new
    for old, new in METHODS.items()
    if (old, new) not in {("transpose", "swapdims"), ("clamp", "clip")}
}


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Every mutant of a cell: what was changed, and the changed source. Docstrings and annotations are left alone."""
    tree = ast.parse(source)
    for path, node in _inside(tree):
        for what, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(_at(changed, path))
            try:
                text = ast.unparse(ast.fix_missing_locations(changed))
                compile(text, "mutant", "exec")
            except (SyntaxError, ValueError):
                continue
            if text != ast.unparse(tree):
                yield f"line {getattr(node, 'lineno', 0)}: {what}", text


Path = tuple[tuple[str, int | None], ...]


def _inside(tree: ast.AST, path: Path = ()) -> Iterator[tuple[Path, ast.AST]]:
    yield path, tree
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if isinstance(value, ast.AST):
            yield from _inside(value, (*path, (field, None)))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST) and not _is_docstring(item):
                    yield from _inside(item, (*path, (field, index)))


def _at(tree: ast.AST, path: Path) -> ast.AST:
    for field, index in path:
        tree = getattr(tree, field) if index is None else getattr(tree, field)[index]
    return tree


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.MatMult):
            yield "operands of @ swapped", _swap("left", "right")
        elif type(node.op) in OPERATORS:
            new = OPERATORS[type(node.op)]
            yield f"{type(node.op).__name__} → {new.__name__}", lambda n: setattr(n, "op", new())
        yield "right operand dropped", _becomes("left")
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new = COMPARISONS[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} → {new.__name__}", lambda n: n.ops.__setitem__(0, new())
    elif isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__} dropped", _becomes("operand")
    elif isinstance(node, ast.BoolOp):
        new = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield "and/or swapped", lambda n: setattr(n, "op", new())
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.Call):
        if len(node.args) >= 2:
            yield "first two arguments swapped", lambda n: n.args.insert(0, n.args.pop(1))
        for index in range(len(node.keywords)):
            yield f"argument {node.keywords[index].arg} dropped", lambda n, i=index: n.keywords.pop(i)
    elif isinstance(node, ast.Attribute) and node.attr in METHODS:
        yield f".{node.attr} → .{METHODS[node.attr]}", lambda n: setattr(n, "attr", METHODS[n.attr])
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        yield "pair swapped", lambda n: n.elts.reverse()
    elif isinstance(node, ast.If):
        yield "condition negated", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    yield from _names(node)
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.With)):
        for index, statement in enumerate(node.body):
            if not _is_docstring(statement) and not isinstance(
                statement, (ast.Return, ast.FunctionDef, ast.Raise)
            ):
                yield (
                    f"statement dropped: {ast.unparse(statement)[:50]}",
                    lambda n, i=index: n.body.__setitem__(i, ast.Pass()),
                )


def _names(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    field = "id" if isinstance(node, ast.Name) else "attr" if isinstance(node, ast.Attribute) else None
    if field is None or not isinstance(node.ctx, ast.Load):
        return
    for pair in SWAPPED_NAMES:
        if getattr(node, field) in pair:
            other = pair[1 - pair.index(getattr(node, field))]
            yield f"{getattr(node, field)} → {other}", lambda n, o=other: setattr(n, field, o)


def _constants(value: object) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    if isinstance(value, bool):
        changed: list = [not value]
    elif isinstance(value, int):
        changed = [value + 1, value - 1]
    elif isinstance(value, float):
        changed = [value * 2, value + 1.0]
    else:
        return
    for new in changed:
        yield f"{value} → {new}", lambda n, new=new: setattr(n, "value", new)


def _swap(one: str, other: str) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        first, second = getattr(node, one), getattr(node, other)
        setattr(node, one, second)
        setattr(node, other, first)

    return change


def _becomes(field: str) -> Callable[[ast.AST], None]:
    """Replace a node by one of its children, in place."""

    def change(node: ast.AST) -> None:
        child = getattr(node, field)
        node.__class__ = child.__class__
        node.__dict__ = dict(child.__dict__)

    return change
