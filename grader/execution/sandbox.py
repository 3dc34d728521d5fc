"""One submission's interpreter as the grader sees it: a connection to the init of its sandbox."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from grader.evidence.text import plain
from grader.evidence.wire import EvidenceError, decode, encode, parse
from grader.execution import cgroup
from grader.execution.errors import IsolationError, ServerLost
from grader.execution.guest import frames
from grader.execution.outputs import clean, size
from grader.execution.process import limits_for_guest
from grader.execution.stand_ins import StandIns
from grader.records import OWN, CellResult, Evidence, Limits, Origin, Request, Status

READY = 60.0  # seconds until a fork is ready, on a busy machine
GRACE = 120.0  # seconds that the init may take beyond a cell's own limit before it is given up
GPU_START = 20.0  # seconds that the first use of a GPU may take on top, in each process
MOST_REPLAYS = 5  # how often the good cells are run again for one submission
CHEAP = 1.0  # seconds of good cells that are rather run again than kept in a checkpoint
MOST_TRIPS = 16  # of one probe
USED_UP = "the time for the whole submission was used up before"


class Connecting(Protocol):
    """What a sandbox needs of the fork server."""

    isolation: str
    device: str

    def connect(self) -> socket.socket:
        """Open a connection to a new child."""

    def alive(self) -> bool:
        """Tell whether the server still runs."""


@dataclass(frozen=True)
class _Reply:
    outcome: str  # as the guest's init names them
    raw: bytes = b""
    head: bytes = b""
    body: bytes | memoryview = b""
    lost: bool = False  # the state, and the checkpoint with it, is gone


class Sandbox:
    """An interpreter behind the connection to its init."""

    def __init__(
        self, server: Connecting, limits: Limits, seed: int, device: str, functions: Mapping[str, Callable]
    ) -> None:
        self.isolation, self.device = server.isolation, device
        self._stand_ins = StandIns(functions) if functions else None
        self._server, self._limits, self._seed = server, limits, seed
        self._deadline = time.monotonic() + limits.seconds
        self._good: list[tuple[dict, float]] = []  # cells that the present state consists of
        self._good_seconds = 0.0  # that they took
        self._replays = 0
        self._output_left, self._evidence_left = limits.output_bytes, limits.evidence_bytes
        self._connection: socket.socket | None = None
        self._handle = -1
        self._open()

    # ------------------------------------------------------------ what the engine calls

    def run_cell(
        self, source: str, *, seconds: float, origin: Origin = OWN, stand_ins: Sequence[str] = ()
    ) -> CellResult:
        started = time.monotonic()
        cell = {
            "source": source,
            "origin": origin.who,
            "defines": origin.defines,
            "stand_ins": list(stand_ins),
        }
        for _ in range(2):
            reply = self._order("cell", cell, b"", seconds, in_place=self._in_place(origin))
            if reply.lost and reply.outcome == "lost" and self._good and not self._spent():
                # It was dead before this cell began: what killed it was left behind by the cell before.
                self._good.pop()
                self._replay()
                continue
            break
        result = self._cell_result(reply, seconds, time.monotonic() - started)
        if result.status in (Status.OK, Status.RAISED):
            self._good.append((cell, seconds))
            self._good_seconds += result.seconds
        elif reply.lost:
            self._replay()
        return result

    def call(self, request: Request) -> Evidence:
        started = time.monotonic()
        tree, blob = encode(request.inputs)
        order = {
            "source": request.source,
            "function": request.function,
            "inputs": tree,
            "names": dict(request.names),
            "device": self.device,
            "watched": request.watched,
            "exercise": request.key.partition("/")[0],
        }
        for _ in range(2):
            reply = self._order("call", order, blob, request.seconds, request.group or request.key)
            if reply.lost and reply.outcome == "lost" and self._good and not self._spent():
                self._good.pop()
                self._replay()
                continue
            break
        evidence = self._evidence(request, reply, time.monotonic() - started)
        if reply.lost:
            self._replay()
        return evidence

    def kill(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            self._group.remove()
            return
        if self.isolation == "full":  # pid 1 of its namespace: everything goes with it
            self._signal()
        connection.close()  # in the lower tiers the init sees it and kills what it started
        if self._handle < 0:
            self._group.remove()
            return
        if not self._wait(5.0):
            self._signal()
            self._wait(5.0)
        os.close(self._handle)
        self._group.remove()

    @property
    def pid(self) -> int:
        """The init's process id, as this machine counts."""
        with open(f"/proc/self/fdinfo/{self._handle}") as file:
            return int(re.search(r"^Pid:\s*(-?\d+)", file.read(), re.MULTILINE)[1])

    @property
    def memory_bytes(self) -> int | None:
        """What all its processes took for themselves, beside what they share with the server; None if unknown."""
        return self._group.used()

    # ------------------------------------------------------------ the connection

    def _open(self) -> None:
        self._group, self._handle = cgroup.ControlGroup(self._limits), -1
        try:
            self._connection = self._server.connect()
            self._connection.settimeout(READY)
            first, handles, _, _ = socket.recv_fds(self._connection, 1, 1)
            if first != b"P" or not handles:
                reason = (
                    self._connection.recv(200).decode("utf-8", "replace") if first == b"F" else "no answer"
                )
                raise IsolationError(
                    f"an isolated child did not start: {plain(reason)}. See `grader doctor`."
                )
            self._handle = handles[0]
            self._group.add(self.pid)
            if self._limits.threads == 1:  # where this side is: the two take turns
                with suppress(OSError):
                    os.sched_setaffinity(self.pid, os.sched_getaffinity(0))
            config = {
                "limits": {
                    **limits_for_guest(self._limits, self.isolation, self.device),
                    "stand_ins": self._stand_ins is not None,
                },
                "seed": self._seed,
            }
            deadline = time.monotonic() + READY
            frames.send(self._connection, json.dumps(config).encode(), deadline=deadline)
            if (reply := self._receive(deadline)).outcome != "ready":
                raise IsolationError(f"an isolated child did not start: {plain(reply.head.decode())}")
        except (OSError, frames.FrameError, IsolationError) as error:
            self.kill()
            if isinstance(error, IsolationError):
                raise
            if not self._server.alive():
                raise ServerLost("the fork server died") from error
            raise IsolationError(f"an isolated child did not start: {error}. See `grader doctor`.") from error

    def _in_place(self, origin: Origin) -> bool:
        """Whether the next cell goes without a checkpoint, for which Python is forked.

        Given cells and answers hardly ever hang or die. Where one does, the cells before it are run again: once,
        and only as long as that is quick.
        """
        return origin is not OWN and not self._replays and self._good_seconds < CHEAP

    def _order(
        self,
        op: str,
        request: dict,
        blob: bytes,
        seconds: float,
        group: str = "",
        in_place: bool = False,
    ) -> _Reply:
        left = self._deadline - time.monotonic()
        if left <= 0:
            return _Reply("used up")
        if self._connection is None:
            return _Reply("over")
        seconds = min(seconds + (GPU_START if self.device == "cuda" else 0.0), left)
        text = json.dumps(request).encode()
        order = {"op": op, "group": group, "in_place": in_place, "seconds": seconds, "request": len(text)}
        header = json.dumps(order).encode()
        try:
            deadline = time.monotonic() + seconds + GRACE
            frames.send(self._connection, header, text + blob, deadline=deadline)
            while (reply := self._receive(deadline)).outcome == "question":
                self._answer(reply, deadline)
            return reply
        except frames.FrameError as error:
            if isinstance(error, frames.Closed) and not self._server.alive():
                raise ServerLost("the fork server died") from error
            self.kill()  # the init is gone, or no longer to be understood
            return _Reply("died", lost=True)

    def _answer(self, question: _Reply, deadline: float) -> None:
        if self._stand_ins is None:
            raise frames.FrameError("a question where there is no stand-in")
        head, tensors = self._stand_ins.answer(question.head, question.body)
        header = json.dumps({"op": "told", "head": len(head)}).encode()
        frames.send(self._connection, header, head + tensors, deadline=deadline)

    def _receive(self, deadline: float) -> _Reply:
        limits = self._limits
        most = limits.evidence_bytes + 9 * limits.cell_output_bytes + (16 << 20)
        header, body = frames.receive(
            self._connection, most_header=1 << 12, most_body=most, deadline=deadline
        )
        said = json.loads(header)
        cut = said["raw"] + said["head"]
        outcome = said["outcome"]
        if outcome == "fault":
            return _Reply(outcome, head=said.get("message", "").encode())
        lost = outcome.endswith("lost")
        return _Reply(
            outcome.removesuffix(" lost"),
            bytes(body[: said["raw"]]),
            bytes(body[said["raw"] : cut]),
            body[cut:],
            lost=lost,
        )

    def _signal(self) -> None:
        with suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self._handle], [], [], seconds)[0])

    # ------------------------------------------------------------ starting over

    def _spent(self) -> bool:
        return self._replays >= MOST_REPLAYS or time.monotonic() >= self._deadline

    def _replay(self) -> None:
        """A new process, and in it the good cells again."""
        self.kill()
        while not self._spent():
            self._replays += 1
            self._open()
            for index, (cell, seconds) in enumerate(self._good):
                reply = self._order("cell", cell, b"", seconds)
                if reply.outcome != "answer":
                    # What was good once is not good now: go on without it.
                    del self._good[index]
                    self.kill()
                    break
            else:
                return

    # ------------------------------------------------------------ from replies to records

    def _cell_result(self, reply: _Reply, seconds: float, took: float) -> CellResult:
        most = max(0, min(self._limits.cell_output_bytes, self._output_left))
        head: dict[str, Any] = {}
        status, message = self._status(reply, seconds)
        if reply.outcome == "answer":
            try:
                head = parse(reply.head, len(reply.head))
                status = Status.RAISED if head.get("status") == "raised" else Status.OK
                message = plain(head.get("message"))
            except EvidenceError as error:
                status, message = Status.OK, str(error)
        outputs = clean(head.get("outputs"), reply.raw, most)
        self._output_left -= size(outputs)
        count = head.get("execution_count")
        return CellResult(
            status=status,
            outputs=outputs,
            error=plain(head.get("error"), 200),
            message=message,
            seconds=took,
            execution_count=count if isinstance(count, int) and 0 <= count < 10**6 else None,
        )

    def _evidence(self, request: Request, reply: _Reply, took: float) -> Evidence:
        status, message = self._status(reply, request.seconds)
        if reply.outcome != "answer":
            return Evidence(key=request.key, status=status, message=message, seconds=took)
        trips: tuple[tuple[str, str], ...] = ()
        try:
            head = parse(reply.head)
            trips = _trips(head.get("trips"))
            if head.get("status") == "raised":
                lineage = head.get("lineage")
                return Evidence(
                    key=request.key,
                    status=Status.RAISED,
                    error=plain(head.get("error"), 200),
                    lineage=tuple(plain(name, 200) for name in lineage[:20])
                    if isinstance(lineage, list)
                    else (),
                    message=plain(head.get("message")),
                    seconds=took,
                    trips=trips,
                )
            if head.get("status") != "ok":
                raise EvidenceError(plain(head.get("message")) or "something that is no answer came back")
            self._evidence_left -= len(reply.head) + len(reply.body)
            if self._evidence_left < 0:
                raise EvidenceError("more came back, over all checks together, than is accepted")
            values = decode(head.get("tree"), reply.body)
            if not isinstance(values, dict):
                raise EvidenceError("something that is no answer of a check came back")
        except EvidenceError as error:
            return Evidence(
                key=request.key, status=Status.REFUSED, message=str(error), seconds=took, trips=trips
            )
        return Evidence(key=request.key, status=Status.OK, values=values, seconds=took, trips=trips)

    def _status(self, reply: _Reply, seconds: float) -> tuple[Status, str]:
        limits = self._limits
        match reply.outcome:
            case "answer":
                return Status.OK, ""
            case "timeout":
                return Status.TIMEOUT, f"it took more than {seconds:g} s and was stopped"
            case "used up":
                return Status.TIMEOUT, f"{USED_UP} ({limits.seconds:g} s)"
            case "memory":
                return (
                    Status.DIED,
                    f"it used more than {limits.memory_bytes / 2**30:.1f} GB of memory and was stopped",
                )
            case "scratch":
                return Status.DIED, (
                    f"it wrote more than {limits.scratch_bytes / 2**30:.1f} GB or {limits.scratch_files} files"
                )
            case "refused":
                told = {}
                with suppress(EvidenceError):
                    told = parse(reply.head)
                return Status.REFUSED, plain(told.get("message")) or "something that is no answer came back"
            case _:
                return (
                    Status.DIED,
                    "Python ended before it was finished: a crash, an exit, or a limit that was exceeded",
                )


def _trips(said: Any) -> tuple[tuple[str, str], ...]:
    """The built-ins that the sandbox says it saw."""
    pairs = said[:MOST_TRIPS] if isinstance(said, list) else []
    return tuple(
        (plain(pair[0], 100), plain(pair[1], 100))
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2
    )
