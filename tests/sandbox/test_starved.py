"""A time-out of something that this machine had little time for is told from one of its own making."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.records import Limits, Status
from grader.sandbox.engine import RunPlan, execute


@pytest.fixture
def crowded_core() -> Iterator[None]:
    """Put this process, and the sandboxes that it makes, on a core where eight others never stop."""
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not say how long a process waits")
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    yield
    for one in crowd:
        one.kill()
        one.wait()
    os.sched_setaffinity(0, allowed)


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
    assert python.waited > 1
    assert not python.starved
    assert python.run_cell(WORKS.format(9), seconds=60).status is Status.TIMEOUT  # more than the submission's 4 s
    assert not python.starved


def test_a_cell_that_sleeps_has_the_time_of_the_clock(crowded_core, spawn):
    python = spawn()
    result = python.run_cell("import time\ntime.sleep(30)", seconds=1)
    assert result.status is Status.TIMEOUT
    assert result.seconds < 15
    assert not python.starved


def test_a_cell_that_crowds_its_own_core_gains_no_time(spawn):
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not say how long a process waits")
    crowd = "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        while True: pass\n"
    python = spawn()
    result = python.run_cell(crowd + WORKS.format(30), seconds=2)
    assert result.status is Status.TIMEOUT
    assert result.seconds < 10  # it had a ninth of the core: 18 s, if what it took from itself did not count
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
    execution = execute(server, RunPlan(notebook=notebook, limits=Limits(cell_seconds=60, seconds=3)))
    assert execution.starved
    assert execution.cells["b"].status is Status.TIMEOUT
