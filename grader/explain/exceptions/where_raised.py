"""Find the line of a notebook's answer that raised an exception; for the notebook itself.

In the grader the sandbox reports it (grader/sandbox/guest/places.py). The words are those of `grader.judge.raised_words`.
"""

import linecache
import re
from collections.abc import Mapping
from itertools import islice
from types import FunctionType, TracebackType
from typing import Any, NamedTuple

import torch

from grader.judge.raised_words import error_in_words, line_called_wrongly, line_in_words, shapes_in_words

MOST_SHAPES = 6  # as grader/sandbox/guest/places.py has it, like what follows
MOST_LINES = 20  # lines of one expression that are searched for names of tensors


class Raise(NamedTuple):
    """Where student code raised an exception."""

    where: str  # "line 4", "in your exercise 1.2, line 4"; "" where no line is known
    line: str  # its text
    shapes: Mapping[str, tuple[int, ...]]  # of the tensors that stand in the expression
    says: str  # all in one line: "line 4: `x.view(7)`: RuntimeError: … (x: 2 × 3)"


def the_line(error: BaseException, files: Mapping[str, str], here: str) -> Raise:
    """Return the innermost line of an answer that an exception came through, and what happened there.

    Args:
        files: by the file name of a cell's code, the exercise that it answers; "" for a cell of the lesson.
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
    """Return the file name of the code of a function or a class; "" if it has no code."""
    for part in (definition, *(vars(definition).values() if isinstance(definition, type) else ())):
        if isinstance(part, FunctionType):
            return part.__code__.co_filename
    return ""


def source_of_file(file: str) -> str:
    """Return the source of a cell by the file name of its code; "" if it is not known."""
    return "".join(linecache.getlines(file)) if file else ""


def _shapes(trace: TracebackType, file: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the local tensors that stand in the expression that raised, by name."""
    first, last, *_ = next(islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None), (0, 0))
    first, last = trace.tb_lineno, trace.tb_lineno + max(min((last or 0) - (first or 0), MOST_LINES), 0)
    text = "".join(linecache.getlines(file)[first - 1 : last])
    local = trace.tb_frame.f_locals
    names = [
        name for name in dict.fromkeys(re.findall(r"[^\W\d]\w*", text)) if isinstance(local.get(name), torch.Tensor)
    ]
    return {name: tuple(local[name].shape) for name in names[:MOST_SHAPES]}
