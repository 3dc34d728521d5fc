"""One fork server for all commands that run in this process: each of its own takes seconds of CPU to start."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader.sandbox.process import ServerProcess
from grader.sandbox.server import Server
from grader.sandbox.tiers import resolve_tier

USERS = ("grader.commands.head_start", "grader.sandbox.server", "grader.classes.workers.local")
_running: dict[tuple[str, str], ServerProcess] = {}


class Lent:
    """A fork server that runs on when its user closes it."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    def wait(self) -> None:
        """It is ready."""

    def close(self) -> None:
        """It is closed when this process ends."""


def lend(tier: str, device: str = "cpu", *, trial: bool = False, wait: bool = True) -> ServerProcess | Lent:
    """Take the place of ServerProcess: hand out the server that runs, or start it."""
    if trial:
        return ServerProcess(tier, device, trial=True)
    server = _running.get((tier, device))
    if server is None or not server.alive():
        server = _running[tier, device] = ServerProcess(tier, device)
        atexit.register(server.close)
    return Lent(server)


def shared_server() -> Server:
    """Return a server of the best tier whose process is the one that runs."""
    tier = resolve_tier("auto")
    return Server(isolation=tier, shared=lend(tier))


@contextmanager
def warm_server() -> Iterator[None]:
    """Let commands use the server that runs, as long as the context lasts."""
    with pytest.MonkeyPatch.context() as patched:
        for user in USERS:
            patched.setattr(f"{user}.ServerProcess", lend)
        yield
