"""Linux system calls for which Python has no function, called through ctypes.

Most of them cannot be undone and apply to one thread only. Call them in a newly forked process without other threads.
"""

import ctypes
import os
import platform
import struct
import sys
from contextlib import suppress

# On other systems nothing here is called, but the grader imports this module there too.
if sys.platform == "linux":
    libc = ctypes.CDLL(None, use_errno=True)
else:
    libc = None

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x0002_0000, 0x0200_0000, 0x0400_0000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000
CLONE_ALL_BUT_USER = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
CLONE_NAMESPACES = CLONE_ALL_BUT_USER | CLONE_NEWUSER

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25

PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 4, 8, 47, 2
CAP_SETGID, CAP_SETUID = 6, 7
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = (1, 22, 24, 36, 38)
SIGKILL, SECCOMP_MODE_FILTER, CAPABILITY_VERSION_3 = 9, 2, 0x20080522

# System calls newer than Linux 5.1 have the same number on all architectures.
SYS_MOUNT_SETATTR, SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 442, 444, 445, 446
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
MACHINE = platform.machine()


def _check(result: int, what: str) -> int:
    """Return the result of a system call.

    Raises:
        OSError: the call failed. The message contains `what`.
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _bytes(text: str | None) -> bytes | None:
    """Encode a path for a system call. Return None for None."""
    return None if text is None else os.fsencode(text)


# ---------------------------------------------------------------- namespaces and mounts


def unshare(flags: int) -> None:
    """Enter new namespaces of the types in `flags`."""
    _check(libc.unshare(flags), "new namespaces")


def map_user(inside: tuple[int, int], outside: tuple[int, int]) -> None:
    """Map a user id and a group id into the new user namespace that this process has entered.

    Args:
        inside: the two ids as seen inside the namespace.
        outside: the two ids of the process that called unshare.
    """
    maps = (("uid_map", inside[0], outside[0]), ("gid_map", inside[1], outside[1]))
    with open("/proc/self/setgroups", "w") as file:
        file.write("deny")
    for name, within, without in maps:
        with open(f"/proc/self/{name}", "w") as file:
            file.write(f"{within} {without} 1")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """Call mount(2).

    Args:
        kind: the type of the file system.
        flags: the sum of MS_ constants.
        data: the options of the file system.
    """
    result = libc.mount(_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(data))
    _check(result, f"mount {target}")


def bind(source: str, target: str, *, read_only: bool = True, devices: bool = False) -> None:
    """Make source, with everything mounted below it, also visible at target.

    Programs at target never gain set-uid rights. Device nodes there work only with `devices`.
    """
    mount(source, target, flags=MS_BIND | MS_REC)
    protect(target, MS_NOSUID | (MS_RDONLY if read_only else 0) | (0 if devices else MS_NODEV))


def protect(target: str, flags: int, *, below: bool = True) -> None:
    """Add flags such as MS_RDONLY to a mount and, with `below`, to all mounts below it."""
    attributes = struct.pack("=QQQQ", flags, 0, 0, 0)
    recursive = AT_RECURSIVE if below else 0
    result = libc.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, _bytes(target), recursive, attributes, len(attributes))
    _check(result, f"protect {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root, and mount the old root at `old`."""
    _check(libc.syscall(SYS_PIVOT_ROOT[MACHINE], _bytes(new), _bytes(old)), f"pivot_root {new}")


def unmount(target: str) -> None:
    """Detach a mount and all mounts below it. Processes that still use them can continue to do so."""
    _check(libc.umount2(_bytes(target), MNT_DETACH), f"unmount {target}")


def use_huge_pages() -> None:
    """Move this process's memory into pages of 2 MiB, so that a fork copies a page table of a few hundred entries.

    Measured with 295 MiB, fork and exit of the child take 6 ms instead of 17. Kernels before 6.1 cannot move
    memory into such pages, so there this has no effect.
    """
    huge = 2 << 20
    with open("/proc/self/maps") as file:
        lines = [line.split() for line in file]
    for addresses, rights, _, _, _, *name in lines:
        start, stop = (int(text, 16) for text in addresses.split("-"))
        start, stop = -(-start // huge) * huge, stop // huge * huge
        if rights == "rw-p" and start < stop and name in ([], ["[heap]"]):
            for advice in (MADV_HUGEPAGE, MADV_COLLAPSE):
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), advice)


# ---------------------------------------------------------------- privileges


