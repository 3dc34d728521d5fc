"""Names in source text: what a cell binds, what it speaks of, and so which exercise uses which.

What is spoken of is rather too much than too little: a name that only stands in a comment counts.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")
LONG = 50_000  # characters of a large cell
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # `self.attention` is not `attention`
# Source with one of these may call what it does not name; `model.eval()` may not.
DYNAMIC = re.compile(r"(?<![\w.])(globals|locals|vars|eval|exec|getattr|get_ipython|importlib|sys)\b")


def looks_names_up(source: str) -> bool:
    """Tell whether source may call names that it does not mention, as `globals()` and `getattr` allow."""
    return DYNAMIC.search(source) is not None


def binds(node: ast.stmt) -> list[str]:
    """The names that a statement binds, in the blocks inside it too, but not in functions and classes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [_called(alias) for alias in node.names]
    nested = [*getattr(node, "body", []), *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
    nested += [inner for handler in getattr(node, "handlers", []) for inner in handler.body]
    targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
    targets += [item.optional_vars for item in getattr(node, "items", [])]
    names = [name for inner in nested for name in binds(inner)]
    return names + [
        name.id
        for target in targets
        if target is not None and not isinstance(node, ast.Delete)
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]


def _called(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def remembered(read: Callable[[str], Result]) -> Callable[[str], Result]:
    """Most cells are the same in every submission. Of large ones, as is the provided code's, only a few are kept."""
    small, large = lru_cache(512)(read), lru_cache(8)(read)
    return wraps(read)(lambda source: (small if len(source) < LONG else large)(source))


@remembered
def words(source: str) -> frozenset[str]:
    """Every name in it that is no attribute."""
    return frozenset(WORD.findall(source))


@remembered
def bound(source: str) -> frozenset[str] | None:
    """The names that a cell binds at its top level; None where it does not parse."""
    try:
        tree = ast.parse(_without_magics(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return frozenset(name for node in tree.body for name in binds(node))


@remembered
def imported(source: str) -> frozenset[tuple[str, str]]:
    """What a cell imports at its top level: the name, and what it stands for. Of one that does not parse: nothing."""
    if bound(source) is None:
        return frozenset()
    return frozenset(
        (_called(alias), ".".join(filter(None, (getattr(node, "module", None), alias.name))))
        for node in ast.parse(_without_magics(source)).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    )


@remembered
def taken(source: str) -> frozenset[str]:
    """The names that a cell takes from the notebook: read in it, and not bound by it. Of one that does not parse: none."""
    try:
        table = symtable.symtable(_without_magics(source), "a cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return _read(table) - (bound(source) or frozenset())


def _read(table: symtable.SymbolTable) -> frozenset[str]:
    everywhere = table.get_type() == "module"
    here = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (everywhere or symbol.is_global())
    }
    return frozenset(here).union(*(_read(inner) for inner in table.get_children()))


def _without_magics(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!", "?")))


@remembered
def definitions(source: str) -> Mapping[str, frozenset[str]]:
    """The functions and classes that a cell defines at its top level, each with the names that it speaks of."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = source.split("\n")
    return {
        node.name: words("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        for node in statements
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
