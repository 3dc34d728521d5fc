"""The pages of a course's site: its documents, its lessons and its explorer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape, unescape
from pathlib import Path

from nbformat import NotebookNode

from grader.build.links import Repository
from grader.build.site.addresses import Addresses, relative_link
from grader.build.site.notebook import notebook_html
from grader.declare.lesson import Lesson
from grader.report.render_markdown import TAG, PageRenderer

README, EXPLORER = "README.md", "assets/explorer.html"
LESSONS, SOLUTIONS = "Lessons", "Solutions"
# The groups of the navigation, and the documents of each in their order. Any other document is in the last group.
DOCUMENTS = {
    "For students": ("docs/students.md", "docs/glossary.md"),
    "For instructors": (
        "docs/instructors.md",
        "docs/authors.md",
        "docs/serve.md",
        "docs/jupyterhub.md",
        "docs/operators.md",
        "docs/gpu.md",
        "docs/requirements.md",
        "docs/compare.md",
    ),
    "How it works": ("docs/design.md", "docs/security.md", "docs/scale.md", "docs/journeys.md"),
    "The project": ("CONTRIBUTING.md", "CHANGELOG.md"),
}
HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
COPIED = ("assets/*.svg", "assets/*.png", "docs/pictures/*")


@dataclass(frozen=True)
class Page:
    """One page of the site."""

    path: str  # on the site, as "docs/students.html"
    title: str
    group: str  # heading in the navigation; "" for the home page
    body: str  # HTML


@dataclass(frozen=True)
class RunLesson:
    """A lesson that has been run: its notebooks with outputs."""

    lesson: Lesson
    student: NotebookNode
    solution: NotebookNode | None  # None if the site does not show solutions


def course_pages(root: Path, lessons: Sequence[RunLesson], repository: Repository | None) -> list[Page]:
    """Return all pages of a course in the order of the navigation. The first page is the home page."""
    documents = list(_documents(root))
    addresses = Addresses(places(root, documents, [run.lesson for run in lessons]), repository)
    home = [_document(root, README, "", addresses)] if (root / README).is_file() else [_contents(lessons)]
    students = [_lesson_page(run.lesson, run.student, False, addresses) for run in lessons]
    solved = [_lesson_page(run.lesson, run.solution, True, addresses) for run in lessons if run.solution]
    return [
        *home,
        *students,
        *([_explorer()] if (root / EXPLORER).is_file() else []),
        *solved,
        *(_document(root, file, group, addresses) for group, file in documents),
    ]


def places(root: Path, documents: Iterable[tuple[str, str]], lessons: Iterable[Lesson]) -> Mapping[str, str]:
    """Map the files of a course that are on the site to their paths there."""
    names = [lesson.assignment for lesson in lessons]
    return {
        README: "index.html",
        **{file: file.removesuffix(".md").lower() + ".html" for _, file in documents},
        **{f"notebooks/{name}/{name}.ipynb": f"lessons/{name}.html" for name in names},
        **({EXPLORER: "explorer.html"} if (root / EXPLORER).is_file() else {}),
        **{file: file for file in copied_files(root)},
    }


def copied_files(root: Path) -> list[str]:
    """Return the pictures of a course that its pages may show, as paths in the course."""
    return [path.relative_to(root).as_posix() for pattern in COPIED for path in sorted(root.glob(pattern))]


def _documents(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the group and the path of each document that the course has, in the order of the navigation."""
    there = {"CONTRIBUTING.md", "CHANGELOG.md", *(f"docs/{path.name}" for path in sorted((root / "docs").glob("*.md")))}
    for group, files in DOCUMENTS.items():
        yield from ((group, file) for file in files if file in there and (root / file).is_file())
    listed = {file for files in DOCUMENTS.values() for file in files}
    yield from ((list(DOCUMENTS)[-1], file) for file in sorted(there - listed))


def _document(root: Path, file: str, group: str, addresses: Addresses) -> Page:
    """Return the page made from one of the course's Markdown files."""
    text = (root / file).read_text("utf-8")
    body = PageRenderer(partial(addresses.resolve, file)).html(text)
    heading = HEADING.search(body)
    title = unescape(TAG.sub("", heading[1])) if heading else file
    return Page(addresses.places[file], title, group, body)


def _lesson_page(lesson: Lesson, notebook: NotebookNode, solved: bool, addresses: Addresses) -> Page:
    """Return the page of a lesson, with links to download the notebook and to open it in Colab.

    Args:
        solved: make the page of the solution, which has no such links.
    """
    name = lesson.assignment
    file = f"notebooks/{name}/{name}.ipynb"
    repository = addresses.repository
    links = [f'<a href="{name}.ipynb" download>Download this notebook</a>']
    links += [f'<a href="{escape(repository.colab(name))}">Open in Colab</a>'] if repository else []
    body = notebook_html(notebook, partial(addresses.resolve, file))
    if solved:
        return Page(f"lessons/{name}-solution.html", f"{lesson.title}: solution", SOLUTIONS, body)
    return Page(f"lessons/{name}.html", lesson.title, LESSONS, f'<p class="actions">{" · ".join(links)}</p>\n{body}')


def _explorer() -> Page:
    """Return the page that contains the explorer, which is a separate file next to it."""
    frame = '<iframe class="explorer" src="assets/explorer.html" title="The explorer"></iframe>'
    return Page("explorer.html", "Explorer", LESSONS, f"<h1>Explorer</h1>\n{frame}")


def _contents(lessons: Sequence[RunLesson]) -> Page:
    """Return the home page of a course without a README, which lists the lessons."""
    items = "".join(
        f'<li><a href="{relative_link("index.html", f"lessons/{run.lesson.assignment}.html")}">'
        f"{escape(run.lesson.title)}</a></li>\n"
        for run in lessons
    )
    return Page("index.html", "The course", "", f"<h1>The course</h1>\n<ul>\n{items}</ul>")
