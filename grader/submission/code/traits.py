"""The words of a piece of code, and the traits by which wrong code differs from right code.

A word is a name, a constant, or the type of a syntax node. The caller chooses how names are written. Traits are names,
numbers and operators, so they do not depend on the style in which an answer is written.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

MOST_NODES, MOST_DEPTH = 5_000, 80  # the longest solution has 600 nodes, and lies 20 deep


def words(
    node: ast.AST, name_as: Callable[[str], str], attribute_as: Callable[[str], str] = lambda name: f".{name}"
) -> Iterator[tuple[str, int]]:
    """Yield a word and its line for each node of code, outer nodes first.

    A word is a name, a constant as text, or the type of the node.

    Args:
        name_as: returns the word to yield for a name.
        attribute_as: returns the word to yield for the name of an attribute.
    """
    todo, line = [node], getattr(node, "lineno", 0)
    while todo:  # a loop: a sum of a thousand terms is too deep for a call
        inner = todo.pop()
        line = getattr(inner, "lineno", line)
        match inner:
            case ast.Name(id=name):
                yield name_as(name), line
                continue
            case ast.Attribute(attr=name):
                yield attribute_as(name), line
            case ast.Constant(value=value):
                # Python writes no huge decimals.
                yield hex(value) if type(value) is int else repr(value), line
            case ast.expr_context():
                pass
            case _:
                yield type(inner).__name__, line
        todo += reversed([*ast.iter_child_nodes(inner)])


def variables(definition: ast.AST) -> frozenset[str]:
    """Return the names that code binds at any depth: its arguments and the variables that it assigns."""
    stored = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(stored | {n.arg for n in ast.walk(definition) if isinstance(n, ast.arg)})


def is_small(statements: Sequence[ast.stmt]) -> bool:
    """Return True if code is short and flat enough to be processed by recursive functions."""
    level: list[ast.AST] = [*statements]
    nodes = depth = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if nodes > MOST_NODES or depth > MOST_DEPTH:
            return False
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
    return True


def without_docs(node: ast.AST) -> ast.AST:
    """Remove docstrings and annotations from a definition or module in place, and return the same tree.

    Raises:
        RecursionError: the tree is too deep.
    """
    return _WithoutDocs().visit(node)


class _WithoutDocs(ast.NodeTransformer):
    """Removes docstrings and annotations from a syntax tree."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        plain = ast.Assign(targets=[node.target], value=self.visit(node.value))
        return ast.copy_location(plain, node)


OPERATORS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Traits(NamedTuple):
    """The words that occur only in the wrong code, and the words that occur only in the right code.

    Both sets are empty if the two pieces of code differ only in order.
    """

    has: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


def traits(right: ast.AST, wrong: ast.AST) -> Traits:
    """Return the names, numbers and operators that only the wrong code has, and those that only the right code has."""
    one, other = _made_of(right), _made_of(wrong)
    return Traits(other - one, one - other)


def shows(code: str, wanted: Traits) -> bool:
    """Return True if code contains a word that the wrong answer adds, or lacks a word that it removes.

    Also return True if the code is "" (unknown) or the wanted traits are empty.
    Return False if the code does not parse.
    """
    try:
        own = _made_of(ast.parse(code))
    except SyntaxError:
        return False
    return not code or bool(wanted.has & own) or bool(wanted.lacks - own) or wanted == Traits()


def _made_of(tree: ast.AST) -> frozenset[str]:
    """Return the names, attributes, constants and operators of code, without the variables that it binds."""
    own, made = variables(tree), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            made.add(node.id)
        elif isinstance(node, ast.Attribute):
            made.add(f".{node.attr}")
        elif isinstance(node, ast.Constant):
            made.add(repr(node.value))
        elif isinstance(node, OPERATORS):
            made.add(type(node).__name__)
    return frozenset(made - own)
