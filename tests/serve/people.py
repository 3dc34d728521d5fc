"""A course with a place to hand in, and people with browsers, for the tests of grader/serve."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from httpx2 import Response
from nbgrader.api import Gradebook
from starlette.testclient import TestClient

from grader.classes.gradebook.writer import add_students
from grader.commands.options import GradeOptions
from grader.records import Student
from grader.serve.app import make_app
from grader.serve.grading import grade_queue
from grader.serve.sign_in import INSTRUCTOR, STUDENT, links_for
from grader.serve.site import Site, open_site
from grader.submission.cells import answer_cell
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse, answers
from tests.classes.gradebook.warm_server import warm_server

URL = "http://127.0.0.1:8000"
ADA, BOB = Student(id="ada", first_name="Ada", last_name="Lovelace"), Student(id="bob")
FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]*)"')


def open_course(root: Path, students: Iterable[Student] = (ADA, BOB)) -> Site:
    """Make a course with students, and open its site."""
    course = SmallCourse.make(root)
    add_students(course.url, COURSE, list(students))
    return open_site(root, None)


def set_due(site: Site, due: datetime, assignment: str = NAME) -> None:
    """Set a due date as `nbgrader db assignment add` does."""
    with Gradebook(site.gradebook, COURSE) as gradebook:
        gradebook.update_or_create_assignment(assignment, duedate=due)


def grade(site: Site) -> None:
    """Grade what waits, in this process."""
    with warm_server():
        grade_queue(site, GradeOptions(paths=[], root=site.root, device="cpu", jobs=1), wait=False)


def solved(site: Site, *exercises: str, remark: str = "", **replaced: str) -> bytes:
    """Return lesson 1's student notebook with the answers to these exercises.

    Args:
        replaced: parts of the answers, and what stands there instead.
    """
    notebook = nbformat.read(site.root / "notebooks" / NAME / f"{NAME}.ipynb", as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    for exercise in exercises:
        source = answers()[exercise]
        for old, new in replaced.items():
            source = source.replace(old, new)
        cells[answer_cell(exercise)].source = source
    if remark:
        notebook.cells.append(nbformat.v4.new_code_cell(f"# {remark}", id="remark"))
    return nbformat.writes(notebook).encode()


@dataclass
class Person:
    """Somebody with a browser."""

    site: Site
    browser: TestClient

    @classmethod
    def of(cls, site: Site, url: str = URL) -> Person:
        """Open a browser that knows nothing yet."""
        return cls(
            site, TestClient(make_app(site), base_url=url, follow_redirects=False, raise_server_exceptions=False)
        )

    def link(self, person: str, role: str = STUDENT) -> str:
        """Return the token of a person's link."""
        return links_for(self.site.store, self.site.key, [person], role, 200)[person]

    def signs_in(self, person: str = "ada", role: str = STUDENT) -> Person:
        """Open the person's link, and press the button."""
        answer = self.opens_link(self.link(person, role))
        assert answer.status_code == 303, answer.text
        return self

    def opens_link(self, token: str) -> Response:
        """Open a link, and press the button if there is one."""
        page = self.browser.get(f"/in/{token}")
        if page.status_code != 200:
            return page
        return self.browser.post("/in", data={"form_token": token_in(page), "token": token})

    def get(self, path: str) -> Response:
        return self.browser.get(path)

    def token(self) -> str:
        """Return the token of this browser's forms."""
        return token_in(self.browser.get(f"/a/{NAME}"))

    def posts(self, path: str, **values: str) -> Response:
        """Send a form of ours."""
        page = self.browser.get("/class" if path.startswith("/class") else f"/a/{NAME}")
        return self.browser.post(path, data={"form_token": token_in(page), **values})

    def hands_in(self, content: bytes, assignment: str = NAME, filename: str = f"{NAME}.ipynb") -> Response:
        """Upload a notebook."""
        files = {"notebook": (filename, content, "application/x-ipynb+json")}
        return self.browser.post(f"/a/{assignment}", data={"form_token": self.token()}, files=files)


def token_in(page: Response) -> str:
    """Return the token of a page's forms; "" if it has none."""
    found = FORM_TOKEN.findall(page.text)
    return found[-1] if found else ""


_signed_in: dict[tuple[str, str], Person] = {}


def student(site: Site, person: str = "ada", *, fresh: bool = False) -> Person:
    """Return a student who is signed in: the same browser each time, or with `fresh` another one."""
    key = str(site.store.path), person
    if fresh or key not in _signed_in:
        made = Person.of(site).signs_in(person)
        return made if fresh else _signed_in.setdefault(key, made)
    return _signed_in[key]


def instructor(site: Site) -> Person:
    """Return an instructor who is signed in."""
    key = str(site.store.path), "the instructor"
    if key not in _signed_in:
        _signed_in[key] = Person.of(site).signs_in("eva", INSTRUCTOR)
    return _signed_in[key]
