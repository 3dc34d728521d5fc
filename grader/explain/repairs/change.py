"""What a change of an answer is: how much it tells, what the student reads, the line, and what stands in the node's place."""

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Piece = Callable[[Any], str]  # the source of a node
New = ast.AST | Callable[[], ast.AST]  # what stands in the place of a node; a function where it takes long to make
Changes = Iterator[tuple[int, str, int, New]]  # rank, what the student reads, line

MAX_PIECE = 60


def cut(text: str, most: int = MAX_PIECE) -> str:
    """Return a text in one line, and its beginning if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def exchanged(items: Sequence[Any], index: int) -> list[Any]:
    """Return a list in which two items that follow one another have changed places."""
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]
