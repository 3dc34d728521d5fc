"""What each interpreter is put into: namespaces, scratch, limits, Landlock, a system-call filter."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass, field

from guest import linux


@dataclass(frozen=True)
class Cage:
    """How children are caged in this tier; decided by the trusted side, once."""

    tier: str
    home: str  # scratch: /home/student; in the lower tiers a folder in which each child gets its own
    read: tuple[str, ...]  # Landlock: may be read and run
    write: tuple[str, ...]  # Landlock: devices that may be written
    filter: bytes  # compiled seccomp program; empty in tier none
    below_tmp: tuple[str, ...]  # what is shown below /tmp and must stay visible
    device: str
    warm: dict[str, bytes] = field(
        default_factory=dict
    )  # files to begin with, below the home: matplotlib's fonts

    @property
    def full(self) -> bool:
        return self.tier == "full"

    def enter_namespaces(self) -> None:
        """For the process that will fork the init."""
        if self.full:
            uid, gid = os.getuid(), os.getgid()
            linux.unshare(linux.CLONE_NAMESPACES)
            linux.map_self(uid, gid)

    def furnish(self, limits: dict) -> str:
        """In the init: this child's own /proc and scratch; returns its home."""
        home = self.home
        if self.full:
            self._mount(limits)
        else:
            if os.path.isdir("/proc/self"):
                linux.adopt_orphans()
            home = f"{self.home}/{os.getpid()}"
            os.makedirs(f"{home}/.tmp", 0o700)
            _move_home(self.home, home)
        for path, content in self.warm.items():
            os.makedirs(os.path.dirname(f"{home}/{path}"), exist_ok=True)
            with open(f"{home}/{path}", "wb") as file:
                file.write(content)
        os.chdir(home)
        if self.full:
            linux.drop_privileges()
        return home

    def _mount(self, limits: dict) -> None:
        linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
        linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
        # Files are memory, and stay when a cell is rolled back: they must leave room for the next one.
        most = min(limits["scratch_bytes"], limits["memory_bytes"] // 2)
        size = f"size={most},nr_inodes={limits['scratch_files']},mode=700"
        linux.mount("tmpfs", self.home, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, size)
        # One file system for all that can be written, so that one limit holds for the sum.
        for name, target in ((".tmp", "/tmp"), (".shm", "/dev/shm")):
            place = f"{self.home}/{name}"
            os.mkdir(place, 0o700)
            for path in self.below_tmp if target == "/tmp" else ():
                inside = place + path.removeprefix("/tmp")
                if os.path.isdir(path):
                    os.makedirs(inside, exist_ok=True)
                    linux.bind(path, inside)
            linux.mount(place, target, flags=linux.MS_BIND | linux.MS_REC)

    def confine(self, limits: dict, home: str) -> None:
        """In the interpreter, before anything of the student's runs."""
        os.setsid()
        _limit(limits, memory=self.device == "cpu")
        if self.tier == "none":
            return
        linux.drop_privileges()
        scratch = (home, "/tmp", "/dev/shm") if self.full else (home,)
        linux.landlock(self.read, (*scratch, *self.write))
        linux.filter_calls(self.filter)


def _move_home(old: str, new: str) -> None:
    """Environment variables that point below the old home point below the new one."""
    for name, value in os.environ.items():
        if value == old or value.startswith(old + "/"):
            os.environ[name] = new + value.removeprefix(old)


def _limit(limits: dict, *, memory: bool) -> None:
    bounds = {
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NOFILE": limits["open_files"],
        "RLIMIT_FSIZE": limits["scratch_bytes"],
        "RLIMIT_CPU": int(limits["cpu_seconds"]),
        "RLIMIT_NPROC": limits["processes"],
    }
    if memory:  # address space: a single allocation that is too large fails with a MemoryError, in the cell
        bounds["RLIMIT_AS"] = _address_space() + limits["memory_bytes"]
    for name, bound in bounds.items():
        if hasattr(resource, name):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            resource.setrlimit(kind, (bound, bound))


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 8 << 30
