"""The records of a submission before it is graded: where its file lies, and its code cells."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

MAX_BYTES = 48 << 20  # a notebook with all its outputs; a Colab copy with many pictures is about 20 MB


class Unreadable(Exception):
    """The submitted file, or the given path, cannot be graded; the message says why and what to do.

    The grader is not at fault: faults of the grader are other exceptions.
    """


@dataclass(frozen=True)
class Cell:
    """A code cell as it was submitted; nothing in it is trusted."""

    source: str
    grade_id: str = ""  # nbgrader's id in the metadata
    id: str = ""  # the cell id of nbformat


@dataclass(frozen=True)
class Submission:
    """A notebook, reduced to the sources of its code cells."""

    cells: tuple[Cell, ...]
    sha256: str  # of the bytes of the submitted file


@dataclass(frozen=True)
class SubmissionFile:
    """A submission that was found: whose it is, for which assignment, and where it lies."""

    student: str
    assignment: str
    folder: Path  # links are never followed below it
    parts: tuple[str, ...]  # path of the notebook below folder
    problem: str = ""  # why it must not be read, if its name or place shows that already
    member: str = ""  # the notebook's name within a zip; `parts` then lead to the zip
    name: str = ""  # the person's, as the learning platform wrote it
    late: bool = False  # the learning platform marked it as late
    # The code cells, after the notebook was read; None before.
    submission: Submission | None = field(default=None, compare=False, repr=False)

    @property
    def path(self) -> Path:
        """Return the path of the notebook, or of the zip that holds it."""
        return self.folder.joinpath(*self.parts)


def name_problem(student: str) -> str:
    """Return why a student id, or a folder's name, is refused; "" if it is accepted. Change nothing in it."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in student):
        return "the student's name holds control characters; rename the folder"
    if "/" in student or "\\" in student or student in (".", ".."):
        return "the student's name holds a path separator; rename the folder"
    return ""


def assignment_in(stem: str, assignments: tuple[str, ...]) -> str | None:
    """Return the assignment that a notebook's name contains; None if it contains none.

    Names that services and browsers have changed count too: Canvas numbers resubmissions (1-attention-2),
    browsers number repeated downloads (1-attention (1)), Jupyter numbers duplicates (1-attention-Copy1), and
    Colab puts "Copy of" in front.
    """
    plain = re.sub(r"^(?:copy[ _]of[ _])+", "", stem, flags=re.IGNORECASE)
    for name in assignments:
        if re.fullmatch(re.escape(name) + r"(?:-Copy[0-9]*)?(?:-[0-9]+)?(?:[ _]?\([0-9]+\))?", plain):
            return name
    return None
