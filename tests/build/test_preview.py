"""The pages of `make preview`: all outputs, folded code, light and dark, and no answer on the students' page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from grader.build.preview import executed, page, with_alternative_texts, with_outputs_of
from grader.submission.cells import answer_cell, check_cell

FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()"
CAPTION = '*A line over d_k, from `1` to "2".* It rises.'
WIDGETS = "try:\n    import ipywidgets\n    print('a slider')\nexcept ImportError:\n    print('a picture')"
HINT = "<details><summary>A hint</summary>\n\nLook twice.\n</details>"


class Pictures(HTMLParser):
    """What a screen reader says of the pictures of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str | None] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.texts.append(dict(attributes).get("alt"))


def code(source: str, id: str, **metadata) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, id=id, metadata=metadata)


def notebook(answer: str) -> nbformat.NotebookNode:
    cells = [
        code("# @title Provided: a <thing>\nx = 2", "provided-x", jupyter={"source_hidden": True}),
        code(WIDGETS, "slider"),
        nbformat.v4.new_markdown_cell(HINT, id="hint"),
        code(answer, answer_cell("1.1")),
        code("print('right')", check_cell("1.1")),
        code(FIGURE, "figure"),
        nbformat.v4.new_markdown_cell(CAPTION, id="caption"),
    ]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(scope="module")
def solution(tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    return executed(notebook("print('the secret', x)"), tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def pages(solution) -> tuple[str, str]:
    student = with_outputs_of(notebook("raise NotImplementedError"), solution)
    return page(solution, "solved"), page(student, "open")


def test_the_solution_has_all_outputs_and_no_widgets(solution, pages: tuple[str, str]) -> None:
    assert [cell.id for cell in solution.cells] == [cell.id for cell in notebook("").cells]
    assert "the secret 2" in pages[0]
    assert "a picture\n" in pages[0]
    assert "a slider\n" not in pages[0]


def test_the_students_page_has_the_figures_and_nothing_of_the_answers(pages: tuple[str, str]) -> None:
    assert "the secret" not in pages[1]
    assert "right" not in re.findall(r"<pre>(.*)", pages[1])
    assert "data:image/png;base64," in pages[1]
    assert "a picture\n" in pages[1]


def test_a_figure_is_read_out_by_its_caption(pages: tuple[str, str]) -> None:
    for text in pages:
        reader = Pictures(text)
        assert reader.texts == ['A line over d_k, from 1 to "2".']
    bare = nbformat.v4.new_notebook(cells=[code("", "a"), nbformat.v4.new_markdown_cell("**No** caption.", id="b")])
    assert with_alternative_texts(bare) == bare


def test_given_code_and_hints_are_folded(pages: tuple[str, str]) -> None:
    assert '<details class="folded"><summary>Provided: a &lt;thing&gt;</summary>' in pages[1]
    assert pages[1].count('<details class="folded">') == 1
    assert "Look twice." in pages[1].partition("<summary>A hint</summary>")[2].partition("</details>")[0]


def test_a_page_is_light_and_dark(pages: tuple[str, str]) -> None:
    light, _, dark = pages[0].partition("@media (prefers-color-scheme: dark)")
    assert "--jp-layout-color0: white;" in light
    assert "--jp-layout-color0: #111;" in dark


def test_a_solution_that_raises_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(notebook("1 / 0"), tmp_path)
