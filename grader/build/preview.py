"""Runs the solution notebooks and makes HTML pages of them.

Run it with `make preview`, or with `python -m grader.build.preview dist/preview`.

For each lesson two files of HTML: `1-attention-solution.html` for instructors, and `1-attention.html`, the student
notebook with the outputs of the solution's run, for readers who run nothing. Beside the latter lies the same as a
notebook. The pages are never committed.
"""

import re
import sys
import time
from binascii import a2b_base64
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbconvert
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.exporters.templateexporter import TemplateExporter
from nbformat import NotebookNode

from grader.course import lessons
from grader.paths import course_root, notebook_path, write_atomically
from grader.submission.cells import Role, role

TEMPLATES = Path(__file__).parent / "templates"
SECONDS = 900  # for one cell
# A page shows no widgets: without ipywidgets, the lessons draw one picture in the place of each.
WITHOUT_WIDGETS = 'import sys\nsys.modules["ipywidgets"] = None'
ITALICS = re.compile(r"\*(?!\*)(.+?)(?<!\*)\*(?!\*)", re.DOTALL)
MARKS = re.compile(r"[*`$]")


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Return a copy of a notebook, run in a folder, with its outputs.

    Raises:
        CellExecutionError: a cell raises.
    """
    made = deepcopy(notebook)
    made.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_WIDGETS, id="without-widgets"))
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(made, timeout=SECONDS, kernel_name="python3", resources=resources, force_raise_errors=True).execute()
    del made.cells[0]
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.metadata.pop("execution", None)
    return with_alternative_texts(made)


def with_outputs_of(student: NotebookNode, solution: NotebookNode) -> NotebookNode:
    """Return the student notebook with the outputs of the lesson's own cells from the solution's run.

    What answers and self-checks print is left out: it would tell that somebody solved them.
    """
    outputs = {cell.id: cell.outputs for cell in solution.cells if cell.cell_type == "code"}
    made = deepcopy(student)
    for cell in made.cells:
        if cell.cell_type == "code" and role(cell.id) not in (Role.ANSWER, Role.CHECK, Role.CARRY_ON):
            cell.outputs = outputs.get(cell.id, [])
    return made


def with_alternative_texts(notebook: NotebookNode) -> NotebookNode:
    """Give each figure the caption below it as alternative text; change the notebook itself."""
    for cell, after in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        caption = ITALICS.match(after.source.strip()) if after and after.cell_type == "markdown" else None
        text = " ".join(MARKS.sub("", caption[1]).split()) if caption else ""
        for output in cell.get("outputs", ()) if text else ():
            if "image/png" in output.get("data", {}):
                output.metadata["image/png"] = {**output.metadata.get("image/png", {}), "alt": text}
    return notebook


def page(notebook: NotebookNode, title: str) -> str:
    """Return a notebook as HTML, in light and dark; formulas need MathJax from the network."""
    exporter = nbconvert.HTMLExporter(
        template_name="preview",
        extra_template_basedirs=[str(TEMPLATES)],
        theme="light",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        filters={"png_width": png_width},
    )
    resources = {"metadata": {"name": title}, "dark_css": _dark_css(exporter)}
    return exporter.from_notebook_node(notebook, resources=resources)[0]


def png_width(picture: str) -> int:
    """Return the width in pixels of a PNG in base64: it stands at the 16th byte, behind two marks of 8 bytes."""
    return int.from_bytes(a2b_base64(picture[:32])[16:20], "big")


def _dark_css(exporter: TemplateExporter) -> str:
    """Return the variables of JupyterLab's dark theme, as nbconvert has them."""
    paths = (Path(folder) / "static" / "theme-dark.css" for folder in exporter.template_paths)
    return next(path for path in paths if path.is_file()).read_text("utf-8")


def preview(root: Path, folder: Path, names: list[str]) -> Iterator[str]:
    """Write the pages of some lessons into a folder; yield a line for each lesson.

    Raise FileNotFoundError if a notebook is not built, CellExecutionError if a solution raises.
    """
    for name in names:
        built = root / "solutions" / name / f"{name}.ipynb", notebook_path(root, name)
        solution, student = (nbformat.read(path, as_version=4) for path in built)
        folder.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        solution = executed(solution, folder)
        seconds = time.monotonic() - started
        student = with_outputs_of(student, solution)
        write_atomically(folder / f"{name}-solution.html", page(solution, f"{name}: solution"))
        write_atomically(folder / f"{name}.html", page(student, name))
        text = nbformat.writes(student, version=nbformat.NO_CONVERT) + "\n"
        write_atomically(folder / f"{name}.ipynb", text)
        yield f"{name}: ran in {seconds:.0f} s; wrote {folder / name}.html, .ipynb and {name}-solution.html"


def main() -> None:
    """Write the pages into the folder that the first argument names, of the lessons that follow, or of all."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist/preview")
    names = sys.argv[2:] or list(lessons())
    try:
        for line in preview(course_root(), folder, names):
            print(line, flush=True)
    except FileNotFoundError as error:
        sys.exit(f"preview: {error.filename or error} is missing; run: grader build")
    except CellExecutionError as error:
        sys.exit(f"preview: a cell of the solution raised: {error}")


if __name__ == "__main__":
    main()
