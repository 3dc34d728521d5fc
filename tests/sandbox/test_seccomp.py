"""The system-call filter allows what is on its list, on both processors, and nothing else."""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from guest import linux

from grader.sandbox import seccomp
from grader.sandbox.sandbox_description import GUEST
from grader.sandbox.seccomp import ALWAYS, CUDA, FULL, OTHERWISE, Bits, allowed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has it")
WAYS = list(product(("full", "partial"), ("cpu", "cuda"), ("x86_64", "aarch64")))
ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}  # linux/audit.h
ALLOW = 0x7FFF_0000
HIGHEST = seccomp.NEWEST + 60
OTHER_BITS = 0xDEAD_BEEF << 32  # of an argument of which the kernel reads 32 bits


def action(program: bytes, machine: str, number: int, arguments: Sequence[int] = ()) -> int:
    """Run a filter as the kernel does; return ALLOW, or the number of the error. None of our filters kills."""
    given = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", number - (1 << 32) * (number >> 31), ARCH[machine], 0, *given)
    instructions = list(struct.iter_unpack("=HBBI", program))
    place = accumulator = 0
    while True:
        code, yes, no, value = instructions[place]
        place += 1
        match code:
            case 0x20:  # load 32 bits
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x54:  # and
                accumulator &= value
            case 0x05:  # jump
                place += value
            case 0x15 | 0x25 | 0x35:  # jump if equal, greater, or one of both
                met = {0x15: accumulator == value, 0x25: accumulator > value, 0x35: accumulator >= value}[code]
                place += yes if met else no
            case 0x06:  # return
                if value != ALLOW:
                    assert value & 0xFFFF_0000 == seccomp.RETURN_ERRNO, hex(value)
                return ALLOW if value == ALLOW else value & 0xFFFF
            case _:
                raise AssertionError(f"instruction {code:#x}")


def numbers(names, machine: str) -> dict[int, str]:
    import pyseccomp

    arch = getattr(pyseccomp.Arch, machine.upper())
    found = {seccomp.NUMBERS.get(name, pyseccomp.resolve_syscall(arch, name)): name for name in names}
    return {number: name for number, name in found.items() if number >= 0}


def meets(tests: Sequence[Bits], other: int = 0) -> list[int]:
    arguments = [other] * 6
    for test in tests:
        arguments[test.argument] = (arguments[test.argument] & ~test.mask) | test.value
    return arguments


@pytest.mark.parametrize(("tier", "device", "machine"), WAYS)
def test_every_number_is_on_the_list_or_refused(tier, device, machine):
    program = seccomp.compile_filter(tier, device, machine)
    calls = allowed(tier, device)
    listed = numbers(calls, machine)
    otherwise = numbers(OTHERWISE, machine)
    for number in (*range(HIGHEST), 0x4000_0000, 0x4000_0027, 0xFFFF_FFFF):
        if number in listed:
            conditions = calls[listed[number]]
            assert {action(program, machine, number, meets(tests)) for tests in conditions} == {ALLOW}, listed[number]
        elif number in otherwise:
            assert action(program, machine, number) == OTHERWISE[otherwise[number]]
        else:
            later = number >= seccomp.LATER
            assert action(program, machine, number) == (errno.ENOSYS if later else errno.EPERM), number


COMMANDS = {
    "F_SETLEASE": ("fcntl", (0, 1024)), "F_NOTIFY": ("fcntl", (0, 1026)), "F_SETOWN": ("fcntl", (0, 8)),
    "F_SETSIG": ("fcntl", (0, 10)), "F_SETOWN_EX": ("fcntl", (0, 15)), "F_SETPIPE_SZ": ("fcntl", (0, 1031)),
    "F_ADD_SEALS": ("fcntl", (0, 1033)), "F_SET_RW_HINT": ("fcntl", (0, 1036)),
    "TIOCSTI": ("ioctl", (0, 0x5412)), "TIOCLINUX": ("ioctl", (0, 0x541C)), "TIOCCONS": ("ioctl", (0, 0x541D)),
    "PR_SET_DUMPABLE": ("prctl", (4, 0)), "PR_SET_SECCOMP": ("prctl", (22,)), "PR_SET_MM": ("prctl", (35,)),
    "PR_SET_PTRACER": ("prctl", (0x59616D61,)), "PR_SET_CHILD_SUBREAPER": ("prctl", (36,)),
    "a new user namespace": ("clone", (linux.CLONE_NEWUSER | 17,)), "CLONE_PARENT": ("clone", (0x8000 | 17,)),
    "limits of another process": ("prlimit64", (1,)), "priority of a group": ("setpriority", (1, 0)),
    "priority of another process": ("setpriority", (0, 1)),
    "a new set-user-ID file": ("openat", (0, 0, 0o101, 0o4755)), "a nameless one": ("openat", (0, 0, 0o20200002, 0o2755)),
}  # fmt: skip


@pytest.mark.parametrize(("tier", "device", "machine"), WAYS)
def test_what_reaches_others_is_refused_however_it_is_written(tier, device, machine):
    program = seccomp.compile_filter(tier, device, machine)
    by_name = {name: number for number, name in numbers(allowed(tier, device), machine).items()}
    for what, (name, arguments) in COMMANDS.items():
        spoiled = [argument | OTHER_BITS for argument in arguments]
        assert action(program, machine, by_name[name], arguments) == errno.EPERM, what
        assert action(program, machine, by_name[name], spoiled) == errno.EPERM, what


