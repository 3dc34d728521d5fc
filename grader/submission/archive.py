"""Reads a zip from an LMS without unpacking it to disk; refuses the whole zip if a member cannot be trusted.

The layouts that it knows; the student's id is the service's own id of the student:
- Canvas, "Download Submissions": `lovelaceada_12345_678910_1-attention.ipynb`, `lovelaceada_LATE_12345_…`;
  the id is the user's (12345). Where grading is anonymous, `anon_x7Kq2_678910_…` and `LATE_anon_x7Kq2_…`; the
  id is x7Kq2. As lib/content_zipper.rb of canvas-lms writes them.
- Moodle, "Download all submissions": `Ada Lovelace_4711_assignsubmission_file/1-attention.ipynb`, or without
  folders `Ada Lovelace_4711_assignsubmission_file_1-attention.ipynb`; the id is the participant's (4711), or
  the group's. As mod/assign/classes/downloader.php of Moodle writes them; older versions end the folder's
  name with `_`.
- nbgrader: `submitted/<id>/<assignment>/<assignment>.ipynb`, with or without folders in front.
- Plain, if no member has one of the layouts above: `<id>/1-attention.ipynb`, and with --assignment
  `<id>.ipynb`.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from grader.submission.file import MAX_BYTES, SubmissionFile, Unreadable, assignment_in, name_problem

MAX_MEMBERS = 50_000
MAX_TOTAL = 64 << 30  # bytes when unpacked, over all members; nothing is unpacked to disk
MAX_RATIO = 200  # a notebook with text outputs packs about 10:1

FOLDERS = r"^(?:.*/)?"
NOTEBOOK = r"(?P<rest>[^/]+)\.(?i:ipynb)$"
MOODLE = re.compile(FOLDERS + r"[^/]*_(?P<id>[0-9]{1,20})_assignsubmission_file(?:_?/(?:.*/)?|_)" + NOTEBOOK)
CANVAS = re.compile(FOLDERS + r"[^/]+?(?:_LATE)?_(?P<id>[0-9]{1,20})_[0-9]{1,20}_" + NOTEBOOK)
ANONYMOUS = re.compile(FOLDERS + r"(?:LATE_)?anon_(?P<id>[A-Za-z0-9]+)_[0-9]{1,20}_" + NOTEBOOK)
NBGRADER = re.compile(FOLDERS + r"(?P<id>[^/]+)/(?P<assignment>[^/]+)/" + NOTEBOOK)
PLAIN_FOLDER = re.compile(FOLDERS + r"(?P<id>[^/]+)/" + NOTEBOOK)
PLAIN_FILE = re.compile(r"^(?P<id>(?P<rest>[^/]+))\.(?i:ipynb)$")


@dataclass(frozen=True)
class Member:
    """A notebook in the zip: its student, and the assignment that its name contains."""

    name: str
    student: str
    assignment: str | None  # None if the name contains none


def find_in_zip(
    path: Path, assignments: tuple[str, ...], only: str | None = None
) -> Iterator[SubmissionFile]:
    """Find the submissions in a zip.

    A notebook whose name contains no assignment belongs to `only`, or, without `only`, to the assignment of
    the named notebooks if all of them are of one assignment. It counts only if no notebook of its student has
    an assignment in its name. Where a student has several notebooks for an assignment, the submission gets a
    `problem`.

    Args:
        assignments: the names of all assignments of the course.
        only: find the submissions of this assignment alone.

    Raises:
        Unreadable: the file is no zip, cannot be trusted, or holds no submission in a known layout.
    """
    names = [name for name in _member_names(path) if not _is_debris(name)]
    members = [member for name in names if (member := _service_member(name, assignments)) is not None]
    if not members:
        members = [member for name in names if (member := _plain_member(name, assignments, only)) is not None]
    named = {member.assignment for member in members if member.assignment}
    default = only or (next(iter(named)) if len(named) == 1 else None)
    by_student: dict[str, list[Member]] = {}
    for member in members:
        by_student.setdefault(member.student, []).append(member)
    empty = True
    for student, notebooks in by_student.items():
        for file in _choose(path, student, notebooks, only, default):
            empty = False
            yield file
    if empty:
        raise Unreadable(
            f"{path.name} holds no submission: expected are the names of Canvas, of Moodle, or "
            f"submitted/<student>/{only or assignments[0]}/{only or assignments[0]}.ipynb. "
            "Where the notebooks' names do not say the assignment, pass --assignment."
        )


def _choose(
    path: Path, student: str, notebooks: list[Member], only: str | None, default: str | None
) -> Iterator[SubmissionFile]:
    """Yield a student's submissions, one for each assignment.

    Args:
        only: yield the submission of this assignment alone.
        default: the assignment of notebooks whose names contain none.
    """
    by_assignment: dict[str, list[Member]] = {}
    for notebook in notebooks:
        if notebook.assignment:
            by_assignment.setdefault(notebook.assignment, []).append(notebook)
    if not by_assignment and default:
        by_assignment = {default: notebooks}
    for assignment, candidates in by_assignment.items():
        if only and assignment != only:
            continue
        problem = ""
        if len(candidates) > 1:
            names = " and ".join(repr(candidate.name) for candidate in candidates)
            problem = (
                f"two notebooks of {student} for {assignment}: {names}. Remove all but one from the zip."
            )
        yield SubmissionFile(
            student, assignment, path.parent, (path.name,), problem=problem, member=candidates[0].name
        )


def _member_names(path: Path) -> list[str]:
    """Return the names of the files in a zip.

    Raises:
        Unreadable: the file is no zip, or one of its members cannot be trusted.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise Unreadable(f"{path.name} cannot be read as a zip ({error}). Download it again.") from error
    refuse = f"{path.name} is refused whole: "
    if len(infos) > MAX_MEMBERS:
        raise Unreadable(refuse + f"it has {len(infos)} members, more than {MAX_MEMBERS}")
    if sum(info.file_size for info in infos) > MAX_TOTAL:
        raise Unreadable(refuse + "it would unpack to more than 64 GiB")
    for info in infos:
        if problem := _member_problem(info):
            raise Unreadable(refuse + f"member {info.filename!r} {problem}")
    names = [info.filename for info in infos if not info.is_dir()]
    if len(set(names)) != len(names):
        raise Unreadable(refuse + "two members have one name")
    return names


