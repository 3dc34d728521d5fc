"""A lesson is run for the site: all outputs, no widgets, and none of the answers on the students' page."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from grader.build.site.run_lesson import executed, kept_run, with_alternative_texts, with_outputs_of
from tests.build.site.small_site import notebook


@pytest.fixture(scope="module")
def solution(tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    return executed(notebook("print('the secret', x)"), tmp_path_factory.mktemp("run"))


def printed(book: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for cell in book.cells for output in cell.get("outputs", ()))


def test_the_solution_has_all_outputs_and_no_widgets(solution: nbformat.NotebookNode) -> None:
    assert [cell.id for cell in solution.cells] == [cell.id for cell in notebook("").cells]
    assert printed(solution) == "a picture\nthe secret 2\nright\n"


def test_the_students_page_has_the_figures_and_nothing_of_the_answers(solution: nbformat.NotebookNode) -> None:
    student = with_outputs_of(notebook("raise NotImplementedError"), solution)
    assert printed(student) == "a picture\n"
    figure = next(cell for cell in student.cells if cell.id == "figure")
    assert "image/png" in figure.outputs[0].data


def test_a_figure_is_read_out_by_its_caption(solution: nbformat.NotebookNode) -> None:
    figure = next(cell for cell in solution.cells if cell.id == "figure")
    assert figure.outputs[0].metadata["image/png"]["alt"] == 'A line over d_k, from 1 to "2".'
    bare = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("", id="a"), nbformat.v4.new_markdown_cell("**No** caption.", id="b")]
    )
    assert with_alternative_texts(bare) == bare


def test_a_solution_that_raises_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(notebook("1 / 0"), tmp_path)


def test_a_run_is_kept_until_the_notebook_changes(tmp_path: Path) -> None:
    kept, mark = tmp_path / "runs" / "1.ipynb", tmp_path / "ran"
    kept.parent.mkdir()

    def run(answer: str) -> str:
        cell = nbformat.v4.new_code_cell(f"open({str(mark)!r}, 'a').write('x')\nprint({answer!r})", id="a")
        return printed(kept_run(nbformat.v4.new_notebook(cells=[cell]), kept))

    assert [run("one"), run("one")] == ["one\n", "one\n"]
    assert mark.read_text() == "x"
    assert run("two") == "two\n"
    assert mark.read_text() == "xx"
