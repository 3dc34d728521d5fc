"""The trusted side of one sandbox: sends cells and probes to its init, and replays the cells if its state is lost."""

import json
import os
import re
import select
import signal
import socket
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Protocol

from grader.records import OWN, CellResult, Evidence, Limits, Origin, Request, Status
from grader.sandbox import cgroup
from grader.sandbox.errors import IsolationError, ServerLost
from grader.sandbox.guest import frames
from grader.sandbox.guest.codec import encode
from grader.sandbox.guest.frames import Ending
from grader.sandbox.guest.processes import LONGEST, waited_seconds
from grader.sandbox.process import limits_for_guest
from grader.sandbox.replies import Reply, bytes_in_notebook, cell_result, evidence, parse_reply
from grader.sandbox.reservations import SandboxUser
from grader.sandbox.text import plain

READY_SECONDS = 60.0  # until a fork is ready, on a busy machine
GRACE_SECONDS = 120.0  # that the init may take beyond a cell's own limit
GPU_START_SECONDS = 20.0  # added to each limit on a GPU: its first use in a process may take this long
MAX_REPLAYS = 5  # of one submission
# What was stopped by the clock, after LONGEST times what it is allowed, with less than this share of its time,
# was starved.
ENOUGH = 0.9
# Given cells and answers run without a checkpoint as long as all completed cells together took less than
# this: after a failure the sandbox runs them again.
QUICK_REPLAY_SECONDS = 1.0


class ServerConnection(Protocol):
    """The part of the fork server that a sandbox needs."""

    @property
    def isolation(self) -> str:
        """The tier of isolation."""

    def connect(self, user: int) -> socket.socket:
        """Open a connection to a new child process that runs as this user id."""

    def alive(self) -> bool:
        """Return True if the server is still running."""