def _member_problem(info: zipfile.ZipInfo) -> str:
    """Say why a member of a zip cannot be trusted; return "" if it can."""
    name, kind = info.filename, stat.S_IFMT(info.external_attr >> 16)
    if name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
        return "points outside of it"
    if any(name_problem(part) for part in name.rstrip("/").split("/")) or info.orig_filename != name:
        return "has a name that no service writes"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & 0x1:
        return "is encrypted"
    if info.file_size > 1 << 20 and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"unpacks to {info.file_size >> 20} MiB from next to nothing"
    return ""


def _is_debris(name: str) -> bool:
    """Tell whether macOS or Jupyter, and no student, made a member: __MACOSX/, `._…`, .ipynb_checkpoints/."""
    last = name.rpartition("/")[2]
    return name.startswith("__MACOSX/") or ".ipynb_checkpoints/" in name or last.startswith("._")


def _service_member(name: str, assignments: tuple[str, ...]) -> Member | None:
    """Read student and assignment from a name that Moodle, Canvas or nbgrader made, else return None."""
    for layout in (MOODLE, ANONYMOUS, CANVAS):
        if match := layout.match(name):
            return Member(name, match["id"], assignment_in(match["rest"], assignments))
    match = NBGRADER.match(name)
    if match and match["assignment"] == match["rest"] and match["assignment"] in assignments:
        return Member(name, match["id"], match["assignment"])
    return None


def _plain_member(name: str, assignments: tuple[str, ...], only: str | None) -> Member | None:
    """Read student and assignment from a name in the plain layout, else return None.

    Args:
        only: the assignment of `<id>.ipynb`; without `only`, that name is in no known layout.
    """
    if (match := PLAIN_FOLDER.match(name)) and match["id"] not in assignments:
        return Member(name, match["id"], assignment_in(match["rest"], assignments))
    if only and (match := PLAIN_FILE.match(name)):
        return Member(name, match["id"], only)
    return None


def read_member(file: SubmissionFile) -> bytes:
    """Read the bytes of a notebook in a zip.

    Raises:
        Unreadable: it is damaged or larger than the limit.
    """
    try:
        status = os.stat(file.path)
        archive = _opened(file.path, status.st_ino, status.st_size, status.st_mtime_ns)
        with archive.open(file.member) as member:
            content = member.read(MAX_BYTES + 1)
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        KeyError,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise Unreadable(f"it cannot be read from the zip ({error}). Download the zip again.") from error
    if len(content) > MAX_BYTES:
        raise Unreadable(
            f"the notebook is larger than {MAX_BYTES >> 20} MiB. Clear its outputs and save it again."
        )
    return content


@lru_cache(1)
def _opened(path: Path, *version: int) -> zipfile.ZipFile:
    """Open a zip, and return the same open zip for its next member: opening reads the whole list of members.

    Args:
        version: inode, size and time of the file. A changed file has other values, and is opened again.
    """
    return zipfile.ZipFile(path)
