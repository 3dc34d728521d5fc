"""Where jobs run: in this process, in processes of this machine, or on a Dask cluster; all behind one interface."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import active_children, connection, get_context, parent_process
from multiprocessing.context import BaseContext
from typing import Any

from grader.execution.isolation import IsolationError
from grader.execution.process import ServerProcess

WORKER_BYTES = 3 << 30  # what one job may take at most times: a fork server, a submission and its judge
PATIENCE = 10.0  # seconds until a scheduler that does not answer counts as unreachable
LOOK_AGAIN = 5.0  # seconds between two questions how many workers a cluster has


class NoCluster(Exception):
    """The cluster cannot be used; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Workers:
    """A place where jobs run."""

    start: Callable[[], Executor]  # once more where the executor broke
    ahead: Callable[[], int]  # how many jobs to hand out at a time
    warm_up: Callable[[], None] = lambda: None  # start now what will be needed, and do not wait for it
    device: str = ""  # a cluster's: what `auto` came to
    note: str = ""  # for the operator


def default_jobs(submissions: int) -> int:
    """One per core, as far as memory and work reach."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, memory // WORKER_BYTES, submissions))


@contextmanager
def local_workers(
    jobs: int, tier: str, device: str, server: ServerProcess | None = None
) -> Iterator[Workers]:
    """This process for one job at a time; else so many processes, with one fork server of this tier and device.

    Args:
        server: one that was started already, to be used first. It is closed with the workers that use it. Whoever
            gives one has done nothing else yet: workers that are warmed up are forks of this process, and import nothing.
    """
    if server is not None and (server.tier, server.device) != (tier, device):
        server.close()
        server = None
    given = [server] if server is not None else []
    warm: list[_Processes] = []

    def make(context: BaseContext) -> _Processes:
        server = given.pop() if given else ServerProcess(tier, device, wait=False)
        return _Processes(jobs, server, context)

    def warm_up() -> None:
        if jobs > 1 and not warm:
            young = given and sys.platform == "linux"  # elsewhere a fork may not use what was imported
            warm.append(make(get_context("fork") if young else _apart()))

    def start() -> Executor:
        if jobs == 1:
            return _Here(given.pop() if given else None)
        return warm.pop() if warm else make(_apart())

    try:
        # A few ahead of the workers, not the whole class: the coordinator's memory does not grow with it.
        yield Workers(start=start, ahead=lambda: 1 if jobs == 1 else 2 * jobs, warm_up=warm_up)
    finally:
        for unused in warm:
            unused.shutdown(wait=False)
        for left in given:
            left.close()


class _Here(Executor):
    """Runs a job where it is handed in."""

    def __init__(self, server: ServerProcess | None) -> None:
        self._server, self._ready = server, False

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        if self._server is not None and not self._ready:
            self._ready = True
            _share(self._server)
        future: Future = Future()
        try:
            future.set_result(call(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        from grader import job

        job.close_servers()
        if self._server is not None:
            self._server.close()


def _share(server: ServerProcess) -> None:
    from grader import job

    with suppress(IsolationError):  # then the job starts one of its own, and says why it cannot
        server.wait()
        job.share(server.shared(), server.tier, server.device)


def _apart() -> BaseContext:
    """Worker processes are forks of another one: this one has threads by now, or has used torch's."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["grader.job"])
    return context


class _Processes(ProcessPoolExecutor):
    """Processes of this machine. What is not waited for is ended: a submission may take minutes."""

    def __init__(self, jobs: int, server: ServerProcess, context: BaseContext) -> None:
        self._server, self._ready = server, False
        self._control = self._server.shared()
        told = (self._control, server.tier, server.device)
        super().__init__(jobs, context, initializer=_begin, initargs=told)
        for _ in range(jobs):
            super().submit(int)  # starts one

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        if not self._ready:
            with suppress(IsolationError):  # then each worker tries to start its own, and says why it cannot
                self._server.wait()
            self._ready = True
        return super().submit(call, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if not wait:
            for process in active_children():
                process.terminate()
        super().shutdown(wait, cancel_futures=cancel_futures or not wait)
        self._control.close()
        self._server.close()


def _begin(control: socket.socket, tier: str, device: str) -> None:
    """What a worker does first."""
    from grader import job

    _watch_parent()
    job.share(control, tier, device)
    gc.freeze()  # what is imported by now stays: nobody need look through it for garbage


def _watch_parent() -> None:
    """A worker ends with its coordinator, even where that is killed: its sandboxes then end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator sees it, and ends the workers

    def watch() -> None:
        connection.wait([parent_process().sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def cluster_workers(address: str, device: str) -> Iterator[Workers]:
    """The workers of the Dask scheduler at this address.

    Args:
        device: where it is cuda, each job asks for the resource GPU; auto is cuda where a worker offers that.

    Raises:
        NoCluster: dask.distributed is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise NoCluster(
            "--scheduler needs dask.distributed. Run: pip install 'attention-course[cluster]'"
        ) from error
    import logging

    # It logs every attempt to connect, with tracebacks; what matters is said once, by us.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise NoCluster(
            f"no Dask scheduler answers at {address} ({_first_line(error)}). Start one with `dask scheduler`, "
            "and pass the address that it prints, as in tcp://10.0.0.1:8786"
        ) from error
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        graphics = sum("GPU" in worker["resources"] for worker in workers)
        if device == "auto":
            device = "cuda" if graphics else "cpu"
        wanted = {"resources": {"GPU": 1}} if device == "cuda" else {}
        able = graphics if wanted else len(workers)
        missing = (
            "with the resource GPU; start them with `dask worker --resources GPU=1`" if wanted else "yet"
        )
        yield Workers(
            start=lambda: client.get_executor(pure=False, **wanted),
            ahead=_Ahead(client),
            device=device,
            note=f"{address}: {able} workers"
            if able
            else f"{address} has no worker {missing}; waiting for one",
        )
    finally:
        with suppress(OSError, RuntimeError):
            client.close(timeout=2)


class _Ahead:
    """Two jobs for each thread of the cluster, which may grow and shrink meanwhile."""

    def __init__(self, client: Any) -> None:
        self._client, self._known, self._when = client, 2, -LOOK_AGAIN

    def __call__(self) -> int:
        if time.monotonic() - self._when >= LOOK_AGAIN:
            with suppress(OSError, RuntimeError, AttributeError):  # lost: the jobs that are out will say so
                self._known = 2 * max(1, sum(self._client.nthreads().values()))
            self._when = time.monotonic()
        return self._known


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
