import re
import sys
from pathlib import Path

import pytest

from grader.build.provided import extract, inline
from grader.build.scripts import without_directives
from grader.submission.code.source import parsed

ROOT = Path(__file__).resolve().parents[2]

SOURCE = '''"""A module."""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePath

from attention.data.digits import digits

LIMIT = 3
_HIDDEN = LIMIT + 1


def area(r):
    """πr²"""
    # a comment that stays
    return math.pi * r**2


@property
def uses(x) -> Path:
    return area(_HIDDEN)


class Unused:
    pass
'''


def test_the_whole_module_comes_without_imports_of_this_project() -> None:
    text = extract(SOURCE)
    assert "attention" not in text
    assert "import math" in text
    assert "import os" not in text  # nothing uses it
    assert "# a comment that stays" in text
    assert "class Unused" in text
    compile(text, "cell", "exec")


def test_some_names_come_with_what_they_use_and_nothing_else() -> None:
    text = extract(SOURCE, ("uses",))
    assert "LIMIT = 3\n_HIDDEN = LIMIT + 1" in text
    assert "@property\ndef uses" in text
    assert "def area" in text
    assert "from pathlib import Path\n" in text
    assert "PurePath" not in text
    assert "Unused" not in text
    assert text.startswith("from __future__ import annotations\n")


def test_an_unknown_name_or_module_is_named() -> None:
    with pytest.raises(ValueError, match="does not define nothing_here"):
        inline("attention.data.digits:nothing_here")
    with pytest.raises(ValueError, match="no_such"):
        inline("attention.no_such")


def test_an_inlined_module_runs_alone_and_does_the_same() -> None:
    import torch
    from attention.data.digits import draw_scenes

    names: dict = {}
    exec(compile(inline("attention.data.digits"), "cell", "exec"), names)
    ours = draw_scenes(3, torch.Generator().manual_seed(5))
    theirs = names["draw_scenes"](3, torch.Generator().manual_seed(5))
    assert torch.equal(ours.patches, theirs.patches)
    assert torch.equal(ours.labels, theirs.labels)


@pytest.mark.parametrize("text", ["plain\n<b>\\n</b>\n", "it holds ''' quotes", "it ends in a quote '", "and in \\"])
def test_a_text_that_is_read_from_a_file_stands_in_the_cell(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts.txt").write_text(text)
    source = (
        'from pathlib import Path\n\nA = 1\nTEXT = (\n    Path(__file__).with_name("texts.txt").read_text()\n)\nB = 2\n'
    )
    (tmp_path / "reads_a_text.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "reads_a_text", raising=False)
    cell = inline("reads_a_text:A TEXT B")
    names: dict = {}
    exec(compile(cell, "cell", "exec"), names)
    assert (names["TEXT"], names["A"], names["B"]) == (text, 1, 2)
    assert "Path" not in cell


def test_the_explorers_page_reaches_the_notebook_as_it_is() -> None:
    from attention.plots.explorer_page import PAGE

    names: dict = {}
    exec(compile(without_directives(inline("attention.plots.explorer_page:PAGE")), "cell", "exec"), names)
    assert names["PAGE"] == PAGE


@pytest.mark.parametrize("script", sorted((ROOT / "solutions").glob("*.py")), ids=lambda script: script.stem)
def test_no_provided_cell_rebinds_a_name_of_another(script: Path) -> None:
    owners: dict[str, str] = {}
    for what in re.findall(r'provided="([^"]+)"', script.read_text("utf-8")):
        cell = inline(what)
        for name in (parsed(cell).bound or frozenset()) - {name for name, _ in parsed(cell).imports}:
            assert owners.setdefault(name, what) == what, f"{what} and {owners[name]} both define {name}"
    assert len(owners) > 20
