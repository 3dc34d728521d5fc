"""Describes an exception that student code raised. The grade and the notebook use the same words.

In the notebook, this module also finds the line that raised the exception. In the grader,
the sandbox reports the line (grader/sandbox/guest/places.py), and `grader.judge.raised`
uses the words. The self-check in a notebook has a copy of this module.
"""

import ast
import linecache
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from types import FunctionType, TracebackType
from typing import Any, NamedTuple

import torch

from grader.sandbox.text import one_line, without_paths

MAX_MESSAGE = 300
MAX_SOURCE, MAX_TEXT, MAX_NAME, MAX_SHAPES = 90, 160, 60, 80
# What Python appends to the text of a SyntaxError; the message names the line of the cell instead.
FILE_AND_LINE = re.compile(r" \(<[^<>]*>(?:, line \d+)?\)$")
CALLED_WRONGLY = re.compile(r"^([\w.]+)\(\) (?:takes|missing|got) ")


def line_in_words(where: str, line: str, what: str) -> str:
    """Return a sentence such as "line 4: `x.view(7)`: RuntimeError: …", or "it raised …" if the line is unknown.

    Args:
        where: "line 4", "in your own cell, line 3", or "" if the line is unknown.
        line: the line's text.
        what: the exception in words.
    """
    text = f"{where}: `{one_line(line, MAX_SOURCE)}`: {what}" if where else f"it raised {what}"
    return one_line(text, MAX_MESSAGE)


def error_in_words(error: str, message: str) -> str:
    """Return an exception's class and the first line of its message: "RuntimeError: shape '[2, 3]' is invalid"."""
    lines = FILE_AND_LINE.sub("", without_paths(message).strip()).splitlines()
    text = one_line(lines[0], MAX_TEXT) if lines else ""
    return ": ".join(filter(None, (one_line(error, MAX_NAME) or "an exception", text)))


def shapes_in_words(shapes: Sequence[tuple[str, tuple[int, ...]]], source: str) -> str:
    """Return the shapes of the tensors whose names occur in a source: " (query: 2 × 3, scale: one number)".

    Return "" if no such name occurs.
    """
    shown: list[str] = []
    for name, sizes in shapes:
        if re.search(rf"\b{re.escape(name)}\b", source):
            text = f"{name}: {' × '.join(map(str, sizes)) or 'one number'}"
            if len(", ".join([*shown, text])) <= MAX_SHAPES:
                shown.append(text)
    return f" ({', '.join(shown)})" if shown else ""


def line_called_wrongly(error: str, message: str, source: str) -> int:
    """Return the line of the function that was called with wrong arguments, according to an exception.

    Python raises such an exception in the caller, which is the probe. So the line must be found by the function's name.

    Returns:
        The number of the line, from 1; 0 if the exception names no function or the source does not define it.
    """
    called = CALLED_WRONGLY.search(message) if error == "TypeError" else None
    try:
        body: list[ast.stmt] = ast.parse(source).body if called else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    line = 0
    for part in called[1].split(".") if called else ():
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == part:
                body, line = node.body, node.lineno
                break
        else:
            return 0
    return line


MOST_SHAPES = 6  # as grader/sandbox/guest/places.py has it, like what follows
MOST_LINES = 20  # lines of one expression that are searched for names of tensors


class Raise(NamedTuple):
    """The place where student code raised an exception, and the exception in words."""

    where: str  # "line 4", "in your exercise 1.2, line 4"; "" where no line is known
    line: str  # its text
    shapes: Mapping[str, tuple[int, ...]]  # of the tensors that stand in the expression
    says: str  # all in one line: "line 4: `x.view(7)`: RuntimeError: … (x: 2 × 3)"


def the_line(error: BaseException, files: Mapping[str, str], here: str) -> Raise:
    """Return the innermost line of an answer in an exception's traceback, and a description of the exception.

    Args:
        files: the file name of a cell's code → the exercise that the cell answers, or "" for a cell of the lesson.
        here: the exercise whose answer was called.
    """
    what, found = error_in_words(type(error).__name__, str(error)), None
    trace, shapes = error.__traceback__, {}
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if files.get(file):
            found, inside = (file, trace.tb_lineno), ""
            shapes = _shapes(trace, file)
        elif found and file in files:
            inside = trace.tb_frame.f_code.co_qualname.partition(".")[0]
            inside = f", in the lesson's {inside}" if inside.isidentifier() else ""
        trace = trace.tb_next
    if found:
        what += inside
    else:
        file = next((file for file, exercise in files.items() if exercise == here), "")
        number = line_called_wrongly(type(error).__name__, str(error), source_of_file(file))
        if not number:
            return Raise("", "", {}, line_in_words("", "", what))
        found = (file, number)
    file, number = found
    line = linecache.getline(file, number).strip()
    where = f"line {number}" if files[file] == here else f"in your exercise {files[file]}, line {number}"
    if not isinstance(error, NameError):
        what += shapes_in_words(tuple(shapes.items()), source_of_file(file))
    return Raise(where, line, shapes, line_in_words(where, line, what))


def file_of(definition: Any) -> str:
    """Return the file name of the code of a function or class, or "" if it has no Python code."""
    for part in (definition, *(vars(definition).values() if isinstance(definition, type) else ())):
        if isinstance(part, FunctionType):
            return part.__code__.co_filename
    return ""


def source_of_file(file: str) -> str:
    """Return the source of the cell with this file name, or "" if the source is not known."""
    return "".join(linecache.getlines(file)) if file else ""


def _shapes(trace: TracebackType, file: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the local tensors that occur in the expression that raised an exception, by name."""
    first, last, *_ = next(islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None), (0, 0))
    first, last = trace.tb_lineno, trace.tb_lineno + max(min((last or 0) - (first or 0), MOST_LINES), 0)
    text = "".join(linecache.getlines(file)[first - 1 : last])
    local = trace.tb_frame.f_locals
    names = [
        name for name in dict.fromkeys(re.findall(r"[^\W\d]\w*", text)) if isinstance(local.get(name), torch.Tensor)
    ]
    return {name: tuple(local[name].shape) for name in names[:MOST_SHAPES]}
