"""What tells the code of a wrong answer from that of the right one, in whatever style an answer is written."""

import ast
from typing import NamedTuple

from grader.submission.code.words import variables

OPERATORS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Traits(NamedTuple):
    """What the wrong code has and the right one has not, and the other way round; empty where only the order differs."""

    has: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


def traits(right: ast.AST, wrong: ast.AST) -> Traits:
    """Return which names, numbers and operators only the wrong code has, and which only the right one has."""
    one, other = _made_of(right), _made_of(wrong)
    return Traits(other - one, one - other)


def shows(code: str, wanted: Traits) -> bool:
    """Tell whether code has something of what a wrong answer adds, or lacks something of what it leaves out.

    Code "", which is not known, shows all, and all code shows traits that are empty; what does not parse shows none.
    """
    try:
        own = _made_of(ast.parse(code))
    except SyntaxError:
        return False
    return not code or bool(wanted.has & own) or bool(wanted.lacks - own) or wanted == Traits()


def _made_of(tree: ast.AST) -> frozenset[str]:
    """Return the attributes, the names that are no variables, the numbers and texts, and the operators of code."""
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
