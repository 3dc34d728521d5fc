"""The folders of the lower tiers: a killed grader's is removed at the next start, a living one's is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grader.sandbox import reservations

LIVE = """
import sys, time
from grader.sandbox.reservations import Scratch
made = Scratch()
open(f"{made.home}/left", "w").close()
print(made.home, flush=True)
time.sleep(60)
"""


def test_what_a_killed_grader_left_goes_and_what_a_living_one_has_stays(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reservations.tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"{reservations.SCRATCH_PREFIX}file").touch()
    graders = []
    for _ in range(2):
        command = [sys.executable, "-c", f"import tempfile\ntempfile.tempdir = {str(tmp_path)!r}\n{LIVE}"]
        graders.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    homes = [Path(grader.stdout.readline().strip()) for grader in graders if grader.stdout]
    try:
        graders[0].kill()
        graders[0].wait()
        assert (homes[0] / "left").exists()
        reservations.remove_stale()
        assert not homes[0].parent.exists()
        assert (homes[1] / "left").exists()
    finally:
        for grader in graders:
            grader.kill()
            grader.communicate()


def test_an_own_one_goes_with_its_server(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reservations.tempfile, "tempdir", str(tmp_path))
    made = reservations.Scratch()
    reservations.remove_stale()
    assert Path(made.home).is_dir()
    made.remove()
    made.remove()
    assert not list(tmp_path.iterdir())
