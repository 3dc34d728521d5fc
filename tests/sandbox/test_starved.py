"""A time-out of something that this machine had little time for is told from one of its own making."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from grader.records import Limits, Status
from grader.sandbox.engine import RunPlan, session


@pytest.fixture
def one_core() -> Iterator[None]:
    """Put this process, and the sandboxes that it makes, on one core."""
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not say how long a process waits")
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


@pytest.fixture
def crowded_core(one_core: None) -> Iterator[None]:
    """Let eight others that never stop run on that core."""
    crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    yield
    for one in crowd:
        one.kill()
        one.wait()


WORKS = """
import time
end = time.thread_time() + {}
while time.thread_time() < end:
    pass
"""


def test_the_time_in_which_no_core_was_free_does_not_count(crowded_core, spawn):
    python = spawn(seconds=4)
    result = python.run_cell(WORKS.format(2), seconds=3)
    assert result.status is Status.OK
    assert result.seconds > 3
    assert python.waited > min(1, (result.seconds - 2) / 2)  # of the seconds beyond the 2 in which it had the core
    assert not python.starved
    assert python.run_cell(WORKS.format(9), seconds=60).status is Status.TIMEOUT  # more than the submission's 4 s
    assert not python.starved


def test_a_cell_that_sleeps_has_the_time_of_the_clock(crowded_core, spawn):
    python = spawn()
    result = python.run_cell("import time\ntime.sleep(30)", seconds=1)
    assert result.status is Status.TIMEOUT
    assert result.seconds < 15
    assert not python.starved


class CpuTime(threading.Thread):
    """Looks how many CPU seconds a process and its descendants have used, until these end."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.seconds = pid, 0.0

    def run(self) -> None:
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self.pid)
            while first.is_running():
                used = [sum(one.cpu_times()[:2]) for one in (first, *first.children(recursive=True))]
                self.seconds = max(self.seconds, sum(used))
                time.sleep(0.1)


def test_a_cell_that_crowds_its_own_core_gains_no_time(one_core, spawn):
    crowd = "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        while True: pass\n"
    python = spawn()
    used = CpuTime(python.pid)
    used.start()
    result = python.run_cell(crowd + WORKS.format(30), seconds=2)
    python.kill()
    used.join(60)
    assert result.status is Status.TIMEOUT
    # All together have 2 s of the core, however busy it is: 18 s if what they took from one another did not count.
    assert 1 < used.seconds < 8
    assert not python.starved


def test_what_the_clock_stopped_before_it_had_its_time_was_starved(server, monkeypatch):
    monkeypatch.setattr("grader.sandbox.connection.LONGEST", 0.1)
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": WORKS.format(60),
        "outputs": [],
        "execution_count": None,
    }
    second = {**cell, "id": "b", "source": "1"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell, second]}
    with session(server, RunPlan(notebook=notebook, limits=Limits(cell_seconds=60, seconds=3))) as ran:
        assert ran.execution.starved
    assert ran.execution.cells["b"].status is Status.TIMEOUT
