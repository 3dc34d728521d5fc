"""What the engine needs of an interpreter and of the server that makes one; connection.py is the only implementation."""

from typing import Protocol

from grader.records import OWN, CellResult, Evidence, Limits, Origin, Request


class Interpreter(Protocol):
    """The Python process of one submission."""

    @property
    def isolation(self) -> str:
        """The tier of isolation that it runs with."""

    @property
    def starved(self) -> bool:
        """Whether something timed out for which this machine had too little time: run alone, it might not have."""

    @property
    def waited(self) -> float:
        """Seconds in which the submission was ready and others had its core; no limit counts them."""

    def run_cell(self, source: str, *, seconds: float, origin: Origin = OWN, cell: str = "") -> CellResult:
        """Run a cell.

        If the status is neither OK nor RAISED, the interpreter returns to its state before the cell.

        Args:
            cell: the cell's id, by which the place of an exception names it.
        """

    def call(self, request: Request) -> Evidence:
        """Run a probe in a fork of the interpreter, so that the notebook's state does not change.

        Successive requests of one group share a fork until one of them hangs or dies. An interpreter that has
        used CUDA cannot fork and runs the probe itself.
        """

    def kill(self) -> None:
        """End the interpreter with all its processes; a second call does nothing."""


class InterpreterServer(Protocol):
    """Makes interpreters."""

    @property
    def isolation(self) -> str:
        """The tier of isolation that its interpreters run with."""

    @property
    def device(self) -> str:
        """cpu or cuda."""

    def spawn(self, limits: Limits, *, seed: int, device: str | None = None) -> Interpreter:
        """Make a new interpreter."""
