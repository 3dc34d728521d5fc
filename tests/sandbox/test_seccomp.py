"""The system-call filter knows calls that the machine's libseccomp has never heard of, and none that nobody has reviewed."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from grader.sandbox import seccomp
from grader.sandbox.sandbox_description import GUEST

CALLS = {name: (number, errno.EPERM) for name, number in seccomp.NUMBERS.items()} | {
    "open_tree_attr": (467, errno.ENOSYS),
    "one that came later": (seccomp.NEWEST + 40, errno.ENOSYS),
    "getpid in the numbering of x32": (0x4000_0027, errno.ENOSYS),
}
CALL = """
import ctypes
C = ctypes.CDLL(None, use_errno=True)
print([(C.syscall(number, 0, 0, 0, 0, 0) >= 0, ctypes.get_errno()) for number in {numbers}])
"""


def test_new_calls_are_refused_by_number(python, said):
    numbers = [number for number, _ in CALLS.values()]
    found = eval(said(python, CALL.format(numbers=numbers)))
    assert dict(zip(CALLS, found, strict=True)) == {name: (False, error) for name, (_, error) in CALLS.items()}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has it")
def test_a_call_that_libseccomp_does_not_know_is_named(monkeypatch):
    assert seccomp.not_refused() == ()
    library = SimpleNamespace(
        system_arch=lambda: 0, resolve_syscall=lambda arch, name: -1 if name in ("statmount", "ptrace") else 5
    )
    monkeypatch.setitem(sys.modules, "pyseccomp", library)
    assert seccomp.not_refused() == ("ptrace",)


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


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has it")
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
