"""Many students hand in at the same time, to the real server: no upload is lost or doubled, and pages come soon meanwhile."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from tests.serve.load import measure

STUDENTS, SECONDS = 60, 5.0


@pytest.mark.slow(held_by="tests/serve/test_killed_server.py::test_killed_between_any_two_steps")
def test_a_class_hands_in_within_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    times = measure(tmp_path / "course", STUDENTS, SECONDS)
    assert len(times.acknowledged) == STUDENTS
    assert median(times.acknowledged) < 1.0  # on a machine of its own it is a small part of that
    assert median(times.pages) < 1.0
