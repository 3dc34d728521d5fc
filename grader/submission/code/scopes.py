"""Find the names that each statement of a cell binds and refers to, by Python's rules of scope.

If a function binds a name itself, the name is local to it, so reading it is not a use of
a global with the same name. Code that can never run is left out: a branch under a
constant that is false, and the statements after a `return` or `raise` in the same block.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import nn
from torch.autograd import Function

from grader.submission.code.source import UNREADABLE, cached_by_source, looked_up, parsed

JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def flat(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the statements of a body and of its inner blocks, and the heads of the blocks.

    A bool is yielded with each of them: True if it runs whenever the body does.
    """
    todo: list[tuple[ast.AST, bool]] = [(node, True) for node in reversed(live(body))]
    while todo:
        node, certain = todo.pop()
        match node:
            case ast.If(test=test) | ast.While(test=test):
                yield test, certain
                todo += [(inner, False) for inner in reversed(taken(node))]
            case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
                yield node, False  # of which the reader takes only the head
                todo += [(inner, False) for inner in reversed([*live(body), *live(orelse)])]
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                yield from ((item, certain) for item in items)
                # `with suppress(…)` may end anywhere.
                todo += [(inner, False) for inner in reversed(live(body))]
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                blocks = [body, *(handler.body for handler in handlers), orelse, finalbody]
                todo += [(inner, False) for block in reversed(blocks) for inner in reversed(live(block))]
            case _:
                yield node, certain


def live(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a block that can run: up to and including the first statement that leaves the block."""
    end = next((index for index, node in enumerate(body) if isinstance(node, JUMPS)), len(body))
    return [*body[: end + 1]]


def taken(node: ast.If | ast.While | ast.IfExp) -> list:
    """Return the parts of a branch that can run. A part that a constant condition rules out is not among them."""
    always = _constant(node.test)
    if isinstance(node, ast.IfExp):
        return [*([] if always is False else [node.body]), *([] if always is True else [node.orelse])]
    orelse = [] if always is True and isinstance(node, ast.If) else live(node.orelse)
    return [*([] if always is False else live(node.body)), *orelse]


def _constant(test: ast.expr) -> bool | None:
    """Return True if a condition is always true, False if it is always false, and None if that is not known."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            known = _constant(operand)
            return None if known is None else not known
        case ast.BoolOp(op=ast.And(), values=values) if any(_constant(value) is False for value in values):
            return False
        case ast.BoolOp(op=ast.Or(), values=values) if any(_constant(value) is True for value in values):
            return True
    return None


FILLS = frozenset("append appendleft extend insert update setdefault add register __setitem__".split())
# Methods that a library may call by themselves, unlike those that a student adds to show or to test something.
CALLED_BY_LIBRARY = frozenset((*dir(nn.Module), *dir(Function), "run"))
# Decorators that hand the method to nobody else.
HAND_NOTHING_ON = frozenset("staticmethod classmethod property torch.no_grad() torch.inference_mode()".split())
SELF = "self"  # the owner of an attribute that a method reads of its own object, and that its class defines


class Reference(NamedTuple):
    """An attribute that code reads, or a name that it looks up as text."""

    name: str
    owner: str  # the global name whose attribute it is, as "F" in `F.softmax`; "" if there is none


class Statement(NamedTuple):
    """A statement that runs when its cell runs. An import of several names is split into one record for each name."""

    node: ast.AST
    # Global names; ".name" for a method that runs only if some code names it, "?NAME" for code below `if NAME:`.
    binds: frozenset[str]
    changes: frozenset[str]  # global names of which it assigns an attribute or an item
    is_certain: bool  # it runs whenever its cell does, and not only in a branch or a loop
    reads: frozenset[str]  # global names that it reads as it runs
    reads_when_called: frozenset[str]  # global names that functions in it read
    references: frozenset[Reference]


@dataclass(eq=False)
class _Scope:
    """A function, a class, a comprehension, or a block below `if NAME:`, which binds nothing.

    The outermost scope is the cell.
    """

    parent: "_Scope | None" = None
    kind: str = "cell"
    own_part: str = ""  # ".name" of a method, "?NAME" of a block that counts as a statement by itself
    first: str = ""  # of a method, the name of its first argument: mostly `self`
    bound: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)  # names that it declares as `global`
    outer: set[str] = field(default_factory=set)  # names that it declares as `nonlocal`
    imports: dict[str, list[str]] = field(default_factory=dict)  # name → what it may stand for
    attributes: set[str] = field(default_factory=set)  # of a class: those that it defines or sets on `self`

    @property
    def part(self) -> str:
        """The part of the statement that this code belongs to; "" if it belongs to the statement as a whole.

        A part is code that may run at another time than its statement: a method, or a block below `if NAME:`.
        """
        switch = self.own_part.removeprefix("?")
        if self.own_part and (switch == self.own_part or _home(switch, self.parent) is None):
            return self.own_part
        return self.parent.part if self.parent else ""

    def defines(self, name: str) -> bool:
        """Return True if this scope is a class that defines the attribute with this name.

        Return False for every name if the class looks attributes up dynamically, with `__getattr__`.
        """
        return name in self.attributes and not self.attributes & {"__getattr__", "__getattribute__"}

    @property
    def is_called(self) -> bool:
        """True if the code of this scope runs only when a function is called."""
        return self.kind == "function" or (self.parent is not None and self.parent.is_called)


