"""A small lesson of one exercise, from script to student notebook, for real."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
import pytest

from grader.build.errors import BuildError
from grader.build.scripts import solution_notebook
from grader.build.self_check_cell import self_check_source
from grader.build.student import student_notebook
from grader.course.lesson_1 import LESSON
from tests.build.computed_self_check import computed_self_checks

SMALL = replace(LESSON, exercises=LESSON.exercises[:1])


@cache
def tools() -> str:
    """The packed cell of the small course."""
    return self_check_source(computed_self_checks(SMALL))


SCRIPT = '''# %% [markdown]
# # Small
# ![a square](assets/square.svg)
#
# ## Scores

# %% id="setup" tags=["parameters"]
device = "auto"

# %% tools="1"

# %% [markdown] about="1.1"
# Compare every query with every key.

# %% exercise="1.1"
def attention_scores(query, key):
    """(..., Q, d_k), (..., K, d_k) → (..., Q, K)"""
    ### BEGIN SOLUTION
    return query @ key.mT
    ### END SOLUTION

# %% provided="attention.data.digits"

# %% id="use" draws="1"
scores = attention_scores(query, key)
'''


@pytest.fixture
def write(tmp_path: Path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "square.svg").write_text("<svg/>")

    def one(text: str = SCRIPT):
        script = tmp_path / "1-attention.py"
        script.write_text(text)
        return solution_notebook(script, SMALL, tmp_path, tools())

    return one


def cells(notebook) -> dict:
    return {cell.id: cell for cell in notebook.cells}


def test_the_solution_notebook_has_what_the_script_and_the_declaration_say(write) -> None:
    book = write()
    nbformat.validate(book)
    by_id = cells(book)
    assert list(by_id) == [
        "text-01", "setup", "tools", "about-1-1", "exercise-1-1", "check-1-1", "stuck-1-1",
        "provided-digits", "use", "hand-in", "stand", "submit",
    ]  # fmt: skip
    assert by_id["about-1-1"].source.startswith(
        "### Exercise 1.1 · Dot-product scores — 5 points · ●○○ · 5 minutes\n\nCompare"
    )
    assert by_id["exercise-1-1"].source.startswith("# @exercise 1.1\ndef attention_scores")
    assert by_id["check-1-1"].source == 'check("1.1")  # NameError? Run all cells above'
    assert by_id["check-1-1"].metadata.nbgrader.points == 5
    assert by_id["exercise-1-1"].metadata.nbgrader.solution
    assert by_id["use"].metadata.tags == ["draws", "raises-exception"]
    assert by_id["setup"].metadata.tags == ["parameters"]
    assert by_id["provided-digits"].metadata.jupyter.source_hidden
    assert "data:image/svg+xml;base64,PHN2Zy8+" in by_id["text-01"].source
    assert by_id["stuck-1-1"].source.endswith('\n# carry_on("1.1")')
    assert "einsum" not in nbformat.writes(book)


def test_the_student_notebook_names_the_todo_and_holds_no_answer(write) -> None:
    book = student_notebook("1-attention", write())
    by_id = cells(book)
    assert by_id["exercise-1-1"].source == (
        "# @exercise 1.1\ndef attention_scores(query, key):\n"
        '    """(..., Q, d_k), (..., K, d_k) → (..., Q, K)"""\n    raise NotImplementedError("TODO 1.1")'
    )
    assert by_id["check-1-1"].metadata.editable is False
    assert "key.mT" not in nbformat.writes(book)


@pytest.mark.slow(held_by="tests/build/test_self_check_kept.py::test_only_what_changed_is_computed")
def test_building_twice_gives_the_same_bytes(write) -> None:
    first, second = (nbformat.writes(student_notebook("1-attention", write())) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('# %% exercise="1.1"', '# %% id="other"', "no cells for exercise 1.1"),
        ('about="1.1"', 'id="x"', "no cells for about 1.1"),
        ('exercise="1.1"', 'exercise="1.77"', "has no exercise 1.77"),
        ('id="use"', 'idd="use"', r"unknown marker \['idd'\]"),
        ('id="use"', 'id="setup"', "two cells have the id setup"),
        ("### BEGIN SOLUTION\n", "\n", "has no '### BEGIN SOLUTION'"),
        ("attention.data.digits", "attention.nowhere", "nowhere"),
        ("square.svg", "circle.svg", "no picture assets/circle.svg"),
    ],
)
def test_a_script_that_does_not_fit_is_refused_with_the_place(write, old: str, new: str, said: str) -> None:
    assert old in SCRIPT
    with pytest.raises(BuildError, match=said):
        write(SCRIPT.replace(old, new))


@pytest.fixture
def notebook_names():
    names: dict = {}
    exec(compile(tools(), "tools", "exec"), names)
    return names


def test_the_self_check_accepts_a_right_answer_in_words(notebook_names, capsys) -> None:
    notebook_names["attention_scores"] = lambda query, key: query @ key.mT
    notebook_names["check"]("1.1")
    assert capsys.readouterr().out == "✔ 1.1 attention_scores — right on 8 small examples.\n"


def test_the_self_check_names_every_declared_mistake_that_its_examples_show(notebook_names) -> None:
    for wrong in SMALL.exercises[0].mistakes:
        notebook_names.update(wrong.replaces)
        with pytest.raises(AssertionError) as caught:
            notebook_names["check"]("1.1")
        assert wrong.hint in str(caught.value), wrong.name


def test_the_self_check_says_what_is_off_without_a_traceback(notebook_names) -> None:
    notebook_names["attention_scores"] = lambda query, key: query @ key.mT + 1
    with pytest.raises(
        AssertionError,
        match=r"1\.1 attention_scores — 2 queries, 3 keys, d_k = 4: scores\[0, 0\] is −4\.\d+, expected −5\.\d+ \(wrong in 6 of 6 places\)",
    ) as caught:
        notebook_names["check"]("1.1")
    assert caught.value._render_traceback_() == [f"✘ {caught.value}"]


def test_a_students_name_does_not_collide_with_one_of_the_self_checks(notebook_names) -> None:
    notebook_names.update(
        attention_scores=lambda query, key: query @ key.mT, shape=3, flatten=None, pack=0, fingerprint=1, math="mine"
    )
    notebook_names["check"]("1.1")


def test_an_unsolved_exercise_is_named(notebook_names) -> None:
    with pytest.raises(AssertionError, match=r"1\.1 attention_scores — attention_scores is not defined yet"):
        notebook_names["check"]("1.1")

    def attention_scores(query, key):
        raise NotImplementedError("TODO 1.1")

    notebook_names["attention_scores"] = attention_scores
    with pytest.raises(AssertionError) as raised:
        notebook_names["check"]("1.1")
    assert raised.value._render_traceback_() == ["☐ 1.1 attention_scores — not solved yet."]  # what a notebook shows


def test_a_script_without_the_self_checks_is_refused(write) -> None:
    with pytest.raises(BuildError, match="no cell makes the self-checks; put '# %% tools="):
        write(SCRIPT.replace('# %% tools="1"', ""))
