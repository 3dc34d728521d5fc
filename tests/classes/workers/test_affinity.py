"""A core for each job."""

from __future__ import annotations

import os
import threading

import pytest

from grader.classes.workers import worker as affinity
from grader.classes.workers.worker import reserve_core

EVERY = os.sched_getaffinity(0)
pytestmark = pytest.mark.skipif(len(EVERY) < 2, reason="one core alone")


@pytest.fixture(autouse=True)
def names_of_our_own(monkeypatch) -> None:
    """Other tests run beside these, and grade."""
    real = affinity.socket.socket

    class Socket(real):
        def bind(self, name: str) -> None:
            super().bind(f"{name}-of-test-{os.getpid()}")

    monkeypatch.setattr(affinity.socket, "socket", Socket)


def test_jobs_side_by_side_get_different_cores() -> None:
    found: list[set[int]] = []
    both = threading.Barrier(2, timeout=120)

    def job() -> None:
        both.wait()
        with reserve_core():
            found.append(os.sched_getaffinity(0))
            both.wait()

    threads = [threading.Thread(target=job) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = found
    assert len(first) == len(second) == 1
    assert first.isdisjoint(second)


def test_a_core_is_given_back() -> None:
    for _ in range(2 * len(EVERY)):
        with reserve_core():
            assert len(os.sched_getaffinity(0)) == 1
        assert os.sched_getaffinity(0) == EVERY


def test_where_all_are_taken_a_job_runs_wherever_it_likes(monkeypatch) -> None:
    monkeypatch.setattr(affinity, "_reserve", lambda core: None)
    with reserve_core():
        assert os.sched_getaffinity(0) == EVERY


def test_second_hardware_threads_come_last(monkeypatch) -> None:
    siblings = {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3", 4: "4,6", 6: "4,6"}
    monkeypatch.setattr(affinity.Path, "is_file", lambda self: True)
    monkeypatch.setattr(affinity.Path, "read_text", lambda self: siblings[int(self.parts[5][3:])])
    affinity._rank.cache_clear()
    try:
        assert sorted(siblings, key=affinity._rank) == [0, 2, 4, 1, 3, 6]
    finally:
        affinity._rank.cache_clear()
