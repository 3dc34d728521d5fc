"""Who handed in which files: reads the people from the paths in a folder or zip.

The layouts that it knows; the student's id is the service's own id of the student:
- Canvas, "Download Submissions": `lovelaceada_12345_678910_1-attention.ipynb`, `lovelaceada_LATE_12345_…`;
  the id is the user's (12345). What was typed in is `lovelaceada_12345_text.html`. Where grading is anonymous,
  `anon_x7Kq2_678910_…` and `LATE_anon_x7Kq2_…`; the id is x7Kq2. As lib/content_zipper.rb of canvas-lms writes them.
- Moodle, "Download all submissions": `Ada Lovelace_4711_assignsubmission_file/1-attention.ipynb`, or without
  folders `Ada Lovelace_4711_assignsubmission_file_1-attention.ipynb`; the id is the participant's (4711), or
  the group's; a group without an id goes by its name. What was typed in is
  `Ada Lovelace_4711_assignsubmission_onlinetext/onlinetext.html`. As mod/assign/classes/downloader.php of Moodle
  writes them; older versions end the folder's name with `_`.
- nbgrader: `submitted/<id>/<assignment>/<assignment>.ipynb`, with or without folders in front.
- Folders: `<id>/1-attention.ipynb`, if no path has one of the layouts above.
- Flat: `<id>.ipynb`.

A student chooses the names of files. So a person is read from one level of the paths alone, the first that has a
layout, and there from what the service wrote in front of the student's own name.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from grader.submission.file import COURSE_FOLDERS, DEBRIS, assignment_in

MOODLE = re.compile(r"(?P<name>[^_]+)(?:_(?P<id>[0-9]{1,20}))?_assignsubmission_[a-z0-9]+(?:_(?P<rest>.*))?")
ATTACHMENT = r"_(?:[0-9]{1,20}_(?P<rest>.+)|(?P<typed>(?:text|link)\.html))"
ANONYMOUS = re.compile(r"(?P<late>LATE_)?anon_(?!LATE_)(?P<id>[A-Za-z0-9]+)" + ATTACHMENT)
CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>[0-9]{1,20})" + ATTACHMENT)
NO_NAME = "Participant"  # what Moodle writes instead of the name where marking is blind

# What is handed in instead of a notebook. In a flat folder, files with other names are the operator's.
NO_NOTEBOOK = re.compile(
    r"(?!readme).*\.(pdf|py|zip|html?|docx?|odt|rtf|txt|md|png|jpe?g|7z|rar|tar|t?gz|json)", re.IGNORECASE
)
EMPTY = "is empty. Put the notebook there."  # the problem of a folder


@dataclass(frozen=True)
class Entry:
    """A file in a folder or zip; or, with a `problem`, a folder in which no file can be seen."""

    parts: tuple[str, ...]
    problem: str = ""  # the folder is empty, a link, or cannot be listed

    @property
    def is_notebook(self) -> bool:
        """Tell whether the name is that of a notebook."""
        return not self.problem and is_notebook(self.parts[-1])


class Layout(StrEnum):
    """Which layout of paths names the people."""

    SERVICE = "service"  # Canvas or Moodle
    NBGRADER = "nbgrader"
    FOLDERS = "folders"
    FLAT = "flat"


@dataclass(frozen=True)
class StudentFile:
    """A file that a person handed in, under the name that the person chose."""

    entry: Entry
    label: str  # that name, without what a service put in front
    folder: str = ""  # the folder below the person's own, where the layout gives it a meaning: the assignment

    @property
    def stem(self) -> str:
        """The student's name for the file, without suffix."""
        return PurePosixPath(self.label).stem


@dataclass(frozen=True)
class Person:
    """A person, and everything that the person handed in."""

    student: str
    layout: Layout
    name: str
    late: bool
    claims: tuple[Entry, ...]  # one for each name, or place, that claims this id: more than one is a conflict
    files: tuple[StudentFile, ...]


