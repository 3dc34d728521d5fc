"""The tripwire: records which of torch's built-ins run while a probe runs, and whose code called them.

It sees each operator when torch dispatches it, so renaming hides nothing. A built-in that torch writes in Python has
no operator of its own; it is found on the stack of the operators that it calls. Further out, the stack shows whose code
called the built-in. A record, called a trip, names the provided cell or the other exercise with this code, or "" for
all other code. The trusted side decides which provided cells an answer may call. guest/released.py decides whether
code belongs to a provided cell.

The tripwire runs in the same process as student code, so a student can try to switch it off. This module makes that
hard, not impossible: a record cannot be erased, because the kernel counts it, too (guest/evasions.py), and during a
watched probe no student code gets a frame or the garbage collector's lists. A trip can only cost points. The trusted
side's ban by name works without the tripwire, and it flags code that may get around it (grader/judge/reaches.py).
"""

from __future__ import annotations

import _thread
import gc
import inspect
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from types import CodeType, FrameType
from typing import Any

import numpy
import torch
import torch.ao.nn.quantizable as quantizable
import torch.nn.functional as F
from guest import evasions, released
from guest.evasions import count, count_down
from guest.library_internals import NotCompiled, skip_dispatch_rules
from guest.released import INSTALLED, LIBRARY, is_disguised, is_installed
from torch import nn
from torch._ops import HigherOrderOperator, OpOverload
from torch.distributions.transforms import SoftmaxTransform
from torch.utils._python_dispatch import TorchDispatchMode

GIVEN = "given"
SWITCHED_OFF = "switched off"
MAX_TRIPS = 16  # recorded for one probe
# Built-ins that torch writes in Python, whose operators alone do not identify them: id of the code object → name.
IN_PYTHON: dict[int, str] = {
    id(function.__code__): function.__qualname__
    for function in (
        F.multi_head_attention_forward,
        nn.MultiheadAttention.forward,
        quantizable.MultiheadAttention.forward,
        nn.TransformerEncoderLayer.forward,
        nn.TransformerDecoderLayer.forward,
    )
}
# A softmax of torch in Python without its operators: id of the code object → the name that is watched.
NAMED = {id(SoftmaxTransform._call.__code__): "SoftmaxTransform"}
# Audit events of Python that a new process causes.
PROCESSES = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen")
# Functions that start threads, in the module _thread; which of them exist depends on the version of Python, and so
# does whether a thread causes an audit event, which no code can avoid.
THREADS = ("start_new_thread", "start_new", "start_joinable_thread")
THREAD_EVENTS = tuple(f"_thread.{name}" for name in THREADS)
THREAD_STARTS = tuple(
    (module, name)
    for each in THREADS
    for module, name in ((_thread, each), (threading, f"_{each}"))
    if hasattr(module, name)
)
# How the names of the audit events begin that tell of a look into the interpreter, and the attributes that are one.
LOOKS = ("sys._getframe", "sys._current_frames", "gc.get_")
# By these a function of Python's own would set or take away what watches calls, for whoever asks it.
TRACES = ("sys.setprofile", "sys.settrace", evasions.REGISTERS)
# Modules of Python that hand frames to whoever calls them.
PASS_ON = (inspect.__file__, traceback.__file__)
FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
# Torch's operators. Others, and those that call a function, may run code that is not watched.
NAMESPACES = ("aten", "prim", "prims", "profiler", "")

# Before the name of a function that is watched wherever it is installed.
CALL = "call "
# Backward passes in each other; from the 61st on torch computes them in threads of its own, which nobody watches.
MAX_NESTED = 40
# The operator that every attention written in Python by torch calls.
SOFTMAX = "aten::_softmax"

