"""A control group that systemd delegates. The files are a folder here: a real delegation needs a user's systemd."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.sandbox.cgroup import OWN_PROCESSES, prepare_delegated


@pytest.fixture
def scope(tmp_path: Path) -> Path:
    """The folder of a group with two processes, as it looks after `systemd-run --user --scope`."""
    folder = tmp_path / "run-7.scope"
    folder.mkdir()
    (folder / "cgroup.controllers").write_text("cpu io memory pids\n")
    (folder / "cgroup.subtree_control").write_text("\n")
    (folder / "cgroup.procs").write_text("4711\n4712\n")
    return folder


def test_a_delegated_group_is_made_ready(scope: Path) -> None:
    try:
        os.setxattr(scope, "user.delegate", b"1")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    assert prepare_delegated(scope) == scope
    assert (scope / OWN_PROCESSES / "cgroup.procs").read_text() == "4712"  # a file keeps the last line alone
    assert (scope / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"


def test_a_group_that_nobody_delegated_stays_as_it_is(scope: Path) -> None:
    assert prepare_delegated(scope) == scope
    assert not (scope / OWN_PROCESSES).exists()
    assert (scope / "cgroup.subtree_control").read_text() == "\n"


def test_a_process_that_has_moved_uses_the_group_above(scope: Path) -> None:
    assert prepare_delegated(scope / OWN_PROCESSES) == scope
