"""Control groups: the kernel limits the memory and the processes of a whole sandbox, and shares the CPU fairly.

In every sandbox the init also measures the memory, every 50 ms, and enforces the limit (guest/meter.py). If this
process cannot create a group, as an ordinary user without delegation cannot, that measurement is the only memory limit.
"""

import os
import time
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from grader.records import Limits

NAME = "attention-grader"
OWN_PROCESSES = "grader-processes"
_number = count()


class ControlGroup:
    """The control groups of one sandbox, one in each hierarchy. It is false if no group could be created."""

    def __init__(self, limits: Limits) -> None:
        """Create the groups and set their limits. If one of them cannot be created, remove all."""
        self._groups: list[Path] = []
        name = f"{NAME}-{os.getpid()}-{next(_number)}"
        for hierarchy, settings in _settings(limits).items():
            group = hierarchy / name
            try:
                group.mkdir()
                self._groups.append(group)
                for file, value in settings.items():
                    with suppress(FileNotFoundError):  # a kernel without swap accounting has no file for swap
                        (group / file).write_text(value)
            except OSError:
                self.remove()
                return

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, pid: int) -> None:
        """Put a process into the groups. All processes that it starts later are in them, too."""
        for group in self._groups:
            with suppress(OSError):
                (group / "cgroup.procs").write_text(str(pid))

    def used(self) -> int | None:
        """Return the memory that the sandbox uses now, in bytes, or None if no group limits memory."""
        for group in self._groups:
            for file in ("memory.usage_in_bytes", "memory.current"):
                with suppress(OSError):
                    return int((group / file).read_text())
        return None

    def remove(self) -> None:
        """Remove the groups. Wait at most 2 s until their processes have ended. A second call does nothing."""
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
    """Remove groups left by grader processes that no longer exist, because they were killed."""
    for hierarchy in _hierarchies():
        for group in hierarchy.glob(f"{NAME}-*"):
            pid = group.name.split("-")[-2]
            if not os.path.exists(f"/proc/{pid}"):
                with suppress(OSError):
                    group.rmdir()


@cache
def available() -> bool:
    """Return True if this process can create control groups. To find out, create one and remove it."""
    group = ControlGroup(Limits())
    try:
        return bool(group)
    finally:
        group.remove()


def _settings(limits: Limits) -> dict[Path, dict[str, str]]:
    """Return the settings of a new group in each hierarchy: file name → text to write into this file."""
    memory, processes = str(limits.memory_bytes), str(limits.processes + 16)
    settings = {
        "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
        "pids": {"pids.max": processes},
        "cpu": {},  # all processes of a group together have the weight of one
        "both": {"memory.max": memory, "memory.swap.max": "0", "pids.max": processes},
    }
    return {hierarchy: settings[controllers] for hierarchy, controllers in _hierarchies().items()}


@cache
def _hierarchies() -> dict[Path, str]:
    """Return the folders in which this process can create groups, with their controllers.

    The controllers are "both" (cgroup v2), "memory", "pids" or "cpu" (cgroup v1). Return {} if there is no such folder.
    """
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
            for controller in {"memory", "pids", "cpu"} & set(options.split(",")):
                path = next((path for names, path in own_groups.items() if controller in names.split(",")), "/")
                own = Path(mount_point + path)  # in a container that folder may not exist
                hierarchies[own if own.is_dir() else Path(mount_point)] = controller
        elif kind == "cgroup2":
            for group in (Path(mount_point), prepare_delegated(Path(mount_point + own_groups.get("", "/")))):
                with suppress(OSError):
                    shared = (group / "cgroup.subtree_control").read_text().split()
                    if {"memory", "pids"} <= set(shared):
                        hierarchies[group] = "both"
    return {path: controllers for path, controllers in hierarchies.items() if os.access(path, os.W_OK)}


def prepare_delegated(own: Path) -> Path:
    """Prepare this process's cgroup v2 group for groups below it, if systemd delegated the group. Return the group.

    `systemd-run --user --scope -p Delegate=yes` delegates one. A group whose children have limits must not contain
    processes itself, so its processes are moved into a child.
    """
    if own.name == OWN_PROCESSES:  # this process, or the one that started it, has moved
        return own.parent
    with suppress(OSError, AttributeError):  # not delegated; not Linux
        if os.getxattr(own, "user.delegate") == b"1":
            wanted = {"memory", "pids", "cpu"} & set((own / "cgroup.controllers").read_text().split())
            child = own / OWN_PROCESSES
            child.mkdir(exist_ok=True)
            for pid in (own / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    (child / "cgroup.procs").write_text(pid)
            (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(wanted)))
    return own
