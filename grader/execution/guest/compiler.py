"""torch's compiler, left asleep: no lesson compiles anything.

The first step of any optimizer imports the compiler, only to tell it where a compiled program must break off. That takes
1.4 s and 70 MB. What stands here in its place knows the two things that optimizers ask for, which outside of compiled
code come to nothing. Whoever asks for anything else, a student who calls torch.compile say, gets the compiler itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import torch

NAME = "torch._dynamo"


def leave_asleep() -> None:
    """Put the stand-in where torch looks for its compiler, unless that is imported already."""
    if NAME not in sys.modules:
        torch._dynamo = sys.modules[NAME] = _Asleep(NAME)


class _Asleep(ModuleType):
    """`torch._dynamo`, not imported yet."""

    def graph_break(self, msg: str = "") -> None:
        """Nothing is compiled: there is no graph to break."""

    def disable(self, fn: Callable, recursive: bool = True, **options: Any) -> Callable:
        """The function as it is, for as long as nothing is compiled. torch keeps what it gets here."""

        def as_it_is(*arguments: Any, **named: Any) -> Any:
            now = sys.modules[NAME]
            return (fn if now is self else now.disable(fn, recursive, **options))(*arguments, **named)

        return as_it_is

    def __getattr__(self, name: str) -> Any:
        if (
            name.startswith("__") and name != "__path__"
        ):  # whoever looks through all modules asks for __file__
            raise AttributeError(name)
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME], torch._dynamo
        return getattr(import_module(NAME), name)
