"""Ctrl-C and SIGTERM end a command with one line, at any moment, and leave no process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 120.0  # seconds, for what hangs alone: a busy machine takes long
ROOT = Path(__file__).resolve().parents[2]
# It takes a time-out of many seconds to grade: no machine is done with it before it is stopped.
EXAMPLE = "examples/submitted/endless-loop/1-attention/1-attention.ipynb"
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])

# A library that asks, as it is imported, for something that may be missing, and takes every error for that.
CATCHES_ALL = """
import time
try:
    print("importing", flush=True)
    time.sleep(0.5)
    part = "whole"
except BaseException:
    part = "swallowed"
"""
IMPORTS_IT = """
import sys, time
from grader.commands import stopping
stopping.install()
try:
    import catches_all
    time.sleep(60)
except KeyboardInterrupt as stop:
    print(catches_all.part)
    sys.exit(stopping.status_of(stop))
"""

# Python ignores what is raised in here; the logging module's own lock is released like this around each fork.
FORKS = """
import os, sys, time
from grader.commands import stopping
stopping.install()
def slow():
    print("forking", flush=True)
    time.sleep(0.5)
os.register_at_fork(before=slow)
try:
    if os.fork() == 0:
        os._exit(0)
    time.sleep(60)
except KeyboardInterrupt as stop:
    sys.exit(stopping.status_of(stop))
"""

# Some functions in C drop every exception, as this program does.
DROPS_IT = """
import sys, time
from grader.commands import stopping
stopping.install()
stopping.check()
try:
    print("working", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    pass
try:
    stopping.check()
except KeyboardInterrupt as stop:
    sys.exit(stopping.status_of(stop))
"""


def start(*command: str, folder: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """Start a program in a session of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "GRADER_SECRET": "test", **environment},
    )


def wait_until_stoppable(pid: int) -> None:
    """Wait until a command handles SIGTERM: before that a signal ends Python, as it ends any program."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.01)


def living(session: int) -> list[str]:
    """List the processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, fields = entry.read_text().rpartition(")")
        except OSError:  # it ended meanwhile
            continue
        state, _, _, of = fields.split()[:4]
        if int(of) == session and state != "Z":
            found.append(name)
    return found


def left_over(session: int) -> list[str]:
    """Wait for a session's processes to end, and list those that never do: a sandbox ends just after its parent."""
    deadline = time.monotonic() + PATIENCE
    while (found := living(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


@BOTH
def test_a_stop_during_an_import_waits_until_nothing_can_swallow_it(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "catches_all.py").write_text(CATCHES_ALL)
    process = start("-c", IMPORTS_IT, PYTHONPATH=f"{tmp_path}:{ROOT}:{ROOT / 'source'}")
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("whole\n", "", 128 + number)


@BOTH
@pytest.mark.parametrize(("program", "line"), [(FORKS, "forking\n"), (DROPS_IT, "working\n")])
def test_a_stop_that_is_ignored_or_dropped_comes_again(program: str, line: str, number: signal.Signals) -> None:
    process = start("-c", program)
    assert process.stdout is not None
    assert process.stdout.readline() == line
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("", "", 128 + number)


@pytest.mark.fast_cases("1.0")
@pytest.mark.parametrize("after", [0.0, 1.0, 4.0])
def test_ctrl_c_ends_a_check_with_one_line(after: float) -> None:
    process = start("-m", "grader", "check", EXAMPLE)
    wait_until_stoppable(process.pid)
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("", "grader: stopped.\n", 130)
    assert left_over(process.pid) == []


@pytest.mark.fast_cases("4.0-15")  # Ctrl-C ends the check above
@BOTH
@pytest.mark.parametrize("after", [1.0, 4.0])
def test_a_class_that_is_stopped_says_that_in_one_line(number: signal.Signals, after: float, tmp_path: Path) -> None:
    gradebook = f"sqlite:///{tmp_path / 'gradebook.db'}"
    arguments = ("grade", EXAMPLE, EXAMPLE.replace("endless-loop", "untouched"), "--gradebook", gradebook)
    process = start("-m", "grader", *arguments, "--html", str(tmp_path), "--jobs", "2", "--force")
    wait_until_stoppable(process.pid)
    time.sleep(after)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    lines = [line for line in err.splitlines() if "stopped" in line or "Error" in line]
    assert [line[: len("grader: stopped.")] for line in lines] == ["grader: stopped."], (process.returncode, err)
    assert process.returncode in (1, 128 + number)
    assert left_over(process.pid) == []
