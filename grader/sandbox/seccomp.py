"""The system calls that a sandbox may use, and the filter that makes all others fail.

The trusted process compiles the filter from names, and the guest installs it (guest/linux.py). The list contains the
calls of Python, PyTorch, NumPy, Matplotlib, IPython, scikit-learn, a shell and its usual tools in the lessons, the
corpora and the tests, and closely related calls. On a processor that lacks a call, its name is ignored.

Three calls that notebooks would use are left out on purpose. `sendmsg` and `sendmmsg` send descriptors, and the
kernel limits those in flight for each user, not for each sandbox; guest/server.py makes DataLoader workers share
tensors without descriptors. `sched_setaffinity` could move the sandbox from the core that it was assigned to.
"""

import errno
import fcntl
import socket
import stat
import struct
import tempfile
from collections.abc import Set
from functools import cache
from typing import Any, NamedTuple


class Bits(NamedTuple):
    """A condition on one argument of a system call: the bits in `mask` must have the values in `value`."""

    argument: int  # its index
    mask: int
    value: int


INT = 0xFFFF_FFFF  # the kernel reads 32 bits of these arguments

ALWAYS = """
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek _llseek close close_range
    dup dup2 dup3 pipe pipe2 copy_file_range sendfile
    stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat getcwd chdir fchdir
    getdents getdents64 statfs fstatfs fgetxattr flistxattr
    mkdir mkdirat rmdir rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat truncate ftruncate
    umask fsync fdatasync flock fadvise64

    brk mmap munmap mremap mprotect madvise mincore msync membarrier get_mempolicy mbind

    fork vfork execve execveat exit exit_group wait4 waitid set_tid_address set_robust_list rseq arch_prctl
    getpid getppid gettid getpgid getpgrp getsid setsid setpgid getpriority getrlimit setrlimit getrusage times
    getuid geteuid getgid getegid getgroups getresuid getresgid capget
    sched_yield sched_getaffinity sched_getscheduler sched_getparam sched_get_priority_max
    sched_get_priority_min getcpu
    futex futex_waitv pidfd_open pidfd_send_signal

    kill tgkill tkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack
    signalfd signalfd4 pause alarm getitimer setitimer restart_syscall
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time
    timerfd_create timerfd_settime timerfd_gettime timer_create timer_settime timer_gettime timer_getoverrun
    timer_delete
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd
    eventfd2

    recvfrom recvmsg getsockname getpeername getsockopt shutdown
    uname sysinfo getrandom

    landlock_create_ruleset landlock_add_rule landlock_restrict_self
""".split()

# In tier full a sandbox has a file system and a network of its own. In the lower tiers these calls would reach
# files and programs of the operator: Landlock has no rule on modes, owners, times and attributes of files.
FULL = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat fallocate
    getxattr lgetxattr listxattr llistxattr
    bind listen accept accept4 connect sendto
""".split()

# NVIDIA's driver and CUDA, besides what they share with the rest; not tried on the list as it is now.
CUDA = """
    bind listen accept accept4 mlock mlock2 munlock set_mempolicy fallocate
    sched_setscheduler sched_setparam
