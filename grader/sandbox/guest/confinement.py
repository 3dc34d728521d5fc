"""Confines each child of the fork server: namespaces, scratch files, limits, Landlock, and a filter of system calls."""

import os
import resource
import tempfile
from dataclasses import dataclass, field

from guest import linux

MAX_TERMINALS = 16  # of one sandbox
MAX_PENDING_SIGNALS = 1024  # a limit that is counted for each user


@dataclass(frozen=True)
class Confinement:
    """The confinement of one fork server's children, as configured by the trusted side."""

    tier: str
    # In tier full the home of each child, /home/student, with its own scratch mounted there. In the lower
    # tiers the folder in which each child makes its home.
    home: str
    # Paths that Landlock lets children read and execute.
    read: tuple[str, ...]
    # Folders that Landlock lets children list, names alone.
    listed: tuple[str, ...]
    # Devices that Landlock lets children write.
    write: tuple[str, ...]
    # Compiled seccomp program; empty in tier none.
    filter: bytes
    # Folders below /tmp that must stay visible when scratch is mounted there.
    below_tmp: tuple[str, ...]
    device: str
    # Files that each home begins with: path below the home → content.
    initial_files: dict[str, bytes] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """True if the tier is full, so that each child has separate namespaces."""
        return self.tier == "full"

    def enter_namespaces(self, user: int) -> None:
        """Become the sandbox's user and, in tier full, enter new namespaces. The caller then forks the init.

        In tier full, the sandbox sees the user id of the fork server as its own, whatever `user` is.

        Args:
            user: the id of the user and of the group; 0 for those of the fork server.
        """
        inside = os.getuid(), os.getgid()
        if user:
            linux.become(user, user)
        if self.full:
            outside = os.getuid(), os.getgid()
            linux.unshare(linux.CLONE_NAMESPACES)
            linux.map_user(inside, outside)

    def prepare_home(self, limits: dict) -> str:
        """In the init: prepare this sandbox's home folder with its initial files, change to it, and return its path.

        In tier full, also mount the sandbox's own /proc and scratch files, and drop privileges. In the lower tiers, the
        home is a new folder, and the init adopts orphans, so that it can find all processes of the sandbox.
        """
        home = self.home
        if self.full:
            self._mount_scratch(limits)
        else:
            if os.path.isdir("/proc/self"):
                linux.adopt_orphans()
            # Others may make folders here, too: the name must not be one that they can guess.
            home = tempfile.mkdtemp(dir=self.home)
            os.mkdir(f"{home}/.tmp", 0o700)
            _move_home(self.home, home)
        for path, content in self.initial_files.items():
            os.makedirs(os.path.dirname(f"{home}/{path}"), exist_ok=True)
            with open(f"{home}/{path}", "wb") as file:
                file.write(content)
        os.chdir(home)
        if self.full:
            linux.drop_privileges()
        return home

    def _mount_scratch(self, limits: dict) -> None:
        """Mount this sandbox's own /proc, its terminals, and a file system of limited size.

        This file system contains the home, /tmp and /dev/shm.
        """
        linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
        linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
        # Files in scratch take memory, and remain after a return to the checkpoint: half of the memory must
        # remain free for the next cell.
        size = min(limits["scratch_bytes"], limits["memory_bytes"] // 2)
        options = f"size={size},nr_inodes={limits['scratch_files']},mode=700"
        linux.mount("tmpfs", self.home, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
        # The kernel has 3,072 terminals for all instances of devpts together.
        terminals = f"newinstance,ptmxmode=0666,mode=620,max={MAX_TERMINALS}"
        linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, terminals)
        # /tmp and /dev/shm lie in the same file system as the home, so that one limit holds for their sum.
        for name, target in ((".tmp", "/tmp"), (".shm", "/dev/shm")):
            source = f"{self.home}/{name}"
            os.mkdir(source, 0o700)
            for path in self.below_tmp if target == "/tmp" else ():
                inside = source + path.removeprefix("/tmp")
                if os.path.isdir(path):
                    os.makedirs(inside, exist_ok=True)
                    linux.bind(path, inside)
            linux.mount(source, target, flags=linux.MS_BIND | linux.MS_REC)

    def confine(self, limits: dict, home: str) -> None:
        """In the interpreter, before any student code runs: start a session and set limits.

        Except in tier none, also drop privileges, and install Landlock and the filter of system calls.
        """
        os.setsid()
        linux.first_to_be_killed()
        _set_limits(limits, address_space=self.device == "cpu")
        if self.tier == "none":
            return
        linux.drop_privileges()
        scratch = (home, "/tmp", "/dev/shm") if self.full else (home,)
        # When the driver starts it names a thread of its own, in a file there, and fails if it cannot.
        filled = ("/proc",) if self.device == "cuda" else ()
        linux.landlock(self.read, (*scratch, *self.write), self.listed, filled)
        linux.filter_calls(self.filter)


def _move_home(old: str, new: str) -> None:
    """Change the environment variables that contain a path in the old home to the same path in the new home."""
    for name, value in os.environ.items():
        if value == old or value.startswith(old + "/"):
            os.environ[name] = new + value.removeprefix(old)


def _set_limits(limits: dict, *, address_space: bool) -> None:
    """Set the resource limits of this process, which also apply to each process that it starts."""
    bounds = {
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_SIGPENDING": MAX_PENDING_SIGNALS,
        "RLIMIT_NOFILE": limits["open_files"],
        "RLIMIT_FSIZE": limits["scratch_bytes"],
        "RLIMIT_CPU": int(limits["cpu_seconds"]),
        "RLIMIT_NPROC": limits["processes"],
    }
    if address_space:  # one allocation that is too large then raises a MemoryError in the cell
        bounds["RLIMIT_AS"] = _address_space() + limits["memory_bytes"]
    for name, bound in bounds.items():
        if hasattr(resource, name):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            resource.setrlimit(kind, (bound, bound))


def _address_space() -> int:
    """Return the address space in use, in bytes, or 8 GiB if /proc does not show it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 8 << 30
