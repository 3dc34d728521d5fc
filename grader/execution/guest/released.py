"""Tell code of a given cell from code that only runs in its place.

Student code above a given cell can change the shell that runs the cell, and the names that the cell's code uses. So
code counts as given only if Python makes it of the text that the trusted side sent, and if what it calls is what it
called when the fork server started.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dis
import math
from functools import lru_cache
from types import CodeType, FrameType, FunctionType

import torch
import torch.nn.functional as F
from torch import nn

# Bits of a code object's flags that say which features of the future it has: a student's import turns them on for all cells.
FUTURE = 0
for _feature in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _feature).compiler_flag

# What has a frame of its own if it is called, or cannot be.
HARMLESS = (FunctionType, type, type(None), bool, int, float, str)

# Taken before student code can replace them.
_compile, _instructions, _Module = compile, dis.get_instructions, ast.Module
_libraries = {"torch": torch, "F": F, "nn": nn, "math": math}
# What the names mean that given code uses, and what these libraries have.
_meanings = {**vars(builtins), **_libraries}
_contents = {name: dict(vars(library)) for name, library in _libraries.items()}
# Given cells that ran: id → source.
_sources: dict[str, str] = {}


def note(cell: str, source: str) -> None:
    """Note the source of a given cell that runs next, as the trusted side sent it."""
    _sources[cell] = source


def is_given(cell: str) -> bool:
    """Tell whether this is the id of a given cell that ran."""
    return cell in _sources


def runs_unchanged(frame: FrameType, cell: str) -> bool:
    """Tell whether a frame runs the code of a given cell as it was released, and its names mean what they meant.

    A name that the notebook defines may mean any function in Python: that has a frame of its own, which tells whose it is.
    """
    names = frame.f_globals
    used = _codes(_sources[cell], frame.f_code.co_flags & FUTURE).get(frame.f_code)
    if used is None or type(names) is not dict:
        return False
    for name in used:
        value = names[name] if name in names else frame.f_builtins.get(name)
        if value is not _meanings.get(name) and type(value) not in HARMLESS:
            return False
    return all(
        vars(_libraries[library]).get(name) is _contents[library].get(name)
        for library in _libraries.keys() & used
        for name in frame.f_code.co_names
    )


@lru_cache(None)
def _codes(source: str, flags: int) -> dict[CodeType, set[str]]:
    """Compile a cell as IPython does, each statement alone; return its code and that of all functions in it.

    Returns:
        Each code object → the global names that it uses. Two are equal if they do the same in the same lines. Nothing if
        the cell is not plain Python.
    """
    name, mode = "<released>", "exec"
    try:
        statements = _compile(source, name, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True).body
        found = [_compile(_Module([one], []), name, mode, flags, dont_inherit=True) for one in statements]
    except SyntaxError:
        return {}
    for code in found:  # grows meanwhile
        found += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {
        code: {each.argval for each in _instructions(code) if each.opname == "LOAD_GLOBAL"} for code in found
    }
