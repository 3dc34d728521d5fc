"""The tripwire: records which of torch's built-ins run while a probe runs, and whose code called them.

It notices an operator when torch dispatches it, so that no alias hides the operator. A built-in that torch
writes in Python has no operator of its own: the tripwire finds it on the stack of the operators that it
calls. From the operator outwards, the stack also tells whose code called the built-in. A given cell may call
every built-in; for the answer of another exercise, the record names that exercise; all other code counts as
the exercise's own.

The tripwire runs in the same process as student code, so a student can switch it off on purpose; this module
makes that hard, not impossible. A record can only cost points, and the trusted side's ban by name works
without the tripwire.
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

# Built-ins that torch writes in Python, whose operators alone do not identify them: id of the code object →
# name.
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
# Audit events of Python that a new process causes.
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
# How many statements the shell is running now; more than one if a statement passes code to the shell.
_depth = 0
# The tripwire of the probe that runs.
_active: Tripwire | None = None
_threads: Any = threading.Thread  # its two methods below are private
_bootstraps = _threads._bootstrap, _threads._bootstrap_inner


def begin(origin: str, defines: Collection[str]) -> None:
    """Note whose cell runs next, for `running`.

    Args:
        origin: "given", the id of the exercise that the cell answers, or "" for a cell of the student's own.
        defines: the names that an answer's cell has to define.
    """
    global _cell
    _cell = origin, frozenset(defines)


@contextmanager
def running(code: CodeType) -> Iterator[None]:
    """Register a statement of the cell, which runs in this context, under the cell's origin.

    If the statement passes other code to the shell, this is called for that code too, and does not register
    it: a given cell could otherwise make a student's text count as given code.
    """
    global _depth
    if _cell[0] and not _depth:
        register(code, *_cell)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def register(code: CodeType, origin: str, defines: Collection[str]) -> None:
    """Record the origin of a code object and of all functions in it.

    If `defines` is not empty, only functions and classes with these names have that origin; other code in the
    cell counts as the student's own.
    """
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
        # Each built-in with the id of the other exercise whose answer called it, or "" if the exercise's own
        # code did.
        self.trips: list[tuple[str, str]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Trace watched operators, and softmax, which Python built-ins call; run the operator. For torch."""
        schema = getattr(func, "_schema", None)
        name = schema.name if schema is not None else func.name()
        if name == SOFTMAX or name in self._watched:
            self._dispatched += 1
            if not self._self_test:
                self._trace(name)
        return func(*args, **(kwargs or {}))

    def _trace(self, operator: str) -> None:
        """Read the stack from the operator outwards, and record the built-in unless a given cell called it.

        A given cell called it if no student code lies on the stack between the two. Otherwise the first
        answer on the stack is responsible; without an answer, the exercise's own code.
        """
        name = operator if operator in self._watched else ""
        # Whether a frame between this one and the operator is neither torch's nor Python's.
        student_code = False
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
        """Record a built-in; each pair of built-in and exercise only once, and at most MAX_TRIPS pairs."""
        if name and (name, other_exercise) not in self.trips and len(self.trips) < MAX_TRIPS:
            self.trips.append((name, other_exercise))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread, and threads that start meanwhile, as long as this context is open."""
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
        """Watch a new thread too; the module threading calls this as the new thread's profile function."""
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
    """Raise an error if code starts a process during a watched probe; Python calls this for audit events."""
    if _active is not None and event in PROCESSES:
        raise RuntimeError("this exercise is checked in one process: start no other here")


def _only_through_threading(start: Callable) -> Callable:
    """Wrap a function that starts threads: a watched probe may start only threads of the module threading.

    Only in these can the tripwire watch (`_watch_thread`).
    """

    def start_checked(function: Callable, *arguments: Any, **options: Any) -> Any:
        thread = type(getattr(function, "__self__", None))
        bootstraps = getattr(thread, "_bootstrap", None), getattr(thread, "_bootstrap_inner", None)
        if _active is not None and bootstraps != _bootstraps:
            raise RuntimeError("start threads through the module threading here")
        return start(function, *arguments, **options)

    return start_checked


def _recording(switch: Callable) -> Callable:
    """Wrap a function of SWITCHES: it records each call from code that is neither torch's nor Python's."""

    def recorded(*arguments: Any, **options: Any) -> Any:
        if _active is not None and not _getframe(1).f_code.co_filename.startswith(LIBRARY):
            _active.record(SWITCHED_OFF, "")
        return switch(*arguments, **options)

    return recorded


def install() -> None:
    """Wrap the functions that could evade the tripwire, and forbid processes during a watched probe.

    The fork server calls this once, before student code runs; nothing undoes it.
    """
    for module, name in SWITCHES:
        if hasattr(module, name):
            setattr(module, name, _recording(getattr(module, name)))
    for name in THREADS:
        for module, attribute in ((_thread, name), (threading, f"_{name}")):
            if hasattr(module, attribute):
                setattr(module, attribute, _only_through_threading(getattr(module, attribute)))
    sys.addaudithook(_forbid_processes)
