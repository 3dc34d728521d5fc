"""An error in a declaration is one line that names exercise and field, when the lesson is imported."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from torch import Tensor

import grader.course
from corpus.planning import plan
from grader.declare.drawn import drawn
from grader.declare.exercise import Check, DeclarationError, Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler
from grader.declare.trial import trials
from grader.declare.validate import validate_probes


def double(x: Tensor) -> Tensor:
    return 2 * x


def triple(x: Tensor) -> Tensor:
    return 3 * x


def double_values(double, x: Tensor) -> dict[str, Tensor]:
    return {"doubled": double(x)}


def asks_for_a_stranger(double, y: Tensor) -> dict[str, Tensor]:
    return {"doubled": double(y)}


def draw_numbers(sampler: InputSampler, *, numbers: int) -> dict[str, Tensor]:
    return {"x": sampler.normal(numbers)}


def not_doubled(x: Tensor) -> Tensor:
    return x


NOT_DOUBLED = Mistake("not_doubled", {"double": not_doubled}, "This is not doubled.")
CHECK = Check(name="values", title="", points=1, probe=double_values, trials=trials(draw_numbers, dict(numbers=3)))
FIELDS: dict[str, Any] = dict(title="", points=1, difficulty=1, minutes=1, checks=(CHECK,))
EXERCISE = Exercise(id="9.1", reference=(double,), **FIELDS)


def lesson(*exercises: Exercise) -> Lesson:
    return Lesson(assignment="9-doubling", title="", exercises=exercises)


def message(error: pytest.ExceptionInfo[DeclarationError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_builds_on_must_name_an_earlier_exercise() -> None:
    with pytest.raises(DeclarationError) as error:
        lesson(EXERCISE, Exercise(id="9.2", reference=(triple,), builds_on=("9.11",), **FIELDS))
    assert message(error) == ("9-doubling: exercise 9.2, builds_on: '9.11' is no earlier exercise; there are 9.1")


@pytest.mark.parametrize("below", ["9.1", (EXERCISE,)])
def test_builds_on_holds_ids_in_a_tuple(below: Any) -> None:
    with pytest.raises(DeclarationError) as error:
        Exercise(id="9.2", reference=(triple,), builds_on=below, **FIELDS)
    assert message(error) == (
        'exercise 9.2, builds_on: write the ids of earlier exercises in a tuple, as in builds_on=("1.1",)'
    )


def test_a_mistake_must_replace_a_name_that_the_exercise_defines() -> None:
    with pytest.raises(DeclarationError) as error:
        Exercise(id="9.2", reference=(triple,), mistakes=(NOT_DOUBLED,), **FIELDS)
    assert message(error) == ("exercise 9.2, mistakes: not_doubled replaces double; the exercise defines triple")


@pytest.mark.parametrize("difficulty", [0, 4, 7, -1, 1.5, "2", True])
def test_a_difficulty_must_be_one_that_the_notebook_can_show(difficulty: Any) -> None:
    with pytest.raises(DeclarationError) as error:
        Exercise(id="9.2", reference=(triple,), **{**FIELDS, "difficulty": difficulty})
    assert message(error) == (
        f"exercise 9.2, difficulty: it is {difficulty!r}. Write 1, 2 or 3: the notebook shows it as one to three dots"
    )


@pytest.mark.parametrize("forgotten", [{}, {"reference": ()}, {"reference": double}])
def test_an_exercise_must_have_a_reference(forgotten: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError) as error:
        Exercise(id="9.2", **forgotten, **FIELDS)
    assert message(error) == (
        "exercise 9.2, reference: name the right definition in a tuple, as in reference=(attention,)"
    )


def test_a_probe_must_ask_for_inputs_and_known_names() -> None:
    check = replace(CHECK, probe=asks_for_a_stranger)
    with pytest.raises(DeclarationError) as error:
        validate_probes(lesson(replace(EXERCISE, checks=(check,))))
    assert message(error) == (
        "9-doubling: exercise 9.1, checks: 'values' asks for 'y', which is neither an input (x) nor a name that the "
        "lesson defines or gives"
    )


def forget_lessons() -> None:
    """Let the lessons be looked for again; the modules of those that were found stay what they are."""
    grader.course.shipped_lessons.cache_clear()
    grader.course._declared.cache_clear()


# ---------------------------------------------------------------- typos in lesson 1, found when it is imported


@pytest.fixture
def copied_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of lesson 1, which is the course's only lesson while the test runs."""
    package = tmp_path / "lesson_copied"
    source = Path(grader.course.__file__).parent / "lesson_1"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in package.glob("*.py"):
        text = path.read_text("utf-8").replace("grader.course.lesson_1", "grader.course.lesson_copied")
        path.write_text(text, "utf-8")
    grader.course.lessons()  # imports what lessons share, which is not found below
    monkeypatch.setattr(grader.course, "__path__", [str(tmp_path)])
    forget_lessons()
    yield package
    forget_lessons()
    for name in [name for name in sys.modules if name.startswith("grader.course.lesson_copied")]:
        del sys.modules[name]
    vars(grader.course).pop("lesson_copied", None)


