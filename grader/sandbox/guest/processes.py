"""Reads the processes of a sandbox from /proc, and ends them.

It also tells how long a request had to wait for a core. That is the machine's time, and does not count as the
student's.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

GONE = "ZX"  # states of processes that have ended


def live_descendants(*, own_namespace: bool) -> set[int]:
    """Return the ids of the sandbox's live processes, without its init, which calls this.

    If `own_namespace`, /proc shows the sandbox's processes alone; else they are the init's descendants.
    """
    me = os.getpid()
    states = {int(name): _state_and_parent(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    if own_namespace:
        descendants = set(states)
    else:
        descendants, grows = {me}, True
        while grows:
            children = {pid for pid, (_, parent) in states.items() if parent in descendants} - descendants
            descendants |= children
            grows = bool(children)
    return {pid for pid in descendants if pid != me and states[pid][0] not in GONE}


def resident_bytes(pid: int) -> int:
    """Return a process's anonymous and shared memory in bytes; memory shared by n processes counts fully."""
    return _sum_lines(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:"))


def proportional_bytes(pid: int) -> int:
    """Return a process's anonymous and shared memory in bytes; memory shared by n processes counts as 1/n."""
    return _sum_lines(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) or resident_bytes(pid)


def descriptor_count(pid: int) -> int:
    """Return how many descriptors a process has open.

    Returns:
        0 before Linux 6.2, which does not count them, and if it has ended.
    """
    try:
        return os.stat(f"/proc/{pid}/fd").st_size
    except OSError:
        return 0


def sockets(pid: int) -> set[str]:
    """Return the names that the kernel has for the sockets that a process has open."""
    found = set()
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                found.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    return {name for name in found if name.startswith("socket:")}


def open_descriptors() -> set[int]:
    """Return the file descriptors that are open in this process."""
    descriptors: set[int] = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            os.fstat(int(name))
            descriptors.add(int(name))
    return descriptors


def reap() -> None:
    """Collect the exit statuses of all children that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def kill(pidfd: int) -> None:
    """Send SIGKILL to the process of a pidfd, unless it has ended."""
    with suppress(OSError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _state_and_parent(pid: int) -> tuple[str, int]:
    """Return the letter of a process's state and its parent's id; "X" and 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, IndexError):
        return "X", 0


def _sum_lines(path: str, names: tuple[bytes, ...]) -> int:
    """Add up the lines of a /proc file that begin with `names`, and return bytes.

    The lines are in kilobytes. Returns 0 if the process has ended.
    """
    try:
        with open(path, "rb") as file:
            return sum(1024 * int(line.split()[1]) for line in file if line.startswith(names))
    except (OSError, ValueError):
        return 0


LITTLE = 0.25  # seconds of waiting that are not worth a look at what the sandbox itself took meanwhile
LOOK = 0.5  # seconds between two looks
LONGEST = 10.0  # times its time limit that a request may take by the clock, however long it waited


class Waiting:
    """The waiting of one process, less what the sandbox's other processes took from it meanwhile."""

    def __init__(self, pid: int, processes: Callable[[], set[int]]) -> None:
        """Begin to measure the process that carries out the request.

        Args:
            pid: the process.
            processes: returns the ids of the sandbox's live processes.
        """
        self._pid, self._processes = pid, processes
        self._before = waited_seconds(pid)
        # Once it has waited a little: when that was seen, the waiting until then, and the CPU time of all processes.
        self._since: tuple[float, float, float] | None = None

    def seconds(self) -> float:
        """Return how long the process was ready while processes outside of the sandbox had its core; 0 below LITTLE."""
        waited = waited_seconds(self._pid) - self._before
        if waited < LITTLE:
            return 0.0
        here = time.monotonic(), waited, self._cpu()
        self._since = self._since or here
        passed, waited, used = (now - before for now, before in zip(here, self._since, strict=True))
        return max(0.0, min(waited, passed - used))

    def _cpu(self) -> float:
        """Return the CPU seconds of the sandbox's processes, also of those that have ended."""
        ended = os.times()
        return sum(map(cpu_seconds, self._processes())) + ended.children_user + ended.children_system


def waited_seconds(pid: int | str) -> float:
    """Return how long a process's first thread, or this one for "thread-self", was ready and had no core.

    Returns:
        0 if unknown.
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, and of its children that have ended; 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0
