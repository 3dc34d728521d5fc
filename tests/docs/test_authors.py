"""docs/authors.md makes a course on convolution: done here as it stands there, and graded."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest

from tests.warm_python import run_line

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "authors.md"
NAME = "1-convolution"
# A block of the page; before one in Python stands the file that it is.
STEP = re.compile(
    r"(?:A new\s+file, `(?P<file>[^`]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "GRADER_COURSE"},
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "source")]),
    "GRADER_SECRET": "test",
}
TURNED = """\
def convolve(image, kernel):
    rows, columns = kernel.shape
    windows = image.unfold(-2, rows, 1).unfold(-2, columns, 1)
    return (windows * torch.rot90(kernel, 2)).sum(dim=(-2, -1))
"""
# The right numbers, by a built-in whose name the declaration does not list.
BORROWED = """\
def convolve(image, kernel):
    one = image.reshape(-1, 1, *image.shape[-2:])
    edges = (kernel.shape[0] - 1, kernel.shape[1] - 1)
    output = torch.nn.functional.conv_transpose2d(one, kernel.flip(0, 1)[None, None], padding=edges)
    return output.reshape(*image.shape[:-2], *output.shape[-2:])
"""
# An answer that looks for the right one: where the course lies, what is imported, and all folders that are shown.
THIEF = """\
import glob, importlib, os, sys

def convolve(image, kernel):
    found = [path for path in {paths!r} if os.path.exists(path)]
    found += [name for name in sys.modules if name.split(".")[0] in ("lessons", "grader", "attention")]
    for name in ("lessons", "lessons.lesson_1"):
        try:
            importlib.import_module(name)
            found.append(name)
        except ImportError:
            pass
    if found:
        raise RuntimeError("FOUND " + " ".join(found))
    raise RuntimeError("found nothing")
