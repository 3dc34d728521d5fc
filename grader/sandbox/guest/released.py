"""Distinguishes code of a provided cell from code that imitates it.

Student code above a provided cell can change the shell that runs the cell, and the names that the cell's code uses. So
code is accepted as provided only under two conditions. First, Python compiles it from the text that the trusted side
sent. Second, the functions that it calls are those that it called when the fork server started. Code of a library is
recognised by its file name, so other code must not be compiled under such a name.
"""

import __future__

import ast
import builtins
import dis
import math
import os
import sys
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

# Bits of a code object's flags for `from __future__` features: a student's import turns them on
# for all cells.
FUTURE = 0
for _feature in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _feature).compiler_flag

STANDARD = os.path.dirname(os.__file__) + os.sep
LIBRARY = (os.path.dirname(torch.__file__) + os.sep, STANDARD, "<frozen ")
# All code that is installed, and the guest's own.
INSTALLED = (
    os.path.dirname(os.path.dirname(torch.__file__)) + os.sep,
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    *LIBRARY[1:],
)
# What has a frame of its own if it is called, or cannot be.
HARMLESS = (FunctionType, type, type(None), bool, int, float, str)
# Types whose methods are torch's and Python's own: other values could call anything back, without a frame.
PLAIN = (
    torch.Tensor, nn.Parameter, torch.Size, torch.dtype, torch.device, tuple, list, dict, GeneratorType, *HARMLESS,
)  # fmt: skip

# Taken before student code can replace them.
_compile, _instructions, _ast, _vars = compile, dis.get_instructions, ast, vars
_getframe, _open = sys._getframe, open
_tensor = dict(vars(torch.Tensor))
_libraries = {"torch": torch, "F": F, "nn": nn, "math": math}
# What the names mean that given code uses, and what these libraries have.
_meanings = {**vars(builtins), **_libraries}
_contents = {name: dict(vars(library)) for name, library in _libraries.items()}
# Given cells that ran: id → source.
_sources: dict[str, str] = {}


def note(cell: str, source: str) -> None:
    """Store the source of a provided cell that runs next, as the trusted side sent it."""
    _sources[cell] = source


def is_given(cell: str) -> bool:
    """Return True if the provided cell with this id has run."""
    return cell in _sources


def runs_unchanged(frame: FrameType, cell: str) -> bool:
    """Return True if a frame is unchanged code of a provided cell, at a call of a function of torch.

    The names that the code uses must also have the values that they had when the server started. A name that the
    notebook defines may have any Python function as its value, because the function's frame shows its origin. A
    C function has no frame. So the frame must call a library's function by its name, with values of plain types.
    """
    names = frame.f_globals
    code = _codes(_sources[cell], frame.f_code.co_flags & FUTURE).get(frame.f_code)
    if code is None or type(names) is not dict or frame.f_lasti not in code.calls:
        return False
    if any(type(value) not in PLAIN and nn.Module not in type(value).__mro__ for value in frame.f_locals.values()):
        return False
    tensor = _vars(torch.Tensor)
    if len(tensor) != len(_tensor) or any(tensor.get(name) is not value for name, value in _tensor.items()):
        return False
    for name in code.names:
        value = names[name] if name in names else frame.f_builtins.get(name)
        if value is not _meanings.get(name) and type(value) not in HARMLESS:
            return False
    return all(
        vars(_libraries[library]).get(name) is _contents[library].get(name)
        for library in _libraries.keys() & code.names
        for name in frame.f_code.co_names
    )


class Released(NamedTuple):
    """The facts about a code object of a provided cell."""

    names: frozenset[str]  # the global names that it uses
    calls: frozenset[int]  # the instructions that call a function of a library by its name, as in `F.softmax(scores)`


@lru_cache(None)
def _codes(source: str, flags: int) -> dict[CodeType, Released]:
    """Compile a cell as IPython does, one statement at a time. Describe its code and that of all functions in it.

    Two code objects are equal if they have the same instructions in the same
    lines. Return {} if the cell is not plain Python.
    """
    name, mode = "<released>", "exec"
    try:
        statements = _compile(source, name, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True).body
        found = [_compile(_ast.Module([one], []), name, mode, flags, dont_inherit=True) for one in statements]
    except SyntaxError:
        return {}
    calls = {
        (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        for statement in statements
        for node in _ast.walk(statement)
        if isinstance(node, _ast.Call) and _is_of_library(node.func)
    }
    for code in found:  # grows meanwhile
        found += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {
        code: Released(
            frozenset(each.argval for each in _instructions(code) if each.opname == "LOAD_GLOBAL"),
            frozenset(2 * index for index, place in enumerate(code.co_positions()) if place in calls),
        )
        for code in found
    }


def _is_of_library(function: ast.expr) -> bool:
    """Return True if the called function is an attribute of a library, such as `torch.softmax`."""
    return (
        isinstance(function, _ast.Attribute)
        and isinstance(function.value, _ast.Name)
        and function.value.id in _libraries
    )


def is_disguised(event: str, content: Any, name: Any) -> bool:
    """Return True if code is created under a library's file name but is not the library's code.

    Frames are attributed to libraries by this file name.

    Args:
        event: the audit event, "compile" or "code.__new__".
        content: the source that is compiled.
        name: the file name.
    """
    name = os.fsdecode(name) if isinstance(name, (str, bytes)) else ""
    if not name.startswith(INSTALLED):
        return False
    if event == "code.__new__":
        return not is_installed(_getframe(2))
    try:
        with _open(name, "rb") as file:
            return file.read() != (content.encode() if isinstance(content, str) else content)
    except OSError:
        return True


def is_installed(frame: FrameType | None) -> bool:
    """Return True if a frame runs code of a library, or if the frame is None."""
    return frame is None or frame.f_code.co_filename.startswith(INSTALLED)
