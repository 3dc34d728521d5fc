"""Run a probe on changed versions of an answer, in the sandbox or in the notebook.

The sandbox gets this module as source text, followed by the source of the probe.
"""

from __future__ import annotations  # the probe below names types that the sandbox does not have

import contextlib
import copy
import ctypes
import inspect
import io
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import torch

# CPU time counts: on a busy machine no fewer changes are tried, and the student reads the same words.
SECONDS = 3.0  # for all changes of an answer on the trials of one check
SECONDS_EACH = 0.5  # for one changed answer on all trials that it is tried on
AGAIN = 0.1  # then for each further trial, and for code that catches the exception
PATIENCE = 4  # so many times as long it may take on a busy machine, or sleep
RAISED = {"raised": True}  # what a changed answer gives on a trial on which it raises


PROBE: Callable = print  # in the sandbox, the probe


def probe_repaired(
    definition: Any, sources: Sequence[str], names: Mapping[str, str], trials: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Run PROBE on changed answers.

    Args:
        definition: the function or class that the answer defines in the notebook.
        sources: the changed answers.
        names: the notebook's name for a parameter of the probe, if it differs from the parameter's.
        trials: the inputs of each trial, under any names. Named inputs let the grader check that they are unchanged.

    Returns:
        {"tried": for each changed answer a list with the result on each trial, as `run_repaired` returns it}.
    """
    namespace, has_time = namespace_of(definition), stopwatch()
    unknown = [None] * len(trials)
    return {
        "tried": [
            run_repaired(PROBE, source, namespace, names, list(trials.values())) if has_time() else unknown
            for source in sources
        ]
    }


def stopwatch() -> Callable[[], bool]:
    """Return a function that returns True while there is time to try further changes."""
    worked, started = time.process_time(), time.monotonic()
    return lambda: time.process_time() - worked < SECONDS and time.monotonic() - started < PATIENCE * SECONDS


def namespace_of(definition: Any) -> dict[str, Any]:
    """Return the globals of the notebook cell that defines a function or class, or {} if it has no Python code."""
    for part in (definition, *(vars(definition).values() if isinstance(definition, type) else ())):
        if isinstance(part, FunctionType):
            return part.__globals__
    return {}


def is_plain(value: Any) -> bool:
    """Return True if a value can be sent out of the sandbox: a tensor, a JSON value, or a collection of such values."""
    if isinstance(value, Mapping):
        return all(is_plain(inner) for inner in value.values())
    if isinstance(value, (list, tuple)):
        return all(is_plain(inner) for inner in value)
    return value is None or isinstance(value, (torch.Tensor, bool, int, float, str))


@contextlib.contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after this many seconds of CPU time, or PATIENCE times as many seconds of real time.

    Windows has no timers of this type, and only the main thread gets their signals. On Windows and in other threads,
    only the real time is limited.
    """

    def stop(*_: object) -> None:
        raise TimeoutError

    def report(lost: sys.UnraisableHookArgs) -> None:
        # Python drops what is raised in __del__ or in the callback of a weak reference; the timer comes again.
        if not isinstance(lost.exc_value, TimeoutError):
            reported_before(lost)

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        with stopped_by_another_thread(PATIENCE * seconds, TimeoutError, time.monotonic):
            yield
        return
    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, PATIENCE * seconds))
    before = [(number, signal.signal(number, stop)) for _, number, _ in timers]
    reported_before, sys.unraisablehook = sys.unraisablehook, report
    try:
        for timer, _, after in timers:
            signal.setitimer(timer, after, AGAIN)
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)
        for number, handler in before:
            signal.signal(number, handler or signal.SIG_DFL)
        sys.unraisablehook = reported_before


@contextlib.contextmanager
def stopped_by_another_thread(seconds: float, error: type[BaseException], clock: Callable[[], float]) -> Iterator[None]:
    """Raise an error in this thread after this many seconds of `clock`, and repeatedly until the context ends."""
    thread, over, lock = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()
    until = clock() + seconds

    def watch() -> None:
        while not over.wait(AGAIN):
            with lock:
                if not over.is_set() and clock() > until:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(error))

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()


def run_repaired(
    probe: Callable,
    source: str,
    namespace: Mapping[str, Any],
    names: Mapping[str, str],
    trials: Sequence[Mapping[str, Any]],
) -> list[Any]:
    """Run a probe on a changed answer, and return its result on each trial.

    A result is RAISED if the probe raises an exception. It is None if the
    trials take too long, or if the source itself raises an exception.

    Args:
        source: the changed answer. It is executed in a copy of the namespace.
        namespace: the globals of the notebook.
        names: the notebook's name for a parameter of the probe, if it differs from the parameter's.
        trials: the inputs of each trial.
    """
    results: list[Any] = [None] * len(trials)
    scope = dict(namespace)
    quiet = contextlib.redirect_stdout(io.StringIO()), torch.random.fork_rng(devices=[])
    with contextlib.suppress(Exception), stopped_after(SECONDS_EACH), warnings.catch_warnings(), quiet[0], quiet[1]:
        warnings.simplefilter("ignore")
        exec(compile(source, "<repaired>", "exec", dont_inherit=True), scope)
        for index, inputs in enumerate(trials):
            given = copy.deepcopy(dict(inputs))
            arguments = {
                parameter: given[parameter] if parameter in given else scope[names.get(parameter, parameter)]
                for parameter in inspect.signature(probe).parameters
            }
            torch.default_generator.manual_seed(0)
            torch.set_grad_enabled(True)
            try:
                value = probe(**arguments)
                results[index] = value if is_plain(value) else RAISED
            except TimeoutError:
                continue
            except Exception:
                results[index] = RAISED
    return results
