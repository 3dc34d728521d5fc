"""Converts code to a normal form that does not depend on names, dead code and intermediate variables.

`live` removes code that changes no result: lines that are never reached, values that nothing reads,
prints. `inlined` moves each value that is used once to the place of its use. `labels_in` describes
the content of each variable, whatever its name is: "parameter 0", or the result of a softmax.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.submission.code.traits import variables, without_docs

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCK_PARTS = (ast.stmt, ast.excepthandler, ast.match_case)  # what the blocks of a statement hold
MOST_ROUNDS = 10  # each takes out what only the code of the round before has read
BLOCKS = ("body", "orelse", "finalbody")
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)
IDLE_CALLS = frozenset(("print", "display"))


def live(statements: list[ast.stmt], wanted: Collection[str]) -> list[ast.stmt]:
    """Return code without docstrings, annotations and dead code. It is for comparing, not for running.

    The trees are changed in place.

    Args:
        statements: code for which `is_small` returns True, so that recursion does not go too deep.
        wanted: names that count as read, such as those that an exercise asks to define.
    """
    module = ast.Module(body=statements, type_ignores=[])
    without_docs(module)
    size = 0
    for _ in range(MOST_ROUNDS):
        before, size = size, sum(1 for _ in ast.walk(module))
        if size == before:
            break
        module.body = _pruned(module.body, {*wanted, *_read(module.body)}, inside_class=False)
    return module.body


def _read(block: Sequence[ast.AST], inside: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a block reads. Ignore a name that a statement reads only to set it again.

    Args:
        inside: the functions and classes around the block. Reading their own names does not count.
    """
    for node in block:
        own = inside.union(_only_binds(node))
        parts = [*ast.iter_child_nodes(node)]
        blocks = [part for part in parts if isinstance(part, BLOCK_PARTS)]
        for part in parts:
            if part not in blocks:
                for inner in ast.walk(part):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id not in own:
                        yield inner.id
        yield from _read(blocks, own if isinstance(node, DEFINITIONS) else inside)


def _only_binds(node: ast.AST) -> list[str]:
    """Return the names that a definition or an assignment sets. Return [] for a statement with other effects."""
    if isinstance(node, DEFINITIONS):
        return [node.name]
    match node:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            targets = [target]
        case _:
            return []
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _pruned(block: list[ast.stmt], read: Collection[str], *, inside_class: bool) -> list[ast.stmt]:
    """Return a block without its dead statements."""
    kept: list[ast.stmt] = []
    for statement in block:
        for one in _reached(statement):
            for name in BLOCKS:
                if inner := getattr(one, name, None):
                    setattr(one, name, _pruned(inner, read, inside_class=isinstance(one, ast.ClassDef)))
            if not _is_dead(one, read, inside_class=inside_class):
                kept.append(one)
            if isinstance(one, ENDS):
                return kept
    return kept


def _reached(statement: ast.stmt) -> list[ast.stmt]:
    """Return the branch that runs if the condition is a constant; otherwise the statement itself."""
    match statement:
        case ast.If(test=ast.Constant(value=value)):
            return statement.body if value else statement.orelse
        case ast.While(test=ast.Constant(value=value)) if not value:
            return statement.orelse
    return [statement]


def _is_dead(node: ast.stmt, read: Collection[str], *, inside_class: bool) -> bool:
    """Return True if a statement does not change any result. Its inner blocks must be pruned already."""
    match node:
        case ast.Pass() | ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in IDLE_CALLS
        case ast.Expr(value=value):
            return not any(isinstance(inner, EFFECTS) for inner in ast.walk(value))
        case ast.If() | ast.For():
            return not node.body and not node.orelse
    names = _only_binds(node)
    # What a class binds is read as an attribute, under any name for the object.
    return bool(names) and not inside_class and not any(name in read for name in names)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inlined(module: list[ast.stmt]) -> list[ast.stmt]:
    """Return code in which no function gives a name to a value that it uses once.

    The result is for comparing, not for running, and the trees are changed in place. A variable
    that a function's body sets again is treated as another variable from there on.

    Args:
        module: code without dead code, for which `is_small` returns True.
    """
    for node in ast.walk(ast.Module(body=module, type_ignores=[])):
        if isinstance(node, FUNCTIONS):
            _tell_versions_apart(node)
            node.body = _put_in_place(node)
    return module


def _plain_target(statement: ast.AST) -> str:
    """Return the name that an assignment `name = value` sets, or "" for any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _names(nodes: Sequence[ast.AST]) -> Iterator[ast.Name]:
    for node in nodes:
        yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _tell_versions_apart(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Rename a variable each time that the body of a function sets it again.

    Leave out variables that an inner block sets.
    """
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
    """Return a function's body in which values that are used once replace their names."""
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
    """Replace names in a statement by their values in `taken`, and remove these values from `taken`."""
    for parent in ast.walk(statement):  # it does not go into what is put there, which is done already
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                value[:] = [taken.pop(one.id, one) if isinstance(one, ast.Name) else one for one in value]
            elif isinstance(value, ast.Name) and value.id in taken:
                setattr(parent, field, taken.pop(value.id))


Found = defaultdict[str, set[str]]
WITH_PARAMETERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


@dataclass(frozen=True)
class Labels:
    """The labels that replace the names in code. The label of a variable lists all that is assigned to it, sorted."""

    variables: Mapping[str, str]
    attributes: Mapping[str, str]  # of self
    helpers: frozenset[str]  # functions and classes of the student's own

    def of_name(self, name: str) -> str:
        """Return the label of a name: "a helper" if the student defined it, a variable's label, or the name itself."""
        return "a helper" if name in self.helpers else self.variables.get(name, name)

    def of_attribute(self, name: str) -> str:
        """Return a dot and the label of an attribute of `self`. For other attributes, return a dot and the name."""
        return f".{self.attributes.get(name, name)}"


def labels_in(module: list[ast.stmt], wanted: Collection[str]) -> Labels:
    """Return the labels that replace the names in code.

    Args:
        wanted: the names that the exercise asks to define. They get no labels.
    """
    tree = ast.Module(body=module, type_ignores=[])
    helpers = {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)} - {*wanted}
    held, on_self = Found(set), Found(set)
    for node in ast.walk(tree):
        if isinstance(node, WITH_PARAMETERS):
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
    """Add to `held` a description of each parameter of a function.

    The description is "self", "parameter 0" for the first parameter, and "parameters" for *args and
    **kwargs.
    """
    args = function.args
    for place, parameter in enumerate((*args.posonlyargs, *args.args, *args.kwonlyargs)):
        held[parameter.arg].add("self" if parameter.arg == "self" else f"parameter {place}")
    for rest in filter(None, (args.vararg, args.kwarg)):
        held[rest.arg].add("parameters")


def _bindings(node: ast.AST) -> list[tuple[ast.expr, str]]:
    """Return each target that a node sets, with the kind of its value: "softmax", "Add", "each range"."""
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
    """Return each part of a target, with the kind of the value that is assigned to it."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [(target, _kind(value))]
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        return [(part, _kind(of)) for part, of in zip(target.elts, value.elts, strict=True)]
    return [(part, f"{_kind(value)} {place}") for place, part in enumerate(target.elts)]


def _kind(value: ast.expr) -> str:
    """Return the name of the operation that makes a value.

    It is "softmax" for `F.softmax(x)`, "Add" for `a + b`, and ".shape" for `x.shape`.
    """
    match value:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
        case ast.BinOp(op=op):
            return type(op).__name__
        case ast.Attribute(attr=name):
            return f".{name}"
    return type(value).__name__
