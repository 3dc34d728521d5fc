"""The system-call filter: compiled from names in the trusted process, installed by the guest (guest/linux.py)."""

import errno
import socket
import struct
import tempfile
from collections.abc import Set
from functools import cache
from typing import Any

from grader.sandbox.system_calls import ALWAYS, BUFFER_SIZES, CUDA, FULL, INT, OTHERWISE, Bits, allowed

# Calls from this number on have the same numbers on all processors, and came with Linux 5.1 or later. Those that are not
# allowed do not exist in the sandbox: programs then do what they do on an older kernel.
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
    """Compile the filter of a tier, for grading on a device, into a BPF program; b"" for tier none.

    `machine` is another processor than this one, "x86_64" or "aarch64".

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
    """Return a test of bits as libseccomp wants it."""
    return seccomp.Arg(test.argument, seccomp.MASKED_EQ, test.mask, test.value)


def not_known() -> tuple[str, ...]:
    """List the calls that libseccomp does not know here and whose number is not in NUMBERS; the filter refuses them.

    A name that only other processors have is not in the list: it has no effect here.
    """
    import pyseccomp as seccomp

    here = seccomp.system_arch()
    names = dict.fromkeys((*ALWAYS, *FULL, *CUDA, *OTHERWISE, *allowed("full", "cpu")))
    return tuple(name for name in names if name not in NUMBERS and seccomp.resolve_syscall(here, name) == UNKNOWN)


def _without_later_calls(kept: Set[int]) -> bytes:
    """Return the first instructions of the filter: calls from LATER on that are not `kept` fail with ENOSYS."""
    refused = [number for number in range(LATER, NEWEST + 1) if number not in kept]
    tests = [(IF_ABOVE, NEWEST), *((IF_EQUAL, number) for number in refused)]  # each that is met jumps to the return
    jumps = [(code, len(tests) - index - 1, 0, number) for index, (code, number) in enumerate(tests)]
    jumps[-1] = (*jumps[-1][:2], 1, jumps[-1][3])  # none was met: over the return
    block = [*jumps, (RETURN, 0, 0, RETURN_ERRNO | errno.ENOSYS)]
    instructions = [(LOAD_NUMBER, 0, 0, 0), (IF_ABOVE, 0, len(block), LATER - 1), *block]
    return b"".join(struct.pack("=HBBI", *one) for one in instructions)
