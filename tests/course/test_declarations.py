"""How the lessons are declared, whatever they teach: names, sizes of modules and of declarations."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

COURSE = Path(__file__).parents[2] / "grader" / "course"
MODULES = sorted(COURSE.glob("lesson_*/*.py"))


def defined(tree: ast.Module) -> Iterator[str]:
    """Give the names that a module's top level defines: functions, classes and constants."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def homonyms(modules: dict[str, str]) -> dict[str, list[str]]:
    """Give the names that several modules define, and the modules; every lesson has a LESSON."""
    owners = defaultdict(list)
    for module, source in modules.items():
        for name in defined(ast.parse(source)):
            owners[name].append(module)
    return {name: where for name, where in owners.items() if len(where) > 1 and name != "LESSON"}


def test_no_two_definitions_of_the_course_have_one_name() -> None:
    assert MODULES
    sources = {path.relative_to(COURSE).as_posix(): path.read_text("utf-8") for path in MODULES}
    assert homonyms(sources) == {}


def test_a_homonym_is_seen() -> None:
    sources = {
        "a": "def f(): ...\nX = 1\nLESSON = 1",
        "b": "class f: ...\nX: int = 2\nLESSON = 2",
        "c": "g = 3",
    }
    assert homonyms(sources) == {"f": ["a", "b"], "X": ["a", "b"]}
