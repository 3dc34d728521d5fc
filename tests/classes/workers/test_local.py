"""Jobs in processes of this machine, which share one fork server."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import active_children

import psutil
import pytest

from grader.classes.workers import local, worker
from grader.classes.workers.local import local_workers
from grader.records import Limits, Status
from grader.sandbox.process import ServerProcess
from grader.sandbox.tiers import resolve_tier

TIER = resolve_tier("auto")


def run_a_cell() -> tuple[int, Status]:
    """What a worker does with its server: the worker, and how it went. Slow enough that both workers get one."""
    time.sleep(0.5)
    python = local._servers[threading.get_ident()].spawn(Limits(), seed=0)
    try:
        return os.getpid(), python.run_cell("1 + 1", seconds=30).status
    finally:
        python.kill()


def fork_servers() -> set[int]:
    """Of all processes below this one."""
    found = set()
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if any(part.endswith("guest/boot.py") for part in one.cmdline()):
                found.add(one.pid)
    return found


def test_workers_share_a_fork_server_and_replace_one_that_dies() -> None:
    before = fork_servers()
    with local_workers(2, TIER, "cpu", worker.run) as workers, workers.start() as pool:
        done = [one.result() for one in [pool.submit(run_a_cell) for _ in range(4)]]
        assert len({pid for pid, _ in done}) == 2
        assert {status for _, status in done} == {Status.OK}
        shared = fork_servers() - before
        assert len({psutil.Process(pid).ppid() for pid in shared} - shared) == 1
        for pid in shared:
            os.kill(pid, signal.SIGKILL)
        done = [one.result() for one in [pool.submit(run_a_cell) for _ in range(4)]]
        assert {status for _, status in done} == {Status.OK}
    assert not fork_servers() - before


@pytest.mark.slow(
    held_by="tests/classes/workers/test_local.py::test_workers_share_a_fork_server_and_replace_one_that_dies"
)
def test_where_the_shared_fork_server_never_gets_ready_each_worker_starts_its_own() -> None:
    before = fork_servers()
    with local_workers(2, TIER, "cpu", worker.run) as workers:
        workers.warm_up()
        for pid in fork_servers() - before:
            os.kill(pid, signal.SIGKILL)
        with workers.start() as pool:
            done = [one.result() for one in [pool.submit(run_a_cell) for _ in range(4)]]
    assert {status for _, status in done} == {Status.OK}
    assert not fork_servers() - before


@pytest.mark.fast_cases("True")
@pytest.mark.parametrize("used", [True, False])
def test_what_was_warmed_up_is_ended_with_the_class(used: bool) -> None:
    before = fork_servers()
    with local_workers(2, TIER, "cpu", worker.run) as workers:
        workers.warm_up()
        workers.warm_up()
        if used:
            with workers.start() as pool:
                assert pool.submit(int).result() == 0
    assert not fork_servers() - before
    deadline = time.monotonic() + 120
    while active_children() and time.monotonic() < deadline:  # they were told to end
        time.sleep(0.05)
    assert not active_children()


def test_a_stop_while_workers_start_leaves_none_that_python_would_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python waits for them as it ends, and they would wait for jobs: the command would never end."""
    launch, started = ProcessPoolExecutor._launch_processes, []

    def stopped(pool: ProcessPoolExecutor) -> None:
        launch(pool)
        started.extend(psutil.Process(worker.pid) for worker in active_children())
        raise KeyboardInterrupt

    monkeypatch.setattr(ProcessPoolExecutor, "_launch_processes", stopped)
    before = fork_servers()
    server = ServerProcess(TIER, "cpu", wait=False)
    with pytest.raises(KeyboardInterrupt), local_workers(2, TIER, "cpu", worker.run, server) as workers:
        workers.warm_up()
    assert len(started) == 2
    _, waiting = psutil.wait_procs(started, 120)
    for process in waiting:
        process.kill()
    assert not waiting
    assert not fork_servers() - before


@pytest.mark.fast_cases("2")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fork_server_that_was_started_before_is_used_and_closed(jobs: int) -> None:
    before = fork_servers()
    server = ServerProcess(TIER, "cpu", wait=False)
    with local_workers(jobs, TIER, "cpu", worker.run, server) as workers:
        pool = workers.start()
        assert pool.submit(run_a_cell).result()[1] is Status.OK
        assert server.alive()
        outermost = {pid for pid in fork_servers() - before if psutil.Process(pid).ppid() == os.getpid()}
        assert outermost == {server.pid}
        pool.shutdown()
    assert not fork_servers() - before


def test_workers_with_a_head_start_are_forks_of_this_process() -> None:
    """What is imported here they need not import: that takes three seconds."""
    with local_workers(2, TIER, "cpu", worker.run, ServerProcess(TIER, "cpu", wait=False)) as workers:
        workers.warm_up()
        first = workers.start()
        pid = first.submit(os.getpid).result()
        assert psutil.Process(pid).cmdline() == psutil.Process().cmdline()
        first.shutdown()
        second = workers.start()  # by now this process has threads
        pid = second.submit(os.getpid).result()
        assert psutil.Process(pid).ppid() != os.getpid()
        second.shutdown()


@pytest.mark.slow(
    held_by="tests/classes/workers/test_local.py::test_workers_share_a_fork_server_and_replace_one_that_dies"
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_where_it_never_got_ready_another_is_started(jobs: int) -> None:
    before = fork_servers()
    server = ServerProcess(TIER, "cpu", wait=False)
    os.kill(server.pid, signal.SIGKILL)
    with local_workers(jobs, TIER, "cpu", worker.run, server) as workers:
        pool = workers.start()
        assert pool.submit(run_a_cell).result()[1] is Status.OK
        pool.shutdown()
    assert not fork_servers() - before


def test_one_of_another_tier_is_closed_and_not_used() -> None:
    server = ServerProcess("none", "cpu", wait=False)
    with local_workers(2, TIER, "cpu", worker.run, server):
        assert not server.alive()
