"""A submission that is there: whose, for which assignment, where; not opened yet."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

MAX_BYTES = 48 << 20  # a notebook with all its outputs; a Colab copy with many pictures is about 20 MB


class Unreadable(Exception):
    """The file is at fault; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class Cell:
    """A code cell as it was submitted: nothing of it is trusted."""

    source: str
    grade_id: str = ""
    id: str = ""


@dataclass(frozen=True)
class Submission:
    """A notebook, reduced to the sources of its code cells."""

    cells: tuple[Cell, ...]
    sha256: str


@dataclass(frozen=True)
class SubmissionFile:
    """A submission that is there: whose, for which assignment, and where."""

    student: str
    assignment: str
    folder: Path  # links are never followed below it
    parts: tuple[str, ...]  # path of the notebook below folder
    problem: str = ""  # why it cannot be read, where that shows already
    member: str = ""  # its name within a zip; then the path is the zip's
    submission: Submission | None = field(
        default=None, compare=False, repr=False
    )  # where it was read already

    @property
    def path(self) -> Path:
        return self.folder.joinpath(*self.parts)


def name_problem(student: str) -> str:
    """Why a student id is refused; empty if it is fine. Unicode is kept as it is."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in student):
        return "the student's name holds control characters; rename the folder"
    if "/" in student or "\\" in student or student in (".", ".."):
        return "the student's name holds a path separator; rename the folder"
    return ""


def assignment_in(stem: str, assignments: tuple[str, ...]) -> str | None:
    """The assignment that a notebook's name says, as services and browsers change it.

    Canvas numbers what is handed in again (1-attention-2), browsers what is downloaded again (1-attention (1)), Jupyter
    its duplicates (1-attention-Copy1), and Colab puts "Copy of" in front.
    """
    plain = re.sub(r"^(?:copy[ _]of[ _])+", "", stem, flags=re.IGNORECASE)
    for name in assignments:
        if re.fullmatch(re.escape(name) + r"(?:-Copy[0-9]*)?(?:-[0-9]+)?(?:[ _]?\([0-9]+\))?", plain):
            return name
    return None
