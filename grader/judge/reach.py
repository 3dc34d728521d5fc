"""Find the code that is reached from the names that an exercise asks for.

These are the statements that bind the names, and those that bind the global names which these read. A test, a
demonstration or an unused helper is not reached. The self-check in a notebook has a copy of this.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from grader.submission.code.scopes import Statement, statements_of_cell

# Names that the lesson may set, and functions by which code may set any name.
PARAMETERS = frozenset("device seed train_steps".split())
TABLES = frozenset("globals vars locals exec eval setattr get_ipython".split())


class StudentCode(NamedTuple):
    """The answer to an exercise, and the student's other code cells in their order."""

    answer: str
    before: Sequence[str] = ()  # cells above the answer, or, in a running notebook, cells that ran
    after: Sequence[str] = ()


class Reach:
    """Finds which statements bind a name at a place in a student's code."""

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
        """Return the statements that some names reach, in the order of the code; `others` are not followed."""
        seen: set[int] = set()
        names: set[str] = set()
        todo = [(name, self.end) for name in sorted(defines)]
        while todo:
            name, place = todo.pop()
            if name in others and name not in defines:
                continue
            found = {*self.binders(name, place)}
            if name not in names:  # `Layer.forward = forward` completes a class wherever it stands
                changes = self._changing.get(name, ())
                found |= {*changes}
                # What hands something to a function that changes it, as `@keep` does.
                found |= {user for index in changes for bound in self.all[index].binds for user in self._reading[bound]}
            names.add(name)
            for index in found - seen:
                statement = self.all[index]
                todo += [(read, index) for read in statement.reads]
                todo += [(read, self.end) for read in statement.reads_when_called]
                todo += [(f".{reference.name}", self.end) for reference in statement.references]
                read_names = statement.reads | statement.reads_when_called
                switches = [read for read in read_names if f"?{read}" in self.binding and not self._is_off(read)]
                todo += [(f"?{read}", self.end) for read in switches]
            seen |= found
        return [self.all[index] for index in sorted(seen)]

    def is_bound(self, name: str) -> bool:
        """Return True if the student's code gives a name its value, and no star import may."""
        return any(self.all[index].is_certain for index in self.binding.get(name, ()))

    def _is_off(self, name: str) -> bool:
        """Return True if a name is a switch that is off: `DEBUG = False`."""
        if name in PARAMETERS or any(TABLES & (one.reads | one.reads_when_called) for one in self.all):
            return False  # its value may come from elsewhere
        nodes = [self.all[index].node for index in self.binding.get(name, ())]
        values = [node.value for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign))]
        return bool(nodes) and len(values) == len(nodes) and all(map(_is_false, values))

    def binders(self, name: str, place: int) -> list[int]:
        """Return the statements from which a name may have its value at a place; if none comes before it, those after it."""
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
    """List the statements that the names of an exercise reach, as nodes, with the imports of one name each."""
    return list(dict.fromkeys(statement.node for statement in Reach(code).statements(defines, others)))


def _is_false(value: ast.expr | None) -> bool:
    """Return True if an expression is a constant that is false."""
    return isinstance(value, ast.Constant) and not value.value
