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
    sources = {"a": "def f(): ...\nX = 1\nLESSON = 1", "b": "class f: ...\nX: int = 2\nLESSON = 2", "c": "g = 3"}
    assert homonyms(sources) == {"f": ["a", "b"], "X": ["a", "b"]}


MOST_LINES = 35
LONG = {"1.6": "masks of eight forms", "2.6": "ten checks, where most layers need three"}


def declaration_lines(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Give each exercise's id and the lines of its declaration, checks and trials included, mistakes apart."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("exercise"):
            fields = {field.arg: field for field in node.keywords}
            lines = {name: field.end_lineno - field.lineno + 1 for name, field in fields.items()}
            heading = ast.literal_eval(node.args[0])
            yield heading.partition(" ")[0], node.end_lineno - node.lineno + 1 - lines.get("mistakes", 0)


def test_a_declaration_has_few_lines() -> None:
    lengths = dict(length for path in MODULES for length in declaration_lines(ast.parse(path.read_text("utf-8"))))
    assert {"1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9"} <= lengths.keys()
    assert {id for id, lines in lengths.items() if lines > MOST_LINES} == LONG.keys(), lengths


def test_the_lines_of_mistakes_do_not_count() -> None:
    source = 'X = written_exercise("9.1 Title", f, (\n    CheckSpec("values", 1),\n),\n    mistakes="""\n    a: b\n""")'
    assert dict(declaration_lines(ast.parse(source))) == {"9.1": 3}
