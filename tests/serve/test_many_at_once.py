"""Many students hand in at the same time, to the real server: no upload is lost or doubled, and pages come meanwhile.

How soon they come depends on the machine: `python -m tests.serve.load` measures it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serve.load import measure

STUDENTS, SECONDS = 60, 5.0


@pytest.mark.slow(held_by="tests/serve/test_killed_server.py::test_killed_between_any_two_steps")
def test_a_whole_class_hands_in_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    times = measure(tmp_path / "course", STUDENTS, SECONDS)
    assert len(times.acknowledged) == STUDENTS
    assert times.while_grading  # pages came after the last upload: nobody had to wait for the grades of those before
