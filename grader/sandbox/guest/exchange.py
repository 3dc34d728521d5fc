"""The connections of a sandbox's init: to the trusted side, and the channels to its interpreters.

The init sends one request at a time over a channel. It sends the next request after the first has been answered
completely or has failed. Raw output is bytes that the interpreters write to file descriptors 1 and 2 without using
sys.stdout or sys.stderr. A pipe collects it for the next reply.
"""

import json
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from guest import frames
from guest.frames import Ending
from guest.meter import TICK, Meter
from guest.processes import LONGEST, LOOK, Waiting, reap

ORDER_SECONDS = 60.0  # for sending or receiving one frame
MAX_ORDER_HEADER, MAX_ORDER_BODY = 1 << 20, 1 << 30


class GraderConnection:
    """Receives orders and sends replies. It ends the sandbox when the trusted side closes the connection."""

    def __init__(self, connection: socket.socket, max_raw: int, end: Callable[[], NoReturn]) -> None:
        """Use an open connection, and create the pipe for raw output.

        Args:
            max_raw: the largest number of bytes of raw output in one reply.
            end: a function that ends the sandbox and this process.
        """
        self._connection, self._max_raw, self._end = connection, max_raw, end
        self.raw_read, self.raw_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.raw_read, False)
        self._raw = bytearray()

    def fileno(self) -> int:
        """Return the connection's file descriptor, for select and poll."""
        return self._connection.fileno()

    def next_order(self, while_idle: Callable[[], None]) -> tuple[bytes, memoryview]:
        """Wait for an order and return its header and body. While waiting, call `while_idle` at least once a second."""
        while True:
            if select.select([self.fileno(), self.raw_read], [], [], 1.0)[0]:
                self.attend()
                if select.select([self._connection], [], [], 0)[0]:
                    return self._receive()
            self.attend()
            while_idle()

    def _receive(self) -> tuple[bytes, memoryview]:
        """Receive the order that has begun to arrive. Return its header and body, or end the sandbox if this fails."""
        try:
            return frames.receive(
                self._connection,
                most_header=MAX_ORDER_HEADER,
                most_body=MAX_ORDER_BODY,
                deadline=time.monotonic() + ORDER_SECONDS,
            )
        except frames.FrameError:
            self._end()

    def reply(self, answer: "Answer") -> None:
        """Send an answer with the raw output since the last call of `discard_raw`. End the sandbox if this fails."""
        self._collect_raw()
        header = {
            "ending": answer.ending,
            "lost": answer.lost,
            "waited": answer.waited,
            "raw": len(self._raw),
            "head": len(answer.head),
        }
        try:
            parts, deadline = b"".join((self._raw, answer.head, answer.body)), time.monotonic() + ORDER_SECONDS
            frames.send(self._connection, json.dumps(header).encode(), parts, deadline=deadline)
        except frames.FrameError:
            self._end()

    def discard_raw(self) -> None:
        """Discard the raw output of earlier cells and probes."""
        self._raw.clear()

    def attend(self) -> None:
        """Collect raw output and reap ended processes. End the sandbox if the trusted side has closed the channel."""
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
        """Read raw output from the pipe. Keep at most `max_raw` bytes and drop the rest.

        One call reads at most a megabyte, so that a process that floods the pipe cannot keep the init busy forever.
        """
        for _ in range(16):
            try:
                data = os.read(self.raw_read, 1 << 16)
            except BlockingIOError:
                return
            space = self._max_raw - len(self._raw)
            self._raw += data[: max(space, 0)]


CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True)
class InterpreterProcess:
    """An interpreter, a fork of one, or a checkpoint, with the channel to it."""

    channel: socket.socket
    pid: int  # from the kernel, not from the process
    pidfd: int

    def ended(self) -> bool:
        """Return True if the process has ended."""
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def close(self) -> None:
        """Close the channel and the pidfd. An interpreter that waits for orders then exits."""
        self.channel.close()
        os.close(self.pidfd)


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a new channel: first the init's, then the interpreter's.

    With each message, the init's end also receives the sender's process id from the kernel.
    """
    init_end, interpreter_end = socket.socketpair()
    init_end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return init_end, interpreter_end


def receive_greeting(channel: socket.socket) -> InterpreterProcess | None:
    """Receive an interpreter's first byte and, from the kernel, its process id. Return the process.

    Returns:
        None if no byte arrives, or if the process has already ended.
    """
    data, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
    for level, kind, value in ancillary:
        if data and level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid = CREDENTIALS.unpack(value)[0]
            try:
                return InterpreterProcess(channel, pid, os.pidfd_open(pid))
            except OSError:
                return None
    return None


@dataclass(frozen=True)
class Answer:
    """How an order ended, with the interpreter's answer."""

    ending: Ending
    head: bytes = b""
    body: bytes | memoryview = b""
    lost: bool = False  # the interpreter's state is gone, and its checkpoint too
    waited: float = 0.0  # seconds in which the process was ready and others had its core


