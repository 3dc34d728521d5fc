"""The cell protocol: what the ids and marks mean, and that no other module spells them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.submission import cells
from grader.submission.cells import Role, exercise_of, role

GRADER = Path(cells.__file__).resolve().parents[1]
PROTOCOL = Path(cells.__file__).resolve()


@pytest.mark.parametrize(
    ("cell", "meaning", "exercise"),
    [
        (cells.answer_cell("1.4"), Role.ANSWER, "1.4"),
        (cells.check_cell("1.P1"), Role.CHECK, "1.P1"),
        (cells.carry_on_cell("2.10"), Role.CARRY_ON, "2.10"),
        (cells.task_cell("1.4"), Role.TASK, "1.4"),
        (cells.provided_cell("attention.digit_scenes"), Role.PROVIDED, None),
        (cells.own_cell(1), Role.OWN, None),
        (cells.TOOLS_CELL, Role.TOOLS, None),
        ("train-pointer", Role.OTHER, None),
        ("exercise", Role.OTHER, None),
        ("tools-of-ours", Role.OTHER, None),
        ("text-01", Role.OTHER, None),
    ],
)
def test_an_id_tells_role_and_exercise(cell: str, meaning: Role, exercise: str | None) -> None:
    assert role(cell) is meaning
    assert exercise_of(cell) == exercise


def test_the_ids_are_those_of_notebooks_that_students_have() -> None:
    assert cells.answer_cell("1.4") == "exercise-1-4"
    assert cells.check_cell("1.4") == "check-1-4"
    assert cells.carry_on_cell("1.4") == "stuck-1-4"
    assert cells.task_cell("1.4") == "about-1-4"
    assert cells.provided_cell("attention.digit_scenes") == "provided-digit-scenes"
    assert cells.own_cell(7) == "own-007"


def test_the_marker_names_the_exercise_of_an_answer() -> None:
    source = cells.with_marker("1.4", "\ndef attention(): ...\n")
    assert source == "# @exercise 1.4\ndef attention(): ..."
    assert cells.marked_exercises(source) == {"1.4"}
    assert cells.marked_exercises("  #@exercise   1.4  \nx = 1\n# @exercise 1.5") == {"1.4", "1.5"}
    assert cells.marked_exercises("# see @exercise 1.4\n# @exercise 1.4 and more") == set()


def test_a_carry_on_cell_is_off_until_it_is_switched_on() -> None:
    off = cells.carry_on_source("1.4")
    asked: list[str] = []
    exec(off, {"carry_on": asked.append})
    assert asked == []
    exec(off.replace("# carry_on", "carry_on"), {"carry_on": asked.append})
    assert asked == ["1.4"]
    assert cells.is_off(off, "1.4")
    assert not cells.is_off("def f(x):\n    return x", "1.4")


def test_where_submissions_are_graded_the_tools_do_nothing() -> None:
    names: dict[str, Any] = {}
    exec(cells.TOOLS_IN_GRADING, names)
    assert names["check"]("1.1") is names["carry_on"]("1.1") is None
    assert names["self_check_source"]() == ""


def test_the_tag_marks_what_only_draws() -> None:
    drawing = nbformat.v4.new_code_cell("", metadata={"tags": ["parameters", cells.DRAWS]})
    assert cells.only_draws(drawing)
    assert not cells.only_draws(nbformat.v4.new_code_cell(""))


def test_a_stub_raises_and_names_the_exercise() -> None:
    with pytest.raises(NotImplementedError, match=r"^TODO 1\.4$"):
        exec(cells.stub("1.4"))


# ---------------------------------------------------------------- no other module spells the protocol

# An id, or the beginning or a pattern of one: text without a space, in which a role's name begins a word and a hyphen
# follows, as in "stuck-", "check-1-4" and r"^(exercise|check)-". Sentences for people have spaces.
ID = re.compile(r"^(?=\S*$).*(?<![\w-])(exercise|check|stuck|about|provided|own)\)?-")
# A marker that code writes or matches. Sentences quote it instead: '# @exercise 1.4'.
MARKER = re.compile(r"(?<!['`]# )@exercise")
SWITCH = re.compile(r"^# carry_on")


def spelled(source: str) -> Iterator[str]:
    """Yield each place where a module's code, docstrings aside, spells a part of the protocol."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value
            if ID.search(text) or MARKER.search(text) or SWITCH.search(text) or text == cells.DRAWS:
                yield f"line {node.lineno}: {text!r}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
            arguments = {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
            if {".", "-"} <= arguments:
                yield f"line {node.lineno}: an exercise's id made part of a cell's, or back"


def test_no_other_module_spells_the_protocol() -> None:
    modules = sorted(GRADER.rglob("*.py"))
    assert PROTOCOL in modules
    assert [
        f"{module.relative_to(GRADER)}, {place}"
        for module in modules
        if module != PROTOCOL
        for place in spelled(module.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize(
    "code",
    [
        'cell.id == "exercise-1-4"',
        'cell.id.startswith("check-")',
        'f"stuck-{slug}"',
        'f"{prefix}/provided-{name}"',
        '"own-001" in ids',
        're.match(r"^(exercise|check)-(.+)$", cell.id)',
        'f"# @exercise {id}\\n"',
        're.compile(r"#\\s*@exercise\\s+(\\S+)")',
        'if "draws" in tags: pass',
        'source.replace("# carry_on(", "carry_on(")',
        'id.replace(".", "-")',
        'slug.replace("-", ".")',
    ],
)
def test_spelling_it_is_seen(code: str) -> None:
    assert list(spelled(code))


@pytest.mark.parametrize(
    "code",
    [
        '"""The answer is exercise-1-4, behind `# @exercise 1.4`."""',
        """f"Found by its name, in a cell without '# @exercise {exercise.id}'." """,
        "\"no line '# @exercise …' in it\"",
        '"the self-check draws a picture"',
        '"delete the # in front of carry_on"',
        '"exercise"',
        'name.replace("_", "-")',
        '"a check-up of your own-made cell"',
    ],
)
def test_speaking_of_it_is_fine(code: str) -> None:
    assert not list(spelled(code))
