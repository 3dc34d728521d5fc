"""A zip from an LMS, read in place: nothing is unpacked to disk, and what cannot be trusted is refused whole.

Three layouts are known, and the student's id is the service's own:
- Canvas, "Download submissions": `lovelaceada_12345_678910_1-attention.ipynb`, `lovelaceada_LATE_12345_…`; the
  id is the user's (12345).
- Moodle, "Download all submissions": `Ada Lovelace_4711_assignsubmission_file/1-attention.ipynb`; the id is the
  participant's (4711).
- nbgrader: `submitted/<id>/<assignment>/<assignment>.ipynb`, with or without folders in front.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from grader.submission.found import MAX_BYTES, Found, Unreadable, name_problem

MAX_MEMBERS = 50_000
MAX_TOTAL = 64 << 30  # bytes when unpacked, over all members; nothing is unpacked to disk
MAX_RATIO = 200  # a notebook with text outputs packs about 10:1

CANVAS = re.compile(r"^(?P<name>[^_/]+)(?:_LATE)?_(?P<id>\d+)_(?P<file>\d+)_(?P<rest>.+)\.ipynb$")
MOODLE = re.compile(
    r"^(?:.*/)?(?P<name>[^/]*)_(?P<id>\d+)_assignsubmission_file_?/(?:.*/)?(?P<rest>[^/]+)\.ipynb$"
)
NBGRADER = re.compile(r"^(?:.*/)?(?P<id>[^/]+)/(?P<assignment>[^/]+)/(?P<rest>[^/]+)\.ipynb$")


def find_in_zip(path: Path, assignments: tuple[str, ...], only: str | None = None) -> Iterator[Found]:
    """The submissions in a zip.

    Raises:
        Unreadable: it is no zip, cannot be trusted, or holds no submission in a layout that is known.
    """
    members = _members(path)
    found: dict[tuple[str, str], Found] = {}
    for name in members:
        if (one := _recognise(path, name, assignments, only)) is not None:
            key = (one.student, one.assignment)
            if key in found:
                raise Unreadable(
                    f"{path.name}: two notebooks of {one.student} for {one.assignment}: "
                    f"{found[key].member!r} and {name!r}. Remove one of them."
                )
            found[key] = one
    if not found:
        raise Unreadable(
            f"{path.name} holds no submission: expected are the names of Canvas, of Moodle, or "
            f"submitted/<student>/{only or assignments[0]}/{only or assignments[0]}.ipynb. "
            "Where the notebooks' names do not say the assignment, pass --assignment."
        )
    yield from found.values()


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


def _recognise(path: Path, name: str, assignments: tuple[str, ...], only: str | None) -> Found | None:
    if name.startswith("__MACOSX/") or "/.ipynb_checkpoints/" in name:
        return None
    if (match := MOODLE.match(name)) or (match := CANVAS.match(name)):
        assignment = only or _assignment(match["rest"], assignments)
    elif (match := NBGRADER.match(name)) and match["assignment"] == match["rest"]:
        assignment = match["assignment"] if match["assignment"] in assignments else None
        if only and assignment != only:
            return None
    else:
        return None
    if assignment is None:
        return None
    return Found(match["id"], assignment, path.parent, (path.name,), member=name)


def _assignment(stem: str, assignments: tuple[str, ...]) -> str | None:
    """Canvas numbers what is handed in again: 1-attention-2; browsers write 1-attention (1)."""
    for name in assignments:
        if re.fullmatch(re.escape(name) + r"(-\d+|[ _]?\(\d+\))?", stem):
            return name
    return None


def read_member(found: Found) -> bytes:
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
