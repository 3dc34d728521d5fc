"""The rules at the top of each notebook, and the page that says where every requirement is stated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from grader.build.errors import BuildError
from grader.build.promises import PAGE, QUOTATIONS, requirements_page, rules, with_promises
from grader.course import lessons
from grader.course.lesson_1 import LESSON
from grader.paths import notebook_path, shipped_root

ROOT = shipped_root()
TWO = replace(LESSON, exercises=LESSON.exercises[:2])
BOOK = {"1-attention": nbformat.read(notebook_path(ROOT, "1-attention"), as_version=4)}


def test_the_rules_stand_in_every_notebook() -> None:
    for name, lesson in lessons().items():
        book = nbformat.read(notebook_path(ROOT, name), as_version=4)
        assert any(all(rule in cell.source for rule in rules(lesson)) for cell in book.cells), name


def test_the_exercises_with_gradients_are_named() -> None:
    [rule] = [rule for rule in rules(TWO) if rule.startswith("Gradients")]
    assert "in 1.1 and 1.2. In all other" in rule
    without = replace(LESSON, exercises=(LESSON.exercise("1.5"),))
    assert not [rule for rule in rules(without) if rule.startswith("Gradients")]
    text = with_promises("above\n\n<!-- what every answer must do -->\n\nbelow", without)
    assert text.startswith("above\n\n**What every answer must do.**")
    assert with_promises("no <!-- what every answer must do --> here", LESSON) == (
        "no <!-- what every answer must do --> here"
    )


def write(root: Path, text: str) -> Path:
    (root / "solutions").mkdir()
    (root / QUOTATIONS).write_text(text, "utf-8")
    return root


STATED = """
["1.1"]
values = ["the dot product of every query"]
batch = ["box: Tensors may have"]
conduct = ["box: Gradients flow"]
["1.2"]
values = ["divided by √d_k"]
batch = ["box: Tensors may have"]
conduct = ["box: Gradients flow"]
"""


def test_a_row_for_each_check(tmp_path: Path) -> None:
    page = requirements_page(write(tmp_path, STATED), [TWO], BOOK)
    count = sum(len(exercise.checks) for exercise in TWO.exercises)
    assert sum(line.startswith("| 1.") for line in page.splitlines()) == count
    assert "“divided by √d_k”" in page
    assert "rule: Gradients flow to the float …" in page


def test_a_text_above_the_task_may_state_it(tmp_path: Path) -> None:
    stated = STATED.replace("divided by √d_k", "above: Three pictures to keep in mind")
    page = requirements_page(write(tmp_path, stated), [TWO], BOOK)
    assert "above the task: “Three pictures to keep in mind”" in page


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('values = ["divided by √d_k"]', "", "1.2, check 'values': quote the words"),
        ("divided by √d_k", "divided by d_k", "1.2, check 'values': neither task nor box says 'divided by d_k'"),
        ("divided by √d_k", "above: Where you stand", "1.2, check 'values': neither task nor box says 'above: Where"),
        ("box: Tensors may", "box: Tensors must", "neither task nor box says 'box: Tensors must have'"),
        ("box: Gradients flow", "box: A result has", "1.1, check 'conduct': it compares gradients"),
    ],
)
def test_a_requirement_that_nothing_states_fails_the_build(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in STATED
    with pytest.raises(BuildError) as error:
        requirements_page(write(tmp_path, STATED.replace(old, new)), [TWO], BOOK)
    assert said in str(error.value)


def test_the_committed_page_has_every_check() -> None:
    page = (ROOT / PAGE).read_text("utf-8")
    for lesson in lessons().values():
        for exercise in lesson.exercises:
            asked = {check.name for check in exercise.checks} - lesson.step_checks(exercise.id)
            assert page.count(f"| {exercise.id} `{exercise.name}` |") == len(asked)