class Exchange:
    """Sends one request and waits for its answers."""

    def __init__(
        self,
        process: InterpreterProcess,
        grader: GraderConnection,
        meter: Meter,
        limits: dict,
        request: bytes | memoryview,
        blob: bytes | memoryview = b"",
    ) -> None:
        """Prepare to send one request to `process`. Nothing is sent yet."""
        self._process, self._grader, self._meter = process, grader, meter
        self._channel = process.channel
        # The most bytes of a header, with a cell's outputs as JSON, and of a body, with a probe's tensors.
        self._most = 8 * limits["cell_output_bytes"] + (1 << 20), limits["evidence_bytes"] + (1 << 20)
        self._inbox = frames.Inbox(*self._most)
        self._outgoing = memoryview(frames.pack(request, blob))
        self._channel.setblocking(False)
        self._deadline = 0.0
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN | select.POLLOUT)
        for descriptor in (process.pidfd, grader.raw_read, grader.fileno()):
            self._poll.register(descriptor, select.POLLIN)

    def answer(self, seconds: float) -> Answer:
        """Send the rest of the request, wait for the next answer, and return it or why it is missing.

        Args:
            seconds: the time limit. Time in which the process waits for a core is not included.
        """
        self._inbox = frames.Inbox(*self._most)
        waiting = Waiting(self._process.pid, self._meter.processes)
        answer = self._wait(seconds, waiting)
        return replace(answer, waited=waiting.seconds())

    def _wait(self, seconds: float, waiting: Waiting) -> Answer:
        """Return the next answer, or the reason why it is missing.

        Args:
            waiting: measures the time in which the process waits for a core. The deadline is that much later.
        """
        self._deadline, counted, next_look = time.monotonic() + seconds, 0.0, 0.0
        while True:
            now = time.monotonic()
            if now >= min(self._deadline, next_look):
                waited = min(waiting.seconds(), (LONGEST - 1) * seconds)
                self._deadline, counted, next_look = self._deadline + waited - counted, waited, now + LOOK
            if now >= self._deadline:
                return Answer(Ending.TIMEOUT)
            if excess := self._meter.due_excess():
                return Answer(excess)
            ready = dict(self._poll.poll(1000 * min(TICK, self._deadline - now)))
            self._grader.attend()
            # This must come before reading the channel: if the process sent an answer and then ended, the
            # answer counts.
            ended = self._process.pidfd in ready
            state = ready.get(self._channel.fileno(), 0)
            if state & select.POLLOUT and self._outgoing:
                self._send()
            if state & (select.POLLIN | select.POLLHUP | select.POLLERR):
                if (answer := self._receive(ended)) is not None:
                    return answer
            elif ended:
                return Answer(Ending.DIED)

    def _send(self) -> None:
        """Send the part of the request that the channel accepts without waiting.

        If the process has ended, drop the rest of the request.
        """
        try:
            self._outgoing = self._outgoing[self._channel.send(self._outgoing[: 1 << 20]) :]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing = memoryview(b"")  # `_wait` learns from the process's pidfd that it has ended
        if not self._outgoing:
            self._poll.modify(self._channel, select.POLLIN)

    def _receive(self, ended: bool) -> Answer | None:
        """Read once from the channel. Return an Answer if the exchange is over, and None otherwise.

        If there is nothing to read and the process had already `ended` before this call, the exchange is over.
        """
        try:
            data = self._channel.recv(min(self._inbox.missing, 1 << 20))
            frame = self._inbox.feed(data)
        except BlockingIOError:
            return None
        except OSError:
            return Answer(Ending.DIED)
        except frames.FrameError as error:
            return Answer(Ending.REFUSED, json.dumps({"status": "refused", "message": str(error)}).encode())
        if frame is not None:
            return Answer(Ending.ANSWER, *frame)
        if not data and ended:
            return Answer(Ending.DIED)
        if not data:  # the process closed the channel but still runs: no answer will come
            self._poll.unregister(self._channel)
        return None
