"""The example class: `python -m examples.make` writes examples/submitted/ from examples/classes/*.py.

A class is a percent script. A Markdown cell introduces a student: what this submission is, where it starts from,
and the score that it deserves:

    # %% [markdown] student="no-scaling" base="solution" score="all - 20"
    # The scores are not divided by √d_k.

The score is what is left of all the points, a number, or "unreadable".

Code cells that follow are changes to it: `# %% exercise="1.4"` replaces the answer of an exercise, `# %%
after="exercise-1-3"` adds a cell of the student's own behind a cell (`after=""`: in front of all). `alter="colab"`
on the introduction passes the finished notebook through one of the functions below. Everything else is the
solution notebook's, or with base="student" the untouched student notebook's.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from grader.build.links import BADGE_CELL
from grader.course import lessons
from grader.submission.cells import Role, answer_cell, marked_exercises, role, with_marker

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Example:
    """One submission of the example class."""

    student: str
    assignment: str
    score: float | None  # what it deserves; None: unreadable
    about: str
    base: str = "solution"
    alter: str = ""
    answers: dict[str, str] = field(default_factory=dict)  # by exercise id
    own: list[tuple[str, str]] = field(default_factory=list)  # (behind which cell, source)

    @property
    def path(self) -> Path:
        return ROOT / "examples" / "submitted" / self.student / self.assignment / f"{self.assignment}.ipynb"


def classes() -> Iterator[Example]:
    """Every example of every class script."""
    for script in sorted((ROOT / "examples" / "classes").glob("*.py")):
        yield from read_class(script)


def read_class(script: Path) -> list[Example]:
    """The examples of one class script, e.g. examples/classes/1-attention.py."""
    examples: list[Example] = []
    for cell in jupytext.read(script, fmt="py:percent").cells:
        marks = cell.metadata
        if "student" in marks:
            examples.append(
                Example(
                    student=marks["student"],
                    assignment=script.stem,
                    score=_score(marks["score"], lessons()[script.stem].max_score),
                    about=cell.source,
                    base=marks.get("base", "solution"),
                    alter=marks.get("alter", ""),
                )
            )
        elif "exercise" in marks:
            examples[-1].answers[marks["exercise"]] = cell.source
        elif "after" in marks:
            examples[-1].own.append((marks["after"], cell.source))
        elif cell.source.strip() and examples:
            raise ValueError(f"{script}: a cell of {examples[-1].student} has no marker: {cell.source[:60]!r}")
    return examples


def _score(text: str, most: float) -> float | None:
    """The points that "all", "all - 20", "0" or "unreadable" stands for, in a lesson worth so many."""
    if text == "unreadable":
        return None
    rest, _, lost = text.partition("-")
    return (most if rest.strip() == "all" else float(rest)) - float(lost or 0)


def notebook(example: Example) -> NotebookNode:
    """The submitted notebook, before it is altered."""
    name = example.assignment
    released, solved = (
        nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4) for folder in ("notebooks", "solutions")
    )
    book = solved if example.base == "solution" else released
    # Without the badge: the examples are the same in every fork.
    book.cells = [cell for cell in book.cells if cell.id != BADGE_CELL]
    cells = {cell.id: cell for cell in book.cells}
    for cell in released.cells:
        if role(cell.id) is Role.WRITTEN:  # the solution has the mark scheme there
            cells[cell.id].source = cell.source
    for id, source in example.answers.items():
        cells[answer_cell(id)].source = with_marker(id, source)
    for number, (behind, source) in enumerate(example.own, 1):
        if behind and behind not in cells:
            raise ValueError(f"{example.student}: no cell {behind!r} in {name}")
        at = 1 + next((index for index, cell in enumerate(book.cells) if cell.id == behind), -1)
        book.cells.insert(at, nbformat.v4.new_code_cell(source, id=f"mine-{number}"))
    return book


def content(example: Example) -> bytes:
    """The submitted file."""
    text = nbformat.writes(notebook(example), version=nbformat.NO_CONVERT) + "\n"
    return ALTER[example.alter](text.encode()) if example.alter else text.encode()


def colab(content: bytes) -> bytes:
    """What a save in Colab does: other ids, nbgrader's locks lost, metadata and outputs of its own, a cell doubled."""
    book = json.loads(content)
    book["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    book["nbformat_minor"] = 0
    for number, cell in enumerate(book["cells"]):
        cell["id"] = f"AbC{number:04}xYz"
        cell["metadata"] = {"id": cell["id"]}
        if cell["cell_type"] == "code":
            cell["metadata"]["outputId"] = f"0f{number:06x}-1c1b-4d6a"
            cell["metadata"]["executionInfo"] = {"status": "ok", "elapsed": 12}
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["ran in Colab\n"]}]
            cell["execution_count"] = number
    marked = next(i for i, cell in enumerate(book["cells"]) if marked_exercises("".join(cell["source"])))
    twin = json.loads(json.dumps(book["cells"][marked]))
    book["cells"].insert(marked + 1, {**twin, "metadata": {"id": "doubled"}, "id": "doubled"})
    return (json.dumps(book, indent=2) + "\n").encode()


def truncated(content: bytes) -> bytes:
    """A download that broke off."""
    return content[: len(content) // 3]


ALTER: dict[str, Callable[[bytes], bytes]] = {"colab": colab, "truncated": truncated}


def main() -> None:
    """Write every example, and remove what no script makes."""
    folder, wanted = ROOT / "examples" / "submitted", set()
    for example in classes():
        wanted.add(example.path)
        made = content(example)
        if not example.path.is_file() or example.path.read_bytes() != made:
            example.path.parent.mkdir(parents=True, exist_ok=True)
            example.path.write_bytes(made)
    for path in set(folder.glob("*/*/*.ipynb")) - wanted:
        shutil.rmtree(path.parent)
    print(f"{folder.relative_to(ROOT)} has {len(wanted)} submissions")


if __name__ == "__main__":
    main()