# Taken before student code can replace them.
_getframe, _softmax, _setprofile, _getprofile = sys._getframe, torch.softmax, sys.setprofile, sys.getprofile
_get_ident, _stop_tracing = _thread.get_ident, partial(sys.setprofile, None)
_count_modes = torch._C._len_torch_dispatch_stack
_collects, _collect_no_more, _collect_again = partial(gc.isenabled), gc.disable, gc.enable
_engine = type(torch.autograd.Variable._execution_engine)
_no_dispatch = torch.Tensor.__torch_dispatch__
# `id` would tell the audit hook of each call, which costs as much as an operator.
_identity = object.__hash__
_fields = next(vars(kind)["__dict__"].__get__ for kind in OpOverload.__mro__ if "__dict__" in vars(kind))
_name, _overload = torch._C.FunctionSchema.name.fget, torch._C.FunctionSchema.overload_name.fget
_operation = lru_cache(None)(torch._C._get_operation_overload)
# Id of a code object → the given cell or the exercise whose answer it is from, or "" for the student's own code.
_origins: dict[int, str] = {}
_registered: list[CodeType] = []  # those code objects, kept alive: an id is unique only while its object lives
# Origin and defined names of the cell that runs.
_cell: tuple[str, Collection[str]] = "", ()
_depth = 0  # statements that the shell is running now; more than one if a statement passes code to the shell
# The tripwire of the probe that runs.
_active: Tripwire | None = None
# The thread on which the audit hook asks for a frame, which is an audit event too.
_auditing = 0
# The threads on which the tripwire itself sets what traces calls, twice for each operator.
_setting: dict[int, bool] = {}


def begin(origin: str, defines: Collection[str], cell: str, source: str) -> None:
    """Store the cell that runs next, for `running`.

    Args:
        origin: "given" for a provided cell, the id of the exercise for an answer, or "" for a student-added cell.
        defines: the names that an answer's cell has to define.
        cell: the cell's id.
        source: the cell's source, as the trusted side sent it.
    """
    global _cell
    if origin == GIVEN:
        released.note(cell, source)
    _cell = cell if origin == GIVEN else origin, frozenset(defines)


