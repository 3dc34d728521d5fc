"""`grader init --exercise` adds an exercise that builds, is proven and earns its points, whatever the lesson is like."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from pathlib import Path

import pytest

from grader.commands.new_exercise import add_exercise
from grader.complaint import Complaint
from tests.warm_python import run_line

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "GRADER_COURSE"},
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "source")]),
    "GRADER_SECRET": "test",
}


def grader(folder: Path, command: str, status: int = 0) -> str:
    """Run a command of grader in a folder, and return what it prints, in one line."""
    ran = run_line(f"grader {command}", folder, ENVIRONMENT)
    assert ran.returncode == status, ran.output
    return " ".join(ran.output.split())


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose two exercises are as `grader init --exercise` makes them."""
    folder = tmp_path_factory.mktemp("empty")
    grader(folder, "init course --empty")
    said = grader(folder / "course", 'init --exercise "1.1 Twice as much"')
    for path in ("lessons/lesson_1/__init__.py", "lessons/lesson_1/twice_as_much.py", "solutions/1-lesson.py"):
        assert f"wrote {path}" in said
    grader(folder / "course", 'init --exercise "1.2 And again"')
    declared = (folder / "course" / "lessons" / "lesson_1" / "__init__.py").read_text("utf-8")
    assert "rename solutions/1-lesson.py" in declared  # a new name of the assignment alone does not build
    return folder / "course"


def test_it_builds_earns_its_points_and_is_proven(course: Path) -> None:
    assert "1-lesson: the solution earns 20 of 20 points" in grader(course, "build")
    assert grader(course, "build") == ""  # nothing changed, so nothing is run
    proven = grader(course, "prove")
    for heading in ("1.1 Twice as much", "1.2 And again"):
        assert f"{heading}: the reference passes, and the checks catch 1 mistake" in proven
    student = (course / "notebooks" / "1-lesson" / "1-lesson.ipynb").read_text("utf-8")
    assert "def and_again(values):" in student
    assert "values + values" not in student


def test_a_solution_that_misses_points_is_named_by_the_build(course: Path) -> None:
    script = course / "solutions" / "1-lesson.py"
    text = script.read_text("utf-8")
    script.write_text(text.replace("return values + values", "return values - values", 1), "utf-8")
    try:
        said = grader(course, "build", status=1)
        assert "1-lesson: the solution earns 10 of 20 points" in said
        assert "1.1: " in said
        assert "1.2: " not in said
    finally:
        script.write_text(text, "utf-8")
    assert "earns" not in grader(course, "build --no-points")


def test_a_build_names_the_notebooks_that_another_assignment_leaves_behind(course: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(course, tmp_path / "copy"))
    declared = copy / "lessons" / "lesson_1" / "__init__.py"
    declared.write_text(declared.read_text("utf-8").replace('assignment="1-lesson"', 'assignment="1-twice"'), "utf-8")
    (copy / "solutions" / "1-lesson.py").rename(copy / "solutions" / "1-twice.py")
    said = grader(copy, "build --no-points")
    for folder in ("solutions/1-lesson", "notebooks/1-lesson"):
        assert f"{folder} belongs to no lesson any more. Delete it." in said
    assert grader(copy, "build") == ""


@pytest.mark.parametrize(
    ("file", "line", "ends"),
    [
        ("__init__.py", "LESSON = (", "SyntaxError: '(' was never closed"),
        ("twice_as_much.py", "LESSON = (", "SyntaxError: '(' was never closed"),
        ("twice_as_much.py", "missing", "NameError: name 'missing' is not defined"),
    ],
)
def test_the_traceback_of_an_own_error_begins_in_the_own_lessons(course: Path, file: str, line: str, ends: str) -> None:
    module = course / "lessons" / "lesson_1" / file
    text = module.read_text("utf-8")
    module.write_text(f"{text}\n{line}\n", "utf-8")
    try:
        said = grader(course, "build", status=1)
    finally:
        module.write_text(text, "utf-8")
    assert said.endswith(ends)
    assert f'lessons/lesson_1/{file}"' in said
    assert "cli.py" not in said


