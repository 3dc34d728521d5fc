"""Writes all generated files, or reports which of them are out of date: the command `grader build`.

The build generates the solution and student notebooks, the tables of lessons in README.md and
docs/students.md, docs/requirements.md, two lines of docs/classroom/grade.yml, and a record of
the sources that the notebooks were built from (see `built`).
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.build.built import Built, built_path, built_text, digest, exercise_digest, read_built
from grader.build.errors import BuildError
from grader.build.links import Repository, linked_pages, repository_in, repository_of, setting_of, with_links
from grader.build.pages import with_lessons, with_repository
from grader.build.promises import PAGE, QUOTATIONS, requirements_page
from grader.build.scripts import solution_notebook
from grader.build.self_check_kept import tools_cells
from grader.build.student import student_notebook
from grader.course import lessons
from grader.declare.validate import validate_probes
from grader.judge.planned_trial import refuse_sent_answers
from grader.paths import notebook_path, write_atomically


def build(root: Path) -> list[Path]:
    """Write every generated file whose content changed, and return their paths.

    A lesson is built only if its files or its sources changed.

    Raises:
        BuildError: a script and its declaration do not fit together.
    """
    repository, names = repository_of(root), outdated(root)
    _check_quotations(root, names, repository)
    texts, _ = _lessons_built(root, names, repository)
    written = _write({**texts, **_pages(root, repository), **_requirements(root, texts)})
    now = Built(
        {name: digest(root, name, repository) for name in lessons()},
        {one.id: exercise_digest(lesson, one) for lesson in lessons().values() for one in lesson.exercises},
    )
    return written + _write({built_path(root): built_text(now)})


def outdated(root: Path) -> list[str]:
    """Return the assignments of the lessons whose files or sources changed since the last build."""
    repository, known = repository_of(root), read_built(root).lessons
    return [name for name in lessons() if known.get(name) != digest(root, name, repository)]


def abandoned(root: Path) -> list[str]:
    """Return the folders with notebooks of assignments that the last build knew and no lesson declares any more."""
    gone = [name for name in read_built(root).lessons if name not in lessons()]
    folders = [f"{kind}/{name}" for name in gone for kind in ("solutions", "notebooks")]
    return [folder for folder in folders if (root / folder).is_dir()]


def changed_exercises(root: Path, names: Sequence[str]) -> list[str]:
    """Return the ids of those exercises in some lessons whose self-checks the next build computes again.

    Args:
        names: the assignments of the lessons.
    """
    known = read_built(root).exercises
    some = (lessons()[name] for name in names)
    return [one.id for lesson in some for one in lesson.exercises if known.get(one.id) != exercise_digest(lesson, one)]


def _write(made: Mapping[Path, str]) -> list[Path]:
    """Write the files whose content changed, and return their paths."""
    changed = [path for path, text in made.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in changed:
        write_atomically(path, made[path])
    return changed


def drift(root: Path) -> list[str]:
    """Return one line for each generated file that is missing or out of date. It names the first difference.

    The numbers in the self-checks may differ as much as they would on another processor. An
    exercise whose numbers differ more also gets a line.
    """
    repository = repository_in(root, next(iter(lessons())))
    _check_quotations(root, list(lessons()), repository)
    texts, lines = _lessons_built(root, list(lessons()), repository, check=True)
    made = {**texts, **_pages(root, repository), **_requirements(root, texts)}
    return [*lines, *(line for path, text in made.items() if (line := _difference(root, path, text)))]


def _lessons_built(
    root: Path, names: Sequence[str], repository: Repository | None, check: bool = False
) -> tuple[dict[Path, str], list[str]]:
    """Return the texts of some lessons' notebooks by path, and messages about their self-checks.

    Args:
        names: the assignments of the lessons.
        check: as for `tools_cells`, which also makes the messages.

    Raises:
        BuildError: a lesson has no script.
    """
    for name in names:
        _script(root, name)
    with _workers(len(names)) as workers:
        sources, lines = tools_cells(root, names, workers, check)
        made = workers.map(partial(lesson_built, root, repository), names, map(sources.get, names))
        return {path: text for texts in made for path, text in texts.items()}, list(lines)


def _script(root: Path, name: str) -> Path:
    """Return the path of a lesson's script.

    Raises:
        BuildError: the script is missing.
    """
    script = root / "solutions" / f"{name}.py"
    if not script.is_file():
        raise BuildError(f"{script} is missing: a lesson's script has the name of its assignment. Write or rename it")
    return script


def _workers(jobs: int) -> Executor:
    """Return an executor with one process for each core and at most `jobs` processes.

    For a single job or a single core, it has one thread of this process instead.
    """
    cores = len(os.sched_getaffinity(0))
    if min(jobs, cores) < 2:
        return ThreadPoolExecutor(1)
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return ProcessPoolExecutor(min(jobs, cores), context)


def lesson_built(root: Path, repository: Repository | None, name: str, tools: str) -> dict[Path, str]:
    """Return the texts of a lesson's solution and student notebook, by path.

    Args:
        tools: the source of the notebook's cell of self-checks.
    """
    lesson = lessons()[name]
    validate_probes(lesson)
    refuse_sent_answers(lesson)
    script = _script(root, name)
    solution = solution_notebook(script, lesson, root, tools)
    _check_pages(script, solution, root)
    solution = with_links(solution, name, repository)
    return {
        root / "solutions" / name / f"{name}.ipynb": _text(solution),
        notebook_path(root, name): _text(student_notebook(name, solution)),
    }


def _pages(root: Path, repository: Repository | None) -> dict[Path, str]:
    """Return the new texts of README.md, docs/students.md and docs/classroom/grade.yml, by path.

    Leave out files that do not exist.
    """
    made: dict[Path, str] = {}
    for page in (root / "README.md", root / "docs" / "students.md"):
        if page.is_file():
            made[page] = with_lessons(page.read_text("utf-8"), lessons().values(), repository)
    template = root / "docs" / "classroom" / "grade.yml"
    if template.is_file():
        made[template] = with_repository(template.read_text("utf-8"), repository or setting_of(root))
    return made


def _requirements(root: Path, texts: Mapping[Path, str]) -> dict[Path, str]:
    """Return the text of docs/requirements.md by path, or an empty dict if the course has no quotations.

    Args:
        texts: the texts of the notebooks that were built again. The other notebooks are read from
            files.
    """
    if not (root / QUOTATIONS).is_file():
        return {}
    paths = {name: notebook_path(root, name) for name in lessons()}
    books = {name: nbformat.reads(texts.get(path) or path.read_text("utf-8"), 4) for name, path in paths.items()}
    return {root / PAGE: requirements_page(root, lessons().values(), books)}


def _check_quotations(root: Path, names: Sequence[str], repository: Repository | None) -> None:
    """Raise BuildError if a check has no quotation, or if its task does not contain one of its quotations.

    A quotation is a text of the task that states the check's requirement. This function builds the
    lessons without self-checks, because computing those takes minutes.

    Args:
        names: the assignments of the lessons to build from their scripts. The other lessons are
            read from their notebooks.
    """
    if names and (root / QUOTATIONS).is_file():
        drafts = [lesson_built(root, repository, name, tools="") for name in names]
        _requirements(root, {path: text for draft in drafts for path, text in draft.items()})


def _check_pages(script: Path, notebook: NotebookNode, root: Path) -> None:
    """Raise BuildError if a notebook links to a page of docs/ that does not exist."""
    for page in sorted(linked_pages("\n".join(cell.source for cell in notebook.cells))):
        if not (root / "docs" / page).is_file():
            raise BuildError(f"{script}: there is no page docs/{page}, to which the lesson links")


def _text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def _difference(root: Path, path: Path, text: str) -> str:
    """Return a message that shows where a file differs from its generated text, or "" if both are equal."""
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
