"""The disk space of kept attempts: each student has a quota of bytes for each assignment.

Before a new attempt is kept, the oldest ones lose their files until the rest fits. The attempt that counts keeps its files, and
so do those that are not graded yet. Attempts that could not be graded by our fault are the last to lose theirs: an instructor
may have them graded again.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

UPLOAD_SECONDS = 3600.0  # after which a folder without an attempt is no upload that is still arriving


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The folder of one attempt."""

    id: int  # of the attempt: the lowest is the oldest
    place: str  # the folder's name
    size: int  # bytes
    is_removable: bool
    is_last_resort: bool  # removed only after all others


class QuotaError(Exception):
    """A new attempt does not fit, whatever is removed."""


def to_remove(kept: Sequence[Kept], added: int, quota: int) -> list[Kept]:
    """Choose the folders to remove, so that `added` bytes fit into the quota of bytes.

    Raises:
        QuotaError: they do not fit.
    """
    used, removed = added + sum(one.size for one in kept), []
    for one in sorted(kept, key=lambda one: (one.is_last_resort, one.id)):
        if used <= quota:
            break
        if one.is_removable:
            used -= one.size
            removed.append(one)
    if used > quota:
        raise QuotaError
    return removed


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())


def remove_leftovers(folder: Path, attempts: Mapping[str, bool], moment: float) -> None:
    """Remove the folders in a folder that no attempt keeps: a killed server has left them there.

    A young folder without an attempt may be an upload that is still arriving.

    Args:
        attempts: whether the attempt keeps its files, by the name of its folder.
        moment: the time now, in seconds as the file system counts them.
    """
    for each in folder.iterdir():
        is_young = moment - each.lstat().st_mtime < UPLOAD_SECONDS
        if not attempts.get(each.name, is_young):
            remove(each)


def remove(*folders: Path) -> None:
    """Remove folders and what is in them. One that cannot be removed now is a leftover, and the next upload tries again."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