def test_a_request_that_is_no_terminals_is_allowed_for_cuda_alone():
    for tier, device, machine in WAYS:
        ioctl = next(number for number, name in numbers(["ioctl"], machine).items())
        got = action(seccomp.compile_filter(tier, device, machine), machine, ioctl, (0, 0xC020_462A))
        assert got == (ALLOW if device == "cuda" else errno.EPERM)


def test_flags_of_threads_make_no_namespace():
    assert not seccomp.CLONE & linux.CLONE_NAMESPACES


# Seen with strace in all lessons and in tests/sandbox/test_legitimate.py; a call that none of these makes is explained here.
UNUSUAL = {
    "vfork": "subprocess starts programs with it",
    "mbind": "OpenBLAS places its buffers",
    "landlock_restrict_self": "a probe's fork may write less than the notebook",
    "membarrier": "glibc's malloc and PyTorch's allocator",
    "pidfd_open": "asyncio waits for programs with it",
    "rseq": "glibc registers each thread",
}


def test_the_list_has_no_name_twice_and_explains_what_is_unusual():
    for names in (ALWAYS, FULL, CUDA):
        assert len(names) == len({*names})
    assert {*ALWAYS} >= UNUSUAL.keys()
    assert not {*ALWAYS} & {*FULL, *CUDA, *OTHERWISE}


def test_the_page_says_how_long_the_lists_are():
    page = " ".join((Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8").split())
    full, partial = (len(allowed(tier, "cpu")) for tier in ("full", "partial"))
    assert f"{full} names in the full tier and {partial} in the partial tier" in page
    for count, what in ((len(seccomp.FCNTL), "commands"), (len(seccomp.IOCTL), "requests")):
        assert f"| {count} {what} |" in page
    assert f"| {len(seccomp.PRCTL)} options |" in page


# uretprobe and uprobe: no filter sees them, and a newer kernel stops a process that calls one by itself.
PROBES = {335: "uretprobe", 336: "uprobe"}
REFUSED = """
import ctypes
C = ctypes.CDLL(None, use_errno=True)
def tried(number):
    ctypes.set_errno(0)
    return C.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()
print([tried(number) for number in {numbers}])
"""


def test_the_kernel_refuses_every_number_that_is_not_on_the_list(python, said):
    machine = os.uname().machine
    listed, otherwise = numbers(allowed("full", "cpu"), machine), numbers(OTHERWISE, machine)
    asked = [number for number in (*range(HIGHEST), 0x4000_0027) if number not in listed | PROBES]
    found = eval(said(python, REFUSED.format(numbers=asked)))
    expected = {number: errno.ENOSYS if number >= seccomp.LATER else errno.EPERM for number in asked}
    expected |= {number: OTHERWISE[name] for number, name in otherwise.items() if number in expected}
    assert {number: got for number, (_, got) in zip(asked, found, strict=True)} == expected
    assert {returned for returned, _ in found} == {-1}


def test_a_call_that_libseccomp_does_not_know_is_named(monkeypatch):
    assert seccomp.not_known() == ()
    library = SimpleNamespace(
        system_arch=lambda: 0, resolve_syscall=lambda arch, name: -1 if name in ("statx", "fchmodat2") else 5
    )
    monkeypatch.setitem(sys.modules, "pyseccomp", library)
    assert seccomp.not_known() == ("statx",)  # the number of the other is in NUMBERS


SOCKETS = """
import json, os, socket, sys
sys.path.insert(0, sys.argv[1])
from guest import linux
os.setsid()
linux.drop_privileges()
linux.filter_calls(bytes.fromhex(sys.stdin.read()))
pair = socket.socketpair(type=socket.SOCK_DGRAM)
ways = {
    "a socket of its own": lambda: socket.socket(socket.AF_UNIX).bind(""),
    "sent to its partner": lambda: pair[0].send(b"x"),
    "connected": lambda: pair[0].connect(sys.argv[2]),
    "sent to an address": lambda: pair[0].sendto(b"x", sys.argv[2]),
    "internet": lambda: socket.socket(socket.AF_INET),
}
def tried(way):
    try:
        way()
        return True
    except OSError as error:
        return error.strerror
print(json.dumps({name: tried(way) for name, way in ways.items()}))
"""


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_lower_tiers_reach_nobody_and_let_cuda_have_its_socket(device, tmp_path):
    """Where `connect` is refused, a datagram could still be sent to an address, from half of a socketpair."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listens:
        listens.bind(path := str(tmp_path / "listens"))
        os.chmod(path, 0o777)
        listens.setblocking(False)
        done = subprocess.run(
            [sys.executable, "-c", SOCKETS, str(GUEST.parent), path],
            input=seccomp.compile_filter("partial", device).hex(),
            capture_output=True,
            text=True,
            check=True,
        )
        with pytest.raises(BlockingIOError):
            listens.recv(9)
    refused, none = os.strerror(errno.EPERM), os.strerror(errno.EAFNOSUPPORT)
    assert json.loads(done.stdout) == {
        "a socket of its own": True if device == "cuda" else none,
        "sent to its partner": True,
        "connected": refused,
        "sent to an address": refused,
        "internet": none,
    }
