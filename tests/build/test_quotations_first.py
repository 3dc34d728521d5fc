"""The build reads the quotations of solutions/requirements.toml before it computes the self-checks."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from grader.build import build as builder
from grader.build.errors import BuildError
from grader.build.promises import QUOTATIONS
from tests.import_graph import ROOT


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of which lesson 1 is to be built again; it fails if the self-checks are computed."""
    for folder in ("solutions", "notebooks", "docs", "assets"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)

    def tools_cells(*_: object) -> None:
        raise AssertionError("the self-checks are computed")

    monkeypatch.setattr(builder, "tools_cells", tools_cells)
    monkeypatch.setattr(builder, "outdated", lambda root: ["1-attention"])
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("command", [builder.build, builder.drift])
def test_a_wrong_quotation_is_reported_before_the_self_checks(course: Path, command) -> None:
    quoted = re.search(r'\["1\.1"\]\nvalues = \[\n    "(.+)"', (course / QUOTATIONS).read_text("utf-8"))
    assert quoted
    change(course / QUOTATIONS, quoted[1], "words that no task says")
    with pytest.raises(BuildError, match=r"1\.1, check 'values': neither task nor box says 'words that no task says'"):
        command(course)


def test_words_of_the_solution_do_not_count_as_the_task(course: Path) -> None:
    change(course / "solutions" / "1-attention.py", "### BEGIN SOLUTION\n", "### BEGIN SOLUTION\n    # a secret word\n")
    change(course / QUOTATIONS, '["1.1"]\nvalues = [\n', '["1.1"]\nvalues = [\n    "a secret word",\n')
    with pytest.raises(BuildError, match=r"1\.1, check 'values': neither task nor box says 'a secret word'"):
        builder.build(course)


def test_right_quotations_do_not_stop_the_build(course: Path) -> None:
    with pytest.raises(AssertionError, match="the self-checks are computed"):
        builder.build(course)
