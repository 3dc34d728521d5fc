"""Finds out from the paths in a folder or zip who submitted which files.

The layouts that this module knows:
- The download of a learning platform (`downloads.py` has the list). The student's id is the platform's own.
- nbgrader: `submitted/<id>/<assignment>/<assignment>.ipynb`, with or without folders in front.
- Folders: `<id>/1-attention.ipynb`, if no path has one of the layouts above.
- Flat: `<id>.ipynb`.

A file's path makes a claim: this student owns this file. Students choose the names of their files, so those names prove
nothing. Claims are therefore read from only one level of the paths, the first level that matches a layout, and in a
platform's download only from the text that the platform wrote in front of the student's own name for the file.

Debris is the files and folders that programs leave behind, such as __MACOSX or Thumbs.db.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath

from grader.submission.downloads import Named, WrongPattern, named, named_by, platform_of, students_by_key
from grader.submission.file import COURSE_FOLDERS, DEBRIS, assignment_in

NO_NAME = "Participant"  # what Moodle writes instead of the name where marking is blind

# What is handed in instead of a notebook. In a flat folder, files with other names are the operator's.
NO_NOTEBOOK = re.compile(
    r"(?!readme).*\.(pdf|py|zip|html?|docx?|odt|rtf|txt|md|png|jpe?g|7z|rar|tar|t?gz|json)", re.IGNORECASE
)
EMPTY = "is empty. Put the notebook there."  # the problem of a folder


@dataclass(frozen=True)
class Entry:
    """A file in a folder or zip. An entry with a `problem` is a folder in which no file can be seen."""

    parts: tuple[str, ...]
    problem: str = ""  # the folder is empty, a link, or cannot be listed

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the path. If the entry has a problem, the last part is ""."""
        return (*self.parts, "") if self.problem else self.parts

    @property
    def is_notebook(self) -> bool:
        """Return True if the file's name is that of a notebook."""
        return not self.problem and is_notebook(self.parts[-1])


class Layout(StrEnum):
    """The possible layouts of the paths, by which the people are found."""

    SERVICE = "service"  # a learning platform's download
    NBGRADER = "nbgrader"
    FOLDERS = "folders"
    FLAT = "flat"


@dataclass(frozen=True)
class StudentFile:
    """A file that a person submitted, with the name that the person chose."""

    entry: Entry
    label: str  # that name, without what a service put in front
    folder: str = ""  # the folder below the person's own, where the layout gives it a meaning: the assignment

    @property
    def stem(self) -> str:
        """The student's name for the file, without its suffix."""
        return PurePosixPath(self.label).stem


@dataclass(frozen=True)
class Person:
    """A person, and everything that the person submitted."""

    student: str
    layout: Layout
    name: str
    late: bool
    claims: tuple[Entry, ...]  # one for each name, or place, that claims this id: more than one is a conflict
    files: tuple[StudentFile, ...]  # of the newest attempt
    platform: str = ""  # whose download it is
    note: str = ""  # for the instructor: older attempts are passed over


@dataclass(frozen=True)
class _Claim:
    """A claim that a path makes: this student owns this file."""

    student: str
    key: str  # two keys of one student are two people, or two places
    file: StudentFile
    layout: Layout
    name: str = ""
    late: bool = False
    platform: str = ""
    attempt: str = ""


def is_notebook(name: str) -> bool:
    """Return True if a file of this name is a notebook."""
    return name.lower().endswith(".ipynb")


def is_debris(name: str) -> bool:
    """Return True if a file or folder with this name was made by a program and not by a student."""
    return name in DEBRIS or name.startswith(".")


def is_misnamed(parts: Sequence[str], at: int | None = None) -> bool:
    """Return True if a path leads to a notebook in a student's folder, and the folder has one of the names in DEBRIS.

    The path must end with `<name>/….ipynb` or `<name>/<assignment>/….ipynb`. Programs put no notebooks at such a
    place, so the folder is a student's, and not debris.

    Args:
        at: the index at which the folder must be in the path; None for any index.
    """
    named = [place for place, part in enumerate(parts) if is_debris(part)]
    if len(named) != 1 or parts[named[0]] not in DEBRIS or at not in (None, named[0]):
        return False
    return is_notebook(parts[-1]) and len(parts) - named[0] in (2, 3)


def people(
    entries: Sequence[Entry],
    assignments: Collection[str],
    inside: int = 0,
    read: Callable[[Entry], str] = lambda entry: "",
    names: re.Pattern[str] | None = None,
) -> list[Person]:
    """Return the people to whom the files of a folder or zip belong.

    Args:
        entries: the files, without debris.
        assignments: the names of all assignments of the course.
        inside: the number of leading parts of each path that name the folder itself, not something in it.
        read: returns the text of a file that a platform wrote about the students, or "" if the file cannot be read.
        names: the pattern of `--names`, which matches a whole path in the folder; None for the layouts above.

    Raises:
        WrongPattern: a notebook does not match `names`.
        ValueError: a file that the platform wrote about the students cannot be read.
    """
    found = _by_names(entries, inside, names) if names else _by_layout(entries, assignments, inside, read)
    claims: dict[str, list[_Claim]] = {}
    for claim in found:
        claims.setdefault(claim.student, []).append(claim)
    if claims.keys() <= set(COURSE_FOLDERS):  # it is the course itself
        return []
    return [_person(made) for made in claims.values()]