@dataclass(frozen=True)
class _Claim:
    """What one path says about whose file it is."""

    student: str
    key: str  # two keys of one student are two people, or two places
    file: StudentFile
    layout: Layout
    name: str = ""
    late: bool = False


def service_name(parts: Sequence[str]) -> tuple[str, int]:
    """Tell which service wrote a path in a folder or zip: "moodle", "canvas" or "", and the place of the part that says so."""
    for place, part in enumerate(parts):
        if match := _service(part, is_file=place == len(parts) - 1):
            return ("moodle" if match.re is MOODLE else "canvas"), place
    return "", 0


def is_notebook(name: str) -> bool:
    """Tell whether a file of this name is a notebook."""
    return name.lower().endswith(".ipynb")


def is_debris(name: str) -> bool:
    """Tell whether a file or folder of this name was made by a program, and by no student."""
    return name in DEBRIS or name.startswith(".")


def is_misnamed(parts: Sequence[str], at: int | None = None) -> bool:
    """Return True if a notebook is in a folder that has the name of debris, and could be a student's folder.

    The notebook is `<name>/….ipynb` or `<name>/<assignment>/….ipynb`. Programs put no notebook there: what macOS adds
    to a zip begins with a dot.

    Args:
        at: the place of that folder in the path; None for any place.
    """
    named = [place for place, part in enumerate(parts) if is_debris(part)]
    if len(named) != 1 or parts[named[0]] not in DEBRIS or at not in (None, named[0]):
        return False
    return is_notebook(parts[-1]) and len(parts) - named[0] in (2, 3)


def people(entries: Sequence[Entry], assignments: Collection[str], inside: int = 0) -> list[Person]:
    """Return the people to whom the files of a folder or zip belong.

    Args:
        entries: the files, without debris.
        inside: the number of leading parts of each path that are not in the folder, but its own name.
    """
    claims: dict[str, list[_Claim]] = {}
    usual = [entry for entry in entries if not is_misnamed(entry.parts[inside:])]
    layout, prefix = _layout(usual, assignments, inside)
    # A student with the name of debris is listed next to the others: the name is refused, and not passed over.
    misnamed = [entry for entry in entries if is_misnamed(entry.parts[max(inside, len(prefix)) :], at=0)]
    for entry in [*usual, *misnamed]:
        if entry.parts[: len(prefix)] == prefix and (claim := _claim(entry, len(prefix), layout, assignments)):
            claims.setdefault(claim.student, []).append(claim)
    if claims.keys() <= set(COURSE_FOLDERS):  # it is the course itself
        return []
    return [
        Person(
            student=student,
            layout=made[0].layout,
            name=made[0].name,
            late=any(claim.late for claim in made),
            claims=tuple({claim.key: claim.file.entry for claim in reversed(made)}.values())[::-1],
            files=tuple(claim.file for claim in made),
        )
        for student, made in claims.items()
    ]


