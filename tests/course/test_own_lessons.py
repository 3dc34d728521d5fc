"""A course with lessons of its own: how they are found and imported, and what depends on them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.build.built import digest
from grader.build.provided import inline
from grader.build.self_check_trials import runs_there
from grader.classes.workers.job import code_digest
from grader.course import lessons, shipped_lessons
from grader.course.trainings import recorded
from grader.declare.errors import DeclarationError
from grader.judge.planned_trial import refuse_sent_answers, shown, source_of

LESSON = """
import torch

from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.declare.trial import trials
from lessons.shared import draw, scaled


def double(x):
    return 2 * x


def probe(double, x):
    return {"output": scaled(double(x))}


def judge(trial, values):
    return None if torch.equal(values["output"], double(trial["x"])) else "not doubled"


def cheating_probe(x):
    return {"output": double(x)}


LESSON = Lesson(
    assignment="NAME",
    title="Double",
    exercises=(
        Exercise(
            id="1.1", title="Double", reference=(double,), points=POINTS, difficulty=1, minutes=1,
            checks=(
                Check(
                    name="values", title="doubled", points=POINTS, probe=PROBE, judge=JUDGE,
                    trials=trials(draw, {"n": 3}), examples=trials(draw, {"n": 2}),
                ),
            ),
        ),
    ),
)
"""
SHARED = '''
"""What lessons share."""

import torch

from grader.records import Inputs


def draw(sampler, *, n: int) -> "Inputs":
    return {"x": sampler.normal(n)}


def scaled(x):
    return torch.ones(1) * x
'''


@pytest.fixture
def make_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that makes a course with a lesson of its own, and stays in it."""
    made: list[Path] = []

    def make(
        name: str = "1-double", points: int = 7, probe: str = "probe", judge: str = "None", lesson: str = LESSON
    ) -> Path:
        root = tmp_path / f"course-{len(made)}"
        made.append(root)
        (root / "notebooks").mkdir(parents=True)
        package = root / "lessons" / "lesson_1"
        package.mkdir(parents=True)
        (root / "lessons" / "__init__.py").touch()
        (root / "lessons" / "shared.py").write_text(SHARED)
        for placeholder, value in {"NAME": name, "POINTS": str(points), "PROBE": probe, "JUDGE": judge}.items():
            lesson = lesson.replace(placeholder, value)
        (package / "__init__.py").write_text(lesson)
        monkeypatch.setenv("GRADER_COURSE", str(root))
        return root

    return make


def test_the_lessons_of_a_course_take_the_place_of_the_graders_own(make_course) -> None:
    assert list(lessons()) == list(shipped_lessons())
    root = make_course()
    assert {name: lesson.max_score for name, lesson in lessons().items()} == {"1-double": 7}
    assert lessons()["1-double"].reference["double"](3) == 6
    assert str(root) not in sys.path


def test_each_course_has_its_own_in_one_process(make_course, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_course("1-a", points=3), make_course("1-b", points=5)
    for root, name, points in ((second, "1-b", 5), (first, "1-a", 3), (second, "1-b", 5)):
        monkeypatch.setenv("GRADER_COURSE", str(root))
        assert {name: lesson.max_score for name, lesson in lessons().items()} == {name: points}


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda root: (root / "lessons/__init__.py").unlink(), "lessons/__init__.py is missing"),
        (lambda root: (root / "lessons/lesson_1").rename(root / "lessons/first"), "there is no lesson; declare one"),
        (lambda root: (root / "lessons/lesson_1/__init__.py").write_text(""), "lesson_1/__init__.py: there is no LESSON"),
        (
            lambda root: (root / "lessons/lesson_2.py").write_text("from lessons.lesson_1 import LESSON\n"),
            "lessons.lesson_2: assignment '1-double' is declared in lessons.lesson_1, too",
        ),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(make_course, break_it, said: str) -> None:
    break_it(make_course())
    with pytest.raises(DeclarationError, match=said):
        lessons()


def test_functions_of_the_lessons_are_sent_with_a_probe_and_nothing_else(make_course) -> None:
    make_course()
    lesson = lessons()["1-double"]
    source = source_of(lesson.exercise("1.1").checks[0].probe)
    assert "def scaled" in source
    assert "def double" not in source
    refuse_sent_answers(lesson)


def test_a_probe_that_would_carry_the_answer_is_refused(make_course) -> None:
    make_course(probe="cheating_probe")
    with pytest.raises(DeclarationError, match=r"exercise 1\.1, checks: the probe of 'values' calls double"):
        refuse_sent_answers(lessons()["1-double"])


@pytest.mark.parametrize(("judge", "there"), [("None", True), ("judge", False)])
def test_a_judge_that_calls_the_answer_is_not_in_the_notebook(make_course, judge: str, there: bool) -> None:
    make_course(judge=judge)
    lesson = lessons()["1-double"]
    trials = shown(lesson.exercise("1.1"))
    assert trials
    assert {runs_there(lesson, trial) for trial in trials} == {there}


def test_a_script_may_provide_a_module_of_the_lessons(make_course) -> None:
    make_course()
    lessons()
    source = inline("lessons.shared:scaled")
    assert "def scaled" in source
    assert "grader" not in inline("lessons.shared")
    assert "from lessons" not in inline("lessons.lesson_1:probe")


@pytest.mark.parametrize(
    "digest_of",
    [
        lambda root: code_digest(b"a notebook"),
        lambda root: recorded._version(),
        lambda root: digest(root, "1-double", None),
    ],
    ids=["key of a grade", "recorded training", "note of a build"],
)
def test_what_is_made_of_lessons_depends_on_each_of_their_files(make_course, digest_of) -> None:
    first = digest_of(make_course())
    assert digest_of(make_course()) == first
    assert digest_of(make_course(points=8)) != first
    root = make_course()
    (root / "lessons" / "lesson_1" / "more.py").write_text("EPSILON = 1e-5\n")
    assert digest_of(root) != first
