"""Measure how long one request had to wait for a core: that is the machine's time, and does not count as the student's."""

import os
import time
from collections.abc import Callable

LITTLE = 0.25  # seconds of waiting that are not worth a look at what the sandbox itself took meanwhile
LOOK = 0.5  # seconds between two looks
LONGEST = 10.0  # times its time limit that a request may take by the clock, however long it waited


class Waiting:
    """The waiting of one process, less what the sandbox's other processes took from it meanwhile."""

    def __init__(self, pid: int, processes: Callable[[], set[int]]) -> None:
        """Begin to measure process `pid`, which carries out the request; `processes` returns the sandbox's live ones."""
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
    """Return how long a process's first thread, or this one for "thread-self", was ready and had no core; 0 if unknown."""
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
