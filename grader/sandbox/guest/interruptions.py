"""What Python calls between any two instructions, those of the tripwire's own work as well, where no operator is seen.

A handler of a signal does not run during a watched probe, the garbage collector is not switched on, and what was registered
with sys.monitoring (Python 3.12) is forgotten.
"""

from __future__ import annotations

import _imp
import _signal  # type: ignore[import-not-found]
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

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
    """Forget all callbacks that were registered with sys.monitoring."""
    for tool in TOOLS if _register is not None else ():
        for event in _events:
            with suppress(ValueError):  # two events in one, of Python 3.14
                _register(tool, event, None)


def install(refuses: Callable[[], bool]) -> None:
    """Replace functions of signal and gc: handlers run, and the collector is switched on, only where `refuses()` is false.

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
