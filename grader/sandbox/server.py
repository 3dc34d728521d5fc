"""A fork server: creates sandboxes, and restarts its process if the process has died."""

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
    """A fork server, whose process has imported everything that lessons use."""

    def __init__(
        self, *, isolation: str = "auto", device: str = "cpu", shared: ServerProcess | SharedServer | None = None
    ) -> None:
        """Start a process, or use one that was started earlier.

        Args:
            isolation: the tier; "auto" for the best one that this machine provides, except "none".
            shared: a fork server with this isolation and device, which need not be ready; None: start one.

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
        """Create a sandbox. If the server's process has died, restart it first.

        Args:
            device: "cpu", or the server's device; None for the latter.

        Raises:
            IsolationError: the process could not be restarted.
            ServerLost: the process died while it created the sandbox.
        """
        # A process that was started early may have failed: then another is started here, and says why.
        with suppress(IsolationError):
            self._process.wait()
        if not self._process.alive():
            self._process.close()
            self._process = ServerProcess(self.isolation, self.device)
        return Sandbox(self, limits, seed, device or self.device)

    def gpu_problem(self) -> str:
        """Add numbers on the GPU inside a sandbox. Return a message if this fails, or "" if it works."""
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
        """The report of the process when it was ready: seconds and versions.

        Raises:
            AttributeError: another process started the server.
        """
        return self._own_process.report

    @property
    def pid(self) -> int:
        """The process id of the server's outermost process.

        Raises:
            AttributeError: another process started the server.
        """
        return self._own_process.pid

    @property
    def _own_process(self) -> ServerProcess:
        """The process that this object started.

        Raises:
            AttributeError: another process started the server.
        """
        if isinstance(self._process, SharedServer):
            raise AttributeError("another process started this server and knows its report and process id")
        return self._process

    def alive(self) -> bool:
        """Return True if the process still runs. Wait up to half a second for a dying process to end."""
        deadline = time.monotonic() + 0.5
        while self._process.alive():
            if time.monotonic() > deadline:
                return True
            time.sleep(0.01)
        return False

    def connect(self, user: int) -> socket.socket:
        """Let the process fork a child, and return a socket that is connected to the child.

        Args:
            user: the child's user id; 0 for the user of the process.

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
        """End the process, unless another process started it. A second call does nothing."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
