"""Say for each variable of a code what it holds, whatever its name is: "parameter 0", the result of a softmax."""

import ast
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grader.submission.code.live_code import DEFINITIONS
from grader.submission.code.words import variables

Found = defaultdict[str, set[str]]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


@dataclass(frozen=True)
class Labels:
    """What stands for the names of a code: for a variable all that is ever put into it, sorted."""

    variables: Mapping[str, str]
    attributes: Mapping[str, str]  # of self
    helpers: frozenset[str]  # functions and classes of the student's own

    def of_name(self, name: str) -> str:
        """Return "a helper" for what the student defined, a variable's label, and any other name as it is."""
        return "a helper" if name in self.helpers else self.variables.get(name, name)

    def of_attribute(self, name: str) -> str:
        """Return a dot and the label of an attribute of self, or a dot and the name of any other attribute."""
        return f".{self.attributes.get(name, name)}"


def labels_in(module: list[ast.stmt], wanted: Collection[str]) -> Labels:
    """Return what stands for the names in a code; those in `wanted`, which the exercise asks to define, stay."""
    tree = ast.Module(body=module, type_ignores=[])
    helpers = {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)} - {*wanted}
    held, on_self = Found(set), Found(set)
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            _hold_parameters(node, held)
            continue
        for target, what in _bindings(node):
            for inner in ast.walk(target):
                match inner:
                    case ast.Name(id=name, ctx=ast.Store()):
                        held[name].add(what)
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        on_self[name].add(what)
    return Labels(
        variables={name: _joined(held[name]) for name in variables(tree) - {*wanted}},
        attributes={name: _joined(what) for name, what in on_self.items()},
        helpers=frozenset(helpers),
    )


def _joined(what: set[str]) -> str:
    return f"<{'|'.join(sorted(what))}>"


def _hold_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, held: Found) -> None:
    """Add to `held` what each parameter of a function holds: "self", "parameter 0" for the first, "parameters" for the rest."""
    args = function.args
    for place, parameter in enumerate((*args.posonlyargs, *args.args, *args.kwonlyargs)):
        held[parameter.arg].add("self" if parameter.arg == "self" else f"parameter {place}")
    for rest in filter(None, (args.vararg, args.kwarg)):
        held[rest.arg].add("parameters")


def _bindings(node: ast.AST) -> list[tuple[ast.expr, str]]:
    """Return each target that a node binds, with the kind of value that it gets: "softmax", "Add", "each range"."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [pair for target in targets for pair in _assigned(target, value)]
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            return _assigned(target, value)
        case ast.AugAssign(target=target, op=op):
            return [(target, type(op).__name__)]
        case ast.withitem(optional_vars=ast.expr() as target):
            return [(target, "with")]
    return [(node.target, f"each {_kind(node.iter)}")] if isinstance(node, LOOPS) else []


def _assigned(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, str]]:
    """Return the parts of a target, each with the kind of its part of the value."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [(target, _kind(value))]
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        return [(part, _kind(of)) for part, of in zip(target.elts, value.elts, strict=True)]
    return [(part, f"{_kind(value)} {place}") for place, part in enumerate(target.elts)]


def _kind(value: ast.expr) -> str:
    """Name the operation that makes a value: "softmax" for `F.softmax(x)`, "Add" for `a + b`, ".shape" for `x.shape`."""
    match value:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
        case ast.BinOp(op=op):
            return type(op).__name__
        case ast.Attribute(attr=name):
            return f".{name}"
    return type(value).__name__
