"""timestamp.txt as nbgrader writes it, and the penalty that nbgrader's configuration gives."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.gradebook.config import course_id, late_penalty
from grader.gradebook.timestamp import submitted_at


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


def test_the_penalty_is_the_one_that_is_configured(tmp_path: Path):
    assert late_penalty(tmp_path)("s1", 12.5, 60.0) is None
    config = tmp_path / "nbgrader_config.py"
    config.write_text("c = get_config()\n")
    assert late_penalty(tmp_path)("s1", 12.5, 60.0) is None
    config.write_text("c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    assert late_penalty(tmp_path)("s1", 12.5, 60.0) == 12.5


def test_the_course_is_the_one_that_is_configured(tmp_path: Path):
    assert course_id(tmp_path) == "default_course"
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'attention'\n"
    )
    assert course_id(tmp_path) == "attention"
