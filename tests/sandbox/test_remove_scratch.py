"""The scratch of the lower tiers is removed, whatever a submission left there."""

from __future__ import annotations

import os
import time
from pathlib import Path

from guest.meter import remove_scratch


def test_a_deep_tree_is_removed(tmp_path: Path) -> None:
    """Too deep for a recursion, and with paths too long for the kernel."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / ".lifted-0").mkdir()
    (scratch / ".lifted-0" / "file").write_text("x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("x")
    (scratch / "link").symlink_to(tmp_path / "outside")
    here = os.getcwd()
    os.chdir(scratch)
    try:
        for _ in range(1_200):
            os.mkdir("nested")
            os.chdir("nested")
            open("file", "w").close()
    finally:
        os.chdir(here)
    remove_scratch(str(scratch), time.monotonic() + 60)
    assert not scratch.exists()
    assert (tmp_path / "outside" / "kept").exists()