""".split()

# Where these calls are not allowed, programs should go on as they do where a file system has no modes and no
# attributes, and cannot reserve space: 0 is success without an effect.
NO_ATTRIBUTES = """
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr getxattr lgetxattr listxattr llistxattr
""".split()
NO_EFFECT = "chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat".split()
OTHERWISE = {
    **dict.fromkeys(NO_ATTRIBUTES, errno.EOPNOTSUPP),
    **dict.fromkeys(NO_EFFECT, 0),
    "fallocate": errno.EOPNOTSUPP,
    "socket": errno.EAFNOSUPPORT,
}

# Each command is here because of its user: Python's `fcntl` and `subprocess`, multiprocessing, SQLite (locks).
# Not here are leases and notifications (F_SETLEASE, F_NOTIFY), which reach other processes, and owners of signals.
FCNTL = (
    fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL,
    fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW, 36, 37, 38,  # the last three: F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
    1032,  # F_GETPIPE_SZ
)  # fmt: skip
# Names of threads, and what glibc, Python and a shell ask of their own process.
PRCTL = {
    "PR_SET_PDEATHSIG": 1, "PR_GET_PDEATHSIG": 2, "PR_GET_DUMPABLE": 3, "PR_SET_NAME": 15, "PR_GET_NAME": 16,
    "PR_GET_SECCOMP": 21, "PR_CAPBSET_READ": 23, "PR_SET_TIMERSLACK": 29, "PR_GET_TIMERSLACK": 30,
    "PR_SET_NO_NEW_PRIVS": 38, "PR_GET_NO_NEW_PRIVS": 39, "PR_SET_VMA": 0x5356_4D41,
}  # fmt: skip
# Requests to terminals, and to any descriptor. Not here are TIOCSTI and TIOCLINUX, which type into a terminal.
IOCTL = {
    "TCGETS": 0x5401, "TCSETS": 0x5402, "TCSETSW": 0x5403, "TCSETSF": 0x5404, "TCSBRK": 0x5409, "TCXONC": 0x540A,
    "TCFLSH": 0x540B, "TIOCSCTTY": 0x540E, "TIOCGPGRP": 0x540F, "TIOCSPGRP": 0x5410, "TIOCOUTQ": 0x5411,
    "TIOCGWINSZ": 0x5413, "TIOCSWINSZ": 0x5414, "FIONREAD": 0x541B, "FIONBIO": 0x5421, "TIOCNOTTY": 0x5422,
    "TCSBRKP": 0x5425, "TIOCGSID": 0x5429, "TCGETS2": 0x802C_542A, "TCSETS2": 0x402C_542B, "TCSETSW2": 0x402C_542C,
    "TCSETSF2": 0x402C_542D, "TIOCGPTN": 0x8004_5430, "TIOCSPTLCK": 0x4004_5431, "TIOCGPTLCK": 0x8004_5439,
    "TIOCGPTPEER": 0x5441, "FIONCLEX": 0x5450, "FIOCLEX": 0x5451,
}  # fmt: skip
TERMINALS = 0x54  # the second byte of requests to terminals
SOCKET_OPTIONS = (
    socket.SO_REUSEADDR, socket.SO_KEEPALIVE, socket.SO_LINGER, socket.SO_REUSEPORT, socket.SO_PASSCRED,
    socket.SO_RCVTIMEO, socket.SO_SNDTIMEO,
)  # fmt: skip
# Larger buffers are the kernel's memory, which only control groups count. Without effect rather than refused,
# as the kernel itself does with sizes that are too large.
BUFFER_SIZES = (socket.SO_SNDBUF, socket.SO_RCVBUF, 32, 33)  # the last two: SO_SNDBUFFORCE, SO_RCVBUFFORCE

# The flags that make threads and processes, as C libraries pass them; not those that make namespaces, or a parent.
VM, FS, FILES, SIGHAND, VFORK, THREAD, SYSVSEM = 0x100, 0x200, 0x400, 0x800, 0x4000, 0x1_0000, 0x4_0000
SETTLS, PARENT_SETTID, CHILD_CLEARTID, DETACHED, CHILD_SETTID = 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000, 0x100_0000
CLONE = (
    VM | FS | FILES | SIGHAND | VFORK | THREAD | SYSVSEM | SETTLS | PARENT_SETTID | CHILD_CLEARTID | DETACHED
    | CHILD_SETTID | 0xFF
)  # fmt: skip  # the last byte is the signal that the parent gets
SET_ID = stat.S_ISUID | stat.S_ISGID
CREATES = 0o100 | 0o20000000  # O_CREAT, and the bit that O_TMPFILE has besides O_DIRECTORY


def allowed(tier: str, device: str) -> dict[str, tuple[tuple[Bits, ...], ...]]:
    """Return the system calls that a sandbox may use, each with its conditions.

    A call is allowed if at least one of its conditions is true. A condition is true if all its tests are. The condition
    `()` has no tests, so it is always true.
    """
    cuda, full = device == "cuda", tier == "full"
    names = [*ALWAYS, *(FULL if full else ()), *(CUDA if cuda else ())]
    terminals = [Bits(1, 1 << 8 + bit, ~TERMINALS << 8 & 1 << 8 + bit) for bit in range(8)]  # any bit of it is another
    return {
        **dict.fromkeys(names, ((),)),
        **{name: _opens(flags) for name, flags in (("open", 1), ("openat", 2))},
        "creat": ((Bits(1, SET_ID, 0),),),
        **{
            name: ((Bits(mode, stat.S_IFMT(0xFFFF) | SET_ID, stat.S_IFIFO),),)
            for name, mode in (("mknod", 1), ("mknodat", 2))
        },
        "clone": ((Bits(0, 0xFFFF_FFFF_FFFF_FFFF & ~CLONE, 0),),),
        "fcntl": tuple((Bits(1, INT, command),) for command in FCNTL),
        "prctl": tuple((Bits(0, INT, option),) for option in PRCTL.values()),
        "ioctl": tuple((Bits(1, INT, request),) for request in IOCTL.values())
        + tuple((test,) for test in (terminals if cuda else ())),
        # These change a process: only the calling one, which they know as 0.
        "prlimit64": ((Bits(0, INT, 0),),),
        "setpriority": ((Bits(0, INT, 0), Bits(1, INT, 0)),),
        "setsockopt": tuple((Bits(1, INT, socket.SOL_SOCKET), Bits(2, INT, option)) for option in SOCKET_OPTIONS),
        "socketpair": ((Bits(0, INT, socket.AF_UNIX),),),
        **({"socket": ((Bits(0, INT, socket.AF_UNIX),),)} if full or cuda else {}),
        # In the lower tiers a datagram could reach a program by its address; from half of a socketpair, too.
        **({} if full else {"sendto": ((Bits(4, 0xFFFF_FFFF_FFFF_FFFF, 0),),)}),
    }  # fmt: skip


def _opens(flags: int) -> tuple[tuple[Bits, ...], ...]:
    """Return the conditions on a call that opens files: it must not create a set-user-ID program.

    The mode in the argument after the flags has no meaning if no file is created.

    Args:
        flags: the index of the argument with the flags.
    """
    return (Bits(flags, CREATES, 0),), (Bits(flags + 1, SET_ID, 0),)


# Calls from this number on have the same numbers on all processors, and came with Linux 5.1 or later. Those
# that are not allowed do not exist in the sandbox: programs then do what they do on an older kernel.
LATER = 424
# Numbers of the allowed ones among them: an older libseccomp does not know their names.
NUMBERS = {
    "pidfd_send_signal": 424, "pidfd_open": 434, "close_range": 436, "faccessat2": 439, "epoll_pwait2": 441,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446, "futex_waitv": 449,
    "fchmodat2": 452,
}  # fmt: skip
# The newest system call that Linux 6.13 has, removexattrat: a filter names no later one.
NEWEST = 466
# Instructions of BPF (linux/bpf_common.h).
LOAD_NUMBER, IF_EQUAL, IF_ABOVE, RETURN = 0x20, 0x15, 0x25, 0x06
RETURN_ERRNO = 0x0005_0000
UNKNOWN = -1  # libseccomp's number for a name that no processor has


class MissingLibrary(Exception):
    """libseccomp is not installed."""


@cache
def compile_filter(tier: str, device: str = "cpu", machine: str = "") -> bytes:
    """Return the filter of a tier as a BPF program, or b"" for the tier "none".

    Args:
        device: the device for grading, "cpu" or "cuda".
        machine: a processor other than this one, "x86_64" or "aarch64"; "" for this one.

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
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    if machine and (arch := getattr(seccomp.Arch, machine.upper())) != seccomp.system_arch():
        rules.add_arch(arch)
        rules.remove_arch(seccomp.system_arch())
    unknown = not_known()
    calls = allowed(tier, device)
    for name, conditions in calls.items():
        for tests in conditions if name not in unknown else ():
            is_named = seccomp.resolve_syscall(seccomp.system_arch(), name) != UNKNOWN
            rules.add_rule(seccomp.ALLOW, name if is_named else NUMBERS[name], *(_arg(seccomp, test) for test in tests))
    for name, number in OTHERWISE.items():
        if name not in calls and name not in unknown:
            rules.add_rule(seccomp.ERRNO(number), name)
    if "socket" in calls:
        rules.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.NE, socket.AF_UNIX))
    for option in BUFFER_SIZES:
        tests = Bits(1, INT, socket.SOL_SOCKET), Bits(2, INT, option)
        rules.add_rule(seccomp.ERRNO(0), "setsockopt", *(_arg(seccomp, test) for test in tests))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return _without_later_calls({NUMBERS[name] for name in calls if name in NUMBERS}) + file.read()


