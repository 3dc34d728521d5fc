"""Reads a zip from an LMS without unpacking it to disk; refuses the whole zip if a member cannot be trusted."""

import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from grader.submission.file import MAX_BYTES, SubmissionFile, Unavailable, Unreadable, part_problem
from grader.submission.people import EMPTY, Entry, is_debris, is_misnamed, is_notebook

MAX_MEMBERS = 50_000
MAX_FOLDERS = 20  # around a member; the services write up to four
MAX_TOTAL = 64 << 30  # bytes when unpacked, over all members; nothing is unpacked to disk
MAX_SHOWN = 200  # characters of a name in a message
MAX_RATIO = 200  # a notebook with text outputs packs about 10:1
# How Python says that a member is damaged, or packed in a way that it cannot read.
DAMAGED = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error, lzma.LZMAError)


def list_zip(path: Path) -> list[Entry]:
    """List the files and empty folders in a zip, without debris.

    Raises:
        Unreadable: the file is no zip, or has a member that cannot be trusted, two of one name, or too many.
        Unavailable: the machine cannot read the file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read ({error.strerror or error}). Mend that, then run this again."
        ) from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise Unreadable(f"{path.name} cannot be read as a zip ({error}). Download it again.") from error
    refuse = f"{path.name} is refused whole: "
    if len(infos) > MAX_MEMBERS:
        raise Unreadable(refuse + f"it has {len(infos)} members, more than {MAX_MEMBERS}")
    if sum(info.file_size for info in infos) > MAX_TOTAL:
        raise Unreadable(refuse + "it would unpack to more than 64 GiB")
    for info in infos:
        if problem := _member_problem(info):
            raise Unreadable(refuse + f"member {info.filename[:MAX_SHOWN]!r} {problem}")
    names = [info.filename for info in infos if not info.is_dir()]
    if len(set(names)) != len(names):
        raise Unreadable(refuse + "two members have one name")
    return _entries(names, [info.filename.rstrip("/") for info in infos if info.is_dir()])


def _entries(names: Iterable[str], folders: Iterable[str]) -> list[Entry]:
    """Make an entry of each file that is no debris, and one with a problem of each innermost folder without such a file."""
    split = [tuple(name.split("/")) for name in names]
    files = [parts for parts in split if is_misnamed(parts) or not any(map(is_debris, parts))]
    full = {parts[:depth] for parts in files for depth in range(1, len(parts))}
    hollow = [parts for name in folders if (parts := tuple(name.split("/"))) not in full]
    empty = [parts for parts in hollow if not any(map(is_debris, parts))]
    inner = {parts[:depth] for parts in empty for depth in range(1, len(parts))}
    return [*(Entry(parts) for parts in files), *(Entry(parts, EMPTY) for parts in empty if parts not in inner)]


def _member_problem(info: zipfile.ZipInfo) -> str:
    """Say why a member of a zip cannot be trusted; return "" if it can."""
    name, kind = info.filename, stat.S_IFMT(info.external_attr >> 16)
    if name.count("/") > MAX_FOLDERS:
        return f"lies in more than {MAX_FOLDERS} folders"
    if name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
        return "points outside of it"
    if any(part_problem(part) for part in name.rstrip("/").split("/")) or info.orig_filename != name:
        return "has a name that no service writes"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & 0x1:
        return "is encrypted"
    # Another file may be as large as it likes: nobody opens it.
    if is_notebook(name) and info.file_size > 1 << 20 and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"unpacks to {info.file_size >> 20} MiB from next to nothing"
    return ""


def read_member(file: SubmissionFile) -> bytes:
    """Read the bytes of a notebook in a zip.

    Raises:
        Unreadable: it is damaged or larger than the limit.
        Unavailable: the machine cannot read the zip, or somebody changed it since it was listed.
    """
    try:
        status = os.stat(file.path)
        archive = _opened(file.path, status.st_ino, status.st_size, status.st_mtime_ns)
        with archive.open(file.member) as member:
            content = member.read(MAX_BYTES + 1)
    except (OSError, KeyError) as error:
        why = getattr(error, "strerror", None) or error
        raise Unavailable(f"it cannot be read from the zip ({why}). Mend that, then run this again.") from error
    except DAMAGED as error:
        # The student may have handed in a good file: a download can be damaged on its way.
        message = f"it cannot be read from the zip ({error}). Download the zip again."
        raise Unreadable(message, proven=False) from error
    if len(content) > MAX_BYTES:
        raise Unreadable(f"the notebook is larger than {MAX_BYTES >> 20} MiB. Clear its outputs and save it again.")
    return content


@lru_cache(1)
def _opened(path: Path, *version: int) -> zipfile.ZipFile:
    """Open a zip, and return the same open zip for its next member: opening reads the whole list of members.

    `version` is inode, size and time of the file: a changed file has other values, and is opened again.
    """
    return zipfile.ZipFile(path)
