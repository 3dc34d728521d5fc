"""Names in a cell's source: which ones it binds, reads and mentions.

`mentioned_names` errs on the side of too many: it counts a name that stands in a comment alone.
"""

import ast
import re
import symtable
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")
LONG = 50_000  # characters from which on a cell counts as large
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # `self.attention` does not mention `attention`
# Source with one of these may use names that it does not mention; `model.eval()` does not.
DYNAMIC = re.compile(r"(?<![\w.])(globals|locals|vars|eval|exec|getattr|get_ipython|importlib|sys)\b")
# The start of a line that binds a name at the top level of a cell.
BINDING = re.compile(r"(?:async[ \t]+def|def|class)[ \t]+(\w+)|(\w+)[ \t]*=")
MAGIC = ("%", "!", "?")  # first character of a line that IPython reads, and not Python
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # how Python refuses to parse a source


def looks_names_up(source: str) -> bool:
    """Tell whether source contains a word, as `getattr`, with which it may use unmentioned names."""
    return DYNAMIC.search(source) is not None


def without_magics(source: str) -> str:
    """Remove the lines that are for IPython and no Python: magics, shell commands, and requests for help."""
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(MAGIC))


def parse_statements(source: str) -> list[ast.stmt] | None:
    """Parse source to its top-level statements; None where Python cannot read it."""
    try:
        return ast.parse(source).body
    except UNREADABLE:
        return None


def names_bound_by(statement: ast.stmt) -> list[str]:
    """List the names that a statement binds, also in its inner blocks, but not in functions and classes.

    Names bound by `match` or `:=` are not listed.
    """
    names: list[str] = []
    todo: list[ast.AST] = [statement]
    while todo:  # a loop, because each `elif` lies within the one before it: a thousand are too deep for a call
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names += map(_alias_name, node.names)
        else:
            names += _names_of_targets(node)
            for block in ("body", "handlers", "orelse", "finalbody"):
                todo += getattr(node, block, [])
    return names


def _names_of_targets(node: ast.AST) -> list[str]:
    """List the names that a statement itself binds, without its inner blocks: by `=`, `for` or `with`."""
    if isinstance(node, ast.Delete):
        return []
    targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
    targets += [item.optional_vars for item in getattr(node, "items", [])]
    return [
        inner.id
        for target in targets
        if target is not None
        for inner in ast.walk(target)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    ]


def _alias_name(alias: ast.alias) -> str:
    """Return the name that an import binds: "np" for `numpy as np`, "torch" for `torch.nn`."""
    return (alias.asname or alias.name).partition(".")[0]


def cached_by_source(read: Callable[[str], Result]) -> Callable[[str], Result]:
    """Cache the results of a function of source text: for 512 cells, and for 8 large ones (provided code).

    Most cells are the same in every submission of a class.
    """
    small, large = lru_cache(512)(read), lru_cache(8)(read)
    return wraps(read)(lambda source: (small if len(source) < LONG else large)(source))


@cached_by_source
def mentioned_names(source: str) -> frozenset[str]:
    """Return every word in the text that may be a name and is no attribute, in comments and strings, too."""
    return frozenset(WORD.findall(source))


@cached_by_source
def bound_names(source: str) -> frozenset[str] | None:
    """Return the names that a cell binds at its top level; None where it does not parse."""
    statements = parse_statements(without_magics(source))
    if statements is None:
        return None
    return frozenset(name for statement in statements for name in names_bound_by(statement))


def binding_lines(source: str) -> list[tuple[str, int]]:
    """List the names that a line binds which begins with `def name`, `class name` or `name =`, and the line's number.

    Unlike `bound_names`, this works where the cell does not parse.
    """
    found = ((BINDING.match(line), number) for number, line in enumerate(source.split("\n"), 1))
    return [(match[1] or match[2], number) for match, number in found if match]


@cached_by_source
def imported_names(source: str) -> frozenset[tuple[str, str]]:
    """Return what a cell imports at its top level, as (name, imported thing); nothing if it does not parse.

    For `from torch import nn as layers` that is ("layers", "torch.nn").
    """
    return frozenset(
        (_alias_name(alias), ".".join(filter(None, (getattr(statement, "module", None), alias.name))))
        for statement in parse_statements(without_magics(source)) or ()
        if isinstance(statement, (ast.Import, ast.ImportFrom))
        for alias in statement.names
    )


@cached_by_source
def free_names(source: str) -> frozenset[str]:
    """Return the names that a cell reads and nowhere binds at its top level; none if it does not parse.

    Of a large cell, all words that it mentions: `symtable` takes time with the square of the number of functions.
    """
    if len(source) >= LONG:
        return mentioned_names(source)
    try:
        table = symtable.symtable(without_magics(source), "a cell", "exec")
    except UNREADABLE:
        return frozenset()
    return _read_names(table) - (bound_names(source) or frozenset())


def _read_names(table: symtable.SymbolTable) -> frozenset[str]:
    """Return the global names that a scope, or a scope inside it, reads."""
    read: set[str] = set()
    todo = [table]
    while todo:  # a loop: a lambda within a lambda, a thousand times, is too deep for a call
        scope = todo.pop()
        at_top = scope.get_type() == "module"
        read |= {
            symbol.get_name()
            for symbol in scope.get_symbols()
            if symbol.is_referenced() and (at_top or symbol.is_global())
        }
        todo += scope.get_children()
    return frozenset(read)


@cached_by_source
def definitions(source: str) -> Mapping[str, frozenset[str]]:
    """Map each function and class that a cell defines at top level to the names that its definition mentions.

    The map is empty if the cell does not parse, as with a magic.
    """
    lines = source.split("\n")
    return {
        statement.name: mentioned_names("\n".join(lines[statement.lineno - 1 : statement.end_lineno]))
        for statement in parse_statements(source) or ()
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
