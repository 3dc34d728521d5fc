"""`grader build --watch` builds after each change of a lesson, and prints the cells that changed as students see them."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from grader.commands import watch as watching
from grader.commands.console import Terminal
from grader.submission.cells import TOOLS_CELL, answer_cell, check_cell


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("solutions", "notebooks/1-a", "lessons/lesson_1"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "solutions" / "1-a.py").write_text("a")
    (tmp_path / "lessons" / "lesson_1" / "__init__.py").write_text("a")
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))
    return tmp_path


def write_notebook(course: Path, **sources: str) -> None:
    cells = [nbformat.v4.new_code_cell(source, id=id) for id, source in sources.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), course / "notebooks" / "1-a" / "1-a.ipynb")


@pytest.mark.parametrize("change", ["written", "added", "removed"])
@pytest.mark.parametrize("path", ["solutions/1-a.py", "lessons/lesson_1/__init__.py"])
def test_each_change_is_noticed_once(course: Path, monkeypatch: pytest.MonkeyPatch, path: str, change: str) -> None:
    file, pauses = course / path, itertools.count(1)

    def pause(_: float) -> None:
        number = next(pauses)
        if number == 3 and change == "written":
            os.utime(file, ns=(1, 1))
        elif number == 3:
            file.unlink() if change == "removed" else file.with_name("more.py").write_text("")
        elif number == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(watching.time, "sleep", pause)
    changes = watching.changes(course)
    next(changes)
    assert next(pauses) == 1  # at once
    next(changes)
    with pytest.raises(KeyboardInterrupt):
        next(changes)


def test_the_cells_that_changed_are_shown_without_what_is_generated(
    course: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer, check = answer_cell("1.1"), check_cell("1.1")
    write_notebook(course, **{"text-01": "same", answer: "old", check: "old check", TOOLS_CELL: "old tools"})

    def build(command: list[str], **_: object) -> None:
        assert command[-3:] == ["-m", "grader", "build"]
        write_notebook(course, **{"text-01": "same", answer: "a [new] stub", check: "new", TOOLS_CELL: "new tools"})

    monkeypatch.setattr(watching.subprocess, "run", build)
    monkeypatch.setattr(watching, "changes", lambda root: iter([None]))
    with (tmp_path / "said").open("w") as said:
        watching.watch(course, Terminal(out=Console(file=said, width=80), err=Console(file=said, width=80)))
    text = (tmp_path / "said").read_text()
    assert "1-a, cell exercise-1-1" in text
    assert "a [new] stub" in text
    assert not any(word in text for word in ("same", "check", "tools"))
    assert "waiting for a change" in text
