"""What `grader build` does: write all generated files, or say where the committed files differ from them.

Generated are the solution and student notebooks, the tables of lessons in README.md and docs/students.md, and
two lines of docs/classroom/grade.yml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.build.links import Repository, badge, repository_of, with_badge
from grader.build.scripts import solution_notebook
from grader.build.student import student_notebook
from grader.course import lessons
from grader.declaration.lesson import Lesson
from grader.declaration.validate import validate_probes
from grader.paths import notebook_path, write_atomically

LESSONS = re.compile(r"(<!-- lessons: [^>]*-->).*?(<!-- /lessons -->)", re.DOTALL)
TEMPLATE = re.compile(r"^(  (?:COURSE|BRANCH): )\S+$", re.MULTILINE)  # two lines of docs/classroom/grade.yml
COLAB = re.compile(r"(<!-- colab: [^>]*-->).*?(<!-- /colab -->)", re.DOTALL)


def build(root: Path) -> list[Path]:
    """Write every generated file whose content changed.

    Returns:
        The paths of the files that were written.

    Raises:
        BuildError: a script and its declaration do not fit.
    """
    written = []
    for path, text in generated(root).items():
        if not path.is_file() or path.read_text("utf-8") != text:
            write_atomically(path, text)
            written.append(path)
    return written


def drift(root: Path) -> list[str]:
    """Return for each generated file that is missing or out of date one line: where the file differs."""
    return [line for path, text in generated(root).items() if (line := _difference(root, path, text))]


def generated(root: Path) -> dict[Path, str]:
    """Return by path the text of every generated notebook, and of every other file with a generated part."""
    made: dict[Path, str] = {}
    repository = repository_of(root)
    for lesson in lessons().values():
        validate_probes(lesson)
        name = lesson.assignment
        script = root / "solutions" / f"{name}.py"
        solution = with_badge(solution_notebook(script, lesson, root), repository.colab(name))
        made[root / "solutions" / name / f"{name}.ipynb"] = _text(solution)
        made[notebook_path(root, name)] = _text(student_notebook(name, solution))
    for page in (root / "README.md", root / "docs" / "students.md"):
        if page.is_file():
            made[page] = with_lessons(page.read_text("utf-8"), lessons().values(), repository)
    template = root / "docs" / "classroom" / "grade.yml"
    if template.is_file():
        made[template] = with_repository(template.read_text("utf-8"), repository)
    return made


def _text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def with_lessons(page: str, declared: Iterable[Lesson], repository: Repository) -> str:
    """Replace the tables of lessons in the text of README.md or docs/students.md."""
    rows, links = [], []
    for lesson in declared:
        name, colab = lesson.assignment, repository.colab(lesson.assignment)
        graded = sum(exercise.points > 0 for exercise in lesson.exercises)
        start = f"| [{name}](notebooks/{name}/{name}.ipynb) | {lesson.title} | {graded} "
        rows.append(f"{start}| {lesson.max_score:g} | [Colab]({colab}) |")
        links.append(f"| {name} | {lesson.title} | {badge(colab)} |")
    lessons_table = ["| notebook | lesson | exercises | points | open in |", "|---|---|--:|--:|---|", *rows]
    colab_table = ["| notebook | lesson | |", "|---|---|---|", *links]
    return _replace_table(COLAB, colab_table, _replace_table(LESSONS, lessons_table, page))


def with_repository(workflow: str, repository: Repository) -> str:
    """Replace the repository and the branch in the text of the workflow for GitHub Classroom."""
    values = {"COURSE": repository.name, "BRANCH": repository.branch}
    return TEMPLATE.sub(lambda match: match[1] + values[match[1].strip(" :")], workflow)


def _replace_table(marks: re.Pattern[str], lines: list[str], page: str) -> str:
    """Replace what stands between two marks of a page by lines; the pattern matches marks and old lines."""
    text = "\n".join(lines)
    return marks.sub(lambda match: f"{match[1]}\n{text}\n{match[2]}", page)


def _difference(root: Path, path: Path, text: str) -> str:
    """Say where a file differs from its generated text; return "" if it does not."""
    name = path.relative_to(root)
    if not path.is_file():
        return f"{name} is missing; run: grader build"
    if path.read_text("utf-8") == text:
        return ""
    if path.suffix != ".ipynb":
        return f"{name}: what is generated in it is out of date; run: grader build"
    old, new = nbformat.read(path, as_version=4).cells, nbformat.reads(text, as_version=4).cells
    for before, after in zip(old, new, strict=False):
        if before != after:
            return f"{name} differs from its script at cell {after.id!r}; run: grader build"
    return f"{name} differs from its script ({len(old)} cells, should be {len(new)}); run: grader build"
