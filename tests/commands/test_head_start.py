"""What grades starts the fork server first, and imports torch meanwhile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.commands import head_start as module
from grader.commands.head_start import head_start
from grader.sandbox.errors import IsolationError
from grader.sandbox.visible_gpu import VisibleGpu


@pytest.mark.parametrize("name", ["grader.cli", "grader.commands.head_start", "papermill"])
def test_it_does_not_wait_for_torch(name: str) -> None:
    """papermill loads our engine with all others."""
    told = f"import sys, {name}; print([one for one in ('torch', 'nbgrader') if one in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]", ran.stdout + ran.stderr


def test_a_command_ends_without_a_last_look_for_garbage() -> None:
    told = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count())); "
        "sys.argv = ['grader', 'doctor', '--help']; from grader.cli import main; main()"
    )
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert int(ran.stdout.splitlines()[-1]) > 10_000


def test_a_class_that_was_never_graded_gets_one(tmp_path: Path) -> None:
    with head_start(tmp_path, "cpu", "auto", gradebook=None, force=False) as server:
        assert server is not None
        assert server.alive()
        assert server.device == "cpu"
    assert not server.alive()


@pytest.mark.parametrize(
    ("device", "graded", "force", "nodes", "wanted"),
    [
        ("cpu", True, False, (), False),  # all may be known: then nothing is started
        ("cpu", True, True, (), True),
        ("auto", False, False, (), True),
        ("auto", False, False, ("/dev/nvidia0",), False),  # only torch knows
        ("cuda", False, False, (), False),
    ],
)
def test_it_is_started_where_it_is_needed_for_sure(
    device: str, graded: bool, force: bool, nodes: tuple, wanted: bool, tmp_path: Path, monkeypatch
) -> None:
    started: list[str] = []

    class Started:
        def __init__(self, tier: str, *, wait: bool) -> None:
            assert not wait
            started.append(tier)

        def close(self) -> None:
            pass

    monkeypatch.setattr(module, "ServerProcess", Started)
    visible = VisibleGpu(devices=nodes, libraries=(), environment={})
    monkeypatch.setattr(module, "visible_gpu", lambda: visible)
    if graded:
        (tmp_path / "gradebook.db").touch()
    with head_start(tmp_path, device, "auto", gradebook=None, force=force) as server:
        assert (server is not None) is wanted
    assert bool(started) is wanted


def test_what_cannot_be_started_is_told_later(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise IsolationError("not here")

    monkeypatch.setattr(module, "likely_tier", refuse)
    with head_start(tmp_path, "cpu", "auto", gradebook=None, force=False) as server:
        assert server is None
