"""A zip from an LMS, read in place: nothing is unpacked to disk, and what cannot be trusted is refused whole.

These layouts are known, and the student's id is the service's own:
- Canvas, "Download Submissions": `lovelaceada_12345_678910_1-attention.ipynb`, `lovelaceada_LATE_12345_…`; the id is the
  user's (12345). Where grading is anonymous, `anon_x7Kq2_678910_…` and `LATE_anon_x7Kq2_…`; the id is x7Kq2. As
  lib/content_zipper.rb of canvas-lms writes them.
- Moodle, "Download all submissions": `Ada Lovelace_4711_assignsubmission_file/1-attention.ipynb`, or without folders
  `Ada Lovelace_4711_assignsubmission_file_1-attention.ipynb`; the id is the participant's (4711), or the group's. As
  mod/assign/classes/downloader.php of Moodle writes them; older versions end the folder's name with `_`.
- nbgrader: `submitted/<id>/<assignment>/<assignment>.ipynb`, with or without folders in front.
- Plain, where no member has any of these: `<id>/1-attention.ipynb`, and with --assignment `<id>.ipynb`.
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
    """A notebook in the zip: whose, and which assignment its name says."""

    name: str
    student: str
    assignment: str | None


def find_in_zip(
    path: Path, assignments: tuple[str, ...], only: str | None = None
) -> Iterator[SubmissionFile]:
    """The submissions in a zip.

    A student's notebook whose name does not say the assignment counts where it is the only one of that student, and
    the assignment is given or all others are of one. Several that may count: that student's are unreadable.

    Raises:
        Unreadable: the file is no zip, cannot be trusted, or holds no submission in a layout that is known.
    """
    names = [name for name in _members(path) if not _is_debris(name)]
    members = [one for name in names if (one := _of_a_service(name, assignments)) is not None]
    members = members or [one for name in names if (one := _plain(name, assignments, only)) is not None]
    said = {one.assignment for one in members if one.assignment}
    usual = only or (next(iter(said)) if len(said) == 1 else None)
    by_student: dict[str, list[Member]] = {}
    for one in members:
        by_student.setdefault(one.student, []).append(one)
    count = 0
    for student, mine in by_student.items():
        for found in _choose(path, student, mine, only, usual):
            count += 1
            yield found
    if not count:
        raise Unreadable(
            f"{path.name} holds no submission: expected are the names of Canvas, of Moodle, or "
            f"submitted/<student>/{only or assignments[0]}/{only or assignments[0]}.ipynb. "
            "Where the notebooks' names do not say the assignment, pass --assignment."
        )


def _choose(
    path: Path, student: str, mine: list[Member], only: str | None, usual: str | None
) -> Iterator[SubmissionFile]:
    """A student's submissions, one for each assignment."""
    by_assignment: dict[str, list[Member]] = {}
    for one in mine:
        if one.assignment:
            by_assignment.setdefault(one.assignment, []).append(one)
    unnamed = [one for one in mine if not one.assignment]
    if not by_assignment and usual:
        by_assignment = {usual: unnamed}
    for assignment, candidates in by_assignment.items():
        if only and assignment != only:
            continue
        problem = ""
        if len(candidates) > 1:
            names = " and ".join(repr(one.name) for one in candidates)
            problem = (
                f"two notebooks of {student} for {assignment}: {names}. Remove all but one from the zip."
            )
        yield SubmissionFile(
            student, assignment, path.parent, (path.name,), problem=problem, member=candidates[0].name
        )


def _members(path: Path) -> list[str]:
    """The names of the regular members, where every member can be trusted."""
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
    names = []
    for info in infos:
        name = info.filename
        kind = stat.S_IFMT(info.external_attr >> 16)
        if name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
            raise Unreadable(refuse + f"member {name!r} points outside of it")
        if any(name_problem(part) for part in name.rstrip("/").split("/")) or info.orig_filename != name:
            raise Unreadable(refuse + f"member {name!r} has a name that no service writes")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise Unreadable(refuse + f"member {name!r} is a link or a device")
        if info.flag_bits & 0x1:
            raise Unreadable(refuse + f"member {name!r} is encrypted")
        if info.file_size > 1 << 20 and info.file_size > MAX_RATIO * max(info.compress_size, 1):
            raise Unreadable(
                refuse + f"member {name!r} unpacks to {info.file_size >> 20} MiB from next to nothing"
            )
        if not info.is_dir():
            names.append(name)
    if len(set(names)) != len(names):
        raise Unreadable(refuse + "two members have one name")
    return names


def _is_debris(name: str) -> bool:
    """What operating systems and Jupyter leave in folders."""
    last = name.rpartition("/")[2]
    return name.startswith("__MACOSX/") or ".ipynb_checkpoints/" in name or last.startswith("._")


def _of_a_service(name: str, assignments: tuple[str, ...]) -> Member | None:
    for layout in (MOODLE, ANONYMOUS, CANVAS):
        if match := layout.match(name):
            return Member(name, match["id"], assignment_in(match["rest"], assignments))
    match = NBGRADER.match(name)
    if match and match["assignment"] == match["rest"] and match["assignment"] in assignments:
        return Member(name, match["id"], match["assignment"])
    return None


def _plain(name: str, assignments: tuple[str, ...], only: str | None) -> Member | None:
    if (match := PLAIN_FOLDER.match(name)) and match["id"] not in assignments:
        return Member(name, match["id"], assignment_in(match["rest"], assignments))
    if only and (match := PLAIN_FILE.match(name)):
        return Member(name, match["id"], only)
    return None


def read_member(found: SubmissionFile) -> bytes:
    """The bytes of a notebook in a zip.

    Raises:
        Unreadable: it is damaged or larger than the limit.
    """
    try:
        status = os.stat(found.path)
        archive = _opened(found.path, status.st_ino, status.st_size, status.st_mtime_ns)
        with archive.open(found.member) as file:
            content = file.read(MAX_BYTES + 1)
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
    """The zip, with its list of members read once and not for each of them."""
    return zipfile.ZipFile(path)
