"""axe-core finds nothing on the pages that people read: in light and dark, on a phone and on a desk."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from grader.records import CellScore, GradebookEntry, Student, Written
from grader.report.class_page import class_page
from grader.report.page import feedback_page
from grader.report.similar import similar_page
from tests.browser.chromium import FLAGS, chromium_or_skip
from tests.report.class_of_grades import CLASS, FAULT, FULL, MISTAKEN, PARTLY, STOPPED, UNREADABLE, entries, grade
from tests.report.test_items import graded_class
from tests.report.test_similar_page import compared, pair

CHROMIUM = chromium_or_skip()
LONG_LINE = "    return " + " + ".join(["torch.softmax(query @ key.mT, dim=-1)"] * 6)


def by_hand() -> GradebookEntry:
    """An entry with all that a person may add: points, comments, a question that waits, a late penalty."""
    written = (
        Written(id="1.Q1", title="Why three?", text="Because\nof keys."),
        Written(id="1.Q2", title="And?", text=""),
    )
    return replace(
        GradebookEntry.of(replace(PARTLY, written=written)),
        student=Student(id="josé", first_name="José", last_name="Lee"),
        penalty=5.0,
        cells={
            "1.4": CellScore(points=12, max_points=15, by_hand=True, comment="Well\nexplained."),
            "1.5": CellScore(points=1, max_points=15, by_hand=True, needs_manual_grade=True),
            "1.Q1": CellScore(points=None, max_points=4, needs_manual_grade=True),
            "essay": CellScore(points=2, max_points=4, by_hand=True, comment="Good."),
        },
    )


def large_class() -> list[GradebookEntry]:
    """A class with everything that the page can show."""
    chance = random.Random(1)
    mixed = [replace(chance.choice((FULL, MISTAKEN, PARTLY)), student=f"s{place:03}") for place in range(40)]
    return [*entries([*mixed, *CLASS]), *entries(graded_class())]


STOPPED_GRADE = grade(
    "s9", (*FULL.verdicts[:3], replace(STOPPED, excerpt=f"{STOPPED.excerpt}\n  4 │ {LONG_LINE}"), *FULL.verdicts[4:])
)
SOLUTIONS = {verdict.id: f"def f(query, key):\n{LONG_LINE}" for verdict in FULL.verdicts}
ANSWERS = {"1.4": f"# @exercise 1.4\ndef attention(query, (key):\n    return query\n{LONG_LINE}"}
PAGES: dict[str, Callable[[], str]] = {
    "feedback": lambda: feedback_page(GradebookEntry.of(MISTAKEN), SOLUTIONS),
    "feedback with an excerpt": lambda: feedback_page(GradebookEntry.of(STOPPED_GRADE), SOLUTIONS),
    "feedback with the answer": lambda: feedback_page(GradebookEntry.of(STOPPED_GRADE), SOLUTIONS, ANSWERS),
    "feedback by hand": lambda: feedback_page(by_hand(), SOLUTIONS),
    "feedback of an unreadable file": lambda: feedback_page(GradebookEntry.of(UNREADABLE)),
    "feedback of a fault": lambda: feedback_page(GradebookEntry.of(FAULT)),
    "class": lambda: class_page(large_class()),
    "class of nobody": lambda: class_page([]),
    "similar": lambda: similar_page(
        [compared("1.1", pair("a", "b"), pair("c", "d"), source=f"def f(x):\n{LONG_LINE}")], {}
    ),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield one
        one.close()


def opened(browser: Browser, html: str, scheme: str, width: int, folder: Path) -> Page:
    """Open a page from a file, all that is folded unfolded."""
    file = folder / "page.html"
    file.write_text(html, "utf-8")
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    return page


@pytest.mark.fast_cases(
    "feedback-light-375",
    "feedback with an excerpt-dark-375",
    "feedback with the answer-light-1200",
    "feedback by hand-dark-1200",
    "feedback of an unreadable file-light-375",
    "feedback of a fault-dark-375",
    "class-light-1200",
    "class of nobody-dark-1200",
    "similar-light-375",
)
@pytest.mark.parametrize("width", [375, 1_200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Browser, name: str, scheme: str, width: int, tmp_path: Path) -> None:
    page = opened(browser, PAGES[name](), scheme, width, tmp_path)
    found = Axe().run(page)
    seen = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    page.close()
    assert found.violations_count == 0, found.generate_report()
    assert seen[0] <= seen[1], "the page as a whole scrolls sideways"


def test_axe_would_find_something(browser: Browser, tmp_path: Path) -> None:
    html = PAGES["feedback"]().replace('<html lang="en">', "<html>").replace("--soft: #5c6570", "--soft: #cccccc")
    page = opened(browser, html, "light", 1_200, tmp_path)
    found = {violation["id"] for violation in Axe().run(page).response["violations"]}
    page.close()
    assert {"html-has-lang", "color-contrast"} <= found


@pytest.mark.fast_cases("feedback with the answer", "class", "similar")
@pytest.mark.parametrize("name", PAGES)
def test_on_paper_all_is_dark_on_white_and_nothing_is_cut_off(browser: Browser, name: str, tmp_path: Path) -> None:
    page = opened(browser, PAGES[name](), "dark", 700, tmp_path)
    page.emulate_media(media="print", color_scheme="dark")
    found = Axe().run(page, options={"runOnly": ["color-contrast"]})
    cut = page.evaluate(
        "[...document.querySelectorAll('pre')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    )
    page.close()
    assert found.violations_count == 0, found.generate_report()
    assert cut == 0
