"""Runs jobs in this process, or in worker processes of this machine that share one fork server.

A fork server is a process that starts a sandbox for each submission. Each thread that grades has a
fork server, which it starts on first use, or which it shares with other processes.
"""

import atexit
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

from grader.classes.workers.job import Workers
from grader.records import Limits
from grader.sandbox.errors import IsolationError
from grader.sandbox.process import ServerProcess, SharedServer
from grader.sandbox.server import Server

# Thread id → the fork server that this thread uses. A Dask worker may grade in several threads.
_servers: dict[int, Server] = {}


def share_server(control: socket.socket, tier: str, device: str) -> None:
    """Let this thread use a fork server of another process. `control` is a socket for requests to it."""
    _servers[threading.get_ident()] = Server(isolation=tier, device=device, shared=SharedServer(control))


def use_server(server: ServerProcess) -> None:
    """Let this thread use a fork server that was started early. The first submission waits until it is ready."""
    _servers[threading.get_ident()] = Server(isolation=server.tier, device=server.device, shared=server)


def thread_server(tier: str, device: str) -> Server:
    """Return this thread's fork server. Start a new one if the thread has none with this tier and device."""
    import torch

    torch.set_num_threads(1)  # other jobs use the other cores
    thread = threading.get_ident()
    server = _servers.get(thread)
    if server is None or (server.isolation, server.device) != (tier, device):
        if server is not None:
            server.close()
        server = _servers[thread] = Server(isolation=tier, device=device)
    return server


@atexit.register
def close_servers() -> None:
    """End the fork servers that this process started, and close its connections to shared fork servers."""
    while _servers:
        _servers.popitem()[1].close()


# Memory of one job: what a submission may take, and what its worker and its share of the fork server take (0.4 GB).
WORKER_BYTES = Limits().memory_bytes + (1 << 30)


def default_jobs(submissions: int) -> int:
    """Return the number of jobs to run side by side.

    It is the number of cores, limited by the memory and the number of submissions, and at least 1.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, memory // WORKER_BYTES, submissions))


@contextmanager
def local_workers(
    jobs: int, tier: str, device: str, grade: Callable[..., Any], server: ServerProcess | None = None
) -> Iterator[Workers]:
    """Use this process if `jobs` is 1, otherwise worker processes that share one fork server.

    When the context ends, it ends workers that were started early and never used.

    Args:
        jobs: the number of jobs that run side by side.
        server: a fork server that is already started. The first executor uses it if it has this tier and
            device; otherwise it is closed at once. A caller that passes a server must not have started threads
            or used torch before: `warm_up` then forks this process, and the workers need no imports.
    """
    if server is not None and (server.tier, server.device) != (tier, device):
        server.close()
        server = None
    early_servers = [server] if server is not None else []
    early_pools: list[_Processes] = []

    def make_pool(context: BaseContext) -> _Processes:
        """Start the worker processes, with the early server if no pool uses it yet."""
        server = early_servers.pop() if early_servers else ServerProcess(tier, device, wait=False)
        return _Processes(jobs, server, context)

    def warm_up() -> None:
        """Start the worker processes early, so that their imports are finished when the first job starts."""
        if jobs > 1 and not early_pools:
            # Only on Linux is it safe to use, after a fork, the modules that were imported before it.
            can_fork = early_servers and sys.platform == "linux"
            early_pools.append(make_pool(get_context("fork") if can_fork else _forkserver_context()))

    def start() -> Executor:
        """Return an executor: this process, the pool that `warm_up` started, or a new pool."""
        if jobs == 1:
            return _InThisProcess(early_servers.pop() if early_servers else None)
        return early_pools.pop() if early_pools else make_pool(_forkserver_context())

    try:
        # Hand out two jobs for each worker and not the whole class: so memory does not grow with the class.
        yield Workers(start=start, grade=grade, ahead=lambda: 1 if jobs == 1 else 2 * jobs, warm_up=warm_up)
    except BaseException:
        # A stop may come while a pool starts its workers. Nobody can shut that pool down, and Python waits for its
        # workers as it ends, while they wait for jobs.
        _terminate_workers()
        raise
    finally:
        for pool in early_pools:
            pool.shutdown(wait=False)
        for unused in early_servers:
            unused.close()


class _InThisProcess(Executor):
    """Runs each job in this process, before `submit` returns. `shutdown` closes the fork servers."""

    def __init__(self, server: ServerProcess | None) -> None:
        self._server, self._ready = server, False

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        if self._server is not None and not self._ready:
            self._ready = True
            use_server(self._server)
        future: Future = Future()
        try:
            future.set_result(call(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        close_servers()
        if self._server is not None:
            self._server.close()


def _forkserver_context() -> BaseContext:
    """Return a context that forks the workers from a separate process, because this process runs threads."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["grader.classes.workers.worker"])
    return context


class _Processes(ProcessPoolExecutor):
    """Worker processes that share one fork server. `shutdown(wait=False)` kills them in the middle of their jobs."""

    def __init__(self, jobs: int, server: ServerProcess, context: BaseContext) -> None:
        self._server, self._ready = server, False
        self._control = self._server.control.dup()
        arguments = (self._control, server.tier, server.device)
        try:
            super().__init__(jobs, context, initializer=_begin_worker, initargs=arguments)
            for _ in range(jobs):
                super().submit(int)  # does nothing, but the pool starts a worker for it
        except BaseException:
            self._close_server()
            raise

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        if not self._ready:
            # If the server fails, each worker starts a server of its own, and reports why that one fails.
            with suppress(IsolationError):
                self._server.wait()
            self._ready = True
        return super().submit(call, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if not wait:
            _terminate_workers()
        super().shutdown(wait, cancel_futures=cancel_futures or not wait)
        self._close_server()

    def _close_server(self) -> None:
        self._control.close()
        self._server.close()


def _terminate_workers() -> None:
    """Kill all worker processes of this process, in the middle of their jobs."""
    for process in active_children():
        process.terminate()


def _begin_worker(control: socket.socket, tier: str, device: str) -> None:
    """Make a worker process end with the coordinator, and use the coordinator's fork server."""
    _watch_parent()
    share_server(control, tier, device)
    gc.freeze()  # the imported modules are never garbage: the collector need not look through them


def _watch_parent() -> None:
    """Make this worker and its sandboxes end when the coordinator ends, even if the coordinator is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles Ctrl-C, and ends the workers
    coordinator = parent_process()
    if coordinator is None:
        return  # the main process, which is no worker

    def watch() -> None:
        connection.wait([coordinator.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