"""


@dataclass
class Reader:
    """Somebody who does what the page says, and stays in the folder to which `cd` leads."""

    folder: Path
    said: dict[str, str] = field(default_factory=dict)  # by each command
    builds: list[str] = field(default_factory=list)  # what each `grader build` said

    def follow(self, page: str) -> None:
        """Write the files and run the commands of the page, in order."""
        for step in STEP.finditer(page):
            if step["kind"] == "sh":
                for line in step["text"].splitlines():
                    command = line.partition("  #")[0].rstrip()
                    self.said[command] = self.run(line)
                    self.builds += [self.said[command]] if command == "grader build" else []
                continue
            assert step["kind"] == "python"
            assert step["file"], f"the page does not say which file this is: {step['text'][:60]}"
            path = self.folder / step["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"], "utf-8")

    def run(self, command: str, status: int = 0) -> str:
        """Run a command line; return what it said."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        ran = run_line(command, self.folder, ENVIRONMENT)
        assert ran.returncode == status, (command, ran.output)
        return ran.output

    def submit(self, student: str, answers: dict[str, str]) -> None:
        """Hand in the student notebook with these answers, by the ids of their cells."""
        path = self.folder / "notebooks" / NAME / f"{NAME}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.id in answers:
                cell.source = f"{cell.source.splitlines()[0]}\n{answers[cell.id]}"
        handed_in = self.folder / "submitted" / student / NAME / f"{NAME}.ipynb"
        handed_in.parent.mkdir(parents=True)
        nbformat.write(notebook, handed_in)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The course on convolution, built."""
    made = Reader(tmp_path_factory.mktemp("empty"))
    made.follow(PAGE.read_text("utf-8"))
    return made


@pytest.fixture(scope="module")
def grades(reader: Reader) -> dict[str, dict]:
    """A class of it, graded; by student."""
    solution = nbformat.read(reader.folder / "solutions" / NAME / f"{NAME}.ipynb", as_version=4)
    right = {cell.id: cell.source for cell in solution.cells if cell.id.startswith("exercise-")}
    pooling = {"exercise-1-2": right["exercise-1-2"]}
    lessons = reader.folder / "lessons"
    paths = [str(path) for path in (reader.folder, lessons, lessons / "lesson_1" / "__init__.py")]
    reader.submit("solved", right)
    reader.submit("untouched", {})
    reader.submit("turned", {**pooling, "exercise-1-1": TURNED})
    reader.submit("borrowed", {**pooling, "exercise-1-1": BORROWED})
    reader.submit("thief", {**pooling, "exercise-1-1": THIEF.format(paths=paths)})
    reader.run("grader grade submitted --jobs 1 --json grades.jsonl")
    lines = (reader.folder / "grades.jsonl").read_text("utf-8").splitlines()
    return {grade["student"]: grade for grade in map(json.loads, lines)}


def of_convolve(grade: dict) -> dict:
    return next(exercise for exercise in grade["exercises"] if exercise["id"] == "1.1")


def test_the_page_ends_with_a_course_that_checks_its_notebooks(reader: Reader) -> None:
    proven = reader.said["grader prove"]
    solved = reader.said["grader check solutions/1-convolution/1-convolution.ipynb"]
    untouched = reader.said["grader check notebooks/1-convolution/1-convolution.ipynb"]
    assert "1.1 Convolution: the reference passes, and the checks catch 3 mistakes" in proven
    assert "1.2 Max pooling: the reference passes, and the checks catch 2 mistakes" in proven
    assert "students read" not in proven
    assert "1-convolution: the solution earns 100 of 100 points" in reader.builds[0]
    assert "100 of 100" in solved, solved
    assert "0 of 100" in untouched, untouched
    assert reader.run("grader build --check") == ""


def test_the_lesson_in_a_few_lines_is_proven_and_its_solution_has_all_points(reader: Reader) -> None:
    assert "2.1 Means of rows: the reference passes, and the checks catch 2 mistakes" in reader.said["grader prove 2.1"]
    solved = reader.said["grader check solutions/2-tables/2-tables.ipynb"]
    assert "100 of 100" in solved, solved
    assert "2-tables: the solution earns 100 of 100 points" in reader.builds[1]
    assert "2-tables: the solution earns 110 of 110 points" in reader.builds[2]  # with the exercise that was added


@pytest.mark.slow(held_by="tests/docs/test_authors.py::test_the_page_ends_with_a_course_that_checks_its_notebooks")
def test_the_solution_has_all_points_and_the_untouched_notebook_none(grades: dict[str, dict]) -> None:
    scores = {student: (grade["status"], grade["score"], grade["max_score"]) for student, grade in grades.items()}
    assert scores["solved"] == ("graded", 100.0, 100.0)
    assert scores["untouched"] == ("graded", 0.0, 100.0)


@pytest.mark.slow(held_by="tests/course/test_every_exercise.py::test_no_wrong_answer_passes_and_no_right_one_fails")
def test_a_declared_mistake_is_named_and_costs_its_exercise_alone(grades: dict[str, dict]) -> None:
    verdict = of_convolve(grades["turned"])
    assert verdict["mistake"] == "kernel_turned"
    assert verdict["hint"] == "The kernel is turned by 180 degrees. Slide it as it is."
    assert grades["turned"]["score"] == 40.0


@pytest.mark.slow(held_by="tests/hostile/test_submissions.py::test_no_submission_gets_more_or_less_than_it_earned")
def test_a_built_in_of_the_lessons_own_is_refused_under_any_name(grades: dict[str, dict]) -> None:
    assert of_convolve(grades["borrowed"])["points"] == 0.0
    assert ("uses-builtin", "1.1") in {(flag["kind"], flag["exercise"]) for flag in grades["borrowed"]["flags"]}


@pytest.mark.slow(held_by="tests/hostile/test_submissions.py::test_no_submission_gets_more_or_less_than_it_earned")
def test_the_sandbox_shows_nothing_of_the_course(grades: dict[str, dict]) -> None:
    assert "found nothing" in of_convolve(grades["thief"])["message"], of_convolve(grades["thief"])


@pytest.mark.slow(
    held_by="tests/classes/nbgrader_plugins/test_nbgrader.py::test_autograde_gives_the_same_marks_as_grader_grade"
)
def test_nbgrader_collects_and_grades_it_from_another_folder(
    reader: Reader, grades: dict[str, dict], tmp_path: Path
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(f"load_subconfig('nbgrader_config.py', path={str(reader.folder)!r})\n")
    archive = reader.folder / "downloaded" / NAME / "archive" / "canvas.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        file.write(reader.folder / "solutions" / NAME / f"{NAME}.ipynb", f"doezoe_4711_815_{NAME}.ipynb")
    reader.run(f"(cd {tmp_path} && nbgrader zip_collect {NAME} && nbgrader autograde {NAME} --student 4711)")
    rows = csv.DictReader(reader.run("grader export csv").splitlines())
    assert {row["student"]: row["score"] for row in rows}["4711"] == "100"


def test_the_student_gets_no_answer(reader: Reader) -> None:
    text = (reader.folder / "notebooks" / NAME / f"{NAME}.ipynb").read_text("utf-8")
    assert 'raise NotImplementedError(\\"TODO 1.1\\")' in text
    assert "windows" not in text
    check = reader.run(
        f"python -c \"import json; book = json.load(open('notebooks/{NAME}/{NAME}.ipynb'));"
        "tools = next(cell for cell in book['cells'] if cell['id'] == 'tools');"
        "exec(''.join(tools['source'])); print(self_check_source())\""
    )
    assert "def call_function" in check
    assert "unfold(-2, rows" not in check


@pytest.mark.slow(held_by="tests/classes/workers/test_grade_key.py::test_what_a_grade_depends_on_is_in_its_key")
def test_a_changed_lesson_is_graded_anew(reader: Reader, grades: dict[str, dict]) -> None:
    again = "grader grade submitted --jobs 1 --json again.jsonl"
    unchanged = reader.run(again)
    keys = (reader.folder / "again.jsonl").read_text("utf-8")
    declaration = reader.folder / "lessons" / "lesson_1" / "__init__.py"
    text = declaration.read_text("utf-8")
    declaration.write_text(text.replace("Slide it as it is.", "Leave it as it is."), "utf-8")
    try:
        reader.run(again)
        lines = (reader.folder / "again.jsonl").read_text("utf-8")
    finally:
        declaration.write_text(text, "utf-8")
    assert "Slide it as it is." in keys, unchanged
    assert "Slide it as it is." not in lines
    assert lines.count("Leave it as it is.") == keys.count("Slide it as it is.")
