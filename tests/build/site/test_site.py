"""The site of a course: each link leads somewhere, nothing comes from another server, the search has all words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.build.links import Repository
from grader.build.site.addresses import Addresses
from grader.build.site.search import sections
from grader.cli import app
from tests.build.site.small_site import NAME, dead_links, requested_elsewhere, small_site

ON_GITHUB = '[tool.course]\nrepository = "a-school/course"\nbranch = "main"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course, written = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("site")
    size = small_site(course).write(written)
    assert size == sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
    return written


def text(folder: Path, page: str) -> str:
    return (folder / page).read_text("utf-8")


def test_it_has_a_page_of_each_kind(folder: Path) -> None:
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}
    assert pages == {
        "index.html",
        f"lessons/{NAME}.html",
        "docs/glossary.html",
        "docs/more.html",
        "explorer.html",
        "assets/explorer.html",
    }


def test_every_link_leads_somewhere_and_a_dead_one_is_seen(folder: Path, tmp_path: Path) -> None:
    assert dead_links(folder) == []
    (tmp_path / "index.html").write_text('<a href="no.html"></a><a href="#no"></a><img src="no.png">')
    assert dead_links(tmp_path) == ["index.html: no.html", "index.html: #no", "index.html: no.png"]


def test_nothing_is_loaded_from_elsewhere_and_it_would_be_seen(folder: Path, tmp_path: Path) -> None:
    assert requested_elsewhere(folder) == []
    (tmp_path / "index.html").write_text('<script src="https://a.org/x.js"></script><style>@import "//b.org/y"</style>')
    assert requested_elsewhere(tmp_path) == ["index.html: https://a.org/x.js", "index.html: //b.org/y"]


def test_links_lead_to_pages_and_files_of_the_repository_to_github(folder: Path, tmp_path: Path) -> None:
    alone, github = text(folder, "index.html"), small_site(tmp_path, setting=ON_GITHUB).texts["index.html"]
    for home in (alone, github):
        assert f'<a href="lessons/{NAME}.html">lesson</a>' in home
        assert '<a href="docs/glossary.html#key">words</a>' in home
        assert '<a href="https://example.org">elsewhere</a>' in home
    assert "licence" in alone
    assert "LICENSE" not in alone  # a link that would lead nowhere
    assert '<a href="https://github.com/a-school/course/blob/main/LICENSE">licence</a>' in github


def test_a_link_of_a_built_notebook_to_github_stays_on_the_site() -> None:
    addresses = Addresses({"docs/a.md": "docs/a.html", "n/1.ipynb": "lessons/1.html"}, Repository("a/b", "main"))
    assert addresses.resolve("n/1.ipynb", "https://github.com/a/b/blob/main/docs/a.md#x") == "../docs/a.html#x"
    assert addresses.resolve("n/1.ipynb", "../docs/a.md") == "../docs/a.html"
    assert addresses.resolve("n/1.ipynb", "../other.py") == "https://github.com/a/b/blob/main/other.py"
    assert addresses.resolve("n/1.ipynb", "../../outside.py") is None


def test_the_lesson_has_its_figures_and_formulas_and_folds_given_code(folder: Path) -> None:
    page = text(folder, f"lessons/{NAME}.html")
    assert '<details class="folded"><summary>Provided: a &lt;thing&gt;</summary>' in page
    assert page.count('<details class="folded">') == 1
    assert "<math" in page.partition("<summary>A hint</summary>")[2].partition("</details>")[0]
    assert "a &lt; picture\n" in page
    assert 'alt="A line &quot;over&quot; d_k" style="--natural: 1030px"' in page
    assert "hundreds of kilobytes" not in page
    assert "colab" not in page.lower()
    assert "the_answer" not in page


def test_solutions_are_there_only_if_they_are_asked_for(tmp_path: Path) -> None:
    solved = small_site(tmp_path, solved=True).texts
    assert "the_answer" in solved[f"lessons/{NAME}-solution.html"]
    assert "the_answer" not in solved[f"lessons/{NAME}.html"]


def test_the_navigation_is_on_every_page_and_marks_the_page(folder: Path) -> None:
    for page in ("index.html", f"lessons/{NAME}.html", "docs/more.html", "explorer.html"):
        links = re.findall(r'<li><a href="([^"]+)"( aria-current="page")?>', text(folder, page))
        assert len(links) == 4
        assert [bool(current) for _, current in links].count(True) == (page != "index.html")


def test_two_headings_of_one_name_get_two_anchors_and_no_level_is_left_out(folder: Path) -> None:
    headings = re.findall(r'<h(\d) id="([^"]+)"', text(folder, "docs/glossary.html"))
    assert headings == [("1", "glossary"), ("2", "key"), ("3", "key-1")]


def test_an_empty_cell_above_a_column_is_no_heading(folder: Path) -> None:
    page = text(folder, "docs/glossary.html")
    assert "<td></td>" in page
    assert '<th style="text-align:right">meaning</th>' in page
    assert "<th></th>" not in page


def test_the_index_has_each_section_once_and_no_folded_code(folder: Path) -> None:
    index = json.loads(text(folder, "search-index.js").removeprefix("window.SEARCH_INDEX = ").rstrip(";\n"))
    assert ["docs/glossary.html#key", "Glossary", "Key", "What a query is compared with. Back to the start."] in index
    assert len({path for path, *_ in index}) == len(index)
    words = " ".join(text for *_, text in index)
    assert "residual" in words
    assert "Look twice" in words
    assert "x = 2" not in words


def test_a_section_begins_at_its_heading() -> None:
    html = "<p>Before</p><h1 id=a>One <code>x</code></h1><p>first</p><p>second</p><style>no</style><h2 id=b>Two</h2>"
    assert list(sections(html)) == [("", "", "Before"), ("#a", "One x", "first second"), ("#b", "Two", "")]


def test_the_command_names_a_notebook_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.commands.options.course_root", lambda: tmp_path)
    ran = CliRunner().invoke(app, ["site"])
    assert ran.exit_code == 2
    assert ".ipynb is missing; run: grader build" in " ".join(ran.output.split())
