"""Reads the place of an exception, as the sandbox reports it; it is only shown, and is bounded here."""

from typing import Any

from grader.records import Place
from grader.sandbox.text import plain

MAX_LINE = 10**6
MAX_ID = 100  # characters of a cell's id
MAX_SHAPES, MAX_NAME, MAX_AXES, MAX_SIZE = 6, 40, 8, 2**40


def place(reported: Any) -> Place:
    """Return the reported place, without whatever is not of the expected type and size."""
    if not isinstance(reported, dict):
        return Place()
    given = reported.get("given")
    given_cell, given_line = given if isinstance(given, list) and len(given) == 2 else ("", 0)
    return Place(
        cell=plain(reported.get("cell"), MAX_ID),
        line=_number(reported.get("line")),
        column=_number(reported.get("column")),
        shapes=_shapes(reported.get("shapes")),
        given_cell=plain(given_cell, MAX_ID),
        given_line=_number(given_line),
    )


def _number(value: Any) -> int:
    """Return a line or a column; 0, which stands for none, if it is no possible one."""
    return value if type(value) is int and 0 < value <= MAX_LINE else 0


def _shapes(reported: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the shapes of tensors by name."""
    found = []
    for entry in reported[:MAX_SHAPES] if isinstance(reported, list) else ():
        match entry:
            case [str(name), list(sizes)] if name.isidentifier() and len(name) <= MAX_NAME:
                if len(sizes) <= MAX_AXES and all(type(n) is int and 0 <= n < MAX_SIZE for n in sizes):
                    found.append((plain(name, MAX_NAME), tuple(sizes)))
    return tuple(found)
