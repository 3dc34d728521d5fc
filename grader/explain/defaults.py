"""The reference with the default values that a student's answer has: a forgotten or mistyped default gives wrong numbers only."""

import ast
import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

SAYS = "The default of `{}` is {}; the task asks for {}."


class OtherDefault(NamedTuple):
    """The reference with another default."""

    says: str  # what a student reads
    replaces: Mapping[str, Any]  # name in the notebook → the changed definition


class Default(NamedTuple):
    """A default value of a student's function that is another than the task asks for."""

    definition: str
    parameter: str
    value: float
    asked: float

    @property
    def says(self) -> str:
        """What is said of it: the parameter, its default, and the one that is asked for."""
        return SAYS.format(self.parameter, _written(self.value), _written(self.asked))


def other_defaults(definitions: Sequence[Any], source: str) -> Iterator[OtherDefault]:
    """Yield for each number that a student's answer has as another default the reference with that default.

    Args:
        definitions: functions and classes; of a class, `__init__` is looked at.
        source: the student's code.
    """
    by_name = {definition.__name__: definition for definition in definitions}
    for other in differing(asked_defaults(definitions), source):
        changed = _with_default(by_name[other.definition], other.parameter, other.value)
        yield OtherDefault(other.says, {other.definition: changed})


def asked_defaults(definitions: Sequence[Any]) -> dict[str, dict[str, float]]:
    """Return the defaults that are numbers, by the names of definition and parameter."""
    asked = {}
    for definition in definitions:
        function = definition.__init__ if inspect.isclass(definition) else definition
        if isinstance(function, FunctionType):
            asked[definition.__name__] = {
                name: parameter.default
                for name, parameter in inspect.signature(function).parameters.items()
                if isinstance(parameter.default, (int, float))
            }
    return asked


def differing(asked: Mapping[str, Mapping[str, float]], source: str) -> Iterator[Default]:
    """Yield the numbers that a student's code has as another default than is asked."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    written = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for definition, wanted in asked.items():
        own = _function(written.get(definition))
        defaults = _defaults(own) if own else {}
        for name, due in wanted.items():
            value = defaults.get(name)
            if isinstance(value, (int, float)) and value != due:
                yield Default(definition, name, value, due)


def with_asked(source: str, default: Default) -> str:
    """Return a student's code with the default value that the task asks for."""
    tree = ast.parse(source)
    for node in tree.body:
        own = _function(node)
        if own is not None and getattr(node, "name", "") == default.definition:
            plain, due = own.args.args[::-1], ast.Constant(default.asked)
            for index, parameter in enumerate(plain[: len(own.args.defaults)], 1):
                if parameter.arg == default.parameter:
                    own.args.defaults[-index] = due
            for index, parameter in enumerate(own.args.kwonlyargs):
                if parameter.arg == default.parameter:
                    own.args.kw_defaults[index] = due
    return ast.unparse(tree)


def _function(node: ast.stmt | None) -> ast.FunctionDef | None:
    if isinstance(node, ast.ClassDef):
        return next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
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
    new = FunctionType(definition.__code__, definition.__globals__, definition.__name__, None, definition.__closure__)
    names = definition.__code__.co_varnames[: definition.__code__.co_argcount]
    values = dict(zip(names[::-1], (definition.__defaults__ or ())[::-1], strict=False))
    only_named = dict(definition.__kwdefaults__ or {})
    (only_named if name in only_named else values)[name] = value
    new.__defaults__ = tuple(values[each] for each in names if each in values)
    new.__kwdefaults__ = copy.copy(only_named) or None
    return new
