"""Builds the solution notebook from a lesson's percent script and its declaration, with nbgrader's metadata.

A marker in each cell of the script states the cell's purpose, as in `# %% exercise="1.4"`. README,
"Change a lesson", lists the markers. CONTRIBUTING.md shows how to add an exercise.
"""

import base64
import re
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from grader.build.errors import BuildError
from grader.build.promises import with_promises
from grader.build.provided import inline, title_of
from grader.build.questions import nbgrader_metadata, question_cells
from grader.build.questions import title_of as question_title
from grader.build.script_checks import check_against_script, check_what_students_read, without_directives
from grader.build.script_texts import with_glossary, with_points_table, with_reading_time
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.submission.cells import (
    DRAWS,
    MAY_RAISE,
    STAND_CELL,
    SUBMIT_CELL,
    TOOLS_CELL,
    ScriptMarker,
    answer_cell,
    carry_on_cell,
    carry_on_source,
    check_cell,
    prediction_cell,
    provided_cell,
    submit_source,
    task_cell,
    with_folded_answers,
    with_marker,
    with_prediction_marker,
    written_cell,
)

MARKERS = {marker.value for marker in ScriptMarker}
LAST = """\
## Check your answers and submit

The next cell checks all your answers and lists which are right, wrong or not solved yet. You can run it at any time. \
The cell
after it submits this notebook and shows your points. Save the notebook before you run it."""
UNNAMED = "unnamed"  # a cell's id until `_name_cells` replaces it


def solution_notebook(script: Path, lesson: Lesson, root: Path, tools: str) -> NotebookNode:
    """Build the solution notebook of a lesson from its script, such as solutions/1-attention.py.

    Args:
        root: the repository, which contains `assets/`.
        tools: the source of the cell of self-checks.

    Raises:
        BuildError: a declared exercise has no cell or two cells, a marker is unknown, two cells
            have the same id, or the script does not fit its declaration.
    """
    authored = jupytext.read(script, fmt="py:percent")
    questions = {
        cell.metadata[ScriptMarker.QUESTION]: question_title(cell.source)
        for cell in authored.cells
        if ScriptMarker.QUESTION in cell.metadata
    }
    cells: list[NotebookNode] = []
    texts = [cell.source for cell in authored.cells if cell.cell_type == "markdown"]
    for cell in authored.cells:
        try:
            if cell.cell_type == "markdown":
                cell.source = with_glossary(with_points_table(cell.source, lesson, questions), root)
                cell.source = with_promises(with_reading_time(cell.source, texts), lesson)
            cells += _cells(cell, lesson, root, tools)
        except (KeyError, ValueError) as error:
            head = cell.source.strip().partition("\n")[0]
            raise BuildError(f"{script}: {error.args[0]} (cell that begins with {head!r})") from error
    cells += _last_cells(lesson)
    _let_run_all_go_on(cells)
    _check_completeness(script, lesson, cells)
    name = script.relative_to(root) if script.is_relative_to(root) else script
    check_against_script(name, lesson, authored.cells)
    check_what_students_read(name, authored.cells)
    _name_cells(script, cells)
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)


