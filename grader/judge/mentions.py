"""Find the built-ins that an answer refers to, by whatever name; the self-check in a notebook has a copy of this.

What counts is the code that is reached from the names that the exercise asks for: the statements that bind them, and
those that bind the global names which these read. A test, a demonstration or an unused helper is not reached.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from grader.submission.code.scopes import SELF, Statement, statements_of_cell

HIDDEN = "something out of sight"
HINT = "Write it yourself here, with the operations of the lesson; you may use the built-in afterwards."


class StudentCode(NamedTuple):
    """The answer to an exercise, and the student's other code cells in their order."""

    answer: str
    before: Sequence[str] = ()  # cells above the answer, or, in a running notebook, cells that ran
    after: Sequence[str] = ()


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
    reach = _Reach(code)
    statements = reach.statements(defines, others)
    used = (name for statement in statements for name in reach.mentioned(statement) if name in banned)
    return tuple(dict.fromkeys(used))


def reached(code: StudentCode, defines: Collection[str], others: Collection[str] = ()) -> list[ast.AST]:
    """List the statements that the names of an exercise reach, as nodes, with the imports of one name each."""
    return list(dict.fromkeys(statement.node for statement in _Reach(code).statements(defines, others)))


class _Reach:
    """Finds which statements bind a name at a place in a student's code."""

    def __init__(self, code: StudentCode) -> None:
        before = [statement for cell in (*code.before, code.answer) for statement in statements_of_cell(cell)]
        self._all = [*before, *(statement for cell in code.after for statement in statements_of_cell(cell))]
        self._end = len(before)  # an answer is tried right after its cell
        self._binding: dict[str, list[int]] = defaultdict(list)
        self._changing: dict[str, list[int]] = defaultdict(list)
        for index, statement in enumerate(self._all):
            for name in statement.binds:
                self._binding[name].append(index)
            for name in statement.changes:
                self._changing[name].append(index)

    def statements(self, defines: Collection[str], others: Collection[str]) -> list[Statement]:
        """Return the statements that some names reach, in the order of the code; `others` are not followed."""
        seen: set[int] = set()
        names: set[str] = set()
        todo = [(name, self._end) for name in sorted(defines)]
        while todo:
            name, place = todo.pop()
            if name in others and name not in defines:
                continue
            found = {*self._binders(name, place)}
            if name not in names:  # `Layer.forward = forward` completes a class wherever it stands
                found |= {*self._changing.get(name, ())}
            names.add(name)
            for index in found - seen:
                statement = self._all[index]
                todo += [(read, index) for read in statement.reads]
                todo += [(read, self._end) for read in statement.reads_when_called]
                todo += [(f".{reference.name}", self._end) for reference in statement.references]
            seen |= found
        return [self._all[index] for index in sorted(seen)]

    def _binders(self, name: str, place: int) -> list[int]:
        """Return the statements from which a name may have its value at a place; if none comes before it, those after it."""
        places = self._binding.get(name, [])
        if name.startswith("."):  # a method: of whichever class
            return places
        found: list[int] = []
        for index in reversed([index for index in places if index < place]):
            found.append(index)
            if self._all[index].is_certain:
                return found
        return found or [index for index in places if index >= place]

    def mentioned(self, statement: Statement) -> Iterator[str]:
        """Yield the names of library functions that a statement may refer to: attributes, texts, and names nobody binds."""
        for reference in sorted(statement.references):
            if reference.owner != SELF and not self._is_of_own_class(reference.owner, reference.name):
                yield reference.name
        yield from sorted(
            name for name in statement.reads | statement.reads_when_called if name not in self._binding
        )  # as after `from torch import *`

    def _is_of_own_class(self, owner: str, name: str) -> bool:
        """Tell whether an attribute is that of a class of the student's, as `Tools.softmax`."""
        nodes = [self._all[index].node for index in self._binding.get(owner, ())]
        return bool(nodes) and all(isinstance(node, ast.ClassDef) and _defines(node, name) for node in nodes)


def _defines(node: ast.ClassDef, name: str) -> bool:
    """Tell whether a class defines a method of this name."""
    return any(isinstance(inner, ast.FunctionDef) and inner.name == name for inner in node.body)
