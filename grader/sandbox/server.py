"""A fork server: makes sandboxes, and starts its process again when that has died."""

import socket
import struct
import time
from contextlib import suppress
from typing import Any, Self

from grader.records import Limits, Status
from grader.sandbox.connection import GPU_START_SECONDS, Sandbox
from grader.sandbox.errors import IsolationError
from grader.sandbox.guest import linux
from grader.sandbox.guest.library_internals import defer_compiler
from grader.sandbox.process import ServerProcess, SharedServer
from grader.sandbox.tiers import resolve_tier

USER = struct.Struct("!I")  # as guest/server.py reads it


class Server:
    """A fork server whose process has imported everything that a lesson uses."""

    def __init__(
        self, *, isolation: str = "auto", device: str = "cpu", shared: ServerProcess | SharedServer | None = None
    ) -> None:
        """Start a process, or use one that was started before.

        Args:
            shared: a fork server with this isolation and device; it need not be ready.

        Raises:
            IsolationError: this machine cannot isolate as requested.
        """
        self.isolation, self.device = resolve_tier(isolation), device
        defer_compiler()  # this process takes steps of trainings, too
        self._process: ServerProcess | SharedServer
        if shared is not None:
            self._process = shared
        else:
            self._process = ServerProcess(self.isolation, device)

    def spawn(self, limits: Limits, *, seed: int, device: str | None = None) -> Sandbox:
        """Make a sandbox; start the server's process again first if it has died.

        Args:
            device: cpu, or the server's own.

        Raises:
            IsolationError: the process could not be started again.
            ServerLost: the process died while it made the sandbox.
        """
        # A process that was started early may have failed: then another is started here, and says why.
        with suppress(IsolationError):
            self._process.wait()
        if not self._process.alive():
            self._process.close()
            self._process = ServerProcess(self.isolation, self.device)
        return Sandbox(self, limits, seed, device or self.device)

    def gpu_problem(self) -> str:
        """Add two numbers on the GPU inside the sandbox; return a message why this fails, or ""."""
        sandbox = self.spawn(Limits(), seed=0)
        try:
            source = "import torch\nassert torch.ones(2, device='cuda').sum().item() == 2"
            result = sandbox.run_cell(source, seconds=GPU_START_SECONDS)
        finally:
            sandbox.kill()
        if result.status is Status.OK:
            return ""
        return f"{result.error}: {result.message}" if result.error else result.message

    @property
    def report(self) -> dict[str, Any]:
        """The process's report when it was ready: seconds, versions. A shared server has none."""
        return self._own_process.report

    @property
    def pid(self) -> int:
        """The process id of the server's outermost process. A shared server has none."""
        return self._own_process.pid

    @property
    def _own_process(self) -> ServerProcess:
        """The process that this object started; an AttributeError if another process started it."""
        if isinstance(self._process, SharedServer):
            raise AttributeError("another process started this server and knows its report and process id")
        return self._process

    def alive(self) -> bool:
        """Wait up to half a second for a dying process to end; tell whether the process still runs."""
        deadline = time.monotonic() + 0.5
        while self._process.alive():
            if time.monotonic() > deadline:
                return True
            time.sleep(0.01)
        return False

    def connect(self, user: int) -> socket.socket:
        """Let the process fork a child, and return a socket whose other end the child has.

        Args:
            user: the child's user number; 0 for the user of the process.

        Raises:
            OSError: the process has ended.
        """
        linux.allow_many_descriptors()
        own_end, child_end = socket.socketpair()
        with child_end:
            try:
                socket.send_fds(self._process.control, [USER.pack(user)], [child_end.fileno()])
            except OSError:
                own_end.close()
                raise
        return own_end

    def close(self) -> None:
        """End the process, unless another process started it; a second call does nothing."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