def _cells(cell: NotebookNode, lesson: Lesson, root: Path, tools: str) -> list[NotebookNode]:
    """Return the cells of the notebook for one cell of the script.

    Raises:
        ValueError or KeyError: a marker or an id is unknown.
    """
    marks = {name: value for name, value in cell.metadata.items() if name in MARKERS}
    if unknown := set(cell.metadata) - MARKERS - {"lines_to_next_cell"}:
        raise ValueError(f"unknown marker {sorted(unknown)}; known are {sorted(MARKERS)}")
    if cell.cell_type == "markdown":
        text = with_folded_answers(_with_images(cell.source, root))
        if ScriptMarker.ABOUT in marks:
            exercise = lesson.exercise(marks[ScriptMarker.ABOUT])
            return [_markdown(f"{heading(exercise)}\n\n{text}", task_cell(exercise.id))]
        if ScriptMarker.QUESTION in marks:
            return question_cells(marks[ScriptMarker.QUESTION], text, lesson)
        return [_markdown(text, marks.get(ScriptMarker.ID, ""))]
    if ScriptMarker.EXERCISE in marks:
        return _exercise(lesson.exercise(marks[ScriptMarker.EXERCISE]), cell.source)
    if ScriptMarker.PREDICT in marks:
        name = marks[ScriptMarker.PREDICT]
        return [_code(with_prediction_marker(name, cell.source), prediction_cell(name), marks)]
    if ScriptMarker.TOOLS in marks:
        return [_collapsed(tools, "Provided: the self-checks", TOOLS_CELL)]
    if ScriptMarker.PROVIDED in marks:
        what = marks[ScriptMarker.PROVIDED]
        name = marks.get(ScriptMarker.ID) or provided_cell(what.partition(":")[0])
        return [_collapsed(without_directives(inline(what)), f"Provided: {title_of(what)}", name)]
    if ScriptMarker.HIDDEN in marks:
        return [_collapsed(cell.source, marks[ScriptMarker.HIDDEN], marks.get(ScriptMarker.ID, ""), marks)]
    return [_code(cell.source, marks.get(ScriptMarker.ID, ""), marks)]


def heading(exercise: Exercise) -> str:
    """Return an exercise's heading: "### Exercise 1.4 · Attention — 15 points · ●●○ · 10 minutes".

    Raises:
        ValueError: the title itself begins with "Exercise" or "Practice".
    """
    worth = f"{exercise.points:g} point{'s' * (exercise.points != 1)}" if exercise.points else "no points"
    kind = "Exercise" if exercise.points else "Practice"
    if exercise.title.lower().startswith(kind.lower()):
        raise ValueError(f"exercise {exercise.id}, title: the heading says {kind!r} already; leave it out")
    dots = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    return f"### {kind} {exercise.id} · {exercise.title} — {worth} · {dots} · {exercise.minutes} minutes"


def _exercise(exercise: Exercise, source: str) -> list[NotebookNode]:
    """Return the answer cell, the self-check cell and, if there is a stand-in, the carry-on cell.

    A stand-in is a definition by the course that replaces a missing answer.

    Raises:
        ValueError: the source has no marked solution.
    """
    if "### BEGIN SOLUTION" not in source:
        raise ValueError(f"exercise {exercise.id} has no '### BEGIN SOLUTION' … '### END SOLUTION'")
    answer = _code(with_marker(exercise.id, source), answer_cell(exercise.id))
    answer.metadata["nbgrader"] = nbgrader_metadata(answer_cell(exercise.id), solution=True)
    # After a restart the notebook shows this line below "NameError: name 'check' is not defined".
    check = _code(f'check("{exercise.id}")  # NameError? Run all cells above', check_cell(exercise.id))
    check.metadata["nbgrader"] = nbgrader_metadata(check_cell(exercise.id), solution=False, points=exercise.points)
    if exercise.stand_in is None:
        return [answer, check]
    return [answer, check, _code(carry_on_source(exercise.id), carry_on_cell(exercise.id))]


def _last_cells(lesson: Lesson) -> list[NotebookNode]:
    """Return the last cells of every notebook: one lists the solved exercises, and one submits the notebook."""
    return [
        _markdown(LAST, "hand-in"),
        _collapsed("where_you_stand()", "Where you stand", STAND_CELL),
        _collapsed(submit_source(lesson.assignment, ""), "Submit this notebook", SUBMIT_CELL),
    ]


def _let_run_all_go_on(cells: list[NotebookNode]) -> None:
    """Tag the code cells from the first exercise on, so that an exception in one does not stop "Run All".

    Collapsed cells are not tagged.
    """
    first = next((index for index, cell in enumerate(cells) if "nbgrader" in cell.metadata), len(cells))
    for cell in cells[first:]:
        if cell.cell_type == "code" and "cellView" not in cell.metadata:
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), MAY_RAISE]


