"""The system-call filter knows calls that the machine's libseccomp has never heard of, and none that nobody has reviewed."""

from __future__ import annotations

import errno
import sys
from types import SimpleNamespace

import pytest

from grader.sandbox import seccomp

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
