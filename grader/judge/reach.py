"""Find the code that is reached from the names of an exercise, and the built-ins that it refers to.

The reached statements are those that bind the names of the exercise, and in turn those
that bind the global names which a reached statement reads. A test, a demonstration or
an unused helper is not reached. The self-check in a notebook has a copy of this module.

A place is the index of a statement among all statements of the student's code, in the order of the cells.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from grader.submission.code.scopes import SELF, Statement, statements_of_cell

# Names that the lesson may set, and functions by which code may set any name.
PARAMETERS = frozenset("device seed train_steps".split())
TABLES = frozenset("globals vars locals exec eval setattr get_ipython".split())


class StudentCode(NamedTuple):
    """The answer to an exercise, and the student's other code cells in their order."""

    answer: str
    before: Sequence[str] = ()  # cells above the answer, or, in a running notebook, cells that ran
    after: Sequence[str] = ()


class Reach:
    """The statements of a student's code. It can find the statements that bind a name at a place."""

    def __init__(self, code: StudentCode) -> None:
        before = [statement for cell in (*code.before, code.answer) for statement in statements_of_cell(cell)]
        self.all = [*before, *(statement for cell in code.after for statement in statements_of_cell(cell))]
        self.end = len(before)  # an answer is tried right after its cell
        self.binding: dict[str, list[int]] = defaultdict(list)
        self._changing: dict[str, list[int]] = defaultdict(list)
        self._reading: dict[str, list[int]] = defaultdict(list)
        for index, statement in enumerate(self.all):
            for name in statement.binds:
                self.binding[name].append(index)
            for name in statement.changes:
                self._changing[name].append(index)
            for name in statement.reads:
                self._reading[name].append(index)

    def statements(self, defines: Collection[str], others: Collection[str]) -> list[Statement]:
        """Return the statements that the names in `defines` reach, in the order of the code.

        Names in `others` are not followed, unless they are also in `defines`.
        """
        seen: set[int] = set()
        names: set[str] = set()
        todo = [(name, self.end) for name in sorted(defines)]
        while todo:
            while todo:
                name, place = todo.pop()
                if name not in others or name in defines:
                    names.add(name)
                    found = {*self.binders(name, place)} - seen
                    seen |= found
                    todo += [read for index in found for read in self._read_by(index)]
            # `Layer.forward = forward` completes a class wherever it stands, and `@keep` hands a function on to
            # `keep`, which changes a table. What the answer calls itself, as a log, says nothing about others
            # who call it.
            changes = {index for name in names for index in self._changing.get(name, ())} - seen
            handed = {bound for index in changes for bound in self.all[index].binds - names}
            changes |= {index for name in handed for index in self._reading.get(name, ())} - seen
            seen |= changes
            todo += [read for index in changes for read in self._read_by(index)]
        return [self.all[index] for index in sorted(seen)]

    def _read_by(self, index: int) -> list[tuple[str, int]]:
        """Return the names that a statement reads, each with the place at which its value is looked up."""
        statement = self.all[index]
        read = [(name, index) for name in statement.reads]
        read += [(name, self.end) for name in statement.reads_when_called]
        read += [(f".{reference.name}", self.end) for reference in statement.references]
        switches = {f"?{name}": name for name in statement.reads | statement.reads_when_called}
        return read + [
            (part, self.end) for part, name in switches.items() if part in self.binding and not self._is_off(name)
        ]

    def is_bound(self, name: str) -> bool:
        """Return True if the student's code is certain to bind a name, so that no star import provides it."""
        return any(self.all[index].is_certain for index in self.binding.get(name, ()))

    def _is_off(self, name: str) -> bool:
        """Return True if a name is a switch that is off, as after `DEBUG = False`."""
        if name in PARAMETERS or any(TABLES & (one.reads | one.reads_when_called) for one in self.all):
            return False  # its value may come from elsewhere
        nodes = [self.all[index].node for index in self.binding.get(name, ())]
        values = [node.value for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign))]
        return bool(nodes) and len(values) == len(nodes) and all(map(_is_false, values))

    def binders(self, name: str, place: int) -> list[int]:
        """Return the places of the statements that may have bound a name before a place.

        If no statement before the place binds the name, return the statements after it that do.
        """
        places = self.binding.get(name, [])
        if name.startswith((".", "?")):  # a method, of whichever class; code below a switch
            return places
        found: list[int] = []
        for index in reversed([index for index in places if index < place]):
            found.append(index)
            if self.all[index].is_certain:
                return found
        return found or [index for index in places if index >= place]


def reached(code: StudentCode, defines: Collection[str], others: Collection[str] = ()) -> list[ast.AST]:
    """List the statements that the names of an exercise reach, as syntax nodes.

    An import of several names is split into one node for each name.
    """
    return list(dict.fromkeys(statement.node for statement in Reach(code).statements(defines, others)))


def _is_false(value: ast.expr | None) -> bool:
    """Return True if an expression is a constant that is false, such as `False`, `0` or `""`."""
    return isinstance(value, ast.Constant) and not value.value


HIDDEN = "something out of sight"
HINT = (
    "Write this part yourself, with the operations of the lesson. You may use the built-in where a later exercise does "
    "not ask for this part."
)


def complaint(used: Sequence[str], verb: str = "refers to") -> str:
    """Return a sentence for the student that names the first of the banned built-ins that an answer uses.

    Args:
        used: the names of the built-ins; at least one.
        verb: "calls" if the built-in was observed to run.
    """
    if used[0] == HIDDEN:
        return "your code hides what it calls, so the grader cannot see that you wrote this yourself"
    return f"your code {verb} {used[0]}, which does what this exercise asks you to write"


def mentions(
    code: StudentCode, defines: Collection[str], banned: Collection[str], others: Collection[str] = ()
) -> tuple[str, ...]:
    """List the banned names that an answer refers to, directly or through the student's own helpers.

    Args:
        defines: the names that the exercise asks for.
        others: the names that other exercises ask for. Code that defines these names is not searched.
    """
    reach = Reach(code)
    statements = reach.statements(defines, others)
    used = (name for statement in statements for name in _mentioned(reach, statement) if name in banned)
    return tuple(dict.fromkeys(used))


def _mentioned(reach: Reach, statement: Statement) -> Iterator[str]:
    """Yield the names that may be library functions: attributes, texts, and names that no student code binds."""
    for reference in sorted(statement.references):
        if reference.owner != SELF and not _is_of_own_class(reach, reference.owner, reference.name):
            yield reference.name
    yield from sorted(
        name for name in statement.reads | statement.reads_when_called if not reach.is_bound(name)
    )  # as after `from torch import *`


def _is_of_own_class(reach: Reach, owner: str, name: str) -> bool:
    """Return True if an attribute belongs to a class that the student defines, such as `Tools.softmax`."""
    nodes = [reach.all[index].node for index in reach.binders(owner, reach.end)]
    return bool(nodes) and all(isinstance(node, ast.ClassDef) and _defines(node, name) for node in nodes)


def _defines(node: ast.ClassDef, name: str) -> bool:
    """Return True if a class defines a method with this name."""
    return any(isinstance(inner, ast.FunctionDef) and inner.name == name for inner in node.body)
