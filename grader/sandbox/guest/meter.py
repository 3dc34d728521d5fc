"""Measure the memory and the scratch files of a sandbox, in total over its processes."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count

from guest.frames import Ending
from guest.processes import descriptor_count, live_descendants, proportional_bytes, resident_bytes, sockets

TICK = 0.05  # seconds between two measurements
# Seconds between two measurements of scratch in the lower tiers, where a measurement reads the size of every file.
SCRATCH_TICK = 0.5
# Seconds without an exact measurement of memory after one that found no excess. The quick measurement overestimates: as
# long as its result exceeds the limit, an exact measurement, which takes longer, would otherwise follow at every tick.
EXACT_TICK = 4 * TICK
# Bytes that a socket may contain and that no process has read. This is memory of the kernel, which
# belongs to no process. The system-call filter keeps sandboxes from raising the limit.
SOCKET_BYTES = 212_992
# If less of the machine's memory is available than this share, and than these bytes, it is short: then a sandbox that
# takes more than half of its own, or has a crowd of processes, is stopped. The kernel's memory for a few processes is
# small, whatever they do.
SHORT, SHORT_BYTES, CROWD = 1 / 16, 1 << 30, 24


class Meter:
    """Measures a sandbox for its init, and reports if it exceeds its limit of memory or scratch files."""

    def __init__(self, home: str, limits: dict, *, own_namespace: bool) -> None:
        """Prepare without measuring.

        Args:
            own_namespace: the sandbox has its own /proc and file systems, as in tier full.
        """
        self._home, self._limits, self._own_namespace = home, limits, own_namespace
        self._next, self._next_scratch, self._next_exact = 0.0, 0.0, 0.0

    def due_excess(self) -> Ending | None:
        """Return the result of `excess`, but measure at most once per TICK. In between, return None."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + TICK
        return self.excess()

    def excess(self) -> Ending | None:
        """Measure. Return MEMORY or SCRATCH if the sandbox exceeds this limit, and None if it exceeds neither."""
        now, scratch = time.monotonic(), 0
        if self._own_namespace:
            # The file system itself limits scratch. It keeps the files in memory, so they count as memory.
            state = os.statvfs(self._home)
            scratch = (state.f_blocks - state.f_bfree) * state.f_frsize
        elif now >= self._next_scratch:
            self._next_scratch = now + SCRATCH_TICK
            size, files = _scratch_use(self._home, self._limits["scratch_files"])
            if size > self._limits["scratch_bytes"] or files > self._limits["scratch_files"]:
                return Ending.SCRATCH
        allowed = self._limits["memory_bytes"] - scratch
        pids = self.processes()
        short = memory_is_short()
        if short and len(pids) > CROWD:
            return Ending.MEMORY
        if short:
            allowed = min(allowed, self._limits["memory_bytes"] // 2)
        quick = sum(map(resident_bytes, pids)) + SOCKET_BYTES * self._at_most_sockets(pids)
        if quick > allowed and now >= self._next_exact:
            # Forks share most of their pages and all their sockets, so only this slow count is
            # exact. It reads one process after the other. If processes begin or end meanwhile, a
            # page may count twice. So the count is taken twice.
            if self._exact(pids) > allowed and self._exact(self.processes()) > allowed:
                return Ending.MEMORY
            self._next_exact = now + EXACT_TICK
        return None

    def _exact(self, pids: Iterable[int]) -> int:
        """Return the memory of processes and of their sockets in bytes, with each shared page counted only once."""
        return sum(map(proportional_bytes, pids)) + SOCKET_BYTES * self._sockets(pids)

    def _at_most_sockets(self, pids: Iterable[int]) -> int:
        """Return a number that is quick to count, and at least as large as the number of the sandbox's sockets."""
        return self._sockets(pids) if self._own_namespace else sum(map(descriptor_count, pids))

    def _sockets(self, pids: Iterable[int]) -> int:
        """Return the number of the sandbox's sockets.

        In tier full, these include sockets that no process has open, because one process is sending them to another.
        """
        if not self._own_namespace:
            return len(set().union(*map(sockets, pids)))
        with open("/proc/net/unix", "rb") as file:
            return file.read().count(b"\n")

    def processes(self) -> set[int]:
        """Return the ids of the sandbox's live processes, without its init."""
        return live_descendants(own_namespace=self._own_namespace)


def memory_is_short(path: str = "/proc/meminfo") -> bool:
    """Return True if this machine has little memory left, and False if that is unknown.

    Little means less than the share SHORT of its memory, and also less than SHORT_BYTES.
    """
    try:
        with open(path, "rb") as file:
            fields = {name: 1024 * int(value.split()[0]) for name, _, value in (line.partition(b":") for line in file)}
        return fields[b"MemAvailable"] < min(SHORT * fields[b"MemTotal"], SHORT_BYTES)
    except (OSError, KeyError):
        return False


def remove_scratch(folder: str, deadline: float) -> None:
    """Remove the folder for scratch files of a lower tier. Try repeatedly until the deadline.

    The trusted side removes the rest when the server ends.
    """
    names = (f"{folder}/.lifted-{number}" for number in count())
    while time.monotonic() < deadline:
        if _emptied(folder, names, deadline):
            os.rmdir(folder)
            return


def _emptied(folder: str, names: Iterator[str], deadline: float) -> bool:
    """Remove the content of a folder until the deadline. Return True if all of it is gone.

    Each nested folder is first moved up into this folder, under the next free path in `names`. So this needs no
    recursion, and no path becomes too long.
    """
    emptied = True
    todo = [folder]
    while todo and time.monotonic() < deadline:
        inner = todo.pop()
        try:
            with os.scandir(inner) as entries:
                for entry in list(entries):
                    if not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)
                    elif inner == folder:
                        todo.append(entry.path)
                    else:
                        path = next(names)
                        os.rename(entry.path, path)
                        todo.append(path)
            if inner != folder:
                os.rmdir(inner)
        except OSError:
            emptied = False
            with suppress(OSError):
                os.chmod(inner, 0o700)
    return emptied and not todo


def _scratch_use(folder: str, max_files: int) -> tuple[int, int]:
    """Return the bytes on disk and the number of files below a folder. Stop counting beyond `max_files`."""
    size = files = 0
    folders = [folder]
    while folders and files <= max_files:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, files
