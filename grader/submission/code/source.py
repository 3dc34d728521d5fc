"""The text of one cell, parsed once: the names that it binds, reads, mentions, and looks up as strings.

`Source.mentioned` errs on the side of too many: it counts a name that stands in a comment alone. `looked_up`
finds the name in `getattr(F, "softmax")`.
"""

import ast
import re
import symtable
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")
SHORT, LONG = 5_000, 50_000  # characters from which on a cell counts as longer than an answer, and as large
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # `self.attention` does not mention `attention`
# Source with one of these may use names that it does not mention; `model.eval()` does not.
DYNAMIC = re.compile(r"(?<![\w.])(globals|locals|vars|eval|exec|getattr|get_ipython|importlib|sys)\b")
# The start of a line that binds a name at the top level of a cell.
BINDING = re.compile(r"(?:async[ \t]+def|def|class)[ \t]+(\w+)|(\w+)[ \t]*=")
MAGIC = ("%", "!", "?")  # first character of a line that IPython reads, and not Python
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # how Python refuses to parse a source


def cached_by_source(read: Callable[[str], Result]) -> Callable[[str], Result]:
    """Cache the results of a function of source text: for 512 cells, and for 8 large ones (provided code).

    Most cells are the same in every submission of a class.
    """
    small, large = lru_cache(512)(read), lru_cache(8)(read)
    return wraps(read)(lambda source: (small if len(source) < LONG else large)(source))


@dataclass(frozen=True)
class Source:
    """The text of a cell. Make it with `parsed`, so that no question about a text is answered twice."""

    text: str

    @cached_property
    def is_plain(self) -> bool:
        """True if Python can parse the text as it is."""
        return _statements(self.text) is not None

    @cached_property
    def python(self) -> str:
        """The text, without the lines for IPython if Python cannot read it with them.

        These lines are magics, commands and requests for help.
        """
        return self.text if self.is_plain else without_magics(self.text)

    @property
    def statements(self) -> tuple[ast.stmt, ...] | None:
        """The statements at the top level, which nobody may change; None where Python cannot read the cell."""
        return _statements(self.python)

    @cached_property
    def bound(self) -> frozenset[str] | None:
        """The names that the cell binds at its top level; None where Python cannot read it."""
        statements = self.statements
        if statements is None:
            return None
        return frozenset(name for statement in statements for name in names_bound_by(statement))

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Every word in the text that may be a name and is no attribute, in comments and strings, too."""
        return frozenset(WORD.findall(self.text))

    @cached_property
    def free(self) -> frozenset[str]:
        """The names that the cell reads and nowhere binds at its top level; none where Python cannot read it.

        Of a large cell, all words that it mentions: `symtable` takes time with the square of the number of functions.
        """
        if len(self.text) >= LONG:
            return self.mentioned
        try:
            table = symtable.symtable(self.python, "a cell", "exec")
        except UNREADABLE:
            return frozenset()
        return _read_names(table) - (self.bound or frozenset())

    @cached_property
    def imports(self) -> frozenset[tuple[str, str]]:
        """The imports at the cell's top level, as (name, imported thing).

        For `from torch import nn as layers` that is ("layers", "torch.nn").
        """
        return frozenset(
            (_alias_name(alias), ".".join(filter(None, (getattr(statement, "module", None), alias.name))))
            for statement in self.statements or ()
            if isinstance(statement, (ast.Import, ast.ImportFrom))
            for alias in statement.names
        )

    @cached_property
    def definitions(self) -> Mapping[str, frozenset[str]]:
        """The functions and classes that the cell defines at its top level, by name.

        The value is the set of names that the definition mentions.
        """
        lines = self.python.split("\n")
        return {
            statement.name: parsed("\n".join(lines[statement.lineno - 1 : statement.end_lineno])).mentioned
            for statement in self.statements or ()
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        }

    @cached_property
    def looks_names_up(self) -> bool:
        """True if the text has a word such as `getattr`, which can use names that the text does not mention."""
        return DYNAMIC.search(self.text) is not None

    @cached_property
    def binding_lines(self) -> list[tuple[str, int]]:
        """The names that a line binds which begins with `def name`, `class name` or `name =`, and the line's number.

        Unlike `bound`, this works where Python cannot read the cell.
        """
        found = ((BINDING.match(line), number) for number, line in enumerate(self.text.split("\n"), 1))
        return [(match[1] or match[2], number) for match, number in found if match]


@cached_by_source
def parsed(text: str) -> Source:
    """Return the source with this text: the same one as before, if it was asked for lately."""
    return Source(text)


def without_magics(source: str) -> str:
    """Empty the lines that are for IPython and no Python: magics, shell commands, and requests for help."""
    return "\n".join("" if line.lstrip().startswith(MAGIC) else line for line in source.splitlines())


def _statements(source: str) -> tuple[ast.stmt, ...] | None:
    """Parse source to its top-level statements; None where Python cannot read it."""
    return (_short_trees if len(source) < SHORT else _long_trees)(source)


def _parse(source: str) -> tuple[ast.stmt, ...] | None:
    try:
        return tuple(ast.parse(source).body)
    except UNREADABLE:
        return None


# A tree is a hundred times as large as what is read from it. So the trees of one submission are kept, and no more.
_short_trees, _long_trees = lru_cache(128)(_parse), lru_cache(2)(_parse)


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


# Functions that look something up by its name; the name may be put together from constants.
LOOKUPS = frozenset("getattr __getattribute__ attrgetter methodcaller import_module __import__ find_spec".split())
# Calls and attributes that return a table of names: vars(F)["softmax"], globals().get("softmax").
TABLES = frozenset("vars globals locals __dict__ modules".split())
RUNS_TEXT = frozenset("eval exec".split())
MOST_PARTS = 200  # nodes of a sum of string constants that are read: no name has a hundred letters


def looked_up(node: ast.AST) -> list[str]:
    """Return the names that a node looks up as text: in `getattr(F, "softmax")`, `vars(F)["softmax"]` and the like."""
    match node:
        case ast.Call(func=ast.Name(id=function) | ast.Attribute(attr=function), args=arguments):
            if function in RUNS_TEXT:
                texts = filter(None, map(_constant_text, arguments))
                return [word for text in texts for word in _words(text)]
            asks_table = function in ("get", "pop", "__getitem__") and _is_table(node.func)
            if function in LOOKUPS or asks_table:
                return [part for text in map(_constant_text, arguments) if text for part in text.split(".")]
        case ast.Subscript(value=value, slice=key) if _is_table(value) and (text := _constant_text(key)):
            return [text]
    return []


def _words(text: str) -> list[str]:
    """Return the words of a text that may be names."""
    return "".join(letter if letter.isidentifier() or letter.isdigit() else " " for letter in text).split()


def _is_table(node: ast.AST) -> bool:
    """Return True if an expression begins with a table of names, as `vars(F)` or `torch.__dict__`."""
    while True:
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Attribute(attr=name) if name in TABLES:
                return True
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return False


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
