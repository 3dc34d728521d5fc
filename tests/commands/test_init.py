"""`grader init`: what it makes, what it refuses, and that whatever goes wrong leaves nothing behind."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import tempfile
import zipfile
from contextlib import chdir
from importlib.metadata import version
from pathlib import Path

import pytest
from nbgrader.api import Course, Gradebook
from typer.testing import CliRunner

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError
from grader.cli import app
from grader.commands import init as command
from grader.course import shipped_lessons
from tests.warm_python import run_python

ROOT = Path(__file__).resolve().parents[2]
LESSONS = list(shipped_lessons())
LINKS = re.compile(r"<!-- colab: .*?<!-- /colab -->", re.DOTALL)


def init(*arguments: str | Path, status: int = 0) -> str:
    ran = CliRunner().invoke(app, ["init", *map(str, arguments)])
    assert ran.exit_code == status, (ran.output, ran.exception)
    return ran.output


def in_course(course: Path, program: str) -> str:
    """Run a program in Python in a course; return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "GRADER_COURSE"}
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(program)
        file.flush()
        ran = run_python(file.name, folder=course, environment=environment)
    assert ran.returncode == 0, ran.err
    return ran.out


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with all lessons."""
    folder = tmp_path_factory.mktemp("courses") / "my course"
    init(folder)
    return folder


def test_the_secret_is_for_its_owner_alone(course: Path) -> None:
    secret = course / ".grader" / "secret"
    assert len(secret.read_text().strip()) == 64
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(secret.parent.stat().st_mode) == 0o700
    assert ".grader/" in (course / ".gitignore").read_text().splitlines()


def test_the_secret_is_made_even_where_another_stands_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", "another")
    init(tmp_path / "one", "--empty")
    assert (tmp_path / "one" / ".grader" / "secret").is_file()


def test_the_notebooks_are_those_that_come_with_the_grader(course: Path) -> None:
    for name in LESSONS:
        for folder in ("notebooks", "solutions"):
            file = Path(folder, name, f"{name}.ipynb")
            assert (course / file).read_bytes() == (ROOT / file).read_bytes()
        script = Path("solutions", f"{name}.py")
        assert (course / script).read_bytes() == (ROOT / script).read_bytes()


def test_nbgrader_finds_its_course_and_its_gradebook(course: Path) -> None:
    config = read_config(course)
    assert config.course_id == "my-course"
    assert config.gradebook == f"sqlite:///{course}/gradebook.db"
    assert (course / "gradebook.db").is_file()
    with Gradebook(config.gradebook, course_id=config.course_id) as gradebook:
        assert [course.id for course in gradebook.db.query(Course)] == ["my-course"]
        assert gradebook.students == []


def test_the_declarations_are_the_courses_own_copies(course: Path) -> None:
    said = in_course(
        course,
        "import inspect, sys\n"
        "from grader.course import lessons\n"
        "for lesson in lessons().values():\n"
        "    print(lesson.assignment, lesson.max_score, inspect.getfile(type(lesson)).endswith('lesson.py'))\n"
        "loaded = [name for name in sys.modules if 'lesson_' in name]\n"
        "print(len(loaded) > 30, {name.partition('.')[0] for name in loaded})\n",
    )
    rows = [f"{name} {shipped_lessons()[name].max_score} True" for name in LESSONS]
    assert said.splitlines() == [*rows, "True {'lessons'}"]


@pytest.mark.slow(held_by="tests/test_wheel.py::test_the_wheel_is_small_and_has_no_file_of_the_machine")
def test_a_lesson_alone_stands_alone(tmp_path: Path) -> None:
    for name in LESSONS:
        init(tmp_path / name, "--lesson", name)
        said = in_course(tmp_path / name, "from grader.course import lessons; print(*lessons())")
        assert said.split() == [name]
        assert [path.name for path in (tmp_path / name / "notebooks").iterdir()] == [name]
        page = (tmp_path / name / "docs" / "students.md").read_text("utf-8")
        assert [other for other in LESSONS if f"| {other} |" in page] == [name]


@pytest.mark.parametrize("name", LESSONS)
def test_the_students_page_speaks_of_the_lessons_that_are_there(tmp_path: Path, name: str) -> None:
    init(tmp_path / "course", "--lesson", name)
    page = (tmp_path / "course" / "docs" / "students.md").read_text("utf-8")
    assert not re.search(r"\b(two|three|four|five) (notebooks|lessons)\b|three lessons|fourth", page, re.IGNORECASE)
    assert ("A lab " in page) == ("takes about two hours" not in page) == (name[0] in "456")
    assert ("explorer.html" in page) == (name == "3-vlm")
    named = set(re.findall(r"(?i)\blesson ([1-9])\b|(?<!@)\bexercises? ([1-9])\.", page))
    assert {first or second for first, second in named} <= {name[0]}
    assert page.count("<!-- only with ") == page.count("<!-- /only -->")


def test_the_students_page_of_a_course_on_another_subject_speaks_of_no_lesson(tmp_path: Path) -> None:
    said = init(tmp_path / "course", "--empty")
    page = (tmp_path / "course" / "docs" / "students.md").read_text("utf-8")
    for word in (*LESSONS, "PyTorch with CUDA", "two hours", "40 seconds", "<!-- only"):
        assert word not in page, word
    assert "pip install -r requirements.txt" in page
    assert "docs/students.md" in said


def test_the_students_page_of_all_lessons_is_the_page_of_the_repository(course: Path) -> None:
    ours, theirs = ((root / "docs" / "students.md").read_text("utf-8") for root in (course, ROOT))
    assert LINKS.sub("", ours) == LINKS.sub("", theirs)


def test_help_and_init_name_the_manual(course: Path, tmp_path: Path) -> None:
    said = {
        "help": CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"}).output,
        "init": init(tmp_path / "one", "--lesson", LESSONS[0]),
        "empty": init(tmp_path / "two", "--empty"),
    }
    for text in said.values():
        assert "grader docs" in text
    for name in ("init", "empty"):
        assert "grader docs authors" in said[name]
        assert str(ROOT) not in said[name], "the paths are short"


def test_the_pictures_and_pages_that_a_build_needs_are_there(course: Path) -> None:
    said = in_course(
        course,
        "from pathlib import Path\n"
        "import jupytext\n"
        "from grader.build.script_texts import with_glossary\n"
        "from grader.build.scripts import _with_images\n"
        "for script in Path('solutions').glob('*.py'):\n"
        "    for cell in jupytext.read(script, fmt='py:percent').cells:\n"
        "        _with_images(with_glossary(cell.source, Path()), Path())\n"
        "    print(script.stem)\n",
    )
    assert sorted(said.split()) == LESSONS


def test_it_says_what_it_made_and_what_comes_next(tmp_path: Path) -> None:
    said = init(tmp_path / "new", "--lesson", LESSONS[0])
    made = [line.split()[0] for line in said.splitlines() if line.startswith("  ") and "#" not in line]
    for name in made:
        assert (tmp_path / "new" / name).exists(), name
    assert len(made) >= 7
    assert f"  cd {tmp_path / 'new'} " in said
    assert "  grader grade submitted/ " in said


def test_where_the_shell_does_not_find_grader_it_says_how_to_activate_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ran `grader-env/bin/grader init` as the manual says has `grader` in no folder of the PATH."""
    monkeypatch.setattr("sys.executable", str(tmp_path / "an env" / "bin" / "python"))
    activate = tmp_path / "an env" / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    activate.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"next:\n  . '{activate}' " in init(tmp_path / "new", "--empty")
    activate.with_name("grader").write_text("#!/bin/sh\n")
    activate.with_name("grader").chmod(0o755)
    monkeypatch.setenv("PATH", str(activate.parent))
    assert "activate" not in init(tmp_path / "newer", "--empty")
    activate.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "activate" not in init(tmp_path / "newest", "--empty")  # no environment of Python's venv


