"""The channels between a sandbox's init and its interpreters, and one request over a channel until all of it is answered, or it is over."""

import json
import os
import select
import socket
import struct
import time
from dataclasses import dataclass, replace

from guest import frames
from guest.grader_connection import GraderConnection
from guest.meter import TICK, Meter
from guest.waiting import LONGEST, LOOK, Waiting

CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True)
class InterpreterProcess:
    """An interpreter, a fork of it, or a checkpoint, with the channel to it."""

    channel: socket.socket
    pid: int  # from the kernel, not from the process
    pidfd: int

    def ended(self) -> bool:
        """Tell whether the process has ended."""
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def close(self) -> None:
        """Close the channel and the pidfd; an interpreter that waits for orders then exits."""
        self.channel.close()
        os.close(self.pidfd)


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Return the init's end of a new channel, which receives the sender's process id, and the interpreter's end."""
    init_end, interpreter_end = socket.socketpair()
    init_end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return init_end, interpreter_end


def receive_greeting(channel: socket.socket) -> InterpreterProcess | None:
    """Receive an interpreter's first byte, to which the kernel attaches its process id; None if none comes, or it ended."""
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
    """How an order ended, and with which answer of the interpreter."""

    # answer, timeout, died, memory, scratch or refused; " lost" after it if the interpreter's state is gone
    # too; only "lost" if the order could not begin.
    outcome: str
    head: bytes = b""
    body: bytes | memoryview = b""
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
        """Prepare to send one request to `process`."""
        self._process, self._grader, self._meter = process, grader, meter
        self._channel = process.channel
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
        """Send what of the request is not sent yet, wait for the next answer, and return how that ended."""
        self._inbox = frames.Inbox(*self._most)
        waiting = Waiting(self._process.pid, self._meter.processes)
        answer = self._wait(seconds, waiting)
        return replace(answer, waited=waiting.seconds())

    def _wait(self, seconds: float, waiting: Waiting) -> Answer:
        """Return how the next answer ended; `waiting` measures how much later the deadline is."""
        self._deadline, counted, next_look = time.monotonic() + seconds, 0.0, 0.0
        while True:
            now = time.monotonic()
            if now >= min(self._deadline, next_look):
                waited = min(waiting.seconds(), (LONGEST - 1) * seconds)
                self._deadline, counted, next_look = self._deadline + waited - counted, waited, now + LOOK
            if now >= self._deadline:
                return Answer("timeout")
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
                return Answer("died")

    def _send(self) -> None:
        """Send as much of the request as the channel takes without waiting; drop the rest if the process has ended."""
        try:
            self._outgoing = self._outgoing[self._channel.send(self._outgoing[: 1 << 20]) :]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing = memoryview(b"")  # `_wait` learns from the process's pidfd that it has ended
        if not self._outgoing:
            self._poll.modify(self._channel, select.POLLIN)

    def _receive(self, ended: bool) -> Answer | None:
        """Read once from the channel; return an Answer if the exchange is over, else None.

        If nothing comes, and the process had `ended` before this call, the exchange is over.
        """
        try:
            data = self._channel.recv(min(self._inbox.missing, 1 << 20))
            frame = self._inbox.feed(data)
        except BlockingIOError:
            return None
        except OSError:
            return Answer("died")
        except frames.FrameError as error:
            return Answer("refused", json.dumps({"status": "refused", "message": str(error)}).encode())
        if frame is not None:
            return Answer("answer", *frame)
        if not data and ended:
            return Answer("died")
        if not data:  # the process closed the channel but still runs: no answer will come
            self._poll.unregister(self._channel)
        return None
