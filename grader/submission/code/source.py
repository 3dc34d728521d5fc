"""The text of one cell, parsed once: the names that it binds, reads, mentions, and looks up as strings.

`Source.mentioned` may contain too many names, because it also includes names that appear only in a comment.
`looked_up` finds the name in `getattr(F, "softmax")`.
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
    """Cache the results of a function of source text, for 512 cells of usual size and for 8 large ones (provided code).

    Most cells are the same in every submission of a class.
    """
    small, large = lru_cache(512)(read), lru_cache(8)(read)
    return wraps(read)(lambda source: (small if len(source) < LONG else large)(source))


@dataclass(frozen=True)
class Source:
    """The text of a cell. Create it with `parsed`, which returns the same object for the same text."""

    text: str

    @cached_property
    def is_plain(self) -> bool:
        """True if Python can parse the text as it is."""
        return _statements(self.text) is not None

    @cached_property
    def python(self) -> str:
        """The text that Python can parse: without IPython's magics, shell commands and help requests.

        If Python can parse the whole text, nothing is removed.
        """
        return self.text if self.is_plain else without_magics(self.text)

    @property
    def statements(self) -> tuple[ast.stmt, ...] | None:
        """The statements at the top level, or None if Python cannot parse the cell. Callers must not change them."""
        return _statements(self.python)

    @cached_property
    def bound(self) -> frozenset[str] | None:
        """The names that the cell binds at its top level, or None if Python cannot parse the cell."""
        statements = self.statements
        if statements is None:
            return None
        return frozenset(name for statement in statements for name in names_bound_by(statement))

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Every word in the text that may be a name, also in comments and strings. Attributes are left out."""
        return frozenset(WORD.findall(self.text))

    @cached_property
    def free(self) -> frozenset[str]:
        """The names that the cell reads and does not bind at its top level; empty if Python cannot parse the cell.

        For a large cell, these are all words that it mentions, because the time that `symtable` takes grows with the
        square of the number of functions.
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
        """The imports at the cell's top level, as pairs (name, imported thing).

        The pair for `from torch import nn as layers` is ("layers", "torch.nn").
        """
        return frozenset(
            (_alias_name(alias), ".".join(filter(None, (getattr(statement, "module", None), alias.name))))
            for statement in self.statements or ()
            if isinstance(statement, (ast.Import, ast.ImportFrom))
            for alias in statement.names
        )

    @cached_property
    def definitions(self) -> Mapping[str, frozenset[str]]:
        """The functions and classes that the cell defines at its top level.

        Each name maps to the set of names that its definition mentions.
        """
        lines = self.python.split("\n")
        return {
            statement.name: parsed("\n".join(lines[statement.lineno - 1 : statement.end_lineno])).mentioned
            for statement in self.statements or ()
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        }

    @cached_property
    def looks_names_up(self) -> bool:
        """True if the text contains a word such as `getattr`, which lets code use names that it does not mention."""
        return DYNAMIC.search(self.text) is not None

    @cached_property
    def binding_lines(self) -> list[tuple[str, int]]:
        """The names bound by lines that begin with `def name`, `class name` or `name =`, as pairs (name, line number).

        Unlike `bound`, this works even if Python cannot parse the cell.
        """
        found = ((BINDING.match(line), number) for number, line in enumerate(self.text.split("\n"), 1))
        return [(match[1] or match[2], number) for match, number in found if match]


@cached_by_source
def parsed(text: str) -> Source:
    """Return the `Source` of a text: the cached object, if the text was parsed recently."""
    return Source(text)


def without_magics(source: str) -> str:
    """Return a source with an empty line for each magic, shell command and help request of IPython."""
    return "\n".join("" if line.lstrip().startswith(MAGIC) else line for line in source.splitlines())


def _statements(source: str) -> tuple[ast.stmt, ...] | None:
    """Parse a source to its top-level statements. Return None if Python cannot parse it."""
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
    """List the names that a statement itself binds with `=`, `for` or `with`. Its inner blocks are left out."""
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
    """Return the global names that a scope reads, together with those that its inner scopes read."""
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
    """Return the names that a node looks up as text, for example in `getattr(F, "softmax")` or `vars(F)["softmax"]`.

    For text that is run as code, as by `eval`, return all words of the text.
    """
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
    """Return True if an expression begins with a table of names, such as `vars(F)` or `torch.__dict__`."""
    while True:
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Attribute(attr=name) if name in TABLES:
                return True
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return False


def _constant_text(node: ast.AST) -> str:
    """Return the text of a string constant, of a sum of string constants, or of an f-string of string constants.

    Return "" for any other node, if a constant is empty, or if there are more than MOST_PARTS nodes.
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
