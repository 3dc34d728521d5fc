"""The init's connection to the trusted side, and the pipe that collects raw output for the next reply.

Raw output is what the interpreters write to file descriptors 1 and 2 without going through sys.stdout and sys.stderr.
"""

import json
import os
import select
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from guest import frames
from guest.processes import reap

ORDER_SECONDS = 60.0  # for sending or receiving one frame
MAX_ORDER_HEADER, MAX_ORDER_BODY = 1 << 20, 1 << 30


class GraderConnection:
    """Receives orders and sends replies; ends the sandbox when the trusted side closes the connection."""

    def __init__(self, connection: socket.socket, max_raw: int, end: Callable[[], NoReturn]) -> None:
        """Use an open connection, and make the pipe for raw output, of which one reply contains at most `max_raw` bytes.

        `end` ends the sandbox and this process.
        """
        self._connection, self._max_raw, self._end = connection, max_raw, end
        self.raw_read, self.raw_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.raw_read, False)
        self._raw = bytearray()

    def fileno(self) -> int:
        """Return the connection's file descriptor, for select and poll."""
        return self._connection.fileno()

    def next_order(self, while_idle: Callable[[], None]) -> tuple[bytes, memoryview]:
        """Wait for an order and return its header and body; call `while_idle` at least once a second meanwhile."""
        while True:
            if select.select([self.fileno(), self.raw_read], [], [], 1.0)[0]:
                self.attend()
                if select.select([self._connection], [], [], 0)[0]:
                    return self._receive()
            self.attend()
            while_idle()

    def _receive(self) -> tuple[bytes, memoryview]:
        """Receive the order that has begun to arrive, as header and body; end the sandbox if that fails."""
        try:
            return frames.receive(
                self._connection,
                most_header=MAX_ORDER_HEADER,
                most_body=MAX_ORDER_BODY,
                deadline=time.monotonic() + ORDER_SECONDS,
            )
        except frames.FrameError:
            self._end()

    def reply(self, outcome: str, head: bytes = b"", body: bytes | memoryview = b"", *, waited: float = 0.0) -> None:
        """Answer an order, with the raw output since the last call of `discard_raw`; end the sandbox if that fails."""
        self._collect_raw()
        header = {"outcome": outcome, "raw": len(self._raw), "head": len(head), "waited": waited}
        try:
            parts, deadline = b"".join((self._raw, head, body)), time.monotonic() + ORDER_SECONDS
            frames.send(self._connection, json.dumps(header).encode(), parts, deadline=deadline)
        except frames.FrameError:
            self._end()

    def discard_raw(self) -> None:
        """Forget the raw output of earlier orders."""
        self._raw.clear()

    def attend(self) -> None:
        """Collect raw output, reap processes that have ended, and end the sandbox if the trusted side has gone."""
        self._collect_raw()
        reap()
        try:
            self._connection.setblocking(False)
            if self._connection.recv(1, socket.MSG_PEEK) == b"":
                self._end()
        except BlockingIOError:
            pass
        except OSError:
            self._end()

    def _collect_raw(self) -> None:
        """Read raw output from the pipe; keep at most `max_raw` bytes and drop the rest.

        One call reads at most a megabyte: a process that floods the pipe must not keep the init busy for ever.
        """
        for _ in range(16):
            try:
                data = os.read(self.raw_read, 1 << 16)
            except BlockingIOError:
                return
            space = self._max_raw - len(self._raw)
            self._raw += data[: max(space, 0)]
