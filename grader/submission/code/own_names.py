"""Tells which names a function binds itself, and which of these may stand for an object from outside of it."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from grader.submission.code.source_names import cached_by_source, parse_statements, without_magics

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
PLAIN = frozenset("shape ndim dtype device".split())  # attributes of a tensor that nobody can change
LOOKS = frozenset("get items keys values".split())  # methods that change nothing
VIEWS = frozenset("view view_as ravel narrow select detach".split())  # of a tensor: they write where it does


def statements_of(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of statements, those inside of them included, but not what stands in functions and classes."""
    left: list[ast.AST] = list(body)
    while left:
        one = left.pop()
        yield one
        if not isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            left += ast.iter_child_nodes(one)


def outside_functions(body: Sequence[ast.AST], classes: bool = True) -> Iterator[ast.AST]:
    """Yield the nodes that run with the statements themselves: decorators and defaults, but no function's body.

    If `classes` is false, what stands in classes is left out, too.
    """
    left: list[ast.AST] = list(body)
    while left:
        one = left.pop()
        yield one
        inner = isinstance(one, FUNCTIONS) or (isinstance(one, ast.ClassDef) and not classes)
        left += _before_the_body(one) if inner else ast.iter_child_nodes(one)


def _before_the_body(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what of a function or a class is evaluated where it is defined."""
    for field, value in ast.iter_fields(node):
        if field != "body":
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST))


@cached_by_source
def made_names(source: str) -> frozenset[str]:
    """Return the names that code makes for attributes: of functions, classes and fields, and of `x.name = value`."""
    tree = ast.Module(parse_statements(without_magics(source)) or [], [])
    return frozenset(chain.from_iterable(map(_names_made_by, ast.walk(tree))))


def _names_made_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        if isinstance(node, ast.ClassDef):
            yield from chain.from_iterable(map(_stored, node.body))
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("amedtuple"):
        texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))
        yield from " ".join(texts).replace(",", " ").split()


def own_nodes(function: FunctionNode) -> list[ast.AST]:
    """Return the nodes of a function's body, without those of functions and classes in it."""
    return list(statements_of([function.body] if isinstance(function, ast.Lambda) else function.body))


def own_names(function: FunctionNode) -> set[str]:
    """Return the names that a function itself binds: its parameters, and what it assigns."""
    names = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    return names.union(*map(_stored, own_nodes(function)))


def _stored(node: ast.AST) -> set[str]:
    """Return the names that an expression or a statement stores something in, functions and classes in it left out."""
    return {one.id for one in statements_of([node]) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def lent_names(nodes: Iterable[ast.AST], local: set[str], given: set[str]) -> set[str]:
    """Return a function's own names that may stand for an object from outside of it, as in `k = matplotlib.rcParams`.

    Args:
        local: the names that the function binds.
        given: its parameters; what hangs on these is from outside, as in `k = self.calls`.
    """
    # What `a += b` puts into `a` is a new object, or the one that was there.
    bound = [pair for node in nodes if not isinstance(node, ast.AugAssign) and (pair := binding(node))]
    lent: set[str] = set()
    while True:
        more = {
            name
            for targets, value in bound
            if _is_from_outside(value, local - lent, given)
            for target in targets
            for name in _stored(target) & local
        }
        if more <= lent:
            return lent
        lent |= more


def binding(node: ast.AST) -> tuple[list[ast.expr], ast.expr] | None:
    """Return the targets and the value where a node binds a value to names; else None."""
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value:
        return [node.target], node.value
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.target], node.iter
    if isinstance(node, ast.withitem) and node.optional_vars:
        return [node.optional_vars], node.context_expr
    return None


def _is_from_outside(value: ast.AST, local: set[str], given: set[str]) -> bool:
    """Tell whether an expression may be an object that no call has made and no name of the function's own holds."""
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return False  # a new object
    if isinstance(value, ast.Call):  # of all calls these alone give back what was there before
        asks = isinstance(value.func, ast.Attribute) and value.func.attr in LOOKS | VIEWS
        return asks and _is_from_outside(value.func, local, given)
    if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) and (root := root_of(value)):
        return root not in local or (root in given and _hangs_on(value))
    return any(_is_from_outside(child, local, given) for child in ast.iter_child_nodes(value))


def _hangs_on(value: ast.AST) -> bool:
    """Tell whether an expression reads attributes, as `self.calls[0]`, and none in PLAIN: a size or a type holds nothing."""
    attributes = [node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)]
    return bool(attributes) and not PLAIN & set(attributes)


def root_of(node: ast.AST) -> str:
    """Return the name with which a chain of attributes and indices begins; "" if it begins with something else."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
