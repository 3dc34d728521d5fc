"""Limits the CPU time for reading the code of one submission, whichever function reads it.

Many functions read code, and for some of them the time is not proportional to the
length of the code. This module limits the time for a submission in one place. It
measures the CPU time of sections of the work, and a signal stops a section when
the time is used up. Only the CPU time of this process is measured. A busy machine
increases it only a little, and no honest submission comes near the limit.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from grader.explain.repairs.run_repaired import stopped_by_another_thread

AGAIN_SECONDS = 1.0  # of CPU time, after which code that caught the exception gets it once more


class TookTooLong(BaseException):
    """The CPU time is used up. This is not an Exception, so that the interrupted code does not catch it."""


class Allowance:
    """A budget of CPU seconds of this thread. All sections that run within `timed` share it."""

    def __init__(self, seconds: float) -> None:
        self._left, self._timing = seconds, False

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Subtract the CPU time of this section from the allowance. A section within another is not counted twice.

        Raises:
            TookTooLong: the allowance is used up, before the section or during it.
        """
        with self._switched(True):
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock of the enclosing timed section until the context ends.

        Do nothing if there is no such section.
        """
        with self._switched(False):
            yield

    @contextmanager
    def _switched(self, timing: bool) -> Iterator[None]:
        """Start the clock (True) or stop it (False) for this section, and switch it back afterwards.

        Do nothing if the clock is in this state already.
        """
        if timing == self._timing:
            yield
            return
        self._switch(timing)
        try:
            yield
        except TookTooLong:
            self._left = 0.0  # the kernel's clock is not quite the thread's
            raise
        finally:
            self._switch(not timing)

    def _switch(self, timing: bool) -> None:
        if timing:
            if self._left <= 0:
                raise TookTooLong
            self._timing, self._started = True, time.thread_time()
            self._stop = _alarm(self._left)
        else:
            self._stop()
            self._timing = False
            self._left -= time.thread_time() - self._started


def _alarm(seconds: float) -> Callable[[], Any]:
    """Raise TookTooLong in this thread after this many more seconds of its CPU time.

    Returns:
        The function that cancels the alarm.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        # Signals come to the main thread alone: here another thread watches this one's clock.
        clock = partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))
        stopped = stopped_by_another_thread(seconds, TookTooLong, clock)
        stopped.__enter__()
        return lambda: stopped.__exit__(None, None, None)

    def expire(*_: object) -> NoReturn:
        raise TookTooLong

    def stop() -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

    before = signal.signal(signal.SIGPROF, expire)  # a signal breaks off regular expressions, too
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
    return stop
