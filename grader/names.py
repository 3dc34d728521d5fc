"""Who uses whom: which exercises' names a piece of a notebook speaks of, found in its text.

Too many rather than too few: a name that only stands in a comment counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from grader.exercise import Lesson

WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # `self.attention` is not `attention`
# Source with one of these may call what it does not name; `model.eval()` may not.
DYNAMIC = re.compile(r"(?<![\w.])(globals|locals|vars|eval|exec|getattr|get_ipython|importlib|sys)\b")


def words(source: str) -> frozenset[str]:
    """Every name in it that is no attribute."""
    return frozenset(WORD.findall(source))


def definitions(source: str) -> dict[str, frozenset[str]]:
    """The functions and classes that a cell defines at its top level, each with the names that it speaks of."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        node.name: words(ast.get_source_segment(source, node) or "")
        for node in statements
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }


def used(lesson: Lesson, source: str, defined: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Ids of the exercises whose names a source speaks of, itself or through what is defined elsewhere.

    Args:
        defined: name → the names that its definition speaks of.
    """
    reached: set[str] = set()
    todo = set(words(source))
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo |= defined.get(name, frozenset())
    return frozenset(exercise.id for exercise in lesson.exercises if reached & set(exercise.defines))


def foundations(lesson: Lesson, id: str) -> frozenset[str]:
    """Everything that an exercise builds on, directly or not."""
    found: set[str] = set()
    todo: list[str] = list(lesson.exercise(id).builds_on)
    while todo:
        below = todo.pop()
        if below not in found:
            found.add(below)
            todo += lesson.exercise(below).builds_on
    return frozenset(found)


def may_use(lesson: Lesson, id: str, answers: Mapping[str, str], own: Iterable[str]) -> frozenset[str]:
    """What an exercise builds on and its answer can reach: by name, or anything if it looks names up as it runs.

    Args:
        answers: source of the cell that counts, by exercise id.
        own: sources of the student's own cells; an answer is taken to use all of them.
    """
    below = foundations(lesson, id)
    source = "\n".join([answers.get(id, ""), *own])
    if DYNAMIC.search(source) or any(check.at for check in lesson.exercise(id).checks):
        return below  # what was trained came of everything
    defined = {name: names for text in answers.values() for name, names in definitions(text).items()}
    return below & used(lesson, source, defined)
