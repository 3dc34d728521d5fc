"""A tripwire: which built-ins run while a probe runs, and in whose code.

Built-ins are seen where torch dispatches their operators, so no alias hides them; those that torch writes in Python
are seen on the stack. Whose work it is, is told by the stack too, from the operator outwards: the code of given cells
may use what it likes, the code of another exercise answers for itself, everything else is the exercise's own.

It lives in the process that student code runs in, so it can be switched off by somebody who means to; what is here
makes that hard, not impossible. It only ever costs points, and the ban by name, on the trusted side, stays.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import torch
import torch.nn.functional as F
import torch.utils._python_dispatch as dispatching
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

GIVEN = "given"
SWITCHED_OFF = "switched off"
MOST = 16  # built-ins named for one probe
LIBRARY = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.__file__) + os.sep, "<frozen ")

# Built-ins that torch writes in Python: their operators alone do not give them away.
IN_PYTHON: dict[int, str] = {
    id(function.__code__): function.__qualname__
    for function in (
        F.multi_head_attention_forward,
        nn.MultiheadAttention.forward,
        nn.TransformerEncoderLayer.forward,
        nn.TransformerDecoderLayer.forward,
    )
}
# What a student's code has no use for, but to look away.
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
# By their names in the modules _thread and threading; later Pythons have more of them.
THREADS = ("start_new_thread", "start_new", "start_joinable_thread")

TELLTALE = "aten::_softmax"  # what the attention that torch writes in Python comes down to

_getframe, _softmax = sys._getframe, torch.softmax
_origins: dict[int, str] = {}  # id of a code object → given, own, or the exercise that it is the answer of
_kept: list[CodeType] = []  # an id is one's own only as long as one lives
_present: tuple[str, Collection[str]] = "", ()
_depth = 0
_active: Tripwire | None = None
_bootstraps = threading.Thread._bootstrap, threading.Thread._bootstrap_inner


def begin(origin: str, defines: Collection[str]) -> None:
    """From now on a cell runs: a given one, an exercise's, or ("") the student's own."""
    global _present
    _present = origin, frozenset(defines)


@contextmanager
def running(code: CodeType):
    """Around a statement of the cell; what the cell itself hands to the shell is not the cell."""
    global _depth
    if _present[0] and not _depth:
        register(code, *_present)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def register(code: CodeType, origin: str, defines: Collection[str]) -> None:
    """Remember whose code this is, with all functions in it; of an exercise only what it is asked to define."""
    inside = not defines or code.co_qualname.partition(".")[0] in defines
    _origins[id(code)] = origin if inside else ""
    _kept.append(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            register(constant, origin, defines)


class Tripwire(TorchDispatchMode):
    """Notes which of the watched built-ins run on this thread, and on those that it starts."""

    supports_higher_order_operators = True

    def __init__(self, watched: Collection[str], exercise: str) -> None:
        super().__init__()
        self._watched, self._exercise = frozenset(watched), exercise
        self._met, self._trying = 0, False
        self.trips: list[tuple[str, str]] = []  # the built-in, and the exercise that answers for it or ""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """The guard against being compiled costs more than what is done here."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        schema = getattr(func, "_schema", None)
        name = schema.name if schema is not None else func.name()
        if name == TELLTALE or name in self._watched:
            self._met += 1
            if not self._trying:
                self._look(name)
        return func(*args, **(kwargs or {}))

    def _look(self, operator: str) -> None:
        name = operator if operator in self._watched else ""
        foreign, frame = False, _getframe(2)
        while frame is not None and frame is not self._top:
            code = frame.f_code
            if (builtin := IN_PYTHON.get(id(code))) in self._watched:
                name = builtin
            origin = _origins.get(id(code))
            if origin == GIVEN and not foreign:
                return
            if origin and origin != GIVEN:
                self.note(name, "" if origin == self._exercise else origin)
                return
            foreign = foreign or not code.co_filename.startswith(LIBRARY)
            frame = frame.f_back
        self.note(name, "")

    def note(self, name: str, answers_for_it: str) -> None:
        """One more, if it is new."""
        if name and (name, answers_for_it) not in self.trips and len(self.trips) < MOST:
            self.trips.append((name, answers_for_it))

    @contextmanager
    def watching(self):
        """While this is open; what is run outside is nobody's business."""
        global _active
        self._top = _getframe(2)
        before, _active = threading._profile_hook, self
        threading._profile_hook = self._follow
        try:
            with self:
                yield
                self._try_out()
        finally:
            threading._profile_hook, _active = before, None

    def _follow(self, frame: FrameType, event: str, argument: Any) -> None:
        """In a thread that was started: watch there, too."""
        sys.setprofile(None)
        self.__enter__()

    def _try_out(self) -> None:
        """A softmax of our own must be seen, or somebody pulled the wire."""
        before, self._trying = self._met, True
        _softmax(torch.zeros(1), 0)
        self._trying = False
        if self._met == before:
            self.note(SWITCHED_OFF, "")


def _listen(event: str, arguments: tuple) -> None:
    if _active is not None and event in PROCESSES:
        raise RuntimeError("this exercise is checked in one process: start no other here")


def _threaded(start: Callable) -> Callable:
    def threaded(function: Callable, *arguments: Any, **options: Any) -> Any:
        thread = type(getattr(function, "__self__", None))
        ours = getattr(thread, "_bootstrap", None), getattr(thread, "_bootstrap_inner", None)
        if _active is not None and ours != _bootstraps:  # it would not be followed
            raise RuntimeError("start threads through the module threading here")
        return start(function, *arguments, **options)

    return threaded


def _guarded(switch: Callable) -> Callable:
    def guarded(*arguments: Any, **options: Any) -> Any:
        if _active is not None and not _getframe(1).f_code.co_filename.startswith(LIBRARY):
            _active.note(SWITCHED_OFF, "")
        return switch(*arguments, **options)

    return guarded


def lay() -> None:
    """Once, before anything of a student's runs: cannot be taken back."""
    for module, name in SWITCHES:
        if hasattr(module, name):
            setattr(module, name, _guarded(getattr(module, name)))
    for name in THREADS:
        for module, known in ((_thread, name), (threading, f"_{name}")):
            if hasattr(module, known):
                setattr(module, known, _threaded(getattr(module, known)))
    sys.addaudithook(_listen)
