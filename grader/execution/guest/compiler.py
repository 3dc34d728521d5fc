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
        torch._dynamo = sys.modules[NAME] = _Asleep()


class _Asleep(ModuleType):
    """`torch._dynamo`, not imported yet."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self._left: list[Callable] = []  # which functions torch has as they are, and asks about no more

    def graph_break(self, msg: str = "") -> None:
        """Nothing is compiled: there is no graph to break."""

    def disable(
        self, fn: Any = None, recursive: bool = True, *, wrapping: bool = True, **options: Any
    ) -> Any:
        """The function as it is, where torch asks on its own account; whoever else asks is going to compile."""
        if wrapping:
            return self._awake().disable(fn, recursive, **options)
        self._left.append(fn)
        return fn

    def __getattr__(self, name: str) -> Any:
        # A look through all modules asks for __file__, and an import of a part of this one for __path__.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        return getattr(self._awake(), name)

    def _awake(self) -> ModuleType:
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME], torch._dynamo
            for function in self._left:
                function.__dict__.pop("__dynamo_disable", None)  # torch asks again
        return import_module(NAME)
