"""Find the built-ins that an answer refers to, by whatever name; the self-check in a notebook has a copy of this."""

import ast
from collections.abc import Collection, Iterator, Sequence

from grader.judge.reach import Reach, StudentCode
from grader.submission.code.scopes import SELF, Statement

HIDDEN = "something out of sight"
HINT = "Write it yourself here, with the operations of the lesson; you may use the built-in afterwards."


def complaint(used: Sequence[str], verb: str = "refers to") -> str:
    """Return a sentence that names the first of the banned built-ins that an answer uses, for the student.

    Args:
        verb: "calls" if the built-in was seen to run.
    """
    if used[0] == HIDDEN:
        return "it hides what it calls from the grader, so it cannot be seen that you wrote this yourself"
    return f"it {verb} {used[0]}, which does what this exercise asks you to write"


def mentions(
    code: StudentCode, defines: Collection[str], banned: Collection[str], others: Collection[str] = ()
) -> tuple[str, ...]:
    """List the banned names that an answer refers to, directly or through the student's own helpers.

    Args:
        defines: the names that the exercise asks for.
        others: the names that other exercises ask for; what those refer to does not count here.
    """
    reach = Reach(code)
    statements = reach.statements(defines, others)
    used = (name for statement in statements for name in _mentioned(reach, statement) if name in banned)
    return tuple(dict.fromkeys(used))


def _mentioned(reach: Reach, statement: Statement) -> Iterator[str]:
    """Yield the names of library functions that a statement may refer to: attributes, texts, and names nobody binds."""
    for reference in sorted(statement.references):
        if reference.owner != SELF and not _is_of_own_class(reach, reference.owner, reference.name):
            yield reference.name
    yield from sorted(
        name for name in statement.reads | statement.reads_when_called if not reach.is_bound(name)
    )  # as after `from torch import *`


def _is_of_own_class(reach: Reach, owner: str, name: str) -> bool:
    """Tell whether an attribute is that of a class of the student's, as `Tools.softmax`."""
    nodes = [reach.all[index].node for index in reach.binders(owner, reach.end)]
    return bool(nodes) and all(isinstance(node, ast.ClassDef) and _defines(node, name) for node in nodes)


def _defines(node: ast.ClassDef, name: str) -> bool:
    """Tell whether a class defines a method of this name."""
    return any(isinstance(inner, ast.FunctionDef) and inner.name == name for inner in node.body)
