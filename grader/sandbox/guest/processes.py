"""Reads information about a sandbox's processes from /proc, and ends processes.

Also measures how long a request had to wait for a core. The machine causes this
time, so it is not counted as the student's.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

GONE = "ZX"  # states of processes that have ended


def live_descendants(*, own_namespace: bool) -> set[int]:
    """Return the ids of the sandbox's live processes, without its init. Only the init calls this.

    Args:
        own_namespace: /proc shows only the sandbox's processes. If not, they are the init's descendants.
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
    """Return a process's anonymous and shared memory in bytes. Memory shared by n processes is counted in full."""
    return _sum_lines(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:"))


def proportional_bytes(pid: int) -> int:
    """Return a process's anonymous and shared memory in bytes. Of memory shared by n processes, 1/n is counted."""
    return _sum_lines(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) or resident_bytes(pid)


def descriptor_count(pid: int) -> int:
    """Return the number of a process's open descriptors.

    Returns:
        0 if the process has ended, and before Linux 6.2, which does not report this number.
    """
    try:
        return os.stat(f"/proc/{pid}/fd").st_size
    except OSError:
        return 0


def sockets(pid: int) -> set[str]:
    """Return the kernel's names for the sockets that a process has open."""
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
    """Send SIGKILL to the process of a pidfd. Do nothing if it has ended."""
    with suppress(OSError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _state_and_parent(pid: int) -> tuple[str, int]:
    """Return the letter of a process's state and its parent's id, or "X" and 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, IndexError):
        return "X", 0


def _sum_lines(path: str, names: tuple[bytes, ...]) -> int:
    """Return the sum of the lines of a /proc file that begin with one of `names`, in bytes.

    The lines are in kilobytes. Return 0 if the process has ended.
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
    """Measures how long a process waits for a core, without waiting caused by the sandbox's other processes."""

    def __init__(self, pid: int, processes: Callable[[], set[int]]) -> None:
        """Start measuring.

        Args:
            pid: the process that carries out the request.
            processes: returns the ids of the sandbox's live processes.
        """
        self._pid, self._processes = pid, processes
        self._before = waited_seconds(pid)
        # Once it has waited a little: when that was seen, the waiting until then, and the CPU time of all processes.
        self._since: tuple[float, float, float] | None = None

    def seconds(self) -> float:
        """Return the seconds in which the process was ready but a process outside the sandbox had its core.

        Return 0 if it waited less than LITTLE.
        """
        waited = waited_seconds(self._pid) - self._before
        if waited < LITTLE:
            return 0.0
        here = time.monotonic(), waited, self._cpu()
        self._since = self._since or here
        passed, waited, used = (now - before for now, before in zip(here, self._since, strict=True))
        return max(0.0, min(waited, passed - used))

    def _cpu(self) -> float:
        """Return the CPU time of the sandbox's processes in seconds, including processes that have ended."""
        ended = os.times()
        return sum(map(cpu_seconds, self._processes())) + ended.children_user + ended.children_system


def waited_seconds(pid: int | str) -> float:
    """Return the seconds in which a process's first thread was ready but had no core.

    Args:
        pid: the process, or "thread-self" for this thread.

    Returns:
        0 if the kernel does not report the time.
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its ended children in seconds, or 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0
