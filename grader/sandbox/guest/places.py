"""Finds the line of the notebook that raised an exception, for the message to the student.

The place that this module reports is only shown and never scored, so it may trust the exception. The trusted
side limits the report, and looks up the text of the line itself (grader/sandbox/replies.py).
"""

import ast
import re
import warnings
from dataclasses import dataclass
from itertools import islice
from types import CodeType, TracebackType

import torch
from guest.library_internals import CELL_FILE

NEWLINE = re.compile(r"\r\n|\r|\n")
WORD = re.compile(r"[^\W\d]\w*")
MAX_SHAPES = 6
MAX_SPAN = 20  # lines of one expression that are searched for names of tensors


@dataclass
class _Cell:
    """A cell that is running or has run."""

    id: str
    given: bool
    lines: list[str]  # as they stand in the notebook
    transformed: list[str]  # as IPython made Python of them
    file: str = ""  # the file name of its code; empty as long as no statement of it has run


_cell = _Cell("", False, [], [])
_cells: dict[str, _Cell] = {}  # by the file name of their code


def begin(cell: str, given: bool, source: str) -> None:
    """Store the cell that runs next."""
    global _cell
    lines = NEWLINE.split(source)
    _cell = _Cell(cell, given, lines, lines)


def note_transformed(source: str) -> None:
    """Store the source into which IPython transformed the cell that runs next."""
    _cell.transformed = NEWLINE.split(source)


def register(code: CodeType) -> None:
    """Store the file name of the running cell's code.

    It is taken from the cell's first statement, because a statement may itself run other code.
    """
    if not _cell.file and code.co_filename.startswith(CELL_FILE):
        _cell.file = code.co_filename
        _cells[_cell.file] = _cell


def as_python_says(error: BaseException) -> BaseException:
    """Return Python's own error for a cell that cannot be compiled, instead of IPython's error.

    IPython compiles a cell as if it could continue, so it reports "incomplete input" for every open bracket.
    """
    if isinstance(error, SyntaxError):
        try:
            _compile(_cell.transformed)
        except SyntaxError as clearer:
            return clearer
        except BaseException:
            return error
    return error


def place_in_cell(error: BaseException, refused: bool) -> dict | None:
    """Return the place of an exception that ended the running cell, as JSON values, or None if it has no place.

    Args:
        refused: the exception was raised when the cell was parsed or compiled, not when it ran.
    """
    # An exception is an object of the student's code: everything that it is asked for may raise.
    try:
        return _place_refused(error) if refused or not _cell.file else _place_raised(error)
    except BaseException:
        return None


def place_in_probe(error: BaseException) -> dict | None:
    """Return the place of an exception that ended a probe, as JSON values, or None if it has no place."""
    try:
        return _place_raised(error)
    except BaseException:
        return None


def _frames(trace: TracebackType | None) -> list[tuple[TracebackType, _Cell]]:
    """Return the traceback's entries that are code of cells, each with its cell, the innermost last."""
    found = []
    while trace is not None:
        if (cell := _cells.get(trace.tb_frame.f_code.co_filename)) is not None:
            found.append((trace, cell))
        trace = trace.tb_next
    return found


def _place_raised(error: BaseException) -> dict | None:
    """Return the innermost line of the student's own cells, or None if no cell's code is in the traceback.

    If this line called code of a provided cell, the result also contains the line in that cell.
    """
    frames = _frames(error.__traceback__)
    if not frames:
        return None
    place: dict = {}
    innermost, cell = frames[-1]
    if cell.given:
        place = {"given": [cell.id, _own_line(cell, int(innermost.tb_lineno))]}
    for trace, cell in reversed(frames):
        if not cell.given:
            line = _own_line(cell, int(trace.tb_lineno))
            return {**place, "cell": cell.id, "line": line, "shapes": _shapes(trace, cell, line)}
    return place


def _place_refused(error: BaseException) -> dict | None:
    """Return the line and column at which Python could not parse the running cell.

    Return None for a provided cell, or if the line is unknown.
    """
    line, column = 0, 0
    if isinstance(error, SyntaxError) and error.lineno is not None:
        line, column = int(error.lineno), int(error.offset or 0)
    else:  # such as ValueError for a null byte, or MemoryError for brackets within brackets
        line = _first_refused(error)
    own = _own_line(_cell, line)
    if not line or _cell.given:
        return None
    same = _text(_cell.lines, own) == _text(_cell.transformed, line)
    return {"cell": _cell.id, "line": own, "column": column if same else 0}


def _first_refused(error: BaseException) -> int:
    """Return the number of leading lines, as few as possible, that Python refuses with the running cell's error.

    Return 0 if Python does not refuse the whole cell with this error.
    """
    first, last = 1, len(_cell.transformed)
    while first < last:
        middle = (first + last) // 2
        if _is_refused(middle, error):
            last = middle
        else:
            first = middle + 1
    return first if _is_refused(first, error) else 0


def _is_refused(count: int, error: BaseException) -> bool:
    """Return True if Python refuses the first `count` lines of the running cell with this error."""
    try:
        _compile(_cell.transformed[:count])
    except BaseException as raised:
        return type(raised) is type(error) and str(raised) == str(error)
    return False


def _compile(lines: list[str]) -> None:
    """Compile lines as a cell, without running them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile("\n".join(lines) + "\n", "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _own_line(cell: _Cell, line: int) -> int:
    """Return the line number in the cell itself for a line number in IPython's transformed source.

    IPython drops blank lines at the top, and a magic may turn several lines
    into one. So the result is the nearest line with the same text.
    """
    dropped = 0
    if _text(cell.transformed, 1).strip():
        dropped = next((index for index, text in enumerate(cell.lines) if text.strip()), 0)
    expected, text = line + dropped, _text(cell.transformed, line)
    if _text(cell.lines, expected) == text:
        return expected
    same = [number for number, own in enumerate(cell.lines, 1) if own == text]
    return min(same, key=lambda number: abs(number - expected), default=expected)


def _text(lines: list[str], number: int) -> str:
    """Return the line with this number, counted from 1, or "" if there is no such line."""
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _shapes(trace: TracebackType, cell: _Cell, line: int) -> list[list]:
    """Return name and sizes of the local tensors that occur in the expression that raised an exception."""
    positions = next(islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None), (None,) * 4)
    span = min((positions[1] or 0) - (positions[0] or 0), MAX_SPAN)
    names = dict.fromkeys(WORD.findall("\n".join(cell.lines[line - 1 : line + max(span, 0)])))
    local = trace.tb_frame.f_locals
    found: list[list] = []
    with torch._C.DisableTorchFunctionSubclass():
        for name in names:
            if len(found) < MAX_SHAPES and name in local and isinstance(local[name], torch.Tensor):
                # Not `local[name].shape`: a subclass may say anything there.
                found.append([name, [int(size) for size in torch.Tensor.size(local[name])]])
    return found