def _arg(seccomp: Any, test: Bits) -> Any:
    """Return a test of bits in the form that libseccomp expects."""
    return seccomp.Arg(test.argument, seccomp.MASKED_EQ, test.mask, test.value)


def not_known() -> tuple[str, ...]:
    """Return the calls that this machine's libseccomp does not know and that NUMBERS lacks. The filter refuses them.

    A name that only other processors have is not returned, because it has no effect here.
    """
    import pyseccomp as seccomp

    here = seccomp.system_arch()
    names = dict.fromkeys((*ALWAYS, *FULL, *CUDA, *OTHERWISE, *allowed("full", "cpu")))
    return tuple(name for name in names if name not in NUMBERS and seccomp.resolve_syscall(here, name) == UNKNOWN)


def _without_later_calls(kept: Set[int]) -> bytes:
    """Return the first instructions of the filter: calls numbered LATER or higher fail with ENOSYS, except `kept`."""
    refused = [number for number in range(LATER, NEWEST + 1) if number not in kept]
    tests = [(IF_ABOVE, NEWEST), *((IF_EQUAL, number) for number in refused)]  # each that is met jumps to the return
    jumps = [(code, len(tests) - index - 1, 0, number) for index, (code, number) in enumerate(tests)]
    jumps[-1] = (*jumps[-1][:2], 1, jumps[-1][3])  # none was met: over the return
    block = [*jumps, (RETURN, 0, 0, RETURN_ERRNO | errno.ENOSYS)]
    instructions = [(LOAD_NUMBER, 0, 0, 0), (IF_ABOVE, 0, len(block), LATER - 1), *block]
    return b"".join(struct.pack("=HBBI", *one) for one in instructions)
