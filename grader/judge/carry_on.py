"""Tell whether an answer is the code of its cell "Stuck? Carry on", which lets a student go on and earns no points.

Two codes are compared by their statements, without the names of variables and without order: renaming, reordering, idle lines in
between, and a name for what is returned change nothing.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Sequence

from grader.judge.mentions import reachable, statements
from grader.submission.code.source_names import cached_by_source
from grader.submission.code.words import variables, words

# Everybody might write one statement such as `return torch.cat(heads.unbind(-3), dim=-1)`, but not these two by chance.
LEAST_STATEMENTS = 2


def is_carry_on(answer: str, carry_on: str, others: Sequence[str] = ()) -> bool:
    """Tell whether an answer holds all statements of a carry-on cell, which are too many to agree by chance.

    Args:
        carry_on: the source of the carry-on cell; "" if the exercise has none.
        others: sources of the cells that the student added: the answer may call what they define.
    """
    wanted = shapes_of_source(carry_on) if carry_on else Counter()
    if wanted.total() < LEAST_STATEMENTS:
        return False
    found = reachable(answer, others)
    if wanted <= shapes(found):
        return True
    wanted = shapes(statements(carry_on), values=True)
    return wanted.total() >= LEAST_STATEMENTS and wanted <= shapes(found, values=True)


@cached_by_source
def shapes_of_source(source: str) -> Counter[str]:
    """Count the statements of a cell; see `shapes`."""
    return shapes(statements(source))


def shapes(top: Iterable[ast.stmt], *, values: bool = False) -> Counter[str]:
    """Count the assignments and returns in functions and classes, each without the names of variables.

    With `values`, only what is assigned or returned counts, and mere names do not.

    Definitions in an `if`, `try` or another block count, too, as in a carry-on cell.
    """
    found: Counter[str] = Counter()
    todo = list(top)
    while todo:
        statement = todo.pop()
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            bound = variables(statement)
            nodes = [
                node.value if values else node
                for node in ast.walk(statement)
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return))
            ]
            found.update(_text(node, bound) for node in nodes if node and not isinstance(node, ast.Name))
        else:
            for block in ("body", "handlers", "orelse", "finalbody"):
                todo += getattr(statement, block, [])
    return found


def _text(node: ast.AST, bound: frozenset[str]) -> str:
    """List what a statement is made of, without the names of variables."""
    return " ".join(word for word, _ in words(node, lambda name: "_" if name in bound else name))