def _person(made: Sequence[_Claim]) -> Person:
    """Return the person whom all these claims are about. Of several attempts, only the newest one has files."""
    attempts = sorted({claim.attempt for claim in made})
    newest = [claim for claim in made if claim.attempt == attempts[-1]]
    older = len(attempts) - 1
    return Person(
        student=made[0].student,
        layout=made[0].layout,
        name=made[0].name,
        late=any(claim.late for claim in newest),
        claims=tuple({claim.key: claim.file.entry for claim in reversed(made)}.values())[::-1],
        files=tuple(claim.file for claim in newest),
        platform=made[0].platform,
        note=f"the newest of {len(attempts)} attempts" if older else "",
    )


def _by_names(entries: Sequence[Entry], inside: int, names: re.Pattern[str]) -> Iterator[_Claim]:
    """Yield the claims that the instructor's pattern finds in the paths.

    Raises:
        WrongPattern: a notebook does not match the pattern.
    """
    for entry in entries:
        path = "/".join(entry.parts[inside:])
        if match := names.fullmatch(path):
            yield _claim_of(entry, named_by("", match))
        elif entry.is_notebook:
            raise WrongPattern(f"{path!r} does not match --names {names.pattern!r}. Change the pattern.")


def _by_layout(
    entries: Sequence[Entry], assignments: Collection[str], inside: int, read: Callable[[Entry], str]
) -> Iterator[_Claim]:
    """Yield the claims that the paths make according to the first layout that fits."""
    usual = [entry for entry in entries if not is_misnamed(entry.parts[inside:])]
    layout, platform, prefix = _layout(usual, assignments, inside)
    level = len(prefix)
    # A student with the name of debris is listed next to the others: the name is refused, and not passed over.
    misnamed = [entry for entry in entries if is_misnamed(entry.parts[max(inside, level) :], at=0)]
    below = {entry.path[level:]: entry for entry in [*usual, *misnamed] if entry.parts[:level] == prefix}
    by_key = students_by_key(platform, below, lambda parts: read(below[tuple(parts)]) if tuple(parts) in below else "")
    for parts, entry in below.items():
        said = named(platform, _above(prefix), parts) if platform else None
        if said is None:
            if claim := _claim(entry, level, layout, assignments):
                yield claim
            continue
        for each in by_key.get(said.student, (said,)):
            if each.student:
                yield _claim_of(entry, replace(said, student=each.student, name=each.name))


def _above(prefix: Sequence[str]) -> str:
    return prefix[-1] if prefix else ""


def prefixes(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Return the paths of the folders that contain all submissions, from the outside in.

    The first path is (). Each further path adds a folder that is the only one at its level. The list ends where a
    notebook lies next to that folder. Other files there belong to the operator.
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
    """Return True if the part of a path at this level is a folder."""
    return len(entry.parts) > level + 1 or bool(entry.problem)


def _layout(entries: Sequence[Entry], assignments: Collection[str], inside: int) -> tuple[Layout, str, tuple[str, ...]]:
    """Return the layout, the platform or "", and the path of the folder that contains each person's file or folder."""
    above = prefixes(entries)
    for prefix in above:
        level = len(prefix)
        below = [entry for entry in entries if entry.parts[:level] == prefix]
        if platform := platform_of(_above(prefix), [entry.path[level:] for entry in below]):
            return Layout.SERVICE, platform, prefix
        if any(_is_nbgrader(entry, level, assignments, level >= inside) for entry in below):
            return Layout.NBGRADER, "", prefix
    for prefix in above:
        level = len(prefix)
        below = [entry for entry in entries if entry.parts[:level] == prefix]
        loose = [entry for entry in below if not _in_folder(entry, level)]
        if prefix == above[-1] or any(NO_NOTEBOOK.fullmatch(entry.parts[-1]) for entry in loose):
            break
    if len(loose) < len(below):
        return Layout.FOLDERS, "", prefix
    # All files lie in one folder. It is a student's if each notebook is named after an assignment.
    stems = [PurePosixPath(entry.parts[-1]).stem for entry in loose if entry.is_notebook]
    says_assignment = all(assignment_in(stem, tuple(assignments)) for stem in stems)
    if says_assignment and level > inside and prefix[-1] not in assignments:
        return Layout.FOLDERS, "", prefix[:-1]
    return Layout.FLAT, "", prefix


def _is_nbgrader(entry: Entry, level: int, assignments: Collection[str], is_inside: bool) -> bool:
    """Return True if a path continues with `<id>/<assignment>/…` at this level.

    The assignment must be one of the course's. An unknown assignment is accepted only in `<id>/<name>/<name>.ipynb`.

    Args:
        is_inside: the level is below the folder that was passed to the command. If not,
            that folder may be a student's own, and the notebook's name must contain the
            assignment, too, because the folder may also contain `<assignment>/<id>.ipynb`.
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


def _claim_of(entry: Entry, said: Named) -> _Claim:
    """Return the claim that a file's name in a platform's download makes."""
    file = StudentFile(entry, said.file or entry.parts[-1])
    shown = "" if said.name == NO_NAME else said.name
    return _Claim(said.student, f"by {said.name}", file, Layout.SERVICE, shown, said.late, said.platform, said.attempt)


def _claim(entry: Entry, level: int, layout: Layout, assignments: Collection[str]) -> _Claim | None:
    """Return the claim that a path outside a platform's download makes, or None if the path names no student."""
    part, last = entry.parts[level], entry.parts[-1]
    in_folder = _in_folder(entry, level)
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
