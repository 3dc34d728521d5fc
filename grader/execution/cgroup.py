"""A control group for one sandbox: a hard limit on memory and processes in total, where the machine allows it.

Where it does not (an ordinary user without delegation), the init's own count every 50 ms is the limit.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from grader.records import Limits

NAME = "attention-grader"
_number = count()


class ControlGroup:
    """One group in each hierarchy that has the controllers."""

    def __init__(self, limits: Limits) -> None:
        self._places: list[Path] = []
        name = f"{NAME}-{os.getpid()}-{next(_number)}"
        for place, settings in _settings(limits).items():
            group = place / name
            try:
                group.mkdir()
                self._places.append(group)
                for file, value in settings.items():
                    with suppress(FileNotFoundError):  # without swap accounting there is no file for swap
                        (group / file).write_text(value)
            except OSError:
                self.remove()
                return

    def __bool__(self) -> bool:
        return bool(self._places)

    def add(self, pid: int) -> None:
        """Put a process, and all that it will start, into the group."""
        for group in self._places:
            with suppress(OSError):
                (group / "cgroup.procs").write_text(str(pid))

    def used(self) -> int | None:
        """Bytes that the group's processes took for themselves; None where nobody counts."""
        for group in self._places:
            for file in ("memory.usage_in_bytes", "memory.current"):
                with suppress(OSError):
                    return int((group / file).read_text())
        return None

    def remove(self) -> None:
        """Take the group away once its processes are gone; idempotent."""
        deadline = time.monotonic() + 2
        while self._places and time.monotonic() < deadline:
            with suppress(OSError):
                self._places[-1].rmdir()
            if not self._places[-1].exists():
                self._places.pop()
            else:
                time.sleep(0.002)
        self._places = []


def remove_stale() -> None:
    """Take away what a killed grader left behind."""
    for place in _places():
        for group in place.glob(f"{NAME}-*"):
            pid = group.name.split("-")[-2]
            if not os.path.exists(f"/proc/{pid}"):
                with suppress(OSError):
                    group.rmdir()


@cache
def available() -> bool:
    """Whether groups can be made here."""
    group = ControlGroup(Limits())
    try:
        return bool(group)
    finally:
        group.remove()


def _settings(limits: Limits) -> dict[Path, dict[str, str]]:
    memory, processes = str(limits.memory_bytes), str(limits.processes + 16)
    found: dict[Path, dict[str, str]] = {}
    for place, version in _places().items():
        if version == "memory":
            found[place] = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
        elif version == "pids":
            found[place] = {"pids.max": processes}
        else:
            found[place] = {"memory.max": memory, "memory.swap.max": "0", "pids.max": processes}
    return found


@cache
def _places() -> dict[Path, str]:
    """Where groups can be made: of cgroup v2 ("both"), or of v1 ("memory", "pids")."""
    found: dict[Path, str] = {}
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        mine = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return found
    own = {names: path for _, names, path in mine}
    for line in mounts:
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup":
            for controller in {"memory", "pids"} & set(options.split(",")):
                path = next((path for names, path in own.items() if controller in names.split(",")), "/")
                found[_existing(place, path)] = controller
        elif kind == "cgroup2":
            with suppress(OSError):
                if {"memory", "pids"} <= set((Path(place) / "cgroup.subtree_control").read_text().split()):
                    found[Path(place)] = "both"
    return {path: kind for path, kind in found.items() if os.access(path, os.W_OK)}


def _existing(place: str, path: str) -> Path:
    own = Path(place + path)
    return own if own.is_dir() else Path(place)
