"""Writes the site of a course: its pages with one navigation, the search index, and the files that they use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.build.errors import BuildError
from grader.build.links import repository_of
from grader.build.site.addresses import relative_link
from grader.build.site.pages import EXPLORER, Page, RunLesson, copied_files, course_pages
from grader.build.site.run_lesson import kept_run, with_alternative_texts, with_outputs_of
from grader.build.site.search import search_index
from grader.course import lessons
from grader.paths import notebook_path, write_atomically

TEMPLATES = Path(__file__).parents[1] / "templates" / "site"
INDEX, STATIC = "search-index.js", ("site.css", "search.js")
TEMPLATE = Environment(
    loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
).get_template("page.html.j2")


@dataclass(frozen=True)
class Site:
    """The files of a site: generated texts, and copies of files."""

    texts: Mapping[str, str]  # by path
    copies: Mapping[str, Path]  # the file that each path is a copy of

    def write(self, folder: Path) -> int:
        """Write the site into a folder, and return its size in bytes."""
        contents = {path: text.encode() for path, text in self.texts.items()}
        contents |= {path: file.read_bytes() for path, file in self.copies.items()}
        for path, content in contents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / path, content)
        return sum(map(len, contents.values()))


def run_lessons(root: Path, kept: Path, solved: bool) -> Iterator[RunLesson]:
    """Yield each lesson with the outputs of its solution, from a new run or from an earlier one.

    Args:
        kept: the folder that stores the runs.
        solved: also yield the solution notebook.

    Raises:
        BuildError: a notebook is missing.
        CellExecutionError: a cell of a solution raises.
    """
    for name, lesson in lessons().items():
        paths = root / "solutions" / name / f"{name}.ipynb", notebook_path(root, name)
        for path in paths:
            if not path.is_file():
                raise BuildError(f"{path} is missing; run: grader build")
        solution, student = (nbformat.read(path, as_version=4) for path in paths)
        solution = kept_run(solution, kept / f"{name}.ipynb")
        yield RunLesson(
            lesson, with_alternative_texts(with_outputs_of(student, solution)), solution if solved else None
        )


def site_of(root: Path, runs: Sequence[RunLesson]) -> Site:
    """Return the site of a course whose lessons have been run."""
    pages = course_pages(root, runs, repository_of(root))
    texts = {page.path: page_text(page, pages) for page in pages}
    static = {name: (TEMPLATES / name).read_text("utf-8") for name in STATIC}
    files = [*copied_files(root), *([EXPLORER] if (root / EXPLORER).is_file() else [])]
    notebooks = {f"lessons/{run.lesson.assignment}.ipynb": notebook_path(root, run.lesson.assignment) for run in runs}
    return Site({**texts, **static, INDEX: search_index(pages)}, {**notebooks, **{file: root / file for file in files}})


def page_text(page: Page, pages: Sequence[Page]) -> str:
    """Return the HTML of a page, with the navigation of all pages around its body."""
    groups = [(group, list(members)) for group, members in groupby(pages, key=lambda member: member.group) if group]
    return TEMPLATE.render(page=page, home=pages[0], groups=groups, link=lambda path: relative_link(page.path, path))