class Sandbox:
    """The sandbox of one submission, used through the connection to its init."""

    def __init__(self, server: ServerConnection, limits: Limits, seed: int, device: str) -> None:
        """Let the fork server start the sandbox.

        Raises:
            IsolationError: the sandbox did not start.
            ServerLost: the server died.
        """
        self.isolation, self.device = server.isolation, device
        self._server, self._limits, self._seed = server, limits, seed
        self._deadline = time.monotonic() + limits.seconds
        self._completed: list[
            tuple[dict, float]
        ] = []  # orders of the cells that made the present state, and time limits
        self._completed_seconds = 0.0  # that these cells took
        self._replays = 0
        self._started, self._waited = time.monotonic(), 0.0
        self._waited_here = waited_seconds("thread-self")
        self._allowed = 0.0  # seconds that the last order was given
        self.starved = False  # something timed out for which this machine had too little time
        self._output_left, self._evidence_left = limits.output_bytes, limits.evidence_bytes
        self._connection: socket.socket | None = None
        self._pidfd = -1
        self._open()

    # ------------------------------------------------------------ what the engine calls

    def run_cell(
        self, source: str, *, seconds: float, origin: Origin = OWN, cell: str = "", settings: Collection[str] = ()
    ) -> CellResult:
        """Run a cell and return its result. If the state is lost, replay the completed cells.

        If the status is neither OK nor RAISED, the interpreter returns to its state before the cell.

        Args:
            cell: the cell's id, which the place of an exception contains.
            settings: names that get the values that earlier cells with settings left. In cells without settings, these
                names have the values that the student's code gave them.
        """
        started = time.monotonic()
        order = {
            "source": source,
            "cell": cell,
            "origin": origin.who,
            "defines": origin.defines,
            "settings": sorted(settings),
        }
        reply = self._retry_if_dead(
            lambda: self._send_order("cell", order, b"", seconds, in_place=self._without_checkpoint(origin))
        )
        self._note_waiting(reply, time.monotonic() - started)
        result = cell_result(
            reply,
            self._limits,
            allowed=seconds,
            took=time.monotonic() - started,
            max_output=max(0, min(self._limits.cell_output_bytes, self._output_left)),
        )
        self._output_left -= sum(map(bytes_in_notebook, result.outputs))
        if result.status in (Status.OK, Status.RAISED):
            self._completed.append((order, seconds))
            self._completed_seconds += result.seconds
        elif reply.lost:
            self._replay()
        return result

    def call(self, request: Request) -> dict[str, Evidence]:
        """Run a probe on its trials in a fork of the interpreter, so that the notebook's state does not change.

        Successive requests of one group share a fork until a trial hangs or dies. The next trials then run in a new
        fork. After a time-out, the remaining trials do not run, but have the same time-out as their result. An
        interpreter that has used CUDA cannot fork, so it runs the probe itself.

        Returns:
            The evidence of each trial, by its key.
        """
        results: dict[str, Evidence] = {}
        while rest := {key: inputs for key, inputs in request.trials.items() if key not in results}:
            results |= self._call(replace(request, trials=rest))
            late = next((one for one in results.values() if one.status is Status.TIMEOUT), None)
            if late:
                results |= {
                    key: Evidence(key=key, status=late.status, message=late.message)
                    for key in rest
                    if key not in results
                }
        return results

    def _call(self, request: Request) -> dict[str, Evidence]:
        """Run a probe on its trials until one does not end normally. If the state is lost, replay the cells."""
        encoded = [encode(dict(inputs), keep_order=True) for inputs in request.trials.values()]
        order = {
            "source": request.source,
            "function": request.function,
            "trials": [{"inputs": tree, "bytes": len(blob)} for tree, blob in encoded],
            "names": dict(request.names),
            "device": self.device,
            "watched": request.watched,
            "exercise": request.key.partition("/")[0],
        }
        blob = b"".join(blob for _, blob in encoded)
        send = partial(
            self._send_order,
            "call",
            order,
            blob,
            request.seconds,
            group=request.group or request.key,
            trials=len(encoded),
        )
        results: dict[str, Evidence] = {}
        for key in request.trials:
            started = time.monotonic()
            reply = self._next_reply() if results else self._retry_if_dead(send)
            took = time.monotonic() - started
            self._note_waiting(reply, took)
            result, size = evidence(request, key, reply, self._limits, took=took, bytes_left=self._evidence_left)
            results[key] = result
            self._evidence_left -= size
            if reply.ending is not Ending.ANSWER:
                break
        if reply.lost:
            self._replay()
        return results

    @property
    def waited(self) -> float:
        """The seconds in which this submission or this thread was ready to run but waited for a core.

        No limit includes this time.
        """
        return self._waited + waited_seconds("thread-self") - self._waited_here

    def _left(self) -> float:
        """Return the seconds that the submission has left, or 0 or less if its time is used up."""
        longest = self._started + LONGEST * self._limits.seconds
        return min(self._deadline + self.waited, longest) - time.monotonic()

    def _note_waiting(self, reply: Reply, took: float) -> None:
        """Record whether a time-out was starved: the machine gave the cell, probe or submission too little time."""
        self._waited += reply.waited
        if reply.ending is Ending.TIMEOUT:
            self.starved |= took - reply.waited < ENOUGH * self._allowed
        elif reply.ending is Ending.USED_UP:
            passed = time.monotonic() - self._started
            self.starved |= passed - self.waited < ENOUGH * self._limits.seconds

    def kill(self) -> None:
        """End the sandbox with all its processes, and remove its groups. A second call does nothing."""
        try:
            self._end()
        finally:
            self._group.remove()
            self._user.release()

    def _end(self) -> None:
        """End the init, and with it all processes of the sandbox. Do nothing if they are not running."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self.isolation == "full":  # the init is pid 1 of its namespace: all processes end with it
            self._kill_init()
        connection.close()  # in the lower tiers the init notices and kills the processes of the sandbox
        if self._pidfd < 0:
            return
        if not self._init_ends(within=5.0):
            self._kill_init()
            self._init_ends(within=5.0)
        os.close(self._pidfd)

    @property
    def pid(self) -> int:
        """The init's process id, as seen from outside the sandbox."""
        with open(f"/proc/self/fdinfo/{self._pidfd}") as file:
            found = re.search(r"^Pid:\s*(-?\d+)", file.read(), re.MULTILINE)
        if found is None:
            raise OSError("the kernel does not tell the process id of a pidfd")
        return int(found[1])

    @property
    def memory_bytes(self) -> int | None:
        """The sandbox's memory in bytes, without pages shared with the server; None without control groups."""
        return self._group.used()

    # ------------------------------------------------------------ the connection

    def _open(self) -> None:
        """Let the server fork a new sandbox, and wait until its interpreter is ready. Raise the same as `__init__`."""
        self._group, self._user, self._pidfd = cgroup.ControlGroup(self._limits), SandboxUser(), -1
        try:
            self._connection = self._server.connect(self._user.uid)
            self._pidfd = self._receive_pidfd(self._connection)
            self._group.add(self.pid)
            if self._limits.threads == 1:  # on the same core as this process: the two take turns
                with suppress(OSError):
                    os.sched_setaffinity(self.pid, os.sched_getaffinity(0))
            limits = limits_for_guest(self._limits, self.isolation, self.device, self._user.outside)
            config = {"limits": limits, "seed": self._seed}
            deadline = time.monotonic() + READY_SECONDS
            frames.send(self._connection, json.dumps(config).encode(), deadline=deadline)
            if (reply := self._receive(self._connection, deadline)).ending is not Ending.READY:
                raise IsolationError(f"an isolated child did not start: {plain(reply.head.decode())}")
        except (OSError, frames.FrameError, IsolationError) as error:
            self.kill()
            if isinstance(error, IsolationError):
                raise
            if not self._server.alive():
                raise ServerLost("the fork server died") from error
            raise IsolationError(f"an isolated child did not start: {error}. See `grader doctor`.") from error

    def _receive_pidfd(self, connection: socket.socket) -> int:
        """Receive the init's pidfd, a descriptor of its process, from the server's child, or raise IsolationError."""
        connection.settimeout(READY_SECONDS)
        first, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        if first == b"P" and descriptors:
            return descriptors[0]
        reason = connection.recv(200).decode("utf-8", "replace") if first == b"F" else "no answer"
        raise IsolationError(f"an isolated child did not start: {plain(reason)}. See `grader doctor`.")

    def _without_checkpoint(self, origin: Origin) -> bool:
        """Return True if the next cell runs without a checkpoint, which saves a fork of Python.

        Provided cells and answers rarely hang or die. If one does, the completed cells are replayed. So checkpoints
        are left out only while a replay would be quick, and only before the first replay.
        """
        return origin is not OWN and not self._replays and self._completed_seconds < QUICK_REPLAY_SECONDS

    def _send_order(
        self,
        op: str,
        request: dict,
        blob: bytes,
        seconds: float,
        *,
        group: str = "",
        trials: int = 1,
        in_place: bool = False,
    ) -> Reply:
        """Send an order to the init and return its first reply. Send nothing if there is no time left or no sandbox.

        Args:
            op: "cell" or "call".
            request: the cell or the probe, in the form that the interpreter reads.
            blob: the tensors of a probe's inputs.
            seconds: the time limit of the cell, or of each trial of the probe.
            group: probes with the same group share a fork.
            trials: the number of the probe's trials. `_next_reply` returns the replies after the first.
            in_place: run the cell without a checkpoint.
        """
        left = self._left()
        if left <= 0:
            return Reply(Ending.USED_UP)
        if self._connection is None:
            return Reply(Ending.OVER)
        self._allowed = min(seconds + (GPU_START_SECONDS if self.device == "cuda" else 0.0), left)
        text = json.dumps(request).encode()
        order = {
            "op": op,
            "group": group,
            "in_place": in_place,
            "seconds": self._allowed,
            "left": left,
            "trials": trials,
            "request": len(text),
        }
        try:
            frames.send(self._connection, json.dumps(order).encode(), text + blob, deadline=self._reply_deadline())
        except frames.FrameError as error:
            return self._broken(error)
        return self._next_reply()

    def _next_reply(self) -> Reply:
        """Wait for the init's reply to the last order, or to the next trial of its probe, and return it."""
        if self._connection is None:
            return Reply(Ending.OVER)
        self._allowed = min(self._allowed, max(self._left(), 0.0))
        try:
            return self._receive(self._connection, self._reply_deadline())
        except frames.FrameError as error:
            return self._broken(error)

    def _reply_deadline(self) -> float:
        """Return the time of time.monotonic() until which the init must send its next reply."""
        return time.monotonic() + LONGEST * self._allowed + GRACE_SECONDS

    def _broken(self, error: frames.FrameError) -> Reply:
        """End a sandbox whose init has failed, and return a reply about it. Raise ServerLost if the server died."""
        if isinstance(error, frames.Closed) and not self._server.alive():
            raise ServerLost("the fork server died") from error
        self.kill()
        return Reply(Ending.DIED, lost=True)

    def _receive(self, connection: socket.socket, deadline: float) -> Reply:
        """Receive and parse the init's next reply."""
        limits = self._limits
        max_body = limits.evidence_bytes + 9 * limits.cell_output_bytes + (16 << 20)
        header, body = frames.receive(connection, most_header=1 << 12, most_body=max_body, deadline=deadline)
        return parse_reply(header, body)

    def _kill_init(self) -> None:
        with suppress(OSError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _init_ends(self, *, within: float) -> bool:
        """Wait at most `within` seconds for the init to end. Return True if it has ended."""
        return bool(select.select([self._pidfd], [], [], within)[0])

    # ------------------------------------------------------------ replay

    def _retry_if_dead(self, send: Callable[[], Reply]) -> Reply:
        """Send an order and return its reply.

        If the last cell had killed the interpreter, replay all other cells and send the order again.
        """
        for _ in range(2):
            reply = send()
            if reply.ending is not Ending.NOT_BEGUN or not self._completed or not self._may_replay():
                break
            # The interpreter was dead before this order: something that the last cell left running killed it.
            self._completed.pop()
            self._replay()
        return reply

    def _may_replay(self) -> bool:
        """Return True if the submission has time left and has not used all its replays."""
        return self._replays < MAX_REPLAYS and self._left() > 0

    def _replay(self) -> None:
        """Start a new sandbox and run the completed cells in it.

        If one of the cells fails now, start again without it, as long as `_may_replay` returns True.
        """
        self.kill()
        while self._may_replay():
            self._replays += 1
            self._open()
            for index, (order, seconds) in enumerate(self._completed):
                reply = self._send_order("cell", order, b"", seconds)
                if reply.ending is not Ending.ANSWER:
                    # This cell succeeded before and fails now: replay again without it.
                    del self._completed[index]
                    self.kill()
                    break
            else:
                return
