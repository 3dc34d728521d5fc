"""Handlers of signals: Python calls them between any two instructions, those of the tripwire's own work as well.

In there no operator is seen, and a handler gets the frames. So during a watched probe no handler of a student's is called.
"""

from __future__ import annotations

import _imp
import _signal  # type: ignore[import-not-found]
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

# Modules of C whose functions are wrapped: Python would make them anew, with the functions as they were.
KEPT = ("_imp", "_signal", "_thread")


def install(refuses: Callable[[], bool]) -> None:
    """Ask, at each signal, whether a handler is refused now. The fork server calls this once, before student code runs."""
    set_handler, create = _signal.signal, _imp.create_builtin

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

    _signal.signal, _imp.create_builtin = handling, created
