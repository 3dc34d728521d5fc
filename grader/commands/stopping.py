"""Handles Ctrl-C and SIGTERM: they end a command in an orderly way, and never in the middle of an import."""

from __future__ import annotations  # sys.UnraisableHookArgs is there for type checkers alone

import os
import signal
import sys
from types import FrameType

AGAIN_SECONDS = 0.05  # until a stop that would have been swallowed is tried again
_raised: list[int] = []  # the signal for which `Stopped` was raised


class Stopped(KeyboardInterrupt):
    """Somebody stopped this command with Ctrl-C or SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number  # the signal's


def install() -> None:
    """Make the first SIGINT or SIGTERM raise `Stopped` in the main thread, and a second one end the process at once.

    Nothing may swallow a stop, for which there are three dangers. A library may catch
    KeyboardInterrupt during an import, and continue without the module that it was importing. So a
    signal during an import waits until the import is finished. Python ignores exceptions in a
    destructor or a fork handler, so `Stopped` is then raised again. C code may drop any exception,
    so a command that runs long must call `check` now and then.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _on_signal)
    sys.unraisablehook = _on_ignored
    # A worker that is forked is ended by its coordinator, and in no other way.
    os.register_at_fork(after_in_child=_reset)


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Raise `Stopped`. During an import, try again a little later instead."""
    _reset()
    if _imports(frame):
        _later(number)
    else:
        _raised.append(number)
        raise Stopped(number)


def check() -> None:
    """Raise `Stopped` again if it was raised before, because something has dropped it."""
    if _raised:
        raise Stopped(_raised[0])


def _on_ignored(ignored: sys.UnraisableHookArgs) -> None:
    """Handle an exception that Python ignores: raise `Stopped` again a little later, and print any other error."""
    if isinstance(ignored.exc_value, Stopped):
        _later(ignored.exc_value.number)
    else:
        sys.__unraisablehook__(ignored)


def _later(number: int) -> None:
    """Handle a signal after AGAIN_SECONDS, as if it arrived only then."""
    signal.signal(signal.SIGALRM, lambda _, frame: _on_signal(number, frame))
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def status_of(stop: KeyboardInterrupt) -> int:
    """Return the exit status of a stopped command: 128 plus the number of the signal."""
    return 128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)  # as shells count it


def _imports(frame: FrameType | None) -> bool:
    """Return True if the code of this frame, or of a frame that called it, is importing a module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _reset() -> None:
    """Restore the system's default: both signals end this process at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
