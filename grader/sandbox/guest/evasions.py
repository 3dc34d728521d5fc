"""Ways around the tripwire, and the code that blocks them. There are three.

- **Functions that switch off the dispatch of operators**, or run an operator's kernel without it: calls of them are
  recorded. A student needs such functions only to hide built-ins. If such a function is a class, its methods are
  replaced, and not the class. So the class is also watched if code stored it earlier or takes it from an object.
- **Code that Python calls between any two instructions**, even during the tripwire's own work, when operators are
  not seen. So signal handlers do not run during a watched probe, the garbage collector cannot be switched on, and
  callbacks registered with sys.monitoring (Python 3.12) are removed.
- **Erasing records**: the kernel has a second count of the records. Each record lowers it, and code without
  privileges cannot raise it. The count is a resource limit of the process that has no other use here (on real-time
  scheduling).
"""

from __future__ import annotations

import _imp
import _signal  # type: ignore[import-not-found]
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import torch
import torch.utils._python_dispatch as dispatching
from guest.library_internals import SWITCHES_OF_MODES, SWITCHES_OF_TORCH
from guest.released import LIBRARY

try:
    import resource
except ImportError:  # Windows has none
    COUNTS = False
else:
    COUNTS = hasattr(resource, "RLIMIT_RTTIME")

FIRST = 1 << 40  # what the count begins with


def count() -> int:
    """Return the value of the kernel's count: FIRST before the first `count_down`; 0 if the system lacks this limit."""
    limit = resource.getrlimit(resource.RLIMIT_RTTIME)[1] if COUNTS else 0
    return FIRST if limit == resource.RLIM_INFINITY else limit


def count_down() -> None:
    """Lower the kernel's count by one."""
    if COUNTS and (left := count()) > 0:
        resource.setrlimit(resource.RLIMIT_RTTIME, (left - 1, left - 1))


# Modules of C whose functions are wrapped: Python would make them anew, with the functions as they were.
KEPT = ("_imp", "_signal", "_thread", "gc")
# The audit event of whoever registers with sys.monitoring.
REGISTERS = "sys.monitoring.register_callback"
TOOLS = range(6)  # those that Python code may use

# Taken before student code can replace them.
_monitoring: Any = getattr(sys, "monitoring", None)
_register: Any = getattr(_monitoring, "register_callback", None)
_events = tuple(event for event in vars(getattr(_monitoring, "events", SimpleNamespace())).values() if event)


def forget_callbacks() -> None:
    """Remove all callbacks that were registered with sys.monitoring."""
    for tool in TOOLS if _register is not None else ():
        for event in _events:
            with suppress(ValueError):  # two events in one, of Python 3.14
                _register(tool, event, None)


def hold_interruptions(refuses: Callable[[], bool]) -> None:
    """Replace functions of signal and gc so that student code cannot interrupt the tripwire.

    Signal handlers of student code run, and the garbage collector can be switched on, only while `refuses()` is False.
    The fork server calls this once, before student code runs.
    """
    set_handler, create, enable = _signal.signal, _imp.create_builtin, gc.enable

    def handling(number: int, handler: Any) -> Any:
        if not callable(handler) or handler is _signal.default_int_handler:
            return set_handler(number, handler)

        def handle(*arguments: Any) -> None:
            if not refuses():
                handler(*arguments)

        return set_handler(number, handle)

    def created(spec: Any) -> Any:
        name = spec.name
        if type(name) is not str or name in KEPT:
            raise ImportError(f"Python has this module already: {name}")
        plain: Any = SimpleNamespace(name=name)  # a name that changes would be asked for again
        return create(plain)

    def enabling() -> None:
        if not refuses():
            enable()

    _signal.signal, _imp.create_builtin, gc.enable = handling, created, enabling


# Taken before student code can replace it.
_getframe = sys._getframe


def _is_torch(frame: FrameType | None) -> bool:
    """Return True if torch made a call: the innermost frame outside Python's standard library belongs to torch."""
    torch_folder, *of_python = LIBRARY
    while frame is not None and frame.f_code.co_filename.startswith(tuple(of_python)):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(torch_folder)


def _noting(switch: Callable, note: Callable[[], object]) -> Callable:
    """Return a function that works like the switch. If the caller is not torch, it calls `note` first."""

    def noted(*arguments: Any, **options: Any) -> Any:
        if not _is_torch(_getframe(1)):
            note()
        return switch(*arguments, **options)

    return noted


def note_switches(note: Callable[[], object]) -> None:
    """Make each switch call `note` if code other than torch's uses it.

    The switches are functions that switch off the dispatch of operators. The
    fork server calls this once, before student code runs.
    """
    wrapped: dict[int, Callable] = {}
    kept = []  # an id is unique only among objects that live at the same time
    for module, names in ((torch._C, SWITCHES_OF_TORCH), (dispatching, SWITCHES_OF_MODES)):
        for switch in (getattr(module, name) for name in names.split() if hasattr(module, name)):
            if isinstance(switch, type):
                for method in {"__init__", "__enter__", "call_boxed"} & vars(switch).keys():
                    setattr(switch, method, _noting(getattr(switch, method), note))
            else:
                wrapped[id(switch)] = _noting(switch, note)
                kept.append(switch)
    for name, each in list(sys.modules.items()):
        if isinstance(each, ModuleType) and name.partition(".")[0] == "torch":
            for key, value in list(vars(each).items()):
                if id(value) in wrapped:
                    setattr(each, key, wrapped[id(value)])
