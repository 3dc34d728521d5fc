"""Control groups: the kernel's limit on the memory and the processes of one sandbox, in total.

Where no group can be made (an ordinary user without delegation), the sandbox's init measures the memory every 50 ms and
enforces the limit itself (guest/meter.py).
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
    """A control group in each hierarchy that limits memory or processes; false where none could be made."""

    def __init__(self, limits: Limits) -> None:
        """Make the group and set its limits."""
        self._groups: list[Path] = []
        name = f"{NAME}-{os.getpid()}-{next(_number)}"
        for hierarchy, settings in _settings(limits).items():
            group = hierarchy / name
            try:
                group.mkdir()
                self._groups.append(group)
                for file, value in settings.items():
                    with suppress(FileNotFoundError):  # without swap accounting there is no file for swap
                        (group / file).write_text(value)
            except OSError:
                self.remove()
                return

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, pid: int) -> None:
        """Put a process, and every process that it starts later, into the group."""
        for group in self._groups:
            with suppress(OSError):
                (group / "cgroup.procs").write_text(str(pid))

    def used(self) -> int | None:
        """Return the bytes of memory charged to the group; None where there is no memory controller."""
        for group in self._groups:
            for file in ("memory.usage_in_bytes", "memory.current"):
                with suppress(OSError):
                    return int((group / file).read_text())
        return None

    def remove(self) -> None:
        """Remove the group once its processes have ended; a second call does nothing."""
        deadline = time.monotonic() + 2
        while self._groups and time.monotonic() < deadline:
            with suppress(OSError):
                self._groups[-1].rmdir()
            if not self._groups[-1].exists():
                self._groups.pop()
            else:
                time.sleep(0.002)
        self._groups = []


def remove_stale() -> None:
    """Remove the groups of graders that were killed."""
    for hierarchy in _hierarchies():
        for group in hierarchy.glob(f"{NAME}-*"):
            pid = group.name.split("-")[-2]
            if not os.path.exists(f"/proc/{pid}"):
                with suppress(OSError):
                    group.rmdir()


@cache
def available() -> bool:
    """Tell whether this process can make control groups, by making one."""
    group = ControlGroup(Limits())
    try:
        return bool(group)
    finally:
        group.remove()


def _settings(limits: Limits) -> dict[Path, dict[str, str]]:
    """Map each hierarchy to the files of a group in it and what is written to them."""
    memory, processes = str(limits.memory_bytes), str(limits.processes + 16)
    settings: dict[Path, dict[str, str]] = {}
    for hierarchy, controllers in _hierarchies().items():
        if controllers == "memory":
            settings[hierarchy] = {
                "memory.limit_in_bytes": memory,
                "memory.memsw.limit_in_bytes": memory,
            }
        elif controllers == "pids":
            settings[hierarchy] = {"pids.max": processes}
        else:
            settings[hierarchy] = {"memory.max": memory, "memory.swap.max": "0", "pids.max": processes}
    return settings


@cache
def _hierarchies() -> dict[Path, str]:
    """Map each folder in which a group can be made to its controllers: "both" (cgroup v2), "memory" or "pids" (v1)."""
    hierarchies: dict[Path, str] = {}
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        memberships = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return hierarchies
    own_groups = {controllers: path for _, controllers, path in memberships}
    for mount in mounts:
        _, mount_point, kind, options, *_ = mount.split()
        if kind == "cgroup":
            for controller in {"memory", "pids"} & set(options.split(",")):
                path = next(
                    (path for names, path in own_groups.items() if controller in names.split(",")), "/"
                )
                hierarchies[_own_group(mount_point, path)] = controller
        elif kind == "cgroup2":
            with suppress(OSError):
                delegated = (Path(mount_point) / "cgroup.subtree_control").read_text().split()
                if {"memory", "pids"} <= set(delegated):
                    hierarchies[Path(mount_point)] = "both"
    return {path: controllers for path, controllers in hierarchies.items() if os.access(path, os.W_OK)}


def _own_group(mount_point: str, path: str) -> Path:
    """Return this process's own group; in a container, where that path does not exist, the mount point."""
    own = Path(mount_point + path)
    return own if own.is_dir() else Path(mount_point)
