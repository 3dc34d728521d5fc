"""The Linux calls that Python has no function for, through ctypes.

Most of them cannot be undone and hold for one thread: they are for a freshly forked process without threads.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

# Nothing here is called on another system, but the grader's other commands work there too.
libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x0002_0000, 0x0200_0000, 0x0400_0000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000
CLONE_ALL_BUT_USER = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
CLONE_NAMESPACES = CLONE_ALL_BUT_USER | CLONE_NEWUSER

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

# Numbers that all architectures share: calls newer than Linux 5.1 are numbered alike everywhere.
SYS_MOUNT_SETATTR, SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 442, 444, 445, 446
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
MACHINE = platform.machine()


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


# ---------------------------------------------------------------- namespaces and mounts


def unshare(flags: int) -> None:
    """Leave the namespaces that flags name, for new ones."""
    _check(libc.unshare(flags), "new namespaces")


def map_self(uid: int, gid: int) -> None:
    """In a new user namespace: be the user that one was."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2)."""
    result = libc.mount(_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(data))
    _check(result, f"mount {target}")


def bind(source: str, target: str, *, read_only: bool = True, devices: bool = False) -> None:
    """Show source at target, with everything mounted below it."""
    mount(source, target, flags=MS_BIND | MS_REC)
    protect(target, MS_NOSUID | (MS_RDONLY if read_only else 0) | (0 if devices else MS_NODEV))


def protect(target: str, flags: int, *, below: bool = True) -> None:
    """Add flags such as MS_RDONLY to a mount, and to all mounts below it."""
    attributes = struct.pack("=QQQQ", flags, 0, 0, 0)
    at_fdcwd, at_recursive = -100, 0x8000
    result = libc.syscall(
        SYS_MOUNT_SETATTR, at_fdcwd, _bytes(target), at_recursive if below else 0, attributes, len(attributes)
    )
    _check(result, f"protect {target}")


def pivot_root(new: str, old: str) -> None:
    """Make new the root, and put the old root at old."""
    _check(libc.syscall(SYS_PIVOT_ROOT[MACHINE], _bytes(new), _bytes(old)), f"pivot_root {new}")


def unmount(target: str) -> None:
    """Take a mount away, with everything below it, also when it is in use."""
    _check(libc.umount2(_bytes(target), MNT_DETACH), f"unmount {target}")


def use_huge_pages() -> None:
    """Put this process's memory into pages of 2 MiB: a fork copies a page table of a few hundred entries then.

    Measured on 295 MiB: fork and exit of the child 6 ms rather than 17. Where the kernel does not know how
    (before 6.1), nothing happens.
    """
    huge, advice_huge, advice_collapse = 2 << 20, 14, 25
    with open("/proc/self/maps") as file:
        lines = [line.split() for line in file]
    for where, rights, _, _, _, *name in lines:
        start, stop = (int(text, 16) for text in where.split("-"))
        start, stop = -(-start // huge) * huge, stop // huge * huge
        if rights == "rw-p" and start < stop and name in ([], ["[heap]"]):
            for advice in (advice_huge, advice_collapse):
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), advice)


# ---------------------------------------------------------------- privileges


def prctl(option: int, value: int = 0) -> None:
    """prctl(2) with one argument."""
    _check(libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3), f"prctl {option}")


def die_with_parent() -> None:
    """Be killed when the parent dies. A parent that died just before is not noticed: look at getppid()."""
    prctl(1, 9)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent died, and no longer pid 1."""
    prctl(36, 1)


def drop_privileges() -> None:
    """No capability, now or after an exec, and no set-uid program that gives one."""
    prctl(38, 1)  # no new privileges
    for capability in range(64):
        if libc.prctl(24, capability, 0, 0, 0) < 0:  # not in the bounding set either
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _check(libc.syscall(SYS_CAPSET[MACHINE], header, (ctypes.c_uint32 * 6)()), "drop capabilities")


def filter_calls(program: bytes) -> None:
    """Install a compiled seccomp filter on this thread and those it will start."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    buffer = ctypes.create_string_buffer(program, len(program))
    prctl(38, 1)
    given = Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _check(libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(given), 0, 0), "system-call filter")


# ---------------------------------------------------------------- Landlock

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE


def landlock_version() -> int:
    """The version of Landlock's interface; 0 where there is none."""
    return max(0, libc.syscall(SYS_LANDLOCK_CREATE, None, 0, 1)) if libc else 0


def landlock(read: tuple[str, ...], write: tuple[str, ...]) -> None:
    """From now on: read and run beneath `read`, everything beneath `write`, nothing else.

    Where the kernel knows how, also: no TCP, no signals and no abstract sockets to processes outside.
    """
    version = landlock_version()
    everything = 0x1FFF | (0x2000 if version >= 2 else 0)
    everything |= (TRUNCATE if version >= 3 else 0) | (IOCTL_DEVICE if version >= 5 else 0)
    fields = (everything, *([3] if version >= 4 else []), *([3] if version >= 6 else []))
    ruleset = struct.pack(f"={len(fields)}Q", *fields)
    rules = _check(libc.syscall(SYS_LANDLOCK_CREATE, ruleset, len(ruleset), 0), "Landlock")
    for paths, access in ((read, EXECUTE | READ_FILE | READ_DIR), (write, everything)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # what is not there needs no permission
            allowed = access if os.path.isdir(path) else access & ON_FILES
            rule = struct.pack("=QI", allowed, place)
            _check(libc.syscall(SYS_LANDLOCK_ADD, rules, 1, rule, 0), f"Landlock {path}")
            os.close(place)
    prctl(38, 1)
    _check(libc.syscall(SYS_LANDLOCK_RESTRICT, rules, 0), "Landlock")
    os.close(rules)


def landlock_apart() -> None:
    """No signals to the processes that this one was forked from: for a probe that may be hostile."""
    if landlock_version() < 6:
        return
    ruleset = struct.pack("=QQQ", 0, 0, 2)
    rules = _check(libc.syscall(SYS_LANDLOCK_CREATE, ruleset, len(ruleset), 0), "Landlock")
    _check(libc.syscall(SYS_LANDLOCK_RESTRICT, rules, 0), "Landlock")
    os.close(rules)
