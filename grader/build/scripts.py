"""A lesson's percent script and its declaration → the solution notebook, with nbgrader's metadata.

The markers of the script are described in CONTRIBUTING (README, "Change a lesson"); nobody types metadata.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from grader.build.provided import docstring, inline
from grader.build.tools import tools
from grader.exercise import Exercise, Lesson

MARKERS = {"exercise", "about", "stuck", "provided", "tools", "id", "tags", "hidden", "draws"}
UNNAMED = "unnamed"  # until _name gives it one
SCHEMA = 3  # of nbgrader's cell metadata


class BuildError(Exception):
    """A lesson's script and its declaration do not fit; the message says where and what to do."""


def solution_notebook(script: Path, lesson: Lesson, root: Path) -> NotebookNode:
    """The solution notebook of a lesson.

    Args:
        script: solutions/1-attention.py
        root: the repository, where `assets/` is.

    Raises:
        BuildError: a declared exercise has no cell or two, a marker is unknown, an id is there twice.
    """
    authored = jupytext.read(script, fmt="py:percent")
    cells: list[NotebookNode] = []
    for cell in authored.cells:
        try:
            cells += _cells(cell, lesson, root)
        except (KeyError, ValueError) as error:
            head = cell.source.strip().splitlines()[:1]
            raise BuildError(f"{script}: {error.args[0]} (cell that begins with {head})") from error
    _complete(script, lesson, cells)
    _name(script, cells)
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    notebook.nbformat_minor = 5
    return notebook


def _cells(cell: NotebookNode, lesson: Lesson, root: Path) -> list[NotebookNode]:
    """The notebook cells that one cell of the script becomes."""
    marks = {name: value for name, value in cell.metadata.items() if name in MARKERS}
    if unknown := set(cell.metadata) - MARKERS - {"lines_to_next_cell"}:
        raise ValueError(f"unknown marker {sorted(unknown)}; known are {sorted(MARKERS)}")
    if cell.cell_type == "markdown":
        text = _with_images(cell.source, root)
        if "about" in marks:
            exercise = lesson.exercise(marks["about"])
            return [_markdown(f"{heading(exercise)}\n\n{text}", f"about-{exercise.slug}")]
        return [_markdown(text, marks.get("id", ""))]
    if "exercise" in marks:
        return _exercise(lesson.exercise(marks["exercise"]), cell.source)
    if "stuck" in marks:
        exercise = lesson.exercise(marks["stuck"])
        return [
            _collapsed(
                _stuck(cell.source),
                f"Stuck on {exercise.id}? Carry on with PyTorch's own",
                f"stuck-{exercise.slug}",
            )
        ]
    if "tools" in marks:
        return [_collapsed(tools(lesson), "Provided: the self-checks", "tools")]
    if "provided" in marks:
        what = marks["provided"]
        name = marks.get("id") or "provided-" + what.partition(":")[0].rpartition(".")[2].replace("_", "-")
        return [_collapsed(inline(what), f"Provided: {docstring(what)}", name)]
    if "hidden" in marks:
        return [_collapsed(cell.source, marks["hidden"], marks.get("id", ""), marks)]
    return [_code(cell.source, marks.get("id", ""), marks)]


def heading(exercise: Exercise) -> str:
    """ "### Exercise 1.4 · Attention — 15 points · ●●○ · 10 minutes"."""
    worth = (
        f"{exercise.points:g} point{'s' * (exercise.points != 1)}"
        if exercise.points
        else "practice, no points"
    )
    kind = "Exercise" if exercise.points else "Practice"
    dots = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    return f"### {kind} {exercise.id} · {exercise.title} — {worth} · {dots} · {exercise.minutes} minutes"


