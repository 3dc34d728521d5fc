"""The tripwire: records which built-ins run while a probe runs, and whose code called them.

It sees built-ins where torch dispatches their operators, so that no alias hides them, and those that torch writes in
Python on the stack. The stack also tells whose code called one; it is read from the operator outwards: code of given cells
may call every built-in, code of another exercise's answer is recorded under that exercise, and all other code counts as
the exercise's own.

The tripwire runs in the process that runs student code, so a student who means to can switch it off; this module makes
that hard, not impossible. A record can only cost points, and the trusted side's ban by name holds without it.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import torch
import torch.nn.functional as F
import torch.utils._python_dispatch as dispatching
from guest.library_internals import NotCompiled
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

GIVEN = "given"
SWITCHED_OFF = "switched off"
MAX_TRIPS = 16  # recorded for one probe
LIBRARY = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.__file__) + os.sep, "<frozen ")

# Built-ins that torch writes in Python: their operators alone do not identify them. By the id of their code.
IN_PYTHON: dict[int, str] = {
    id(function.__code__): function.__qualname__
    for function in (
        F.multi_head_attention_forward,
        nn.MultiheadAttention.forward,
        nn.TransformerEncoderLayer.forward,
        nn.TransformerDecoderLayer.forward,
    )
}
# Functions that switch the dispatch of operators off; a student needs them only to hide built-ins.
SWITCHES = (
    (torch._C, "_DisableTorchDispatch"),
    (torch._C, "_ExcludeDispatchKeyGuard"),
    (torch._C, "_SetExcludeDispatchKeyGuard"),
    (torch._C, "_ForceDispatchKeyGuard"),
    (torch._C, "_dispatch_tls_set_dispatch_key_excluded"),
    (torch._C, "_pop_torch_dispatch_stack"),
    (torch._C, "_unset_dispatch_mode"),
    (dispatching, "_pop_mode"),
    (dispatching, "_pop_mode_temporarily"),
    (dispatching, "_disable_current_modes"),
    (dispatching, "_disable_infra_mode"),
)
PROCESSES = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen")
# Functions that start threads, in the module _thread; which of them exist depends on the version of Python.
THREADS = ("start_new_thread", "start_new", "start_joinable_thread")

# The operator that every attention written in Python by torch calls.
SOFTMAX = "aten::_softmax"

# Taken before student code can replace them.
_getframe, _softmax = sys._getframe, torch.softmax
# Id of a code object → "given", the exercise whose answer it is, or "" for the student's own code.
_origins: dict[int, str] = {}
# The code objects in `_origins`, kept alive: an id is unique only among objects that live at the same time.
_registered: list[CodeType] = []
# Origin and defined names of the cell that runs.
_cell: tuple[str, Collection[str]] = "", ()
# How many statements of the shell run inside each other.
_depth = 0
# The tripwire of the probe that runs.
_active: Tripwire | None = None
_threads: Any = threading.Thread  # its two methods below are private
_bootstraps = _threads._bootstrap, _threads._bootstrap_inner


def begin(origin: str, defines: Collection[str]) -> None:
    """Note whose cell runs next: "given", an exercise's id, or "" for a cell of the student's own."""
    global _cell
    _cell = origin, frozenset(defines)


@contextmanager
def running(code: CodeType) -> Iterator[None]:
    """Register a statement of the cell while it runs; code that the statement passes to the shell is not the cell's."""
    global _depth
    if _cell[0] and not _depth:
        register(code, *_cell)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def register(code: CodeType, origin: str, defines: Collection[str]) -> None:
    """Record the origin of a code object and of all functions in it; of an answer, only those that define its names."""
    inside = not defines or code.co_qualname.partition(".")[0] in defines
    _origins[id(code)] = origin if inside else ""
    _registered.append(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            register(constant, origin, defines)


class Tripwire(NotCompiled, TorchDispatchMode):
    """Records which of the watched built-ins run on this thread, and on threads that it starts."""

    supports_higher_order_operators = True

    def __init__(self, watched: Collection[str], exercise: str) -> None:
        super().__init__()
        self._watched, self._exercise = frozenset(watched), exercise
        self._dispatched, self._self_test = 0, False
        # Each built-in with the other exercise whose answer called it, or "".
        self.trips: list[tuple[str, str]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        schema = getattr(func, "_schema", None)
        name = schema.name if schema is not None else func.name()
        if name == SOFTMAX or name in self._watched:
            self._dispatched += 1
            if not self._self_test:
                self._trace(name)
        return func(*args, **(kwargs or {}))

    def _trace(self, operator: str) -> None:
        """Read the stack from the operator outwards, and record the built-in for the first code with an origin."""
        name = operator if operator in self._watched else ""
        student_code = False  # whether a frame further inwards is neither torch's nor Python's
        frame: FrameType | None = _getframe(2)
        while frame is not None and frame is not self._top:
            code = frame.f_code
            builtin = IN_PYTHON.get(id(code), "")
            if builtin in self._watched:
                name = builtin
            origin = _origins.get(id(code))
            if origin == GIVEN and not student_code:
                return
            if origin and origin != GIVEN:
                self.record(name, "" if origin == self._exercise else origin)
                return
            student_code = student_code or not code.co_filename.startswith(LIBRARY)
            frame = frame.f_back
        self.record(name, "")

    def record(self, name: str, other_exercise: str) -> None:
        """Record a built-in, once for each exercise."""
        if name and (name, other_exercise) not in self.trips and len(self.trips) < MAX_TRIPS:
            self.trips.append((name, other_exercise))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch as long as this context is open."""
        global _active
        self._top: FrameType | None = _getframe(2)
        library: Any = threading
        before, _active = library._profile_hook, self
        library._profile_hook = self._watch_thread
        try:
            with self:
                yield
                self._test()
        finally:
            library._profile_hook, _active = before, None

    def _watch_thread(self, frame: FrameType, event: str, argument: Any) -> None:
        """Watch in a new thread, too; threading calls this when the thread starts."""
        sys.setprofile(None)
        self.__enter__()

    def _test(self) -> None:
        """Call softmax and check that it is dispatched here; if not, student code has switched the tripwire off."""
        before, self._self_test = self._dispatched, True
        _softmax(torch.zeros(1), 0)
        self._self_test = False
        if self._dispatched == before:
            self.record(SWITCHED_OFF, "")


def _forbid_processes(event: str, arguments: tuple) -> None:
    """Raise an error if a process is started while a probe is watched; Python calls this for each audited event."""
    if _active is not None and event in PROCESSES:
        raise RuntimeError("this exercise is checked in one process: start no other here")


def _only_through_threading(start: Callable) -> Callable:
    """Wrap a function that starts threads: a watched probe must start them through threading, which can be followed."""

    def start_checked(function: Callable, *arguments: Any, **options: Any) -> Any:
        thread = type(getattr(function, "__self__", None))
        bootstraps = getattr(thread, "_bootstrap", None), getattr(thread, "_bootstrap_inner", None)
        if _active is not None and bootstraps != _bootstraps:
            raise RuntimeError("start threads through the module threading here")
        return start(function, *arguments, **options)

    return start_checked


def _recorded(switch: Callable) -> Callable:
    """Wrap a function of SWITCHES: a call from outside of torch and Python is recorded."""

    def recorded(*arguments: Any, **options: Any) -> Any:
        if _active is not None and not _getframe(1).f_code.co_filename.startswith(LIBRARY):
            _active.record(SWITCHED_OFF, "")
        return switch(*arguments, **options)

    return recorded


def install() -> None:
    """Wrap the functions that could evade the tripwire; called once, before student code runs, and never undone."""
    for module, name in SWITCHES:
        if hasattr(module, name):
            setattr(module, name, _recorded(getattr(module, name)))
    for name in THREADS:
        for module, attribute in ((_thread, name), (threading, f"_{name}")):
            if hasattr(module, attribute):
                setattr(module, attribute, _only_through_threading(getattr(module, attribute)))
    sys.addaudithook(_forbid_processes)