def test_a_lesson_on_pytorch_gets_an_exercise_on_tensors(tmp_path: Path) -> None:
    package = tmp_path / "lessons" / "lesson_3"
    package.mkdir(parents=True)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "3-é.py").write_text('# %% id="start"\nimport torch\n', "utf-8")
    declared = 'from grader import Lesson\n\nÉ = ()\nLESSON = Lesson(assignment="3-é", title="É", exercises=({}))\n'
    for entries, expected in (
        ("", "(SUMS,)"),
        ("A,", "(A, SUMS,)"),
        ("É, B", "(É, B, SUMS)"),
        ("\nA,\n", "(\nA, SUMS,\n)"),
    ):
        (package / "__init__.py").write_text(declared.format(entries), "utf-8")
        (package / "sums.py").unlink(missing_ok=True)
        (tmp_path / "solutions" / "3-é.py").write_text('# %% id="start"\nimport torch\n', "utf-8")
        add_exercise(tmp_path, "3.7 Sums")
        text = (package / "__init__.py").read_text("utf-8")
        assert text.startswith("from grader import Lesson\nfrom lessons.lesson_3.sums import SUMS\n")
        assert f"exercises={expected})" in text
    assert "def sums(values: Tensor) -> Tensor:" in (package / "sums.py").read_text("utf-8")
    assert 'exercise="3.7"' in (tmp_path / "solutions" / "3-é.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("1.1 Class", "class_"),
        ('1.1 The user\'s "own" \\ path', "the_user_s_own_path"),
        ("1.1 Über die Größe", "uber_die_grosse"),
    ],
)
def test_any_title_gives_python_that_names_it(tmp_path: Path, heading: str, name: str) -> None:
    (tmp_path / "lessons").mkdir()
    (tmp_path / "solutions").mkdir()
    init, module, script = add_exercise(tmp_path, heading)
    assert module.name == f"{name}.py"
    declared = ast.parse(module.read_text("utf-8"))
    assert ast.get_docstring(declared) == f"{heading}."
    assert heading in {node.value for node in ast.walk(declared) if isinstance(node, ast.Constant)}
    assert name in {node.name for node in ast.walk(declared) if isinstance(node, ast.FunctionDef)}
    assert f"import {name.upper()}\n" in init.read_text("utf-8")
    compile(script.read_text("utf-8"), "script", "exec")


@pytest.mark.parametrize(
    ("heading", "declared", "says"),
    [
        ("Means", "", "begin the heading with the id"),
        ("1 Means", "", "write the number of the exercise and a title"),
        ("1.4 ?", "", "write the number of the exercise and a title"),
        ("1.4 Means", "LESSON = 1", "there is no `LESSON = Lesson"),
        ("1.4 Means", "LESSON = Lesson(assignment=NAME)", "write the assignment of LESSON as a string"),
        ("1.4 Means", 'LESSON = Lesson(assignment="1-a", exercises=ALL)', "write the exercises of LESSON as a tuple"),
        ("1.1 Means", 'LESSON = Lesson(assignment="1-a", exercises=())', "there is an exercise 1.1 or a file"),
    ],
)
def test_what_cannot_be_added_is_said_and_nothing_is_written(
    tmp_path: Path, heading: str, declared: str, says: str
) -> None:
    package, script = tmp_path / "lessons" / "lesson_1", tmp_path / "solutions" / "1-a.py"
    for folder in (package, script.parent):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text(declared)
    script.write_text('# %% exercise="1.1"\n')
    with pytest.raises(Complaint, match=says):
        add_exercise(tmp_path, heading)
    assert [path.name for path in package.iterdir()] == ["__init__.py"]
    assert script.read_text() == '# %% exercise="1.1"\n'


def test_outside_of_a_course_of_your_own_it_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    (tmp_path / "notebooks").mkdir()
    assert "`grader init FOLDER` makes a course of your own" in grader(tmp_path, 'init --exercise "1.1 A"', status=2)
    assert "name a new folder for the course" in grader(tmp_path, "init", status=2)
    assert "--exercise adds to the course that you are in" in grader(tmp_path, 'init x --exercise "1.1 A"', status=2)