def prefixes(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Return the paths of the folders that hold all submissions, from the outside in: () first, then each lone folder in it.

    What lies beside such a folder, and is no notebook, is the operator's.
    """
    found: list[tuple[str, ...]] = [()]
    while entries:
        level = len(found) - 1
        folders = {entry.parts[level] for entry in entries if _in_folder(entry, level)}
        loose = [entry for entry in entries if not _in_folder(entry, level)]
        entries = [entry for entry in entries if len(entry.parts) > level + 1]
        if len(folders) != 1 or any(entry.is_notebook for entry in loose) or not entries:
            break
        found.append((*found[-1], *folders))
    return found


def _in_folder(entry: Entry, level: int) -> bool:
    """Tell whether the part of a path at a level is a folder."""
    return len(entry.parts) > level + 1 or bool(entry.problem)


def _layout(entries: Sequence[Entry], assignments: Collection[str], inside: int) -> tuple[Layout, tuple[str, ...]]:
    """Find the layout, and the path of the folder in which each person's file or folder lies."""
    above = prefixes(entries)
    for prefix in above:
        level = len(prefix)
        below = [entry for entry in entries if entry.parts[:level] == prefix]
        if any(_service(entry.parts[level], not _in_folder(entry, level)) for entry in below):
            return Layout.SERVICE, prefix
        if any(_is_nbgrader(entry, level, assignments, level >= inside) for entry in below):
            return Layout.NBGRADER, prefix
    for prefix in above:
        level = len(prefix)
        below = [entry for entry in entries if entry.parts[:level] == prefix]
        loose = [entry for entry in below if not _in_folder(entry, level)]
        if prefix == above[-1] or any(NO_NOTEBOOK.fullmatch(entry.parts[-1]) for entry in loose):
            break
    if len(loose) < len(below):
        return Layout.FOLDERS, prefix
    # All files lie in one folder. It is a student's if each notebook is named after an assignment.
    stems = [PurePosixPath(entry.parts[-1]).stem for entry in loose if entry.is_notebook]
    named = all(assignment_in(stem, tuple(assignments)) for stem in stems)
    if named and level > inside and prefix[-1] not in assignments:
        return Layout.FOLDERS, prefix[:-1]
    return Layout.FLAT, prefix


def _is_nbgrader(entry: Entry, level: int, assignments: Collection[str], is_inside: bool) -> bool:
    """Tell whether a path goes on as `<id>/<assignment>/…` from a level on.

    The assignment is one of the course, or `<name>/<name>.ipynb` of an unknown one. The folder that was given may be
    the student's own; then the notebook's name must say the assignment, too, as a folder may also hold
    `<assignment>/<id>.ipynb`.
    """
    parts = entry.parts[level:]
    if len(parts) < (2 if entry.problem else 3):
        return False
    stem = PurePosixPath(parts[-1]).stem
    if parts[1] not in assignments:
        return is_inside and entry.is_notebook and len(parts) == 3 and parts[1] == stem
    # With one more folder, it is the class's, and a student is called like an assignment.
    named = len(parts) == 3 and assignment_in(stem, tuple(assignments)) is not None
    return is_inside or (named and parts[0] not in ("", *COURSE_FOLDERS))


def _service(part: str, is_file: bool = True) -> re.Match[str] | None:
    """Match the name of a file, or of a folder, that Moodle or Canvas wrote; None for any other name."""
    # Canvas makes no folders, and many a course is called `cs_101_2026_spring`.
    patterns = (MOODLE, ANONYMOUS, CANVAS) if is_file else (MOODLE,)
    return next(filter(None, (pattern.fullmatch(part) for pattern in patterns)), None)


def _claim(entry: Entry, level: int, layout: Layout, assignments: Collection[str]) -> _Claim | None:
    """Read from a path whose file it is; None for a file that is nobody's."""
    part, last = entry.parts[level], entry.parts[-1]
    in_folder = _in_folder(entry, level)
    if layout is Layout.SERVICE and (match := _service(part)):
        said = match.groupdict()
        label = last if in_folder else said.get("rest") or said.get("typed") or last
        name = (said.get("name") or "").strip()
        student = said["id"] or name
        shown = "" if name == NO_NAME else name
        return _Claim(student, f"by {name}", StudentFile(entry, label), layout, shown, bool(said.get("late")))
    if in_folder:
        below = entry.parts[level + 1 :]
        folder = below[0] if len(below) > (0 if entry.problem else 1) else ""
        file = StudentFile(entry, last, folder)
        own = Layout.FOLDERS if layout is Layout.SERVICE else layout
        nobodys = part in assignments and not (
            layout is Layout.NBGRADER and _is_nbgrader(entry, level, assignments, True)
        )
        return None if nobodys else _Claim(part, "folder", file, own)
    stem = PurePosixPath(part).stem
    if layout is not Layout.FLAT and (not entry.is_notebook or assignment_in(stem, tuple(assignments))):
        return None  # a file beside the students' folders
    if not entry.is_notebook and not NO_NOTEBOOK.fullmatch(part):
        return None
    return _Claim(stem, "file", StudentFile(entry, last), Layout.FLAT)
