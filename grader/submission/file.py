"""The records of a submission before it is graded: the path of its file, its code cells, its problems.

A submission that cannot be graded has a `Problem`. Its status is `unreadable` if the file is at fault. Its status is
`fault` if the machine or the operator is at fault, and then no score changes. The grader does not read the target of a
link, so it refuses the submission with a score of 0. Because `proven` is false, this score does not replace a score
that is already recorded.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from grader.complaint import Complaint

MAX_BYTES = 48 << 20  # a notebook with all its outputs; a Colab copy with many pictures is about 20 MB
MOST_NAME_BYTES = 255  # of a folder's name

# Names that mean something else next to the students' folders: folders of the course, and files that programs leave.
COURSE_FOLDERS = ("notebooks", "solutions")
DEBRIS = ("__MACOSX", "feedback", "Thumbs.db", "desktop.ini", "timestamp.txt", "submission_secret.txt")
# The page of the class is next to the students' folders in feedback/, and so is the file that it is renamed from.
CLASS_PAGE = "class.html"
# Characters without a width that Unicode does not call format characters: joiners, fillers and selectors of variants.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True)
class Problem:
    """The reason why a submission cannot be graded, and the next step."""

    message: str
    status: str = "unreadable"  # or "fault": the machine or the operator is to blame, and there is no score
    proven: bool = True  # the file's bytes prove it; if not, a recorded score stays


class IntakeError(Exception):
    """A file or path cannot be graded. The message gives the reason and the next step."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Unreadable(IntakeError):
    """The file itself is at fault: it is not a notebook that can be graded."""

    def __init__(self, message: str, proven: bool = True) -> None:
        super().__init__(Problem(message, "unreadable", proven))


class NoSubmission(Unreadable):
    """A folder or zip contains no submission of any student."""


class Unavailable(IntakeError):
    """The machine or the operator is at fault: the file cannot be read now, or it is unclear which file counts."""

    def __init__(self, message: str) -> None:
        super().__init__(fault(message))


class NoSuchPath(Complaint):
    """A path in a command does not exist or contains no submission: the operator used the command wrongly."""


def fault(message: str) -> Problem:
    """Return a problem with the status "fault".

    The machine or the operator caused it, and no recorded score changes.
    """
    return Problem(message, "fault", proven=False)


@dataclass(frozen=True)
class Cell:
    """A cell as the student submitted it. Nothing in it is trusted."""

    source: str
    grade_id: str = ""  # nbgrader's id in the metadata
    id: str = ""  # the cell id of nbformat


@dataclass(frozen=True)
class Submission:
    """The parts of a notebook that the grader reads: its code cells, and the texts that answer questions."""

    cells: tuple[Cell, ...]
    sha256: str  # of the bytes of the submitted file
    texts: tuple[Cell, ...] = ()  # cells of any type that answer a question in words


@dataclass(frozen=True)
class SubmissionFile:
    """A submission that was found: its student, its assignment, and the path of its file."""

    student: str
    assignment: str
    folder: Path  # links are never followed below it
    parts: tuple[str, ...]  # path of the notebook below folder
    problem: Problem | None = None  # why it must not be read, if its name or place shows that already
    member: str = ""  # the notebook's name within a zip; `parts` then lead to the zip
    name: str = ""  # the student's name as the platform wrote it; "" where it wrote none
    platform: str = ""  # whose download it was found in, as "canvas"; "" for no platform's
    late: bool = False  # the platform says so in the file's name; most do not tell
    draft: bool = False  # Moodle's worksheet says that the student has not submitted it
    note: str = ""  # for the instructor: the file was found under another name than the assignment's
    # The code cells, after the notebook was read; None before.
    submission: Submission | None = field(default=None, compare=False, repr=False)

    @property
    def lms_id(self) -> str:
        """The platform's own number of the student; "" if the platform's download contains user names instead."""
        return self.student if self.platform in ("canvas", "moodle", "brightspace") else ""

    @property
    def path(self) -> Path:
        """The path of the notebook, or of the zip that contains it."""
        return self.folder.joinpath(*self.parts)

    @property
    def place(self) -> str:
        """The place of the notebook, for messages: its path, or the path of the zip and the notebook's name in it."""
        return f"{self.path}: {self.member}" if self.member else str(self.path)


def name_problem(student: str) -> Problem | None:
    """Return the problem with a student id that is refused, or None if the id is accepted."""
    if problem := part_problem(student):
        return problem
    unseen = any(unicodedata.category(each) in ("Cf", "Zl", "Zp") for each in student) or INVISIBLE.search(student)
    blank = student != student.strip() or any(unicodedata.category(each) == "Zs" for each in student.replace(" ", ""))
    if unseen or blank:
        message = "the student's name holds invisible characters, or blanks at an end; rename the folder"
    elif not student:
        message = "the student's name is empty; rename the folder"
    elif len(student.encode()) > MOST_NAME_BYTES:
        message = "the student's name is too long for a folder; rename the folder"
    elif is_reserved(student):
        message = f"{student!r} cannot be a student's name: the course has files of this name; rename the folder"
    else:
        return None
    return Problem(message, proven=False)


def part_problem(name: str) -> Problem | None:
    """Return the problem with a name of a file or folder that is refused, or None if the name is accepted.

    Unlike `name_problem`, this also applies to names that the student did not choose.
    """
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        return Problem("the student's name contains control characters; rename the folder", proven=False)
    if "/" in name or "\\" in name or name in (".", ".."):
        return Problem("the student's name contains a path separator; rename the folder", proven=False)
    return None


def is_reserved(student: str) -> bool:
    """Return True if a student's folder with this name could be mistaken for a file or folder of the course."""
    # Some file systems do not tell upper from lower case.
    folded = unicodedata.normalize("NFKC", student).casefold()
    page = folded == CLASS_PAGE or folded.startswith(f"{CLASS_PAGE}.")
    return page or student in (*COURSE_FOLDERS, *DEBRIS)


def assignment_in(stem: str, assignments: tuple[str, ...]) -> str | None:
    """Return the assignment that a notebook's name contains, or None if it contains none of the assignments.

    Names that services and browsers have changed are recognised, too: Canvas numbers resubmissions (1-attention-2),
    browsers number repeated downloads (1-attention (1)), Jupyter numbers duplicates (1-attention-Copy1), and
    Colab puts "Copy of" in front.
    """
    plain = re.sub(r"^(?:copy[ _]of[ _])+", "", stem, flags=re.IGNORECASE)
    for name in assignments:
        if re.fullmatch(re.escape(name) + r"(?:-Copy[0-9]*)?(?:-[0-9]+)?(?:[ _]?\([0-9]+\))?", plain):
            return name
    return None