def prctl(option: int, value: int = 0) -> None:
    """Call prctl(2) with one argument."""
    _check(libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3), f"prctl {option}")


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent dies. This has no effect if the parent is already dead."""
    prctl(PR_SET_PDEATHSIG, SIGKILL)


def adopt_orphans() -> None:
    """Make this process, instead of pid 1, the parent of each descendant whose parent has died."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Prevent this process from gaining privileges by executing a set-uid program."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def become(uid: int, gid: int, *, keep: tuple[int, ...] = ()) -> None:
    """Change the user and the group for good. Keep only the capabilities in `keep`, even after a later exec."""
    if keep:
        prctl(PR_SET_KEEPCAPS, 1)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    prctl(PR_SET_DUMPABLE, 1)  # else /proc/self would belong to root until the next exec
    set_capabilities(keep)
    for capability in keep:
        result = libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, ctypes.c_ulong(capability), 0, 0)
        _check(result, f"keep capability {capability}")


def set_capabilities(capabilities: tuple[int, ...]) -> None:
    """Keep only these capabilities of this thread."""
    mask = sum(1 << capability for capability in capabilities)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    low, high = mask & 0xFFFF_FFFF, mask >> 32
    sets = (ctypes.c_uint32 * 6)(low, low, low, high, high, high)  # effective, permitted, inheritable
    _check(libc.syscall(SYS_CAPSET[MACHINE], header, sets), "set capabilities")


def allow_many_descriptors() -> None:
    """Raise this process's limit on open files to its maximum. The limit also applies to descriptors that it sends."""
    import resource  # which Windows does not have

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def first_to_be_killed() -> None:
    """Make the kernel kill this process and its children first if this machine runs out of memory."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def drop_privileges() -> None:
    """Drop all capabilities for good. No later exec gives them back."""
    forbid_new_privileges()
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break
    set_capabilities(())


def filter_calls(program: bytes) -> None:
    """Install a compiled seccomp filter on this thread and on threads and processes that it starts later."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    buffer = ctypes.create_string_buffer(program, len(program))
    forbid_new_privileges()
    pointer = ctypes.byref(Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p)))
    result = libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), pointer, 0, 0)
    _check(result, "system-call filter")


# ---------------------------------------------------------------- Landlock

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE


def landlock_version() -> int:
    """Return the version of Landlock's interface, or 0 if the kernel has no Landlock."""
    return max(0, libc.syscall(SYS_LANDLOCK_CREATE, None, 0, 1)) if libc else 0


def landlock(
    read: tuple[str, ...], write: tuple[str, ...], listed: tuple[str, ...] = (), filled: tuple[str, ...] = ()
) -> None:
    """Restrict access to files: each argument lists the paths below which a type of access is allowed.

    Args:
        read: reading and executing.
        write: everything.
        listed: listing the names in folders.
        filled: writing into files that exist, in addition to the access that other arguments allow.

    From Landlock version 4 on, TCP is denied, too. From version 6 on, also denied are signals and connections over
    abstract sockets, if they go to processes that are not under this Landlock rule.
    """
    version = landlock_version()
    everything = 0x1FFF | (0x2000 if version >= 2 else 0)
    everything |= (TRUNCATE if version >= 3 else 0) | (IOCTL_DEVICE if version >= 5 else 0)
    fields = (everything, *([3] if version >= 4 else []), *([3] if version >= 6 else []))
    ruleset = struct.pack(f"={len(fields)}Q", *fields)
    rules = _check(libc.syscall(SYS_LANDLOCK_CREATE, ruleset, len(ruleset), 0), "Landlock")
    rights = (
        (read, EXECUTE | READ_FILE | READ_DIR),
        (listed, READ_DIR),
        (write, everything),
        (filled, (WRITE_FILE | TRUNCATE) & everything),
    )
    for paths, access in rights:
        for path in paths:
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # the path does not exist
            allowed = access if os.path.isdir(path) else access & ON_FILES
            rule = struct.pack("=QI", allowed, descriptor)
            _check(libc.syscall(SYS_LANDLOCK_ADD, rules, 1, rule, 0), f"Landlock {path}")
            os.close(descriptor)
    forbid_new_privileges()
    _check(libc.syscall(SYS_LANDLOCK_RESTRICT, rules, 0), "Landlock")
    os.close(rules)


def deny_signals_outward() -> None:
    """Prevent this process and its later children from sending signals to any other process, such as its parent.

    A probe may run hostile code, which must not kill the checkpoint. Before Landlock version 6 this does nothing.
    """
    if landlock_version() < 6:
        return
    ruleset = struct.pack("=QQQ", 0, 0, 2)
    rules = _check(libc.syscall(SYS_LANDLOCK_CREATE, ruleset, len(ruleset), 0), "Landlock")
    _check(libc.syscall(SYS_LANDLOCK_RESTRICT, rules, 0), "Landlock")
    os.close(rules)
