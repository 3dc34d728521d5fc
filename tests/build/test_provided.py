import pytest

from grader.build.provided import extract, inline

SOURCE = '''"""A module."""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePath

from attention.digits import digits

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
        inline("attention.digits:nothing_here")
    with pytest.raises(ValueError, match="no_such"):
        inline("attention.no_such")


def test_an_inlined_module_runs_alone_and_does_the_same() -> None:
    import torch
    from attention.digits import draw_scenes

    names: dict = {}
    exec(compile(inline("attention.digits"), "cell", "exec"), names)
    ours = draw_scenes(3, torch.Generator().manual_seed(5))
    theirs = names["draw_scenes"](3, torch.Generator().manual_seed(5))
    assert torch.equal(ours.patches, theirs.patches)
    assert torch.equal(ours.labels, theirs.labels)
