"""timestamp.txt as nbgrader writes it, and as nobody should."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.classes.results.writer import submitted_at


def test_nbgraders_own_timestamp(tmp_path: Path):
    (tmp_path / "timestamp.txt").write_text("2026-03-05 11:07:02.000120 UTC\n")
    assert submitted_at(tmp_path / "a.ipynb") == datetime(2026, 3, 5, 11, 7, 2, 120, tzinfo=UTC)
    (tmp_path / "timestamp.txt").write_text("2026-03-05T13:07:00+02:00")
    assert submitted_at(tmp_path / "a.ipynb") == datetime(2026, 3, 5, 11, 7, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "9" * 5000, "99999-99-99", "\0", "\xff\xfe"])
def test_what_is_no_time_says_nothing(tmp_path: Path, text: str):
    (tmp_path / "timestamp.txt").write_bytes(text.encode("latin-1"))
    assert submitted_at(tmp_path / "a.ipynb") is None


def test_nothing_is_followed_and_nothing_waits(tmp_path: Path):
    assert submitted_at(tmp_path / "a.ipynb") is None
    (tmp_path / "elsewhere").write_text("2026-03-05 11:07 UTC")
    (tmp_path / "timestamp.txt").symlink_to("elsewhere")
    assert submitted_at(tmp_path / "a.ipynb") is None
    (tmp_path / "timestamp.txt").unlink()
    os.mkfifo(tmp_path / "timestamp.txt")
    assert submitted_at(tmp_path / "a.ipynb") is None
    (tmp_path / "timestamp.txt").unlink()
    (tmp_path / "timestamp.txt").mkdir()
    assert submitted_at(tmp_path / "a.ipynb") is None
