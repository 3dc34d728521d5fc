"""The system-call filter: compiled from names in the trusted process, installed by the guest (guest/linux.py)."""

import errno
import socket
import struct
import tempfile
from functools import cache

from grader.sandbox.guest import linux

# System calls that no notebook needs, and that attacks on the kernel or on other processes use. sendmsg sends
# descriptors, of which the kernel counts those in flight for each user, not for each sandbox; shell.py lets
# DataLoader workers do without. sched_setaffinity would leave the core on which the sandbox was put.
DENIED = tuple(
    """
    ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd
    unshare setns mount umount umount2 pivot_root chroot fsopen fsconfig fsmount
    fspick move_mount open_tree mount_setattr statmount listmount
    bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
    keyctl add_key request_key
    init_module finit_module delete_module create_module kexec_load kexec_file_load reboot
    swapon swapoff acct quotactl quotactl_fd open_by_handle_at name_to_handle_at
    lookup_dcookie fanotify_init iopl ioperm modify_ldt syslog settimeofday clock_settime
    clock_settime64 clock_adjtime adjtimex stime personality vhangup vmsplice
    memfd_create memfd_secret uselib ustat sysfs nfsservctl _sysctl
    mq_open msgget semget shmget
    sendmsg sendmmsg sched_setaffinity
    """.split()
)
# Numbers of the newest calls in DENIED, the same on all processors: an older libseccomp does not know their names.
NUMBERS = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "statmount": 457, "listmount": 458,
}  # fmt: skip
# The newest system call that was reviewed, removexattrat of Linux 6.13. A later one does not exist in the sandbox: programs
# then do what they do on an older kernel.
NEWEST = 466
# Instructions of BPF (linux/bpf_common.h).
LOAD_NUMBER, IF_ABOVE, RETURN = 0x20, 0x25, 0x06
RETURN_ERRNO = 0x0005_0000
# System calls that change a process: only the calling one, which they know as 0. Call → its argument that must be
# 0 (or for "which" the number that says that a single process is meant).
OWN_PROCESS = {
    "prlimit64": {0: 0},
    "sched_setparam": {0: 0},
    "sched_setscheduler": {0: 0},
    "sched_setattr": {0: 0},
    "migrate_pages": {0: 0},
    "move_pages": {0: 0},
    "setpriority": {0: 0, 1: 0},
    "ioprio_set": {0: 1, 1: 0},
}
# The flags of clone(2) that make a namespace, each alone.
NAMESPACE_FLAGS = [1 << bit for bit in range(32) if linux.CLONE_NAMESPACES & 1 << bit]
# Socket options that make buffers larger than usual: the kernel's memory, which only control groups count. Without
# effect rather than refused, as the kernel itself does with sizes that are too large.
BUFFER_SIZES = (socket.SO_SNDBUF, socket.SO_RCVBUF, 32, 33)  # the last two: SO_SNDBUFFORCE, SO_RCVBUFFORCE
UNKNOWN = -1  # libseccomp's number for a name that no processor has
# ioctl requests that put characters into a terminal's input.
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


class MissingLibrary(Exception):
    """libseccomp is not installed."""


@cache
def compile_filter(tier: str, device: str = "cpu") -> bytes:
    """Compile the filter of a tier, for grading on a device, into a BPF program; b"" for tier none.

    Raises:
        MissingLibrary: pyseccomp or libseccomp is not installed.
    """
    if tier == "none":
        return b""
    try:
        import pyseccomp as seccomp  # type: ignore[import-untyped]  # has no types
    except (ImportError, OSError, RuntimeError) as error:
        raise MissingLibrary(
            "libseccomp is not installed; install libseccomp2 (apt) or libseccomp (dnf, pacman)"
        ) from error
    refuse = seccomp.ERRNO(errno.EPERM)
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    unknown = not_refused()
    for name in DENIED:
        if name not in unknown:  # a call that other processors alone have is added, and has no effect
            rules.add_rule(refuse, NUMBERS.get(name, name))
    # clone3 passes its flags by pointer, which a filter cannot read; libc falls back to clone when it gets ENOSYS.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for flag in NAMESPACE_FLAGS:
        rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for request in (TIOCSTI, TIOCLINUX):
        rules.add_rule(refuse, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFF_FFFF, request))
    for name, arguments in OWN_PROCESS.items():
        for index, allowed in arguments.items():
            rules.add_rule(refuse, name, seccomp.Arg(index, seccomp.NE, allowed))
    for option in BUFFER_SIZES:
        level = seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFF_FFFF, socket.SOL_SOCKET)
        chosen = seccomp.Arg(2, seccomp.MASKED_EQ, 0xFFFF_FFFF, option)
        rules.add_rule(seccomp.ERRNO(0), "setsockopt", level, chosen)
    no_family = seccomp.ERRNO(errno.EAFNOSUPPORT)
    if tier == "full" or device == "cuda":  # CUDA starts with a socket of its own, which reaches nobody
        rules.add_rule(no_family, "socket", seccomp.Arg(0, seccomp.NE, socket.AF_UNIX))
    else:
        rules.add_rule(no_family, "socket")
    if tier != "full":  # there the network namespace holds nobody to reach but the sandbox itself
        rules.add_rule(refuse, "connect")
        rules.add_rule(refuse, "sendto", seccomp.Arg(4, seccomp.NE, 0))  # to an address: a socketpair can, too
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return _refusing_later_calls() + file.read()


def not_refused() -> tuple[str, ...]:
    """List the calls of DENIED that libseccomp does not know here, and whose number is not in NUMBERS either."""
    import pyseccomp as seccomp

    here = seccomp.system_arch()
    return tuple(name for name in DENIED if name not in NUMBERS and seccomp.resolve_syscall(here, name) == UNKNOWN)


def _refusing_later_calls() -> bytes:
    """Return the first instructions of the filter, as bytes: by these, calls above NEWEST fail with ENOSYS."""
    instructions = ((LOAD_NUMBER, 0, 0, 0), (IF_ABOVE, 0, 1, NEWEST), (RETURN, 0, 0, RETURN_ERRNO | errno.ENOSYS))
    return b"".join(struct.pack("=HBBI", *one) for one in instructions)
