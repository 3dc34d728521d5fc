"""Limits each person's share of the server: simultaneous uploads, requests, turns of grading, and disk space.

- **Places** are for uploads, forms and streams that arrive at the same time. Each person who is
  signed in has a share of the places, and of the requests in a minute, that nobody else can use up.
  Everybody else has a smaller share.
- **Turns** are for grading. The order is fair to students, not to attempts. The student whose last
  turn was longest ago is next; among students without a turn, the one with the oldest attempt. Two
  attempts of one student are never graded at the same time. A student who has used up the grading
  time of an hour waits until some of it is free again. If the grading process dies, the attempts
  that it was grading are suspects. A suspect is graded alone: it begins when no other attempt is
  being graded, and no other attempt begins before it ends. If the process dies again, it is clear
  which attempt is responsible.
- **Disk space** has a quota of bytes for each student's attempts at each assignment. Before a new
  attempt is stored, the oldest attempts lose their files until the rest fits. The attempt that
  counts keeps its files, and so do attempts without a grade. Attempts that could not be graded
  because of a grader error are the last to lose their files, because an instructor may have them
  graded again.
"""

import math
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from starlette.exceptions import HTTPException

MINUTE = 60.0
UPLOADS_AT_ONCE = 32  # of all people; an upload takes a place until its last byte has arrived
UPLOADS_EACH = 2  # of a person; only one while half of all places are taken
UPLOADS_A_MINUTE = 12  # of a person, including refused ones: to read 20 MiB takes 0.2 s
SLOW_FORMS_EACH = 3  # small forms of a person that take longer than a moment
SLOW_FORMS_OF_AN_ADDRESS = 20  # the same, of all people at an address who are not signed in
SLOW_FORMS_OF_STRANGERS = 200  # the same, of all people who are not signed in

_uploads, _slow = Counter[str](), Counter[str]()


class RateLimit:
    """Counts the requests of each client within a minute."""

    def __init__(self, most: int) -> None:
        self._most, self._began, self._counts = most, -math.inf, Counter[str]()

    def allows(self, client: str) -> bool:
        """Count one request of a client, and return True if the client has not exceeded the limit."""
        if time.monotonic() - self._began >= MINUTE:  # all begin anew, so that what is kept does not grow
            self._began, self._counts = time.monotonic(), Counter()
        self._counts[client] += 1
        return self._counts[client] <= self._most


@contextmanager
def at_once(counts: Counter[str], key: str, most: int, message: str) -> Iterator[None]:
    """Count one more activity under a key until the context ends. Use it in only one thread.

    Args:
        most: the number of activities under the key that are allowed at the same time.
        message: the text of the exception.

    Raises:
        HTTPException: `most` activities are running under the key already.
    """
    if counts[key] >= most:
        raise HTTPException(429, message)
    counts[key] += 1
    try:
        yield
    finally:
        counts[key] -= 1
        counts += Counter()  # leaves out what is 0


@contextmanager
def upload_place(person: str) -> Iterator[None]:
    """Occupy a place for a person's upload until the context ends.

    A person may have UPLOADS_EACH uploads at the same time, but only one while half of all places
    are taken. So nobody loses their only place to another person's second upload, and it takes as
    many people as half of the places to keep others out.

    Raises:
        HTTPException: the person has too many uploads on their way, or all places are taken.
    """
    taken = _uploads.total()
    each = UPLOADS_EACH if 2 * taken < UPLOADS_AT_ONCE else 1
    if taken >= UPLOADS_AT_ONCE:
        raise HTTPException(429, "Many students are submitting at the moment. Try again in a few seconds.")
    with at_once(_uploads, person, each, "Another upload of yours is still running. Wait until it has finished."):
        yield


@contextmanager
def slow_form(person: str, address: str) -> Iterator[None]:
    """Occupy a place for a small form that arrives slowly, until the context ends.

    Args:
        person: the id of the person who is signed in, or "" for a stranger.
        address: the network address that sends the form.

    Raises:
        HTTPException: too many slow forms of this person, or of strangers, are arriving.
    """
    message = "Your browser sends its data too slowly, and so do others. Try again in a few seconds."
    if person:
        with at_once(_slow, f"person {person}", SLOW_FORMS_EACH, message):
            yield
        return
    with (
        at_once(_slow, f"address {address}", SLOW_FORMS_OF_AN_ADDRESS, message),
        at_once(_slow, "strangers", SLOW_FORMS_OF_STRANGERS, message),
    ):
        yield


HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Open:
    """An attempt that waits or is being graded, and the grading time that its student has used."""

    id: int
    student: str
    is_graded_now: bool
    deaths: int  # how often the grading process died while it graded this attempt
    served: str  # when the student's last turn began, in UTC; "" without a turn
    seconds: float  # of grading that the student has used within the last hour


def in_order(attempts: Iterable[Open], budget: float) -> list[Open]:
    """Return the waiting attempts in the order of grading, provided that no other attempt arrives.

    Each student has one turn in each round. Attempts of a student who has used `budget` seconds of
    grading within the last hour are left out.
    """
    rounds, oldest = Counter[str](), dict[str, int]()
    keys = {}
    for one in sorted(attempts, key=lambda one: one.id):
        if not one.is_graded_now and one.seconds < budget:
            first = oldest.setdefault(one.student, one.id)
            keys[one] = rounds[one.student], one.served, first
            rounds[one.student] += 1
    return sorted(keys, key=keys.__getitem__)


def next_turn(attempts: Sequence[Open], budget: float) -> Open | None:
    """Return the attempt to grade next, or None if no attempt may begin now.

    Args:
        budget: the seconds of grading that a student has in an hour.
    """
    busy = [one for one in attempts if one.is_graded_now]
    if any(one.deaths for one in busy):  # a suspect is graded alone
        return None
    students = {one.student for one in busy}
    first = next((one for one in in_order(attempts, budget) if one.student not in students), None)
    return None if first is None or (first.deaths and busy) else first


def place_of(id: int, attempts: Sequence[Open], budget: float) -> int | None:
    """Return the number of attempts before a waiting attempt, including the attempts that are being graded.

    Return None if the attempt does not wait, or if its student has used up the grading time.

    Args:
        id: the number of the waiting attempt.
        budget: the seconds of grading that a student has in an hour.
    """
    order = [one.id for one in in_order(attempts, budget)]
    return order.index(id) + sum(one.is_graded_now for one in attempts) if id in order else None


def free_at(turns: Iterable[tuple[datetime, float]], budget: float) -> datetime | None:
    """Return the time at which a student's grading time falls below the budget again, or None if it is below now.

    Args:
        turns: the start of each turn in the last hour, and its seconds.
        budget: the seconds of grading that a student has in an hour.
    """
    turns = sorted(turns)
    used, free = sum(seconds for _, seconds in turns), None
    for began, seconds in turns:
        if used < budget:
            break
        used, free = used - seconds, began + HOUR
    return free


UPLOAD_SECONDS = 3600.0  # after which a folder without an attempt is no upload that is still arriving


@dataclass(frozen=True, kw_only=True)
class KeptFolder:
    """The folder that contains the files of one attempt."""

    id: int  # of the attempt: the lowest is the oldest
    place: str  # the folder's name
    size: int  # bytes
    is_removable: bool
    is_last_resort: bool  # removed only after all others


class QuotaError(Exception):
    """A new attempt exceeds the quota even if all removable folders are removed."""


def to_remove(kept: Sequence[KeptFolder], added: int, quota: int) -> list[KeptFolder]:
    """Return the folders to remove so that `added` more bytes fit into the quota.

    Args:
        quota: the bytes that all folders may have together, the new one included.

    Raises:
        QuotaError: the bytes do not fit even if all removable folders are removed.
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


def size_of_folder(folder: Path) -> int:
    """Return the total size of all files below a folder, in bytes."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())


def remove_leftovers(folder: Path, attempts: Mapping[str, bool], moment: float) -> None:
    """Remove the folders in `folder` that do not belong to an attempt with files.

    A killed server leaves such folders behind. A folder without an attempt stays as long as it is
    young, because it may contain an upload that is still arriving.

    Args:
        attempts: the name of each attempt's folder → True if the attempt keeps its files.
        moment: the present time in seconds, on the clock of the file system.
    """
    for each in folder.iterdir():
        is_young = moment - each.lstat().st_mtime < UPLOAD_SECONDS
        if not attempts.get(each.name, is_young):
            remove_folders(each)


def remove_folders(*folders: Path) -> None:
    """Remove folders with their content.

    A folder that cannot be removed is ignored. The next upload tries to remove it again.
    """
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