def _markdown(source: str, name: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=name or UNNAMED)


def _code(source: str, name: str, marks: dict | None = None) -> NotebookNode:
    """Return a code cell. The script's markers `marks` determine its tags."""
    cell = nbformat.v4.new_code_cell(source, id=name or UNNAMED)
    marks = marks or {}
    if ScriptMarker.TAGS in marks:
        cell.metadata["tags"] = list(marks[ScriptMarker.TAGS])
    if ScriptMarker.DRAWS in marks:
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), DRAWS]
    return cell


def _collapsed(source: str, title: str, name: str, marks: dict | None = None) -> NotebookNode:
    """Return a code cell that Colab and Jupyter show only as a title until somebody opens it."""
    future = "from __future__ import annotations\n"
    # Colab reads the title from the first line; Python wants __future__ before any other statement.
    if future in source:
        source = future + source.replace(future, "", 1)
    cell = _code(f"# @title {title}\n{source}", name, marks)
    cell.metadata["cellView"] = "form"
    cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def _with_images(text: str, root: Path) -> str:
    """Return a text with the pictures of assets/ as data URIs, so that a copied notebook keeps them.

    Raises:
        ValueError: a picture is missing.
    """

    def embed(match: re.Match) -> str:
        path = root / match["path"]
        if not path.is_file():
            raise ValueError(f"no picture {match['path']}; draw it with assets/draw.py")
        kind = {".svg": "svg+xml", ".png": "png"}[path.suffix]
        return f"![{match['alt']}](data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()})"

    return re.sub(r"!\[(?P<alt>[^\]]*)\]\((?P<path>assets/[^)]+)\)", embed, text)


def _check_completeness(script: Path, lesson: Lesson, cells: list[NotebookNode]) -> None:
    """Raise BuildError if a required cell is missing or an exercise's cell is not unique.

    There must be a cell of self-checks, exactly one answer and one task for each exercise, and
    the cells of each question and of each check that runs after a cell.
    """
    count = Counter(cell.id for cell in cells)
    if not count[TOOLS_CELL]:
        raise BuildError(f"{script}: no cell makes the self-checks; put '# %% tools=\"1\"' before the first exercise")
    for exercise in lesson.exercises:
        wanted = (
            (ScriptMarker.EXERCISE, "# %%", answer_cell(exercise.id)),
            (ScriptMarker.ABOUT, "# %% [markdown]", task_cell(exercise.id)),
        )
        for kind, marker, cell in wanted:
            if count[cell] != 1:
                raise BuildError(
                    f"{script}: {count[cell] or 'no'} cells for {kind} {exercise.id}; "
                    f"there must be one '{marker} {kind}=\"{exercise.id}\"'"
                )
    for question in lesson.questions:
        if not count[written_cell(question)]:
            raise BuildError(f"{script}: the declaration gives points for question {question}, which is not there")
    for check in (check for exercise in lesson.exercises for check in exercise.checks if check.at):
        if not count[check.at]:
            raise BuildError(f"{script}: check {check.name!r} is run after cell {check.at!r}, which is not there")


def _name_cells(script: Path, cells: list[NotebookNode]) -> None:
    """Give each UNNAMED cell an id: text-01, code-01, …

    Raises:
        BuildError: two cells have the same id.
    """
    counts: Counter[str] = Counter()
    for cell in cells:
        if cell.id == UNNAMED:
            kind = "text" if cell.cell_type == "markdown" else "code"
            counts[kind] += 1
            cell.id = f"{kind}-{counts[kind]:02}"
    twice = [name for name, number in Counter(cell.id for cell in cells).items() if number > 1]
    if twice:
        raise BuildError(f'{script}: two cells have the id {", ".join(twice)}; give one another id="…"')
