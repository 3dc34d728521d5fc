"""Start the fork server before this process imports torch, so that both import it at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.execution.errors import IsolationError
from grader.execution.process import ServerProcess
from grader.execution.tiers import resolve_tier
from grader.execution.visible_gpu import visible_gpu
from grader.paths import cache_path
from grader.results.cache import GradeCache


@contextmanager
def head_start(root: Path, device: str, isolation: str, *, force: bool) -> Iterator[ServerProcess | None]:
    """Start a fork server for the CPU, yield it before it is ready, and close it at the end.

    Yield None if notebooks will run on a GPU, or if the server may not be needed because grades are cached
    and `force` is off. Yield None after an error, too: the workers start a server of their own, meet the same
    error, and report it.
    """
    on_cpu = device == "cpu" or (device == "auto" and not visible_gpu().devices)
    if not on_cpu or not (force or GradeCache(cache_path(root)).empty()):
        yield None
        return
    try:
        server = ServerProcess(resolve_tier(isolation), wait=False)
    except (IsolationError, OSError):
        yield None
        return
    try:
        yield server
    finally:
        server.close()
