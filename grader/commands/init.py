"""`grader init`: makes a course of your own, a folder in which all commands work without the repository."""

import re
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.build.links import linked_pages
from grader.build.pages import with_lessons
from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.writer import add_students
from grader.commands.console import Terminal, check_assignment
from grader.commands.new_exercise import add_exercise
from grader.commands.options import InitOptions
from grader.complaint import Complaint
from grader.course import shipped_lessons, shipped_packages
from grader.declare.lesson import Lesson
from grader.paths import OWN_LESSONS, course_root, notebook_path, shipped_root
from grader.secret import kept_secret

CONFIG = '''\
"""nbgrader's configuration for this course; its command line, formgrader and `grader` read it."""

from pathlib import Path

from grader.classes.nbgrader_plugins.settings import settings

c = get_config()  # noqa: F821  (nbgrader defines it)
c.merge(settings(Path(__file__).resolve().parent))
c.CourseDirectory.course_id = "{course}"

# What each day after the due date costs: nbgrader db assignment add ASSIGNMENT --duedate='2030-01-31 18:00:00 UTC'
c.AssignLatePenalties.plugin_class = "grader.classes.nbgrader_plugins.late.PointsPerDay"
c.PointsPerDay.points = {points}
'''
IGNORED = """\
# Secrets, and what students handed in, stay out of git.
.grader/
gradebook.db*
/submitted/
/downloaded/
/autograded/
/feedback/
__pycache__/
.ipynb_checkpoints/
"""
PACKAGE = '"""The lessons of this course, one package each: lesson_1, lesson_2, …"""\n'
STUDENTS_PAGE = "students.md"
PAGES = ("glossary.md", STUDENTS_PAGE)  # of docs/; the first is put into the notebooks
# What docs/students.md says of some lessons alone, which the first comment names.
ONLY = re.compile(r"<!-- only with (.*?) -->.*?<!-- /only -->", re.DOTALL)
PICTURE = re.compile(r"\]\((assets/[\w./-]+)\)")  # in a script


def run(options: InitOptions, terminal: Terminal) -> None:
    """Make a course, or add an exercise to one. Print the new files and the next commands."""
    if options.exercise is not None:
        _add_exercise(options, terminal)
        return
    if options.folder is None:
        raise Complaint("name a new folder for the course, as in `grader init my-course`")
    known, chosen = shipped_lessons(), options.lesson or ()
    for assignment in chosen:
        check_assignment(assignment, known)
    if options.empty and chosen:
        raise Complaint("--empty copies no lessons and --lesson copies some. Pass only one of them.")
    lessons = {} if options.empty else {name: known[name] for name in known if not chosen or name in chosen}
    make_course(options.folder, lessons, options.late_per_day)
    for line in _what_it_holds(options.folder, lessons):
        terminal.say(line)


def _add_exercise(options: InitOptions, terminal: Terminal) -> None:
    """Add an exercise to the course in this folder, and print the files to change."""
    if options.folder or options.lesson or options.empty or options.exercise is None:
        raise Complaint(
            "--exercise adds to the course that you are in. Do not pass a folder, --lesson or --empty with it."
        )
    root = course_root()
    for path in add_exercise(root, options.exercise):
        terminal.say(f"wrote {path.relative_to(root)}")
    terminal.say(
        "The new exercise doubles numbers. Change these files into your own exercise; "
        "`grader build --watch` shows each change."
    )


class FolderInUse(Complaint):
    """A file, or a folder with content, is already at the path of the new course."""


