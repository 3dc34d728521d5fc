"""The reference with the default values that a student's answer has: a forgotten or mistyped default gives wrong numbers only."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

from grader.diagnosis.mutants.mutants import Mutant

SAYS = "The default of `{}` is {}; the task asks for {}."


def other_defaults(definitions: Sequence[Any], source: str) -> Iterator[Mutant]:
    """Yield for each number that a student's answer has as another default the reference with that default.

    Args:
        definitions: functions and classes; of a class, `__init__` is looked at.
        source: the student's code.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    written = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for definition in definitions:
        own = _function(written.get(definition.__name__))
        function = definition.__init__ if inspect.isclass(definition) else definition
        if own is None or not isinstance(function, FunctionType):
            continue
        defaults = _defaults(own)
        for name, parameter in inspect.signature(function).parameters.items():
            value, asked = defaults.get(name), parameter.default
            if isinstance(value, (int, float)) and isinstance(asked, (int, float)) and value != asked:
                says = SAYS.format(name, _written(value), _written(asked))
                yield Mutant(says, {definition.__name__: _with_default(definition, name, value)}, "values", 1)


def _function(node: ast.stmt | None) -> ast.FunctionDef | None:
    if isinstance(node, ast.ClassDef):
        return next(
            (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"),
            None,
        )
    return node if isinstance(node, ast.FunctionDef) else None


def _defaults(node: ast.FunctionDef) -> dict[str, Any]:
    """Return the parameters whose default is written as a plain value."""
    plain = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    pairs = [
        *zip(plain, node.args.defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    found = {}
    for parameter, default in pairs:
        try:
            found[parameter.arg] = ast.literal_eval(default) if default is not None else None
        except (ValueError, TypeError, SyntaxError):
            continue
    return found


def _written(value: float) -> str:
    return str(value).replace("-", "−")


def _with_default(definition: Any, name: str, value: Any) -> Any:
    """Return a copy of a function, or a subclass of a class, with another default of one parameter."""
    if inspect.isclass(definition):
        changed = _with_default(definition.__init__, name, value)
        return type(definition.__name__, (definition,), {"__init__": changed})
    new = FunctionType(
        definition.__code__, definition.__globals__, definition.__name__, None, definition.__closure__
    )
    names = definition.__code__.co_varnames[: definition.__code__.co_argcount]
    values = dict(zip(names[::-1], (definition.__defaults__ or ())[::-1], strict=False))
    only_named = dict(definition.__kwdefaults__ or {})
    (only_named if name in only_named else values)[name] = value
    new.__defaults__ = tuple(values[each] for each in names if each in values)
    new.__kwdefaults__ = copy.copy(only_named) or None
    return new