@contextmanager
def running(code: CodeType) -> Iterator[None]:
    """Register a statement of the cell under the cell's origin. The statement runs while this context is open.

    Other code that the statement passes to the shell is not registered, because a student may have written it.
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

    If `defines` is not empty, only functions and classes with these names have this origin. All other code in the cell
    is recorded as the student's own.
    """
    inside = not defines or code.co_qualname.partition(".")[0] in defines
    _origins[id(code)] = origin if inside else ""
    _registered.append(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            register(constant, origin, defines)


class Tripwire(NotCompiled, TorchDispatchMode):
    """Records which of the watched built-ins run on this thread, and on the threads that this thread starts."""

    supports_higher_order_operators = True

    def __init__(self, watched: Collection[str], exercise: str) -> None:
        super().__init__()
        self._watched, self._exercise = frozenset(watched), exercise
        # Functions in Python, of any library: listed as "call softmax".
        self._functions = frozenset(name.removeprefix(CALL) for name in watched if name.startswith(CALL))
        self._self_test = self._was_tested = False
        # Calls of the student's own code that Python made while the tripwire itself was at work.
        self._interrupting: set[FrameType] = set()
        self._nested = 0  # backward passes that run now
        # Identity of an overload of which no look is due → what runs it, and the overload, which lives on by this.
        self._runs: dict[int, tuple[Callable, OpOverload]] = {}
        # Each built-in, and the id of the other exercise whose answer called it, else "".
        self.trips: list[tuple[str, str]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Run an operator. If it is not in `_runs`, examine it first. torch calls this for each operator."""
        if _collects():
            self.record(SWITCHED_OFF, "")
        known = self._runs.get(_identity(func)) if not types else None
        run = known[0] if known is not None else self._look_at(func, types)
        # What a `partial` calls is not traced if it is written in C: that costs as much as the operator itself.
        if self._functions or _getprofile() is not None:  # this thread's calls are traced already
            return partial(run)(*args, **(kwargs or {}))
        thread = _get_ident()
        _profile(self._trace_function)  # a student's function may run in there, where no mode is on
        try:
            return partial(run)(*args, **(kwargs or {}))
        finally:
            try:
                _setting[thread] = True
                _stop_tracing()
            finally:
                _setting[thread] = False

    def _look_at(self, func: Any, types: Collection[type]) -> Callable:
        """Trace a watched operator, and softmax, which built-ins call. Record an operator that may hide code.

        Returns: the function for the schema of `func`, because the rest of `func` may be changed; or else `func`.
        """
        if OpOverload not in type(func).__mro__:
            name, run = func.name() if isinstance(func, HigherOrderOperator) else SWITCHED_OFF, func
        else:
            schema = _fields(func)["_schema"]
            name, run = _name(schema), _operation(_name(schema), _overload(schema))[0]
        if name == SOFTMAX or name in self._watched:
            self._trace(name, _getframe(2))
        elif (
            run is func
            or name.rpartition("::")[0] not in NAMESPACES
            or any(getattr(kind, "__torch_dispatch__", _no_dispatch) is not _no_dispatch for kind in types)
        ):
            self.record(SWITCHED_OFF, "")
        else:
            self._runs[_identity(func)] = run, func
        return run

    def _trace(self, operator: str, frame: FrameType | None) -> None:
        """Read the stack from an operator's frame outwards. Record the built-in and whose code called it.

        A provided cell called it if there is no student code on the stack between cell and operator. Otherwise the
        innermost answer on the stack called it. If there is no answer, the exercise's own code did.
        """
        name = operator if operator in self._watched or self._self_test else ""
        # Whether a frame between this one and the operator is neither torch's nor Python's.
        student_code = False
        while frame is not None and frame is not self._top:
            code = frame.f_code
            builtin = IN_PYTHON.get(id(code), "")
            if builtin in self._watched:
                name = builtin
            origin = _origins.get(id(code), "")
            is_sure = not student_code and released.is_given(origin) and released.runs_unchanged(frame, origin)
            if origin and (is_sure or not released.is_given(origin)):
                self.record(name, "" if origin == self._exercise else origin)
                return
            student_code = student_code or not code.co_filename.startswith(LIBRARY)
            frame = frame.f_back
        self.record(name, "")

    def record(self, name: str, other_exercise: str) -> None:
        """Record a built-in. Each pair of built-in and exercise is recorded once, and at most MAX_TRIPS pairs are."""
        if self._self_test:
            self._was_tested = True
        elif name:
            count_down()
            if (name, other_exercise) not in self.trips and len(self.trips) < MAX_TRIPS:
                self.trips.append((name, other_exercise))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread, and threads that it starts, until the context ends."""
        global _active
        self._top: FrameType | None = _getframe(2)
        if _active is None:
            evasions.forget_callbacks()
        before, _active, counted, collected = _active, self, count(), _collects()
        _collect_no_more()  # it calls a student's functions at any moment, while the tripwire works as well
        self.watch_functions()
        try:
            with self:
                self._test()  # somebody may have switched it off in a cell, and on again in here
                yield
                self._test()
        finally:
            _profile(None)
            _active = before
            if collected:
                _collect_again()
            if count() != counted and not self.trips:  # somebody erased them
                self.trips.append((SWITCHED_OFF, ""))

    def watch_functions(self) -> None:
        """Watch this thread's function calls, if some of the watched functions are not operators of torch."""
        _profile(self._trace_function if self._functions else None)

    def _trace_function(self, frame: FrameType, event: str, argument: Any) -> None:
        """Trace a library's function that has a watched name, such as scipy's softmax. Python calls this for each call.

        If Python runs student code while `__torch_dispatch__` works, switch the mode on again for this code.
        """
        name = ""
        if event == "call":
            if _collects():
                self.record(SWITCHED_OFF, "")
            if frame.f_code.co_filename.startswith(INSTALLED):
                name = NAMED.get(id(frame.f_code), frame.f_code.co_name)
            elif not _count_modes():
                self._interrupting.add(frame)
                self.__enter__()
        elif event == "return":
            if self._interrupting and frame in self._interrupting:
                self._interrupting.remove(frame)
                self.__exit__(None, None, None)
        elif (owner := type(argument.__self__)) is _engine:
            self._nested += 1 if event == "c_call" else -1
            if self._nested > MAX_NESTED:
                self.record(SWITCHED_OFF, "")
        elif owner is numpy.ufunc and event == "c_call":  # numpy.logaddexp.reduce
            name = argument.__self__.__name__
        if name and name in self._functions:
            self._trace(CALL + name, frame)

    def _test(self) -> None:
        """Check that softmax and function calls are recorded. If not, record that the tripwire is switched off."""
        self._self_test, self._was_tested = True, False
        _softmax(torch.zeros(1), 0)
        self._self_test = False
        if not self._was_tested or (self._functions and _getprofile() != self._trace_function):
            self.trips.append((SWITCHED_OFF, ""))


def _audit(event: str, arguments: tuple) -> None:
    """Refuse actions that could evade the tripwire. Python calls this for every audit event.

    Raises:
        RuntimeError: code uses a library's file name or adds an audit hook; or, during a watched
            probe, starts a process or an unwatched thread, traces calls, or inspects the interpreter.
    """
    global _auditing
    if event in TRACES:
        if _active is not None and not _setting.get(_get_ident()):
            _getframe(1)  # where the stack is full, Python asks, and this is the RecursionError that is due
            raise RuntimeError("this exercise is checked: do not look into the interpreter here")
        return
    if _auditing == _get_ident():
        return
    if event in ("compile", "code.__new__") and is_disguised(event, *arguments[:2]):
        raise RuntimeError("code that you make has a file name of its own, and not a library's")
    if event == "sys.addaudithook":  # nothing is traced in there
        raise RuntimeError("audit hooks of your own are not possible here")  # Python then adds none, without a word
    if _active is None:
        return
    if event in PROCESSES:
        raise RuntimeError("this exercise is checked in one process: start no other here")
    # What `watched_start` starts is watched; a function that somebody kept from before it was wrapped starts anything.
    if event in THREAD_EVENTS and type(arguments[0]) is not _Watched:
        raise RuntimeError("start threads through the module threading here")
    if event.startswith(LOOKS) or (event == "object.__getattr__" and arguments[1] in FRAMES):
        _auditing = _get_ident()
        try:
            frame: FrameType | None = _getframe(1)
            while frame is not None and frame.f_code.co_filename in PASS_ON:
                frame = frame.f_back
        finally:
            _auditing = 0
        if not is_installed(frame):
            raise RuntimeError("this exercise is checked: do not look into the interpreter here")


def _profile(function: Callable | None) -> None:
    """Set this thread's profile function. During a watched probe, no other code can set it."""
    thread = _get_ident()
    try:
        _setting[thread] = True
        _setprofile(function)
    finally:
        _setting[thread] = False


class _Watched:
    """A thread's function. It makes the tripwire watch the thread, and then runs the original function."""

    def __init__(self, function: Callable, tripwire: Tripwire) -> None:
        self._function, self._tripwire = function, tripwire

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self._tripwire.watch_functions()
        self._tripwire.__enter__()
        return self._function(*arguments, **options)


def watched_start(start: Callable) -> Callable:
    """Wrap a function that starts threads, so that threads started during a watched probe are watched."""

    def start_checked(function: Callable, *arguments: Any, **options: Any) -> Any:
        return start(_Watched(function, _active) if _active is not None else function, *arguments, **options)

    return start_checked


def _record_switch() -> bool:
    """Record that student code switches the watching off, or tries to. Return True if a probe is being watched."""
    if _active is not None:
        _active.record(SWITCHED_OFF, "")
    return _active is not None


def install() -> None:
    """Wrap the functions that could evade the tripwire, and forbid new processes during a watched probe.

    The fork server calls this once, before student code runs. Nothing undoes it.
    """
    evasions.note_switches(_record_switch)
    evasions.hold_interruptions(_record_switch)
    skip_dispatch_rules(Tripwire)
    for module, name in THREAD_STARTS:
        setattr(module, name, watched_start(getattr(module, name)))
    sys.addaudithook(_audit)