def make_course(folder: Path, lessons: Mapping[str, Lesson], late_per_day: float = 0.0) -> None:
    """Make a course with copies of these lessons. If a step fails, remove everything that was made.

    Args:
        lessons: by assignment.
        late_per_day: the late penalty in points per day.

    Raises:
        FolderInUse: the folder is not empty, or is a file.
        OSError: the folder cannot be written.
    """
    there = folder.is_dir()
    if (there and any(folder.iterdir())) or (not there and folder.is_symlink()) or folder.is_file():
        what = "this folder is not empty" if there else "a file with this name exists"
        raise FolderInUse(f"{folder}: {what}. Nothing was written. Choose a new folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # In the folder itself if it is there: somebody may stand in it, and may not be allowed to write beside it.
    with TemporaryDirectory(dir=folder if there else folder.parent, prefix=".grader-init-") as temporary:
        made = Path(temporary, "course")
        _write(made, lessons, folder.resolve().name, late_per_day)
        if there:
            for child in list(made.iterdir()):
                child.rename(folder / child.name)
        else:
            made.rename(folder)


def _write(course: Path, lessons: Mapping[str, Lesson], name: str, late_per_day: float) -> None:
    """Write all files of a new course.

    Args:
        name: the name of the course in nbgrader_config.py.
        late_per_day: the late penalty in points per day.
    """
    for part in ("submitted", "solutions", "notebooks", OWN_LESSONS):
        (course / part).mkdir(parents=True)
    (course / OWN_LESSONS / "__init__.py").write_text(PACKAGE, "utf-8")
    for assignment in lessons:
        _copy_lesson(course, assignment)
    _copy_pages(course, lessons.values())
    safe = re.sub(r"[^\w.-]+", "-", name) or "course"
    (course / "nbgrader_config.py").write_text(CONFIG.format(course=safe, points=late_per_day), "utf-8")
    (course / ".gitignore").write_text(IGNORED, "utf-8")
    kept_secret(course)
    config = read_config(course)
    add_students(config.gradebook, config.course_id, ())  # makes the gradebook


def _copy_lesson(course: Path, assignment: str) -> None:
    """Copy a lesson: its script with the script's pictures, its notebooks, and its package."""
    source, package = shipped_root(), shipped_packages()[assignment]
    script = source / "solutions" / f"{assignment}.py"
    pictures = PICTURE.findall(script.read_text("utf-8"))
    for file in (
        script,
        source / "solutions" / assignment / f"{assignment}.ipynb",
        notebook_path(source, assignment),
        *(source / picture for picture in pictures),
    ):
        _copy(file, course / file.relative_to(source))
    for module in package.rglob("*.py"):
        copy = course / OWN_LESSONS / package.name / module.relative_to(package)
        copy.parent.mkdir(parents=True, exist_ok=True)
        # The copies of what lessons share, such as grader.course.trainings, stay where they are.
        text = module.read_text("utf-8").replace("grader.course.lesson_", f"{OWN_LESSONS}.lesson_")
        copy.write_text(text, "utf-8")


def _copy_pages(course: Path, lessons: Collection[Lesson]) -> None:
    """Copy the pages of docs/ that students read or notebooks link to, and adapt students.md to the lessons.

    A course on another subject gets only students.md, the start page of its zip for students.
    """
    source = shipped_root()
    notebooks = (notebook_path(course, lesson.assignment).read_text("utf-8") for lesson in lessons)
    pages = {*PAGES, *linked_pages("\n".join(notebooks))} if lessons else {STUDENTS_PAGE}
    for page in sorted(pages):
        _copy(source / "docs" / page, course / "docs" / page)
    students = course / "docs" / STUDENTS_PAGE
    page = with_lessons(students.read_text("utf-8"), lessons, None)
    names = {lesson.assignment for lesson in lessons}
    students.write_text(ONLY.sub(lambda part: part[0] if names & {*part[1].split()} else "", page), "utf-8")


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)


def _what_it_holds(folder: Path, lessons: Mapping[str, Lesson]) -> list[str]:
    """Return the lines that list the new folder's content and the next commands."""
    held = [
        ("notebooks/", "the students' notebooks: " + (", ".join(lessons) or "empty until you build a lesson")),
        ("solutions/", "the lesson scripts and the solution notebooks"),
        ("lessons/", "the tasks, checks and explanations of each lesson"),
        ("docs/students.md", "the start page for students; their zip contains it"),
        ("submitted/", "for submissions: <student>/<assignment>/<assignment>.ipynb"),
        ("gradebook.db", "nbgrader's gradebook"),
        (".grader/secret", "the secret behind the hidden inputs; only you can read it. Keep it as long as the grades"),
        ("nbgrader_config.py", "the course's name and the late penalty"),
    ]
    if lessons:
        commands = [
            ("grader doctor", "shows whether this machine can grade"),
            ("grader students", "writes the zip for students"),
            ("grader grade submitted/", "grades the submissions; you can also pass a platform's zip"),
            ("grader build", "run this after you change a lesson"),
        ]
    else:
        commands = [
            ("grader init --exercise '1.1 Means'", "adds a lesson with an exercise that works, for you to change"),
            ("grader build --watch", "shows each change as students see it"),
            ("grader docs authors", "shows how to declare a lesson"),
        ]
    if folder.resolve() != Path.cwd():
        commands.insert(0, (f"cd {shlex.quote(str(folder))}", "run all commands there"))
    activate = Path(sys.executable).parent / "activate"
    if shutil.which("grader") is None and activate.is_file():
        commands.insert(0, (f". {shlex.quote(str(activate))}", "in each new shell, so that it finds grader"))
    width = max(len(command) for command, _ in commands)
    return [
        f"created {folder}",
        *(f"  {name:20}{use}" for name, use in held),
        "next:",
        *(f"  {command:{width}}  # {use}" for command, use in commands),
        "manual: grader docs (run a class), grader docs authors (write your own lessons)",
    ]
