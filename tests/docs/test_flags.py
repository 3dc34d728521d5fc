"""The instructors' table of flags names each that the grader gives, and says truly which one costs points."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from grader.course import lessons
from grader.judge.built_ins import refuse_built_ins
from grader.records import Outcome, Verdict
from grader.submission.rebuild import Rebuilt

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "instructors.md").read_text("utf-8")
TABLE = dict(re.findall(r"^ +\| `([a-z-]+)` \|.*\| (.*?) \|$", PAGE, re.MULTILINE))


def kinds() -> set[str]:
    """Return the kinds of the flags that grader/ makes."""
    found = set()
    for file in (ROOT / "grader").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Flag":
                found |= {ast.literal_eval(word.value) for word in node.keywords if word.arg == "kind"}
    return found


def test_the_table_names_each_flag() -> None:
    assert set(TABLE) == kinds()
    assert len(TABLE) >= 3


def test_no_page_says_that_flags_cost_nothing() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"flags?:? (they )?costs? nothing", page.read_text("utf-8").replace("\n", " "))


def test_a_built_in_costs_the_exercise_as_the_table_says() -> None:
    lesson = lessons()["1-attention"]
    full = tuple(
        Verdict(
            id=exercise.id,
            name="",
            title=exercise.title,
            outcome=Outcome.PASSED,
            points=exercise.points,
            max_points=exercise.points,
        )
        for exercise in lesson.exercises
    )
    answer = "def attention(q, k, v):\n    return torch.nn.functional.scaled_dot_product_attention(q, k, v)"
    rebuilt = Rebuilt(notebook=nbformat.v4.new_notebook(), answers={"1.4": answer}, own=())
    verdicts, flags = refuse_built_ins(lesson, rebuilt, full, {})
    assert [(flag.kind, flag.exercise) for flag in flags] == [("uses-builtin", "1.4")]
    assert {verdict.id for verdict in verdicts if verdict.points == 0} == {"1.4"}
    assert TABLE["uses-builtin"] == "the exercise has 0"


IMPORTING = "from attention.dot_product import attention as borrowed"


@pytest.mark.parametrize(
    ("answer", "own", "failed"),
    [
        (IMPORTING.replace("borrowed", "attention_scores"), "", True),
        ("import attention.dot_product as d\nattention_scores = d.attention_scores", "", True),
        ("def attention_scores(q, k):\n    import grader.course\n    return q @ k.T", "", True),
        ("attention_scores = __import__('attention.dot_product').dot_product.attention_scores", "", True),
        ("attention_scores = borrowed", IMPORTING, True),
        ("def attention_scores(q, k):\n    return q @ k.T", IMPORTING, False),
        ("from attentive import attention as attention_scores", "", None),
        ("def attention_scores(q, k):\n    'import attention'\n    from . import attention", "", None),
    ],
)
def test_an_answer_that_imports_the_course_has_no_points(answer: str, own: str, failed: bool | None) -> None:
    lesson = lessons()["1-attention"]
    full = tuple(
        Verdict(id=one.id, name="", title="", outcome=Outcome.PASSED, points=one.points, max_points=one.points)
        for one in lesson.exercises
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(own, id="own")])
    rebuilt = Rebuilt(notebook=book, answers={"1.1": answer}, own=("own",))
    verdicts, flags = refuse_built_ins(lesson, rebuilt, full, {})
    assert {verdict.id for verdict in verdicts if verdict.points < verdict.max_points} == ({"1.1"} if failed else set())
    assert [(flag.kind, flag.exercise) for flag in flags] == (
        [] if failed is None else [("imports-course", "1.1" if failed else None)]
    )


def test_what_carry_on_runs_is_flagged_and_costs_nothing_unless_it_is_a_line_or_two() -> None:
    lesson = lessons()["2-heads"]
    book = nbformat.read(ROOT / "notebooks" / "2-heads" / "2-heads.ipynb", as_version=4)
    full = tuple(
        Verdict(id=one.id, name="", title="", outcome=Outcome.PASSED, points=one.points, max_points=one.points)
        for one in lesson.exercises
    )
    answers = {id: f"{lesson.exercise(id).stand_in_source}\nidle = 1" for id in ("2.1", "2.4")}
    verdicts, flags = refuse_built_ins(lesson, Rebuilt(notebook=book, answers=answers, own=()), full, {})
    assert verdicts == full
    assert [(flag.kind, flag.exercise) for flag in flags] == [("same-as-carry-on", "2.1")]