def test_an_empty_folder_may_be_there_and_may_be_where_one_stands(tmp_path: Path) -> None:
    with chdir(tmp_path):
        said = init(".", "--empty")
    assert "cd " not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".gitignore",
        ".grader",
        "docs",
        "gradebook.db",
        "lessons",
        "nbgrader_config.py",
        "notebooks",
        "solutions",
        "submitted",
    ]


def test_a_course_without_lessons_says_so_in_one_line(tmp_path: Path) -> None:
    init(tmp_path / "new", "--empty")
    with chdir(tmp_path / "new"):
        ran = CliRunner().invoke(app, ["grade", "submitted"], env={"GRADER_COURSE": str(tmp_path / "new")})
    assert ran.exit_code == 2
    assert ran.stderr.strip().endswith("or run `grader init --exercise '1.1 Title'`")


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_nothing_is_overwritten(tmp_path: Path, there: str) -> None:
    target = tmp_path / "mine"
    if there == "file":
        target.write_text("mine")
    elif there == "folder":
        target.mkdir()
        (target / "notes.txt").write_text("mine")
    else:
        target.symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.rglob("*"))
    said = init(target, status=2)
    assert "Nothing was written. Choose a new folder." in said
    assert len(said.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--lesson", "4-more"),
            "no assignment '4-more'. Choose one of 1-attention, 2-heads, 3-vlm, 4-modern, 5-real, 6-explain",
        ),
        (("--lesson", "1-attention", "--empty"), "Pass only one of them."),
    ],
)
def test_wrong_use_is_named_and_nothing_is_made(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in init(tmp_path / "new", *arguments, status=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", [False, True])
def test_what_goes_wrong_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    def fails(*_: object) -> None:
        raise RecordError("the disk is full")

    monkeypatch.setattr(command, "add_students", fails)
    if there:
        (tmp_path / "new").mkdir()
    assert "the disk is full" in init(tmp_path / "new", status=2)
    assert list(tmp_path.rglob("*")) == [tmp_path / "new"] * there


def test_the_version_is_that_of_the_package() -> None:
    ran = CliRunner().invoke(app, ["--version"])
    assert ran.exit_code == 0
    assert ran.output == f"grader {version('attention-course')}\n"


@pytest.mark.parametrize(("words", "completed"), [("grader ex", "export"), ("grader grade --sch", "--scheduler")])
def test_the_shell_completes_commands_and_options(words: str, completed: str) -> None:
    environment = {
        **os.environ,
        "_GRADER_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "source")]),
    }
    program = "import sys; sys.argv = ['grader']; from grader.__main__ import main; main()"
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == [completed], ran.stderr


def test_a_day_late_costs_what_init_was_told(course: Path, tmp_path: Path) -> None:
    init(tmp_path / "strict", "--empty", "--late-per-day", "2.5")
    strict, lenient = read_config(tmp_path / "strict").late_penalty, read_config(course).late_penalty
    assert [strict("ada", 10.0, seconds) for seconds in (1.0, 86400.0, 86401.0)] == [2.5, 2.5, 5.0]
    assert strict("ada", 4.0, 10 * 86400.0) == 4.0  # never more than there is
    assert lenient("ada", 10.0, 86401.0) == 0.0


def test_the_zip_for_students_has_the_course_s_name_and_no_answer(course: Path) -> None:
    program = "from grader.__main__ import main; import sys; sys.argv = ['grader', 'students']; main()"
    in_course(course, program)
    with zipfile.ZipFile(course / "dist" / "my-course.zip") as archive:
        names = archive.namelist()
        page = archive.read("my-course/README.md").decode("utf-8")
    at_once = [name for name, lesson in shipped_lessons().items() if not lesson.optional]
    assert {f"my-course/{name}.ipynb" for name in at_once} | {"my-course/requirements.txt"} <= set(names)
    assert "my-course.zip" in page
    assert "attention-course.zip" not in page
    assert not [name for name in names if "solutions" in name or "lessons" in name]