def _exercise(exercise: Exercise, source: str) -> list[NotebookNode]:
    if "### BEGIN SOLUTION" not in source:
        raise ValueError(f"exercise {exercise.id} has no '### BEGIN SOLUTION' … '### END SOLUTION'")
    answer = _code(f"# @exercise {exercise.id}\n{source.strip()}", f"exercise-{exercise.slug}")
    answer.metadata["nbgrader"] = _nbgrader(f"exercise-{exercise.slug}", solution=True)
    check = _code(f'check("{exercise.id}")', f"check-{exercise.slug}")
    check.metadata["nbgrader"] = _nbgrader(f"check-{exercise.slug}", points=exercise.points)
    return [answer, check]


def _nbgrader(grade_id: str, *, solution: bool = False, points: float | None = None) -> dict:
    metadata = {
        "grade": not solution,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": SCHEMA,
        "solution": solution,
        "task": False,
    }
    return metadata if points is None else {**metadata, "points": points}


def _stuck(source: str) -> str:
    body = "\n".join(f"    {line}" if line else "" for line in source.strip().splitlines())
    return (
        "# Set carry_on to True and run this cell to go on without your own answer. It earns no points here,\n"
        "# and the rest of the lesson works.\n"
        f'carry_on = False  # @param {{type:"boolean"}}\nif carry_on:\n{body}'
    )


def _markdown(source: str, name: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=name or UNNAMED)


def _code(source: str, name: str, marks: dict | None = None) -> NotebookNode:
    cell = nbformat.v4.new_code_cell(source, id=name or UNNAMED)
    marks = marks or {}
    if "tags" in marks:
        cell.metadata["tags"] = list(marks["tags"])
    if "draws" in marks:
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), "draws"]
    return cell


def _collapsed(source: str, title: str, name: str, marks: dict | None = None) -> NotebookNode:
    future = "from __future__ import annotations\n"
    # Colab reads the title from the first line; Python wants __future__ before any other statement.
    cell = _code(
        f"# @title {title}\n{future}{source.replace(future, '', 1)}"
        if future in source
        else f"# @title {title}\n{source}",
        name,
        marks,
    )
    cell.metadata["cellView"] = "form"
    cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def _with_images(text: str, root: Path) -> str:
    """Pictures of assets/ as data URIs: they survive a copy of the notebook alone, as in Colab."""

    def embed(match: re.Match) -> str:
        path = root / match["path"]
        if not path.is_file():
            raise ValueError(f"no picture {match['path']}; draw it with assets/draw.py")
        kind = {".svg": "svg+xml", ".png": "png"}[path.suffix]
        return f"![{match['alt']}](data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()})"

    return re.sub(r"!\[(?P<alt>[^\]]*)\]\((?P<path>assets/[^)]+)\)", embed, text)


def _complete(script: Path, lesson: Lesson, cells: list[NotebookNode]) -> None:
    count = Counter(cell.id for cell in cells)
    for exercise in lesson.exercises:
        for kind, marker in (("exercise", "# %%"), ("about", "# %% [markdown]")):
            if count[f"{kind}-{exercise.slug}"] != 1:
                raise BuildError(
                    f"{script}: {count[f'{kind}-{exercise.slug}'] or 'no'} cells for {kind} {exercise.id}; "
                    f"there must be one '{marker} {kind}=\"{exercise.id}\"'"
                )
    for check in (check for exercise in lesson.exercises for check in exercise.checks if check.at):
        if not count[check.at]:
            raise BuildError(
                f"{script}: check {check.name!r} is run after cell {check.at!r}, which is not there"
            )


def _name(script: Path, cells: list[NotebookNode]) -> None:
    """Give every cell an id that stays when others come and go: its own, or one from its kind and place."""
    counts: Counter[str] = Counter()
    for cell in cells:
        if cell.id == UNNAMED:
            kind = "text" if cell.cell_type == "markdown" else "code"
            counts[kind] += 1
            cell.id = f"{kind}-{counts[kind]:02}"
    twice = [name for name, number in Counter(cell.id for cell in cells).items() if number > 1]
    if twice:
        raise BuildError(f'{script}: two cells have the id {", ".join(twice)}; give one another id="…"')
