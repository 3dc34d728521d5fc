"""docs/instructors.md adds a tenth exercise to lesson 1: done here as it says, in a copy of the course, and graded."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "instructors.md"
STEP = re.compile(
    r"In `(?P<file>[^`]+)`,\s+(?P<side>above|below) the (?P<what>line|cell) `(?P<anchor>[^`]+)`:\n\n```(?:python|toml)\n(?P<code>.*?)```",
    re.DOTALL,
)
NEW_FILE = re.compile(r"A new file, `(?P<file>[^`]+)`:\n\n```python\n(?P<code>.*?)```", re.DOTALL)
EDITED = {
    "grader/course/lesson_1/keep_largest.py",
    "grader/course/lesson_1/__init__.py",
    "solutions/1-attention.py",
    "solutions/requirements.toml",
}
GENERATED = {
    "solutions/1-attention/1-attention.ipynb",
    "notebooks/1-attention/1-attention.ipynb",
    "README.md",
    "docs/students.md",
    "docs/requirements.md",
    "solutions/.built.json",
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "GRADER_COURSE"}


@dataclass(frozen=True)
class Course:
    """A copy of the course with the exercise in it, built."""

    root: Path
    edited: set[str]
    changed_by_the_build: set[str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        path = os.pathsep.join(map(str, (self.root, self.root / "source")))
        return subprocess.run(
            [sys.executable, "-P", "-m", *arguments],
            cwd=self.root,
            env={**ENVIRONMENT, "PYTHONPATH": path, "GRADER_SECRET": "test", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )


def copy_course(to: Path) -> None:
    """The course with its first lesson alone: the others have no part in this, and their build takes a minute."""
    leave = shutil.ignore_patterns("__pycache__", "lesson_[!1]*", "[!1]-*")
    for name in (
        "grader",
        "source",
        "solutions",
        "notebooks",
        "assets",
        "benchmarks",
        "corpus",
        "tests/course",
        "docs",
    ):
        shutil.copytree(ROOT / name, to / name, ignore=leave)
    for name in ("pyproject.toml", "README.md", "nbgrader_config.py", "tests/scripts.py"):
        shutil.copy(ROOT / name, to / name)


def follow(page: str, root: Path) -> None:
    """Do what the steps of the page say."""
    for step in NEW_FILE.finditer(page):
        path = root / step["file"]
        assert not path.exists()
        path.write_text(step["code"], "utf-8")
    for step in STEP.finditer(page):
        path = root / step["file"]
        lines = path.read_text("utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.strip() == step["anchor"]]
        assert len(places) == 1, f"{step['file']}: {len(places)} lines are {step['anchor']!r}"
        at = places[0] + (step["side"] == "below")
        if step["what"] == "cell":
            at = max(number for number in range(at + 1) if lines[number].startswith("# %%"))
        lines.insert(at, step["code"])
        path.write_text("".join(lines), "utf-8")


def contents(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def changes(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("fork")
    copy_course(root)
    before = contents(root)
    follow(PAGE.read_text("utf-8"), root)
    edited = contents(root)
    made = Course(root, set(), set())
    ran = made.run("grader", "build")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return Course(root, changes(before, edited), changes(edited, contents(root)))


@pytest.mark.slow(held_by="tests/docs/test_authors.py::test_the_page_ends_with_a_course_that_checks_its_notebooks")
def test_it_adds_one_file_touches_three_and_the_build_makes_the_rest(course: Course) -> None:
    assert course.edited == EDITED
    assert course.changed_by_the_build == GENERATED
    assert "| Attention from scratch | 10 | 105 |" in (course.root / "README.md").read_text("utf-8")


@pytest.mark.slow(held_by="tests/docs/test_authors.py::test_the_student_gets_no_answer")
def test_the_student_gets_the_task_and_not_the_answer(course: Course) -> None:
    book = nbformat.read(course.root / "notebooks/1-attention/1-attention.ipynb", as_version=4)
    cells = {cell.id: cell for cell in book.cells}
    about = cells["about-1-10"].source
    assert about.startswith("### Exercise 1.10 · Keep the largest weights — 5 points · ●●○ · 5 minutes")
    assert 'raise NotImplementedError("TODO 1.10")' in cells["exercise-1-10"].source
    assert cells["check-1-10"].metadata.nbgrader.points == 5
    assert "threshold =" not in "".join(cell.source for cell in book.cells if cell.cell_type == "code")


@pytest.mark.slow(held_by="tests/docs/test_authors.py::test_the_page_ends_with_a_course_that_checks_its_notebooks")
def test_the_solution_gets_full_points_and_the_untouched_notebook_none(course: Course) -> None:
    shutil.copy(course.root / "solutions/1-attention/1-attention.ipynb", course.root / "solved.ipynb")
    shutil.copy(course.root / "notebooks/1-attention/1-attention.ipynb", course.root / "untouched.ipynb")
    command = ("grader", "grade", "solved.ipynb", "untouched.ipynb", "--assignment", "1-attention")
    ran = course.run(*command, "--jobs", "1", "--json", "grades.jsonl")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = (course.root / "grades.jsonl").read_text("utf-8").splitlines()
    grades = {grade["student"]: grade for grade in map(json.loads, lines)}
    points = {
        student: next(one["points"] for one in grade["exercises"] if one["id"] == "1.10")
        for student, grade in grades.items()
    }
    assert points == {"solved": 5.0, "untouched": 0.0}
    assert (grades["solved"]["score"], grades["solved"]["max_score"]) == (105.0, 105.0)
    assert grades["untouched"]["score"] == 0.0


@pytest.mark.slow(held_by="tests/course/test_every_exercise.py::test_the_solution_passes_and_a_mistake_is_refused")
def test_the_courses_own_tests_hold_for_it(course: Course) -> None:
    """Its reference passes, its mistakes are refused and named, its probe stands alone, its sizes are distinct."""
    files = ("tests/course/test_every_exercise.py", "tests/course/test_lesson_1.py")
    chosen = "1.10 or hundred_points or pairwise_distinct"
    ran = course.run("pytest", *files, "-q", "-p", "no:cacheprovider", "-k", chosen)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed
    assert int(passed[1]) == 9, ran.stdout
