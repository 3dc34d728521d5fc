"""The manual as pages: its links lead to pages that are there, and it fits people who installed the wheel."""

import posixpath
import re
from pathlib import Path

import pytest

from grader.report.manual import NOT_HERE, manual
from grader.report.render_markdown import anchor

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in [*ROOT.glob("docs/*.md"), ROOT / "README.md"]
}
# For people who work in a copy of the repository; all other pages must be right for those who installed the wheel.
FOR_DEVELOPERS = {"README.md", "docs/design.md", "docs/compare.md", "docs/journeys.md", "docs/scale.md"}
FOR_USERS = sorted(TEXTS.keys() - FOR_DEVELOPERS)


def test_each_link_leads_to_a_heading_of_a_page() -> None:
    pages = manual(TEXTS)
    links = [(path, link) for path, page in pages.items() for link in re.findall(r'href="([^"]+)"', page)]
    assert len(links) > 300
    for path, link in links:
        if not link.startswith(("http:", "https:")):
            file, _, part = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            assert target in pages, (path, link)
            assert not part or f'id="{part}"' in pages[target], (path, link)


def test_a_link_to_a_file_outside_of_the_manual_becomes_text() -> None:
    text = "# One & two\n\n[log](../log.txt), [page](b.md#a-part), [web](https://example.org) ![cat](cat.png)\n\n| a |\n|---|\n| b |\n"
    page = manual({"docs/a.md": text, "docs/b.md": "# B\n\n## A part\n"})["docs/a.html"]
    assert "<title>One &amp; two</title>" in page
    assert f"<p>log{NOT_HERE}, " in page
    assert '<a href="b.html#a-part">page</a>, <a href="https://example.org">web</a> <em>cat</em></p>' in page
    assert '<div class="scroll" tabindex="0"><table>' in page
    assert '<h1 id="one--two">' in page


def test_an_anchor_is_that_of_github() -> None:
    assert anchor("Add an exercise: a worked example") == "add-an-exercise-a-worked-example"


@pytest.mark.parametrize("path", FOR_USERS)
def test_a_page_for_users_links_to_nothing_that_the_wheel_lacks(path: str) -> None:
    targets = re.findall(r"(?<!!)\[[^\]]*\]\((?!https?:|#)([^)#\s]+)", TEXTS[path])  # a picture becomes its description
    shipped = {posixpath.relpath(page, "docs") for page in TEXTS}
    assert set(targets) <= shipped


@pytest.mark.parametrize("path", FOR_USERS)
def test_a_page_for_users_says_that_make_needs_the_repository(path: str) -> None:
    for section in re.split(r"^##+ ", TEXTS[path], flags=re.MULTILINE):
        if re.search(r"`make [a-z]|^make [a-z]|python -m (benchmarks|tests|corpus)", section, re.MULTILINE):
            assert "repository" in section, section.partition("\n")[0]
