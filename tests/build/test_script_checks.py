"""What a declaration says of its script: a heading to read again, and the exercises that a solution uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jupytext
import pytest

from grader.build.errors import BuildError
from grader.build.script_checks import check_against_script
from grader.build.scripts import solution_notebook
from grader.course import lessons
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """# %% [markdown]
# # Small
#
# ## Weights

# %% [markdown] about="9.1"
# Weigh.

# %% exercise="9.1"
def weigh(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION

# %% [markdown] about="9.2"
# Do not call weigh: add.

# %% exercise="9.2"
def add(x):
    '''Not weigh(x).'''
    ### BEGIN SOLUTION
    weighed = weigh(x)
    return weighed + x
    ### END SOLUTION
"""


def definition(name: str) -> Callable[[], None]:
    def function() -> None:
        raise NotImplementedError

    function.__name__ = name
    return function


def exercise(id: str, name: str, **more) -> Exercise:
    fields = {"title": "", "points": 0, "difficulty": 1, "minutes": 1, "checks": (), **more}
    return Exercise(id=id, reference=(definition(name),), **fields)


def small(review: str = "Weights", builds_on: tuple[str, ...] = ("9.1",)) -> Lesson:
    exercises = (exercise("9.1", "weigh", review=review), exercise("9.2", "add", builds_on=builds_on))
    return Lesson(assignment="9-small", title="", exercises=exercises)


def problem_of(lesson: Lesson, script: str = SCRIPT) -> str:
    with pytest.raises(BuildError) as caught:
        check_against_script("solutions/9-small.py", lesson, jupytext.reads(script, fmt="py:percent").cells)
    return str(caught.value)


def test_a_declaration_that_fits_is_accepted() -> None:
    cells = jupytext.reads(SCRIPT, fmt="py:percent").cells
    check_against_script("solutions/9-small.py", small(), cells)
    check_against_script("solutions/9-small.py", small(review=""), cells)


def test_a_review_that_is_no_heading_is_refused_with_the_heading_that_was_meant() -> None:
    assert problem_of(small(review="Weighst")) == (
        "solutions/9-small.py: exercise 9.1, review: 'Weighst' is no heading of the lesson; did you mean 'Weights'?"
    )
    assert problem_of(small(review="Queries")) == (
        "solutions/9-small.py: exercise 9.1, review: 'Queries' is no heading of the lesson; "
        "there are 'Small', 'Weights'"
    )


def test_a_solution_that_uses_an_exercise_which_builds_on_lacks_is_refused() -> None:
    assert problem_of(small(builds_on=())) == (
        'solutions/9-small.py: exercise 9.2, builds_on: the solution uses weigh of exercise 9.1; add "9.1"'
    )


def test_a_name_that_a_solution_only_mentions_is_no_use() -> None:
    script = SCRIPT.replace("weighed = weigh(x)", "weighed = x")
    check_against_script("solutions/9-small.py", small(builds_on=()), jupytext.reads(script, fmt="py:percent").cells)


@pytest.mark.parametrize("field", [{"review": "Weighst"}, {"builds_on": ()}])
def test_the_builder_refuses_both_in_the_course_itself(field: dict) -> None:
    lesson = lessons()["1-attention"]
    exercises = tuple(replace(exercise, **field) if exercise.id == "1.8" else exercise for exercise in lesson.exercises)
    script = ROOT / "solutions" / "1-attention.py"
    with pytest.raises(BuildError, match=rf"^solutions/1-attention\.py: exercise 1\.8, {next(iter(field))}: "):
        solution_notebook(script, replace(lesson, exercises=exercises), ROOT, "pass")


def test_a_solution_without_its_name_or_that_is_no_python_is_refused() -> None:
    assert problem_of(small(), SCRIPT.replace("def weigh(x)", "def wiegh(x)")) == (
        "solutions/9-small.py: exercise 9.1, the solution does not define weigh, as the declaration asks"
    )
    assert problem_of(small(), SCRIPT.replace("    return x\n", "    return (x\n")) == (
        "solutions/9-small.py: exercise 9.1, the solution's line 3 is not valid Python: '(' was never closed"
    )
