"""The site in a browser: axe finds nothing, a phone cuts nothing off, the search finds a word, nothing is requested."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from examples.make import ROOT
from grader.build.site.pages import RunLesson
from grader.build.site.write import site_of
from grader.course import lessons
from grader.paths import notebook_path
from tests.build.site.small_site import NAME, small_site

PHONE, DESK = {"width": 400, "height": 800}, {"width": 1200, "height": 900}
LESSON = f"lessons/{NAME}.html"
FROM_A_FILE = {"preload": False}  # axe would fetch the style sheet, which a page from a file may not
CUT_OFF = """() => [...document.querySelectorAll('main *')].filter(
    one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth
        && ['hidden', 'clip'].includes(getComputedStyle(one).overflowX)
).map(one => one.className)"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    small_site(tmp_path_factory.mktemp("course")).write(folder)
    return folder


@pytest.mark.fast_cases(
    "index.html-phone-dark",
    "lessons/1-attention.html-phone-light",
    "lessons/1-attention.html-desk-dark",
    "docs/glossary.html-desk-light",
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", ["index.html", LESSON, "docs/glossary.html", "explorer.html"])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    offline_page: Page, site: Path, name: str, size: dict, scheme: str
) -> None:
    offline_page.set_viewport_size(size)
    offline_page.emulate_media(color_scheme=scheme)
    offline_page.goto((site / name).as_uri())
    offline_page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(offline_page, options=FROM_A_FILE)
    assert found.violations_count == 0, found.generate_report()
    assert offline_page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert offline_page.evaluate(CUT_OFF) == []


@pytest.fixture(scope="module")
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this course, without outputs in the lessons: to run them takes minutes."""
    folder = tmp_path_factory.mktemp("whole")
    books = {name: nbformat.read(notebook_path(ROOT, name), as_version=4) for name in lessons()}
    site_of(ROOT, [RunLesson(lessons()[name], book, None) for name, book in books.items()]).write(folder)
    return folder


@pytest.mark.slow(held_by="tests/browser/test_site_page.py::test_axe_finds_nothing_and_nothing_is_cut_off")
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (DESK, "dark")], ids=["phone", "desk"])
def test_axe_finds_nothing_on_any_page_of_this_course(
    offline_page: Page, whole_site: Path, size: dict, scheme: str
) -> None:
    offline_page.set_viewport_size(size)
    offline_page.emulate_media(color_scheme=scheme)
    troubles = {}
    for page in sorted(whole_site.rglob("*.html")):
        offline_page.goto(page.as_uri())
        offline_page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(offline_page, options=FROM_A_FILE)
        if found.violations_count or offline_page.evaluate("document.documentElement.scrollWidth") > size["width"]:
            troubles[page.name] = found.generate_report()
    assert troubles == {}


def test_the_search_finds_a_section_from_a_file(offline_page: Page, site: Path) -> None:
    offline_page.goto((site / LESSON).as_uri())
    field, results = offline_page.get_by_label("Search"), offline_page.locator(".results a")
    field.fill("compar QUERY")  # the beginning of a word, in any case
    expect(results).to_have_text(["Glossary: Key"])
    assert Axe().run(offline_page, options=FROM_A_FILE).violations_count == 0
    field.fill("compar nowhere")
    expect(offline_page.get_by_role("status")).to_have_text("Nothing found.")
    field.fill("residual")
    field.press("Enter")
    expect(offline_page).to_have_url((site / "docs" / "glossary.html").as_uri() + "#glossary")


def test_without_javascript_there_is_no_search_and_all_else(offline_page: Page, site: Path) -> None:
    context = offline_page.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    expect(page.locator("search")).to_be_hidden()
    page.get_by_role("link", name="Glossary").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Glossary")
    context.close()


def test_a_figure_shrinks_to_the_page_if_its_letters_can_still_be_read(offline_page: Page, site: Path) -> None:
    offline_page.set_viewport_size(PHONE)
    offline_page.goto((site / LESSON).as_uri())
    widths = offline_page.evaluate("[...document.images].map(one => one.getBoundingClientRect().width)")
    assert widths[0] == pytest.approx(0.62 * 1030, abs=1)
    assert widths[1] == pytest.approx(offline_page.evaluate("document.images[1].parentElement.clientWidth"), abs=1)
    assert widths[2] == pytest.approx(200, abs=1)
