"""The whole notebooks of the corpus: enough of them, and read as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.in_kernel import RIGHT, self_checks
from corpus.notebooks import notebook_of, whole_notebooks
from grader.course import lessons

ALL = [case for assignment in lessons() for case in whole_notebooks(assignment)]


def test_there_are_enough() -> None:
    assert sum(not case.wrong for case in ALL) >= 100
    assert sum(bool(case.wrong) for case in ALL) >= 25
    names = [(case.assignment, case.name) for case in ALL]
    assert len(set(names)) == len(names)


def test_operations_are_applied_in_order(tmp_path: Path) -> None:
    text = (
        "# %% [wrong 1.3] small | a habit\n# %% after start\na = 1\n# %% after start\n\nb = 2\n\n"
        "# %% before start\nc = 3\n# %% in exercise-1-1\nd = 4\n# %% delete check-1-1\n"
    )
    (tmp_path / "1-attention-x.txt").write_text(text, "utf-8")
    [case] = whole_notebooks("1-attention", tmp_path)
    assert (case.name, case.habit, case.wrong) == ("small", "a habit", "1.3")
    sources = [cell.source for cell in notebook_of(case).cells]
    start = next(index for index, source in enumerate(sources) if "import torch" in source)
    assert (sources[start - 1], sources[start + 1 : start + 3]) == ("c = 3", ["a = 1", "b = 2"])
    assert "d = 4" in sources
    assert not any(source.startswith('check("1.1")') for source in sources)


def test_an_unknown_cell_is_named(tmp_path: Path) -> None:
    (tmp_path / "1-attention.txt").write_text("# %% [right] small | x\n# %% after nowhere\n1\n", "utf-8")
    with pytest.raises(ValueError, match="small: no cell nowhere"):
        notebook_of(whole_notebooks("1-attention", tmp_path)[0])


IN_KERNEL = ("largest_as_in_the_hint", "star_import", "switched_comparison", "one_import_line", "class_extended_below")


@pytest.mark.fast_cases("star_import")
@pytest.mark.parametrize("name", IN_KERNEL)
def test_the_self_checks_accept_what_the_grade_accepts(name: str) -> None:
    [case] = [case for case in whole_notebooks("1-attention") if case.name == name]
    assert {id: text[:200] for id, text in self_checks(case).items() if not text.startswith(RIGHT)} == {}
