"""A student submits from JupyterLab: a wrong answer, its cause in the notebook, a correct answer, and its full points.

Run it with `-s` to see the clicks, the typed texts, the keys and the seconds of the whole walkthrough.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect, sync_playwright

from examples.make import ROOT
from grader.course import lessons
from grader.records import Student
from tests.browser.chromium import chromium_or_skip
from tests.browser.lab import OPTIONS, PATIENCE, Notebook, open_browser, running_lab
from tests.classes.gradebook.small_course import NAME, SmallCourse, answers
from tests.serve.running import course_on_free_port, running

CHROMIUM = chromium_or_skip()
RIGHT = answers()["1.1"]
WRONG = RIGHT.replace("->...qk", "->...kq")  # the rows are keys: the mistake that has this name in the course
MISTAKE = "queries_in_columns"


class Hands:
    """The mouse and the keyboard of a student. They count what the student does."""

    def __init__(self) -> None:
        self.clicks = self.texts = self.keys = 0
        self._began = time.monotonic()

    def click(self, target: Locator) -> None:
        """Click on an element once."""
        target.click()
        self.clicks += 1

    def enter(self, page: Page, text: str) -> None:
        """Type or paste a text at the cursor."""
        page.keyboard.insert_text(text)
        self.texts += 1

    def press(self, page: Page, keys: str) -> None:
        """Press a key, or keys together."""
        page.keyboard.press(keys)
        self.keys += 1

    def __str__(self) -> str:
        seconds = time.monotonic() - self._began
        return f"{self.clicks} clicks, {self.texts} typed texts, {self.keys} key presses, {seconds:.0f} s"


class Lesson:
    """A student's notebook in JupyterLab, used with mouse and keyboard."""

    def __init__(self, page: Page, lab: str, hands: Hands) -> None:
        self._page, self._hands, self._notebook = page, hands, Notebook(page, lab, NAME)

    def write(self, cell: str, text: str) -> None:
        """Replace the text of a cell, and save the notebook."""
        self._open(cell)
        self._hands.press(self._page, "Control+a")
        self._hands.enter(self._page, text)
        self._hands.press(self._page, "Control+s")

    def run(self, cell: str) -> None:
        """Run one cell."""
        self._open(cell)
        self._hands.press(self._page, "Shift+Enter")

    def run_all(self) -> None:
        """Run all cells from the menu."""
        self._hands.click(self._page.get_by_role("menuitem", name="Run", exact=True))
        self._hands.click(self._page.get_by_role("menuitem", name="Run All Cells", exact=True))

    def answer(self, question: str, text: str, *, hidden: bool = False) -> None:
        """Answer a question of a running cell."""
        field = self._page.locator(".jp-Stdin", has_text=question).locator("input")
        expect(field).to_be_visible(timeout=PATIENCE)
        assert (field.get_attribute("type") == "password") is hidden
        self._hands.click(field)
        self._hands.enter(self._page, text)
        self._hands.press(self._page, "Enter")

    def read(self, beginning: str) -> str:
        """Return the printed text that contains this beginning and the address of the feedback."""
        shown = self._page.locator(".jp-OutputArea-output", has_text=beginning).last
        expect(shown).to_contain_text("/feedback", timeout=PATIENCE)
        return " ".join(shown.inner_text().split())

    def screenshot(self, name: str) -> None:
        self._notebook.screenshot(name)

    def close(self) -> None:
        self._notebook.close()

    def _open(self, cell: str) -> None:
        """Scroll to a cell, and click into it; a folded cell opens."""
        script = "await notebook.scrollToItem(place(argument), 'start'); return place(argument);"
        place = self._notebook._in_notebook(script, cell)
        widget = self._page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{place}"]')
        self._hands.click(widget.locator(".jp-InputPlaceholder, .cm-content").first)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        browser = open_browser(playwright, tmp_path / "chromium")
        yield browser
        browser.close()


def link_of(course: SmallCourse, student: str) -> str:
    """Return the personal link of a student, as `grader roster` writes it."""
    course.grader("roster", "--links", "links.csv")
    rows = [row.split(",") for row in (course.root / "links.csv").read_text("utf-8").splitlines()]
    return next(row[-1] for row in rows if row[0] == student)


def prepare(page: Page, link: str, folder: Path, hands: Hands) -> str:
    """Sign in, download the notebook into a folder, and return the code that the page shows."""
    page.goto(link)
    hands.click(page.get_by_role("button", name="Yes, that is me"))
    hands.click(page.get_by_role("link", name=NAME))
    with page.expect_download() as download:
        hands.click(page.get_by_role("link", name="Download the notebook"))
    download.value.save_as(folder / f"{NAME}.ipynb")
    hands.click(page.get_by_role("link", name="Submissions"))
    hands.click(page.get_by_role("button", name="Create a code"))
    return page.locator("code.code").inner_text()


@pytest.mark.slow(held_by="tests/serve/test_api.py::test_a_journey_from_a_wrong_answer_to_all_its_points")
def test_a_wrong_answer_is_submitted_explained_fixed_and_gets_its_points(
    tmp_path: Path, context: BrowserContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSE_CODE", raising=False)
    course = course_on_free_port(tmp_path / "course", [Student(id="ada")])
    home = tmp_path / "home"
    command = [str(ROOT / ".venv" / "bin" / "jupyter"), "lab", "--ServerApp.root_dir=.", *OPTIONS]
    (home / "work" / "notebooks" / NAME).mkdir(parents=True)
    exercise = next(exercise for exercise in lessons()[NAME].exercises if exercise.id == "1.1")
    cause = next(mistake.hint for mistake in exercise.mistakes if mistake.name == MISTAKE)
    with running(course) as server, running_lab(home, home / "work", command) as lab:
        hands = Hands()
        code = prepare(context.pages[0], link_of(course, "ada"), home / "work" / "notebooks" / NAME, hands)
        lesson = Lesson(context.new_page(), lab, hands)
        lesson.write("exercise-1-1", WRONG)
        lesson.run_all()
        lesson.answer("Your code:", code, hidden=True)
        lesson.answer(f"Submit {NAME} now?", "yes")
        first = lesson.read("Attempt 1:")
        lesson.screenshot("submitted-wrong")
        assert "Attempt 1: 0 of 100 points" in first
        assert f"✘ 1.1 {exercise.title}, 0 of {exercise.points:g} points: {cause}" in first

        lesson.write("exercise-1-1", RIGHT)
        lesson.run("exercise-1-1")
        lesson.run("submit")
        lesson.answer(f"Submit {NAME} now?", "yes")  # the code is not asked for again
        second = lesson.read("Attempt 2:")
        lesson.screenshot("submitted-right")
        assert f"Attempt 2: {exercise.points:g} of 100 points" in second
        assert "1.1" not in second.removeprefix("Attempt 2").partition(server)[0]
        lesson.close()
    print(f"\nfrom the personal link to the full points of exercise 1.1: {hands}")