@cached_by_source
def statements_of_cell(source: str) -> tuple[Statement, ...]:
    """Return the statements of a cell in order, without its magics; () if Python cannot read the cell."""
    try:
        body = parsed(source).statements or ()
        return tuple(statement for node, certain in flat(body) for statement in _read(node, certain))
    except UNREADABLE:  # it is too deep to walk through
        return ()


def _read(node: ast.AST, certain: bool) -> Iterator[Statement]:
    """Yield a `Statement` for a node. For an import, yield one `Statement` for each name that it binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            whole = {**vars(node), "names": [alias]}
            names = frozenset(Reference(part, "") for part in alias.name.split("."))
            nothing: frozenset[str] = frozenset()
            yield Statement(
                type(node)(**whole), frozenset({_bound_by(alias)}), nothing, certain, nothing, nothing, names
            )
    else:
        yield from _Reader(node).statements(certain)


def _bound_by(alias: ast.alias) -> str:
    """Return the name that an import binds: "np" for `numpy as np`, "torch" for `torch.nn`."""
    return alias.asname or alias.name.partition(".")[0]


class _Reader:
    """Walks through one statement and records its names, attributes and texts, each with its scope."""

    def __init__(self, top: ast.AST) -> None:
        self._top, self._cell = top, _Scope()
        self._declared: set[str] = set()  # names that functions declare as `global`, and bind
        self._changed: set[str] = set()
        self._is_certain = True
        self._names: list[tuple[str, _Scope]] = []
        self._attributes: list[tuple[str, ast.expr, _Scope]] = []
        self._texts: list[tuple[str, _Scope]] = []
        # A loop: a sum of a thousand terms is too deep for a function that calls itself.
        self._todo: list[tuple[ast.AST, _Scope]] = [(top, self._cell)]
        while self._todo:
            self._visit(*self._todo.pop())

    def statements(self, certain: bool) -> Iterator[Statement]:
        """Yield the statement, and then its parts that may run at another time.

        Such parts are methods, blocks below `if NAME:`, and the names that
        functions bind globally when they are called.
        """
        whole = self._statement("", certain)
        yield whole
        if self._declared:
            yield whole._replace(binds=frozenset(self._declared), is_certain=False)
        scopes = [scope for _, scope in (*self._names, *self._texts)] + [scope for *_, scope in self._attributes]
        for part in dict.fromkeys(scope.part for scope in scopes if scope.part):
            yield self._statement(part, False)

    def _statement(self, part: str, certain: bool) -> Statement:
        """Return a `Statement` with the resolved names of one part; "" is the code that belongs to no part."""
        now, later, references = set[str](), set[str](), set[Reference]()
        for name, scope in (*self._names, *self._texts):
            if scope.part == part:
                home = _home(name, scope)
                if home is None or home.kind == "class":  # where a class does not bind it yet, a global is read
                    (later if scope.is_called else now).add(name)
                if home is not None:
                    references |= {Reference(imported, "") for imported in home.imports.get(name, ())}
        references |= {Reference(text, "") for text, scope in self._texts if scope.part == part}
        for name, value, scope in self._attributes:
            owner = value.id if isinstance(value, ast.Name) else ""
            home = _home(owner, scope) if owner else None
            of_itself = home is not None and owner == home.first and home.parent and home.parent.defines(name)
            if scope.part == part:
                # `self.name` of the student's own class is read, but is no name of a library.
                references.add(Reference(name, SELF if of_itself else owner if owner and home is None else ""))
        return Statement(
            node=self._top,
            binds=frozenset({part} if part else self._cell.bound),
            changes=frozenset(() if part else self._changed),
            is_certain=certain and self._is_certain,
            reads=frozenset(now),
            reads_when_called=frozenset(later),
            references=frozenset(references),
        )

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._names.append((name, scope))
            case ast.Name(id=name, ctx=context):
                if isinstance(context, ast.Store) or scope.parent:  # `del name` at the top binds nothing
                    self._bind(name, scope)
            case ast.AnnAssign(target=ast.Name(), value=None) if scope.parent is None:
                self._todo.append((node.annotation, scope))  # it binds nothing
            case ast.NamedExpr(target=target, value=value):
                home = _outside(scope, "block", "comprehension")
                self._is_certain &= home.parent is not None  # `0 and (name := 1)`
                self._bind(target.id, home)
                self._todo.append((value, scope))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
            case ast.ClassDef(name=name):
                self._bind(name, scope)
                self._later([*node.decorator_list, *node.bases, *node.keywords], scope)
                self._later(live(node.body), _Scope(scope, "class"))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, scope)
            case ast.Global(names=names):
                if scope.parent:
                    _outside(scope, "block").elsewhere |= {*names}
            case ast.Nonlocal(names=names):
                _outside(scope, "block").outer |= {*names}
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self._import(names, _outside(scope, "block"))
            case ast.If(test=ast.Name(id=switch)) if scope.parent is not None:
                self._todo.append((node.test, scope))
                self._later(live(node.orelse), scope)
                self._later(live(node.body), _Scope(scope, "block", f"?{switch}"))
            case ast.If() | ast.While() | ast.IfExp():
                self._later([node.test, *taken(node)], scope)
                if isinstance(node, ast.While):
                    self._later(node.orelse, scope)
            case ast.For() | ast.AsyncFor():
                # At the top of a cell, `flat` has listed the statements of the loop by themselves.
                inside = [] if node is self._top else [*live(node.body), *live(node.orelse)]
                self._later([node.target, node.iter, *inside], scope)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self._bind(name, scope)
                self._children(node, scope)
            case ast.MatchMapping(rest=str(name)):
                self._bind(name, scope)
                self._children(node, scope)
            case _:
                self._expression(node, scope)
                self._children(node, scope)

    def _expression(self, node: ast.AST, scope: _Scope) -> None:
        """Record what a node does: it may read an attribute, change a global, or look up names by text."""
        match node:
            case ast.AugAssign(target=ast.Name(id=name)):
                self._names.append((name, scope))
            case ast.Attribute(attr=name, value=value, ctx=ast.Load()):
                self._attributes.append((name, value, scope))
            case ast.Attribute(attr=name, value=ast.Name(id=owner)):
                if (method := _home(owner, scope)) and owner == method.first and method.parent:
                    method.parent.attributes.add(name)
                self._change(node, scope)
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                self._change(node, scope)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in FILLS:
                self._change(owner, scope)
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, *_]):
                self._change(owner, scope)
        for text in looked_up(node):
            self._texts.append((text, scope))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> None:
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
        inner = _Scope(scope, "function", bound={argument.arg for argument in named})
        if scope.kind == "class" and not isinstance(node, ast.Lambda):
            scope.attributes.add(node.name)
            inner.first = named[0].arg if named else ""
            plain = all(ast.unparse(decorator) in HAND_NOTHING_ON for decorator in node.decorator_list)
            alone = scope.parent is self._cell and plain
            if alone and node.name not in CALLED_BY_LIBRARY and not node.name.startswith("__"):
                inner.own_part = f".{node.name}"
        annotations = [argument.annotation for argument in named if argument.annotation]
        defaults = [default for default in (*arguments.defaults, *arguments.kw_defaults) if default]
        self._later([*annotations, *defaults], scope)
        if isinstance(node, ast.Lambda):
            self._todo.append((node.body, inner))
            return
        self._bind(node.name, scope)
        self._later([*node.decorator_list, *([node.returns] if node.returns else [])], scope)
        self._later(live(node.body), inner)

    def _import(self, names: Sequence[ast.alias], scope: _Scope) -> None:
        for alias in names:
            name, parts = _bound_by(alias), alias.name.split(".")
            self._bind(name, scope)
            scope.imports.setdefault(name, []).extend(parts)
            if scope.kind in ("cell", "class") or name in scope.elsewhere:  # not only who reads the name here has it
                self._texts += [(part, scope) for part in parts]

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope) -> None:
        self._todo.append((node.generators[0].iter, scope))
        parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.comprehension)]
        for index, generator in enumerate(node.generators):
            parts += [generator.target, *generator.ifs, *([generator.iter] if index else [])]
        self._later(parts, _Scope(scope, "comprehension"))

    def _bind(self, name: str, scope: _Scope) -> None:
        scope = _outside(scope, "block")
        if name in scope.elsewhere:
            self._declared.add(name)
        elif name not in scope.outer:
            scope.bound.add(name)

    def _change(self, node: ast.AST, scope: _Scope) -> None:
        """Record a change of a global, if `node` is a global or an attribute or item of one."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name) and _home(node.id, scope) is None:
            self._changed.add(node.id)

    def _children(self, node: ast.AST, scope: _Scope) -> None:
        """Put the parts of a node next in the queue. Of a block, only the statements that can run are visited."""
        for _, value in ast.iter_fields(node):
            if isinstance(value, list):
                block = [part for part in value if isinstance(part, ast.stmt)]
                self._later(live(block) or [part for part in value if isinstance(part, ast.AST)], scope)
            elif isinstance(value, ast.AST):
                self._todo.append((value, scope))

    def _later(self, nodes: Sequence[ast.AST], scope: _Scope) -> None:
        # Reversed, so that they are visited in their order: a `global` comes before what it declares.
        self._todo += [(node, scope) for node in reversed(nodes)]


def _home(name: str, scope: _Scope | None) -> _Scope | None:
    """Return the scope within the statement that binds a name, or None if the name is global."""
    innermost = scope
    while scope is not None and scope.parent is not None:
        if name in scope.elsewhere:
            return None
        if name in scope.bound and (scope.kind != "class" or scope is innermost):
            return scope
        scope = scope.parent
    return None


def _outside(scope: _Scope, *kinds: str) -> _Scope:
    """Return the innermost scope around `scope`, itself included, that is of none of these kinds, or else the cell."""
    while scope.kind in kinds and scope.parent is not None:
        scope = scope.parent
    return scope
