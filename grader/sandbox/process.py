"""The process of a fork server: start it, communicate with it, and end it."""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from grader.records import Limits
from grader.sandbox import cgroup, reservations
from grader.sandbox.errors import IsolationError
from grader.sandbox.guest import frames
from grader.sandbox.reservations import shared_user
from grader.sandbox.sandbox_description import GUEST, HOME, describe_sandbox
from grader.sandbox.seccomp import compile_filter

START_SECONDS = 120.0  # until everything is imported, on a slow and busy machine


class ServerProcess:
    """A fork server that this process has started and will end."""

    # What the server reported when it was ready: seconds and versions.
    report: dict[str, Any]

    def __init__(self, tier: str, device: str = "cpu", *, trial: bool = False, wait: bool = True) -> None:
        """Start the server.

        Args:
            trial: start a server that only tests if the tier works on this machine, and then ends.
            wait: return when the server is ready. If False, the caller must call `wait()`.

        Raises:
            IsolationError: the server did not start.
        """
        if not trial:
            cgroup.remove_stale()
            reservations.remove_stale()
        self.tier, self.device = tier, device
        self._ready = False
        self._scratch = None if tier == "full" else reservations.Scratch()
        boot, server = describe_sandbox(tier, device, self._scratch.home if self._scratch else HOME)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self.control, server_end = socket.socketpair()
        server |= {"trial": trial, "limits": limits_for_guest(Limits(), tier)}
        with server_end:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", str(GUEST / "boot.py"), str(server_end.fileno())],
                pass_fds=[server_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={"PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
            )
        with suppress(frames.FrameError):  # wait() notices that the server has ended, and reads its log
            frames.send(self.control, json.dumps(boot).encode())
            frames.send(self.control, json.dumps(server).encode(), compile_filter(tier, device))
        if wait:
            self.wait()

    def wait(self) -> None:
        """Wait until the server has imported everything. Return at once if it is ready already, or was closed.

        Raises:
            IsolationError: the server did not start.
        """
        if self._ready or self.control.fileno() < 0:
            return
        try:
            deadline = time.monotonic() + START_SECONDS
            header, _ = frames.receive(self.control, most_header=1 << 16, most_body=0, deadline=deadline)
            self.report = json.loads(header)
        except frames.FrameError as error:
            self.report = {"error": self._last_line_of_log() or str(error)}
        if "error" in self.report:
            self.close()
            raise IsolationError(f"the sandbox did not start: {self.report['error']}. See `grader doctor`.")
        self._ready = True

    @property
    def pid(self) -> int:
        """The process id of the server's outermost process."""
        return self._process.pid

    def alive(self) -> bool:
        """Return True if the server is running."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the server with all its children. A second call does nothing."""
        self.control.close()  # the server notices this and exits
        if not self._ready:  # the server is still importing, and would notice only seconds later
            self._process.kill()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        if self._scratch:
            self._scratch.remove()

    def _last_line_of_log(self) -> str:
        """Return the last line that the server printed, which may explain why it ended, or "" if it printed nothing."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 4000))
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


class SharedServer:
    """A fork server that another process has started and will end."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control

    def alive(self) -> bool:
        """Return True if the server is running. Return False, too, if this copy of the socket was closed.

        A server sends nothing after it is ready, so only its end makes the socket readable.
        """
        return self.control.fileno() >= 0 and not select.select([self.control], [], [], 0)[0]

    def wait(self) -> None:
        """Return at once, because a server is shared only after it is ready."""

    def close(self) -> None:
        """Close this copy of the control socket. The server keeps running."""
        self.control.close()


def try_tier(tier: str) -> str:
    """Try to isolate a child in a tier on this machine. Return the reason if this fails, or "" if it works."""
    try:
        ServerProcess(tier, trial=True).close()
    except IsolationError as error:
        return str(error).removeprefix("the sandbox did not start: ").removesuffix(". See `grader doctor`.")
    return ""


def limits_for_guest(limits: Limits, tier: str, device: str = "cpu", user: int | None = None) -> dict:
    """Return the limits in the form that the guest enforces: a dict for JSON.

    The dict also states whether the sandbox uses Landlock and CUDA. Below tier full, the kernel counts all processes of
    the sandbox's user. So the number of processes that this user already runs is added to the limit.

    Args:
        user: the id of the sandbox's user; None for the user of the fork server.
    """
    fields = asdict(limits)
    if tier != "full":
        fields["processes"] += _tasks_of(shared_user() if user is None else user)
    return {**fields, "landlock": tier != "none", "cuda": device == "cuda"}


def _tasks_of(uid: int) -> int:
    """Return the number of a user's threads, including those outside the sandbox, or 0 if there is no /proc.

    RLIMIT_NPROC counts the same threads if there is no user namespace.
    """
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
