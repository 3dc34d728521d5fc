"""Where jobs run: in this process, in processes of this machine, or on a Dask cluster; all behind one interface."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import active_children, connection, get_context, parent_process
from multiprocessing.context import BaseContext
from typing import Any

from grader.execution.errors import IsolationError
from grader.execution.process import ServerProcess
from grader.workers import servers
from grader.workers.workers import Workers

WORKER_BYTES = 3 << 30  # what one job may take at most times: a fork server, a submission and its judge


def default_jobs(submissions: int) -> int:
    """One per core, as far as memory and work reach."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, memory // WORKER_BYTES, submissions))


@contextmanager
def local_workers(
    jobs: int, tier: str, device: str, grade: Callable[..., Any], server: ServerProcess | None = None
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
        yield Workers(start=start, grade=grade, ahead=lambda: 1 if jobs == 1 else 2 * jobs, warm_up=warm_up)
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
        servers.close_servers()
        if self._server is not None:
            self._server.close()


def _share(server: ServerProcess) -> None:

    with suppress(IsolationError):  # then the job starts one of its own, and says why it cannot
        server.wait()
        servers.share(server.shared(), server.tier, server.device)


def _apart() -> BaseContext:
    """Worker processes are forks of another one: this one has threads by now, or has used torch's."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["grader.workers.worker"])
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

    _watch_parent()
    servers.share(control, tier, device)
    gc.freeze()  # what is imported by now stays: nobody need look through it for garbage


def _watch_parent() -> None:
    """A worker ends with its coordinator, even where that is killed: its sandboxes then end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator sees it, and ends the workers

    def watch() -> None:
        connection.wait([parent_process().sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
