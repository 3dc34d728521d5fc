"""The table of points, the headings, and what a lesson's text and code must not show."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest

from grader.build.errors import BuildError
from grader.build.script_checks import check_what_students_read, without_directives
from grader.build.script_texts import points_table, with_points_table
from grader.build.scripts import heading
from grader.course import lessons
from grader.course.lesson_1 import LESSON

code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
FIGURE, CAPTION = code("show_maps(weights)"), text("*Two maps of 4 by 9.*")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([code("x = 1  # fmt: skip"), CAPTION], r"students would read '# fmt: skip'.*'x = 1"),
        ([code("def F(): ...  # noqa: N802")], r"students would read '# noqa: N802'"),
        (
            [text("![](assets/scene.svg)")],
            r"a picture has no text between !\[ and \] \(cell that begins with '!\[\]\(assets",
        ),
        ([FIGURE], r"show_maps draws a figure, and no caption follows"),
        ([FIGURE, code("pass"), CAPTION], r"no caption follows"),
        ([FIGURE, text("**Now** the maps.")], r"no caption follows"),
        ([code("plt.show()"), text("On to the next.")], r"plt.show draws a figure"),
    ],
)
def test_what_students_should_not_meet_is_refused(cells, said: str) -> None:
    with pytest.raises(BuildError, match=f"a script: .*{said}"):
        check_what_students_read("a script", cells)


def test_what_is_fine_is_let_through() -> None:
    printing = code("def show_table(): print(1)\n\nshow_table()")
    check_what_students_read("a script", [FIGURE, CAPTION, text("![a map](assets/map.svg)"), printing])
    check_what_students_read("a script", [code("x = 1  # no quality is lost"), code("reader.show_more()")])


def test_provided_code_is_freed_of_comments_for_tools() -> None:
    source = "a = (1,\n     2)  # fmt: skip\nb = f()  # type: ignore[x]\n# why b\nc = 3  # three"
    assert without_directives(source) == "a = (1,\n     2)\nb = f()\n# why b\nc = 3  # three"


def test_a_heading_says_practice_once() -> None:
    exercise = LESSON.exercises[0]
    assert heading(exercise) == "### Exercise 1.1 · Dot-product scores — 5 points · ●○○ · 5 minutes"
    practice = replace(exercise, points=0, checks=(), mistakes=())
    assert heading(practice) == "### Practice 1.1 · Dot-product scores — no points · ●○○ · 5 minutes"
    with pytest.raises(ValueError, match="says 'Practice' already"):
        heading(replace(practice, title="Practice: scores"))


@pytest.mark.parametrize("name", lessons())
def test_every_declared_heading_says_it_once(name: str) -> None:
    for exercise in lessons()[name].exercises:
        assert heading(exercise).lower().count("practice") == (exercise.points == 0)


def test_the_table_of_points_follows_the_declaration() -> None:
    exercise = replace(LESSON.exercises[0], id="1.P1", points=0, checks=(), mistakes=(), title="One | two")
    small = replace(LESSON, exercises=(*LESSON.exercises[4:5], exercise), questions={"1.Q1": 2})
    assert points_table(small, {"1.Q1": "Why?", "1.Q2": "And?"}).splitlines() == [
        "| exercise | you write | points | minutes |",
        "|---|---|--:|--:|",
        "| 1.5 Masks: causal and padding | `causal_mask`, `padding_mask` | 15 | 10 |",
        "| **together** | | **15** | **10** |",
        "| 1.P1 One \\| two | `attention_scores` | – | 5 |",
        "| **practice together** | | – | **5** |",
        "| 1.Q1 Why? | a few sentences | 2 | |",
        "| 1.Q2 And? | a few sentences | – | |",
    ]


def test_the_table_stands_in_the_place_of_its_line_only() -> None:
    made = with_points_table("above\n\n<!-- table of points -->\n\nbelow", LESSON, {})
    assert made == f"above\n\n{points_table(LESSON, {})}\n\nbelow"
    assert "**100** | **78**" in made
    assert with_points_table("no <!-- table of points --> here", LESSON, {}) == "no <!-- table of points --> here"
