"""The fork server's process: started, spoken to, ended."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from typing import Any

from grader.execution import cgroup
from grader.execution.errors import IsolationError
from grader.execution.guest import frames
from grader.execution.sandbox_description import GUEST, HOME, UNPRIVILEGED, describe_sandbox
from grader.execution.seccomp import compile_filter
from grader.records import Limits

START = 120.0  # seconds until everything is imported, on a slow and busy machine


class ServerProcess:
    """One running fork server."""

    report: dict[str, Any]  # what it said when it was ready

    def __init__(self, tier: str, device: str = "cpu", *, trial: bool = False, wait: bool = True) -> None:
        """Start it.

        Args:
            wait: until it is ready; else `wait()` does.

        Raises:
            IsolationError: it did not start.
        """
        if not trial:
            cgroup.remove_stale()
        self.tier, self.device = tier, device
        self._ready = False
        self._scratch = "" if tier == "full" else _make_scratch()
        boot, server = describe_sandbox(tier, device, self._scratch or HOME)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        ours, theirs = socket.socketpair()
        self._control = ours
        server |= {"try": True, "limits": limits_for_guest(Limits(), tier)} if trial else {}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", str(GUEST / "boot.py"), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={"PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
            )
        with suppress(frames.FrameError):  # wait() sees it, and has its last words
            frames.send(ours, json.dumps(boot).encode())
            frames.send(ours, json.dumps(server).encode(), compile_filter(tier))
        if wait:
            self.wait()

    def wait(self) -> None:
        """Until everything is imported.

        Raises:
            IsolationError: it did not start.
        """
        try:
            header, _ = frames.receive(
                self._control, most_header=1 << 16, most_body=0, deadline=time.monotonic() + START
            )
            self.report = json.loads(header)
        except frames.FrameError as error:
            self.report = {"error": self._last_words() or str(error)}
        if "error" in self.report:
            self.close()
            raise IsolationError(f"the sandbox did not start: {self.report['error']}. See `grader doctor`.")
        self._ready = True

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def connect(self) -> socket.socket:
        """A connection whose other end is handed to a new child.

        Raises:
            OSError: the server is gone.
        """
        return _connect(self._control)

    def shared(self) -> socket.socket:
        """What another process speaks to it through; it is the caller's to close."""
        return self._control.dup()

    def close(self) -> None:
        """End it, with all its children; idempotent."""
        self._control.close()  # the server's end of file
        if not self._ready:  # it imports, and would not see it for seconds
            self._process.kill()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        if self._scratch:
            _remove_scratch(self._scratch)
            self._scratch = ""

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 4000))
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


class SharedServer:
    """A running fork server that another process started, and will end."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def alive(self) -> bool:
        return not select.select([self._control], [], [], 0)[0]  # it says nothing more but its end

    def connect(self) -> socket.socket:
        """As `ServerProcess.connect`."""
        return _connect(self._control)

    def close(self) -> None:
        self._control.close()


def _connect(control: socket.socket) -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            socket.send_fds(control, [b"S"], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
    return ours


def attempt(tier: str) -> str:
    """Try out a tier on this machine; why it does not work, or empty."""
    try:
        ServerProcess(tier, trial=True).close()
    except IsolationError as error:
        return str(error).removeprefix("the sandbox did not start: ").removesuffix(". See `grader doctor`.")
    return ""


def limits_for_guest(limits: Limits, tier: str, device: str = "cpu") -> dict:
    """The limits as the guest reads them."""
    names = (
        "memory_bytes",
        "gpu_memory_bytes",
        "open_files",
        "scratch_bytes",
        "scratch_files",
        "cpu_seconds",
        "cell_output_bytes",
        "output_bytes",
        "evidence_bytes",
        "threads",
        "processes",
    )
    given = {name: getattr(limits, name) for name in names}
    if tier != "full":
        given["processes"] += _tasks_of_user()
    return {**given, "landlock": tier != "none", "cuda": device == "cuda"}


def _tasks_of_user() -> int:
    """Without a user namespace the kernel counts all processes of the user, not those of the sandbox."""
    uid = UNPRIVILEGED if os.getuid() == 0 else os.getuid()
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _make_scratch() -> str:
    folder = tempfile.mkdtemp(prefix="grader-scratch-")
    os.mkdir(f"{folder}/home", 0o700)
    if os.getuid() == 0:
        os.chown(f"{folder}/home", UNPRIVILEGED, UNPRIVILEGED)
    os.chmod(folder, 0o755)
    return f"{folder}/home"


def _remove_scratch(home: str) -> None:
    """The sandbox's init has emptied it; if it could not, rm does, which follows no link and knows no depth."""
    folder = os.path.dirname(home)
    if rm := shutil.which("rm"):
        subprocess.run([rm, "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
    else:
        shutil.rmtree(folder, ignore_errors=True)
