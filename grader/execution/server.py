"""A fork server as the grader uses it: makes sandboxes, and restarts itself when it is found dead."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from grader.execution.errors import IsolationError
from grader.execution.process import ServerProcess, SharedServer
from grader.execution.sandbox import GPU_START, Sandbox
from grader.execution.tiers import resolve_tier
from grader.records import Limits, Status


class Server:
    """A fork server with everything imported; restarts itself when it is found dead."""

    def __init__(
        self, *, isolation: str = "auto", device: str = "cpu", shared: SharedServer | None = None
    ) -> None:
        """Start it.

        Args:
            shared: one that runs already, with this isolation and device.

        Raises:
            IsolationError: this machine cannot isolate as was asked.
        """
        self.isolation, self.device = resolve_tier(isolation), device
        self._process: ServerProcess | SharedServer
        if shared is not None:
            self._process = shared
        else:
            self._process = ServerProcess(self.isolation, device)

    def spawn(
        self,
        limits: Limits,
        *,
        seed: int,
        device: str | None = None,
        functions: Mapping[str, Callable] | None = None,
    ) -> Sandbox:
        """A new interpreter.

        Args:
            device: cpu, or the server's own.
            functions: what stand-ins in it compute, on this side.

        Raises:
            IsolationError: the server could not be started again.
            ServerLost: the server died just now.
        """
        if not self._process.alive():
            self._process.close()
            self._process = ServerProcess(self.isolation, self.device)
        return Sandbox(self, limits, seed, device or self.device, functions or {})

    def require_gpu(self) -> None:
        """Add two numbers on the GPU, from within the sandbox.

        Raises:
            IsolationError: that does not work.
        """
        python = self.spawn(Limits(), seed=0)
        try:
            source = "import torch\nassert torch.ones(2, device='cuda').sum().item() == 2"
            result = python.run_cell(source, seconds=GPU_START)
        finally:
            python.kill()
        if result.status is not Status.OK:
            said = f"{result.error}: {result.message}" if result.error else result.message
            raise IsolationError(
                f"the sandbox cannot use the GPU ({said}). No grade was written. Pass --device cpu, or see docs/gpu.md"
            )

    @property
    def report(self) -> dict[str, Any]:
        """What the server said when it was ready: seconds, versions."""
        return self._process.report

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        """Whether the server itself still runs; a dying one gets a moment to be gone."""
        deadline = time.monotonic() + 0.5
        while self._process.alive():
            if time.monotonic() > deadline:
                return True
            time.sleep(0.01)
        return False

    def connect(self) -> socket.socket:
        """A connection to a new child."""
        return self._process.connect()

    def close(self) -> None:
        """End the server and all its children; idempotent."""
        self._process.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
