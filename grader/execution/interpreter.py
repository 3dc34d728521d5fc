"""What the engine needs of an interpreter and of the server that makes one; the sandbox is one implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from grader.records import OWN, CellResult, Evidence, Limits, Origin, Request


class Interpreter(Protocol):
    """One submission's Python."""

    isolation: str

    def run_cell(
        self, source: str, *, seconds: float, origin: Origin = OWN, stand_ins: Sequence[str] = ()
    ) -> CellResult:
        """Run a cell, then define some names as stand-ins. After TIMEOUT or DIED the state is the one before the cell."""

    def call(self, request: Request) -> Evidence:
        """Run a probe in a fork of the present state, which stays as it is.

        Requests of one group, asked one after the other, share a fork until one of them hangs or dies.
        """

    def kill(self) -> None:
        """End it with all its processes; idempotent."""


class InterpreterServer(Protocol):
    """Makes interpreters."""

    isolation: str
    device: str

    def spawn(
        self,
        limits: Limits,
        *,
        seed: int,
        device: str | None = None,
        functions: Mapping[str, Callable] | None = None,
    ) -> Interpreter:
        """Make a new interpreter; `functions` are what stand-ins in it compute in this process."""