def test_the_copied_lesson_is_right(copied_lesson: Path) -> None:
    assert list(grader.course.lessons()) == ["1-attention"]


@pytest.mark.parametrize(
    ("module", "right", "typo", "said"),
    [
        pytest.param(
            "scores",
            'builds_on=("1.1",)',
            'builds_on=("1.11",)',
            "1-attention: exercise 1.2, builds_on: '1.11' is no earlier exercise; there are 1.1",
            id="builds_on",
        ),
        pytest.param(
            "attention",
            'defines="attention", ',
            "",
            "exercise 1.4, mistakes: unscaled replaces written_out; the exercise defines attention",
            id="mistakes of another exercise",
        ),
        pytest.param(
            "scores",
            '"1.2 Scaled scores", scaled_scores, (\n',
            '"1.2 Scaled scores", (), (\n',
            "exercise 1.2, reference: name the right definition in a tuple, as in reference=(attention,)",
            id="reference",
        ),
        pytest.param(
            "scores",
            "/ sqrt(query.shape[-1])  →\n    divided_by",
            "/ root(query.shape[-1])  →\n    divided_by",
            "edits of scaled_scores, not_divided: '/ root(query.shape[-1])' stands there 0 times, and must stand there once. A line like it: 'return attention_scores(query, key) / sqrt(query.shape[-1])'",
            id="text of an edit",
        ),
    ],
)
def test_a_typo_in_a_lesson_is_one_line_when_the_lessons_are_imported(
    copied_lesson: Path, module: str, right: str, typo: str, said: str
) -> None:
    path = copied_lesson / f"{module}.py"
    text = path.read_text("utf-8")
    assert text.count(right) == 1
    path.write_text(text.replace(right, typo), "utf-8")
    with pytest.raises(DeclarationError) as error:
        grader.course.lessons()
    assert message(error) == said


def test_an_unknown_name_in_a_probe_is_one_line_when_notebooks_are_built_or_trials_are_drawn(
    copied_lesson: Path,
) -> None:
    path = copied_lesson / "softmax.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("def softmax_along_dim(function,", "def softmax_along_dim(fuction,"), "utf-8")
    typo = grader.course.lessons()["1-attention"]
    for refuse in (validate_probes, lambda lesson: plan(lesson, "secret", "sha")):
        with pytest.raises(DeclarationError) as error:
            refuse(typo)
        assert message(error) == (
            "1-attention: exercise 1.3, checks: 'dims' asks for 'fuction', which is neither an input "
            "(scores, dim) nor a name that the lesson defines or gives"
        )


def test_inputs_that_cannot_be_drawn_are_one_line() -> None:
    check = replace(CHECK, trials=trials(draw_numbers, dict(nmbers=3)))
    with pytest.raises(DeclarationError) as error:
        validate_probes(lesson(replace(EXERCISE, checks=(check,))))
    assert message(error).startswith(  # later versions of Python ask on: Did you mean 'numbers'?
        "9-doubling: exercise 9.1, checks: the inputs of 'values' cannot be drawn "
        "(TypeError: draw_numbers() got an unexpected keyword argument 'nmbers'"
    )


def test_arrays_of_numpy_are_refused_in_a_line() -> None:
    check = replace(CHECK, trials=trials(lambda sampler: {"x": numpy.zeros(3)}, {}))
    with pytest.raises(DeclarationError) as error:
        validate_probes(lesson(replace(EXERCISE, checks=(check,))))
    assert "'values' draws 'x' as an array of NumPy. Draw a tensor" in message(error)


def test_a_size_that_no_input_uses_is_refused() -> None:
    check = replace(CHECK, trials=trials(drawn(x="numbers"), dict(numbers=3, nmbers=3)))
    with pytest.raises(DeclarationError) as error:
        validate_probes(lesson(replace(EXERCISE, checks=(check,))))
    assert message(error).endswith("cannot be drawn (DeclarationError: no input uses the size nmbers)")


def test_a_stand_in_has_the_name_of_what_it_replaces() -> None:
    with pytest.raises(DeclarationError) as error:
        replace(EXERCISE, stand_in=triple)
    assert message(error) == "exercise 9.1, stand_in: it defines triple; the exercise defines double"
    assert replace(EXERCISE, stand_in=double).stand_in_source == "def double(x: Tensor) -> Tensor:\n    return 2 * x\n"
    assert EXERCISE.stand_in_source == ""
