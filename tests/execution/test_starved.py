"""A time-out of something that this machine had little time for is told from one of its own making."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.execution.engine import RunPlan, execute
from grader.records import Limits, Status

BUSY = "import math\nfor n in range(10 ** 12): math.sqrt(n)"


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


def test_a_cell_that_no_core_was_free_for_was_starved(crowded_core, spawn):
    python = spawn()
    assert python.run_cell(BUSY, seconds=2).status is Status.TIMEOUT
    assert python.starved


def test_a_cell_that_sleeps_was_not(crowded_core, spawn):
    python = spawn()
    assert python.run_cell("import time\ntime.sleep(30)", seconds=1).status is Status.TIMEOUT
    assert not python.starved


@pytest.mark.slow(
    held_by="tests/execution/test_starved.py::test_a_cell_that_no_core_was_free_for_was_starved"
)
def test_a_submission_whose_time_was_used_up_by_waiting_was_starved(crowded_core, spawn):
    python = spawn(seconds=3)
    python.run_cell(BUSY, seconds=60)
    assert python.run_cell("1", seconds=1).status is Status.TIMEOUT
    assert python.starved


@pytest.mark.slow(
    held_by="tests/execution/test_starved.py::test_a_cell_that_no_core_was_free_for_was_starved"
)
def test_the_run_says_so(crowded_core, server):
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": BUSY,
        "outputs": [],
        "execution_count": None,
    }
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    assert execute(server, RunPlan(notebook=notebook, limits=Limits(cell_seconds=2))).starved
