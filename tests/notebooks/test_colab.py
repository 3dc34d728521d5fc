"""What Colab does to a notebook costs nothing: it runs there alone, and what is saved there is read as it was.

Colab itself is not here. A kernel stands in that can import what Colab has and nothing of ours; `examples.make.colab`
does what a save there does. That the marks are the same, through the whole pipeline, is the example class's part:
`colab-saved` in tests/test_class.py.
"""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from examples.make import classes, colab
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.submission.notebook import parse
from grader.submission.rebuild import Rebuilt, rebuild
from tests.few_steps import UNDRAWN

ROOT = Path(__file__).resolve().parents[2]
LESSONS = list(lessons())
# Ours, and what we need beside what Colab has.
ABSENT = ("attention", "grader", "examples", "nbgrader", "papermill", "jupytext", "pyseccomp")
BLOCK = f"""
import sys

class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
"""


def solved(name: str) -> bytes:
    return (ROOT / "solutions" / name / f"{name}.ipynb").read_bytes()


def read(name: str, content: bytes) -> Rebuilt:
    """A submission as the grader puts it into the master copy."""
    return rebuild(lessons()[name], master_notebook(ROOT, name), parse(content))


@pytest.mark.parametrize("name", LESSONS)
def test_a_save_in_colab_changes_nothing_that_is_graded(name: str) -> None:
    before, after = read(name, solved(name)), read(name, colab(solved(name)))
    assert after.answers == before.answers
    assert set(after.answers) == {exercise.id for exercise in lessons()[name].exercises}
    assert [(cell.id, cell.source) for cell in after.notebook.cells] == [
        (cell.id, cell.source) for cell in before.notebook.cells
    ]


def test_the_save_loses_what_colab_loses() -> None:
    before = nbformat.reads(solved("1-attention").decode(), as_version=4)
    after = nbformat.reads(colab(solved("1-attention")).decode(), as_version=4)
    assert "colab" in after.metadata
    assert len(after.cells) == len(before.cells) + 1  # one is there twice
    assert not {cell.id for cell in before.cells} & {cell.id for cell in after.cells}
    assert not [
        cell for cell in after.cells if set(cell.metadata) & {"nbgrader", "deletable", "editable", "tags"}
    ]
    code = [cell for cell in after.cells if cell.cell_type == "code" and cell.id != "doubled"]
    assert code
    assert all("outputId" in cell.metadata for cell in code)


def test_the_pipeline_grades_a_notebook_saved_in_colab() -> None:
    saved = {one.assignment: one for one in classes() if one.alter == "colab"}
    assert saved
    for name, example in saved.items():
        assert example.base == "solution"
        assert example.score == lessons()[name].max_score


@pytest.mark.slow(
    held_by="tests/notebooks/test_notebooks.py::test_the_solution_runs_to_its_end_alone_with_few_steps"
)
def test_it_runs_where_only_colabs_packages_are_and_is_read_the_same_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "1-attention"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCK)
    (tmp_path / "content").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    notebook = nbformat.reads(colab(solved(name)).decode(), as_version=4)
    for cell in notebook.cells:  # what matters is which packages are asked for
        cell.source = cell.source.replace("\ntrain_steps = None", "\ntrain_steps = 2" + UNDRAWN)
    probe = nbformat.v4.new_code_cell("import attention")
    notebook.cells.append(probe)
    where = {"metadata": {"path": tmp_path / "content"}}
    NotebookClient(notebook, allow_errors=True, timeout=1200, kernel_name="python3", resources=where).execute()
    errors = [out for cell in notebook.cells for out in cell.get("outputs", []) if out.output_type == "error"]
    assert [error.evalue for error in errors] == ["No module named 'attention'"]
    assert list((tmp_path / "content").iterdir()) == []
    del notebook.cells[-1]
    again = colab(nbformat.writes(notebook).encode())
    assert read(name, again).answers == read(name, solved(name)).answers
