"""Functions that switch the dispatch of operators off, or run an operator's kernel without it: who calls them is looked at.

A student needs them only to hide built-ins. Of a class the methods are replaced, and not the class: one that was kept from
before, or found as the type of an object, is watched as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import torch
import torch.utils._python_dispatch as dispatching
from guest.library_internals import SWITCHES_OF_MODES, SWITCHES_OF_TORCH
from guest.released import LIBRARY

# Taken before student code can replace it.
_getframe = sys._getframe


def _is_torch(frame: FrameType | None) -> bool:
    """Tell whether torch made a call: the first frame outwards that is not of Python's own library must be torch's."""
    torch_folder, *of_python = LIBRARY
    while frame is not None and frame.f_code.co_filename.startswith(tuple(of_python)):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(torch_folder)


def _noting(switch: Callable, note: Callable[[], object]) -> Callable:
    """Return a function that does what the switch does, and calls `note` first unless torch calls it."""

    def noted(*arguments: Any, **options: Any) -> Any:
        if not _is_torch(_getframe(1)):
            note()
        return switch(*arguments, **options)

    return noted


def install(note: Callable[[], object]) -> None:
    """Let each switch call `note` if other code than torch's calls it. The fork server calls this once, before student code."""
    wrapped: dict[int, Callable] = {}
    kept = []  # an id is unique only among objects that live at the same time
    for module, names in ((torch._C, SWITCHES_OF_TORCH), (dispatching, SWITCHES_OF_MODES)):
        for switch in (getattr(module, name) for name in names.split() if hasattr(module, name)):
            if isinstance(switch, type):
                for method in {"__init__", "__enter__", "call_boxed"} & vars(switch).keys():
                    setattr(switch, method, _noting(getattr(switch, method), note))
            else:
                wrapped[id(switch)] = _noting(switch, note)
                kept.append(switch)
    for name, each in list(sys.modules.items()):
        if isinstance(each, ModuleType) and name.partition(".")[0] == "torch":
            for key, value in list(vars(each).items()):
                if id(value) in wrapped:
                    setattr(each, key, wrapped[id(value)])
