"""Run jobs in this process, or in worker processes of this machine that share one fork server."""

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

WORKER_BYTES = 3 << 30  # memory of one job in nearly all cases: a fork server, a submission and its judge


def default_jobs(submissions: int) -> int:
    """Return the number of jobs to run side by side: one per core, as far as memory and submissions allow."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, memory // WORKER_BYTES, submissions))


@contextmanager
def local_workers(
    jobs: int, tier: str, device: str, grade: Callable[..., Any], server: ServerProcess | None = None
) -> Iterator[Workers]:
    """Use this process for one job at a time, or start several worker processes; they share one fork server.

    Args:
        jobs: how many run side by side.
        server: a fork server that runs already. It is used first, if it has this tier and device, and closed at the
            end. A caller that passes one has not started threads or used torch yet: `warm_up` then forks this process,
            and the workers need not import anything.
    """
    if server is not None and (server.tier, server.device) != (tier, device):
        server.close()
        server = None
    early_servers = [server] if server is not None else []
    early_pools: list[_Processes] = []

    def make_pool(context: BaseContext) -> _Processes:
        server = early_servers.pop() if early_servers else ServerProcess(tier, device, wait=False)
        return _Processes(jobs, server, context)

    def warm_up() -> None:
        if jobs > 1 and not early_pools:
            # Only on Linux can a fork use the modules that were imported before it.
            can_fork = early_servers and sys.platform == "linux"
            early_pools.append(make_pool(get_context("fork") if can_fork else _forkserver_context()))

    def start() -> Executor:
        if jobs == 1:
            return _InThisProcess(early_servers.pop() if early_servers else None)
        return early_pools.pop() if early_pools else make_pool(_forkserver_context())

    try:
        # Two jobs for each worker, not the whole class: the coordinator's memory does not grow with the class.
        yield Workers(start=start, grade=grade, ahead=lambda: 1 if jobs == 1 else 2 * jobs, warm_up=warm_up)
    finally:
        for pool in early_pools:
            pool.shutdown(wait=False)
        for unused in early_servers:
            unused.close()


class _InThisProcess(Executor):
    """Runs each job in this process, before `submit` returns."""

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
    """Let this thread use a fork server once it is ready."""
    # Where it never gets ready, the job starts a server of its own, and reports why that fails.
    with suppress(IsolationError):
        server.wait()
        servers.share(server.shared(), server.tier, server.device)


def _forkserver_context() -> BaseContext:
    """Return the context whose workers are forks of another process: this one has threads by now, or used torch's."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["grader.workers.worker"])
    return context


class _Processes(ProcessPoolExecutor):
    """Worker processes with one fork server. `shutdown(wait=False)` ends them: a submission may take minutes."""

    def __init__(self, jobs: int, server: ServerProcess, context: BaseContext) -> None:
        self._server, self._ready = server, False
        self._control = self._server.shared()
        arguments = (self._control, server.tier, server.device)
        super().__init__(jobs, context, initializer=_begin_worker, initargs=arguments)
        for _ in range(jobs):
            super().submit(int)  # each call starts a worker

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        if not self._ready:
            # Where it never gets ready, each worker starts a server of its own, and reports why that fails.
            with suppress(IsolationError):
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


def _begin_worker(control: socket.socket, tier: str, device: str) -> None:
    """Prepare a worker process."""
    _watch_parent()
    servers.share(control, tier, device)
    gc.freeze()  # the imported modules stay: the collector need not look through them


def _watch_parent() -> None:
    """End this worker when the coordinator ends, even if it is killed; the worker's sandboxes end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles it, and ends the workers
    coordinator = parent_process()
    if coordinator is None:
        return  # this process is no worker

    def watch() -> None:
        connection.wait([coordinator.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
