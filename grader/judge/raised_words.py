"""The words for an exception that student code raised: the same in the grade and in the notebook, which has a copy of this.

Imports the standard library alone, and `grader.sandbox.text`.
"""

import ast
import re
from collections.abc import Sequence

from grader.sandbox.text import one_line, without_paths

MAX_MESSAGE = 300
MAX_SOURCE, MAX_TEXT, MAX_NAME, MAX_SHAPES = 90, 160, 60, 80
# What Python appends to the text of a SyntaxError; the message names the line of the cell instead.
FILE_AND_LINE = re.compile(r" \(<[^<>]*>(?:, line \d+)?\)$")
CALLED_WRONGLY = re.compile(r"^([\w.]+)\(\) (?:takes|missing|got) ")


def line_in_words(where: str, line: str, what: str) -> str:
    """Say what happened on a line: "line 4: `x.view(7)`: RuntimeError: …"; "it raised …" where no line is known.

    Args:
        where: "line 4", "in your own cell, line 3", or "".
        line: its text.
        what: the exception in words.
    """
    text = f"{where}: `{one_line(line, MAX_SOURCE)}`: {what}" if where else f"it raised {what}"
    return one_line(text, MAX_MESSAGE)


def error_in_words(error: str, message: str) -> str:
    """Return an exception's class and the first line of its text."""
    lines = FILE_AND_LINE.sub("", without_paths(message).strip()).splitlines()
    text = one_line(lines[0], MAX_TEXT) if lines else ""
    return ": ".join(filter(None, (one_line(error, MAX_NAME) or "an exception", text)))


def shapes_in_words(shapes: Sequence[tuple[str, tuple[int, ...]]], source: str) -> str:
    """List the shapes of the tensors that a cell names: " (query: 2 × 3, scale: one number)"; "" if it names none."""
    shown: list[str] = []
    for name, sizes in shapes:
        if re.search(rf"\b{re.escape(name)}\b", source):
            text = f"{name}: {' × '.join(map(str, sizes)) or 'one number'}"
            if len(", ".join([*shown, text])) <= MAX_SHAPES:
                shown.append(text)
    return f" ({', '.join(shown)})" if shown else ""


def line_called_wrongly(error: str, message: str, source: str) -> int:
    """Find the line of the definition that an exception says to be called with other arguments; 0 if there is none.

    Python raises it in the caller, which is the probe.
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
