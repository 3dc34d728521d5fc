"""What a change of an answer is: how much it tells, what the student reads, the line, and what stands in the node's place."""

import ast
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

Piece = Callable[[Any], str]  # the source of a node
New = ast.AST | Callable[[], ast.AST]  # what stands in the place of a node; a function where it takes long to make

MAX_PIECE = 60


class End(Enum):
    """How the words about a change end: as a rule, and where another check fails all the same."""

    PLAIN = "", ""
    RIGHT = " it comes out right.", " this check comes out right."
    ANOTHER = "; with another one it comes out right.", "."
    COUNTED = (" counts its axes from the front, and not every input has the same number of axes.",) * 2


class Look(NamedTuple):
    """Where a student is told to look."""

    at: str  # the words, without their end
    end: End = End.PLAIN

    def says(self, *, in_part: bool) -> str:
        """Return the whole words.

        Args:
            in_part: claim less, because another check fails all the same.
        """
        whole, less = self.end.value
        return f"{self.at}{less} Another check fails all the same." if in_part else f"{self.at}{whole}"


Changes = Iterator[tuple[int, Look, int, New]]  # rank, what the student reads, line


def look_at(what: str) -> Look:
    """Return the words for a part in whose place another one comes out right."""
    return Look(f"look at {what}", End.ANOTHER)


def without(what: str) -> Look:
    """Return the words for a part without which it comes out right."""
    return Look(f"without {what}", End.RIGHT)


def cut(text: str, most: int = MAX_PIECE) -> str:
    """Return a text in one line, and its beginning if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def exchanged(items: Sequence[Any], index: int) -> list[Any]:
    """Return a list in which two items that follow one another have changed places."""
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]
