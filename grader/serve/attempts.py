"""Stores each upload as an attempt, which has its own folder and waits in the queue until it is graded.

    submitted/.attempts/STUDENT/ASSIGNMENT/20301131T180000-3f9a2c71/   one attempt: notebook, timestamp.txt, its page
    submitted/STUDENT/ASSIGNMENT/                                       the attempt that counts, in nbgrader's layout

The attempt that counts is the one in the gradebook. nbgrader and `grader grade` ignore names that
begin with a dot, so they see only that attempt. shares.py decides whose attempt is graded next, and
which attempts lose their files.
"""

import os
import secrets
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from starlette.exceptions import HTTPException

from grader.serve.shares import (
    HOUR,
    KeptFolder,
    Open,
    QuotaError,
    free_at,
    in_order,
    next_turn,
    place_of,
    remove_folders,
    remove_leftovers,
    size_of_folder,
    to_remove,
)
from grader.serve.store import Store, now, text_of
from grader.submission.file import SubmissionFile

ATTEMPTS = ".attempts"
PAGE = "feedback.html"
WAITING, GRADING, GRADED, UNREADABLE, FAULT = "waiting", "grading", "graded", "unreadable", "fault"
REPLACED = "replaced"  # by a newer attempt of the same student at the same assignment, before it was graded
MOST_DEATHS = 2  # of the grading process on one attempt, which is then set aside
MOST_CHARGED = 600.0  # seconds of grading that a student pays for a turn in which the grading process died
OWN = "SELECT * FROM attempt WHERE student = ? AND (? IS NULL OR assignment = ?) ORDER BY id DESC"
OPEN = """
    SELECT id, student, state = ? AS is_graded_now, deaths,
        (SELECT coalesce(max(taken), '') FROM attempt AS own WHERE own.student = attempt.student) AS served,
        (SELECT total(seconds) FROM attempt AS own WHERE own.student = attempt.student AND own.taken > ?) AS seconds
    FROM attempt WHERE state IN (?, ?)
"""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One upload of a student, as the store's table `attempt` describes it."""

    id: int  # the place in the queue
    student: str
    assignment: str
    nth: int  # of the student, from 1
    received: str  # UTC
    sha256: str
    place: str  # the folder's name
    state: str
    tries: int
    counts: bool  # True for the attempt in submitted/ and in the gradebook
    score: float | None  # from the grading process; the gradebook's score may have changed since
    max_score: float | None
    worth: float | None  # the score, less the late penalty
    message: str
    finished: str
    taken: str = ""  # UTC time at which grading last began
    seconds: float = 0.0  # of grading, in all tries
    deaths: int = 0  # how often the grading process died while it graded this attempt
    removed: bool = False  # its files are gone, to make room for newer attempts
    flags: str = ""  # the grade's flags, in the form of flags.py

    @property
    def is_open(self) -> bool:
        """Return True if the attempt waits for its grade or is being graded."""
        return self.state in (WAITING, GRADING)

    @property
    def when(self) -> datetime:
        """The time of submission."""
        return datetime.fromisoformat(self.received)


def keep_upload(folder: Path, student: str, assignment: str, file: BinaryIO) -> tuple[str, str]:
    """Write an upload to the disk, and return the name of its new folder and the SHA-256 digest of the file.

    If writing fails, the folder is removed again. If the server is killed before it calls
    `enqueue`, the folder remains without an attempt, and a later upload removes it.
    """
    place = f"{now():%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
    own = folder_of(folder, student, assignment, place)
    own.mkdir(parents=True)
    try:
        with (own / f"{assignment}.ipynb").open("x+b") as kept:
            shutil.copyfileobj(file, kept)
            kept.seek(0)
            digest = file_digest(kept, "sha256").hexdigest()
        for changed in (own / f"{assignment}.ipynb", own, own.parent, own.parent.parent):
            _to_disk(changed)
    except BaseException:
        remove_folders(own)
        raise
    return place, digest


def _to_disk(path: Path) -> None:
    """Wait until the content of a file, or the list of files in a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def enqueue(store: Store, folder: Path, upload: tuple[str, str, str, str], an_hour: int, quota: int) -> Attempt:
    """Put an upload that is on the disk into the queue, and return it as an attempt.

    After the call, the server grades the attempt even if it is killed in between, unless a newer
    attempt replaces it. The new attempt replaces an attempt of the same student at the same
    assignment that is still waiting. The oldest attempts lose their files if the new one would
    otherwise exceed the quota.

    Args:
        upload: the student, the assignment, and the two values that `keep_upload` has returned.
        an_hour: the number of attempts that a student may submit in an hour.
        quota: the bytes that all attempts of the student at the assignment may have together.

    Raises:
        HTTPException: the student submitted too often, the file is the same as that of the newest
            attempt, or it does not fit into the quota. Its folder is removed.
        StoreError: another program locks the store. The upload's folder is removed.
    """
    student, assignment, place, _ = upload
    try:
        added, removed = _enqueue(store, folder, upload, an_hour, quota)
    except BaseException:
        remove_folders(folder_of(folder, student, assignment, place))
        raise
    remove_folders(*(folder_of(folder, student, assignment, one.place) for one in removed))
    return added


def _enqueue(
    store: Store, folder: Path, upload: tuple[str, str, str, str], an_hour: int, quota: int
) -> tuple[Attempt, list[KeptFolder]]:
    """Insert an attempt in one transaction. Return it, and the folders of older attempts to remove."""
    student, assignment, place, digest = upload
    moment = now()
    with store.writing() as db:
        own = [_attempt(row) for row in db.execute(OWN, (student, assignment, assignment))]
        refuse_too_many(own, an_hour)
        if own and own[0].sha256 == digest and not own[0].removed:
            told = f"This is the same file as your attempt {own[0].nth}. Save your notebook, and choose it again."
            raise HTTPException(400, told)
        stamp = folder_of(folder, student, assignment, place) / "timestamp.txt"
        stamp.write_text(f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC\n", "utf-8")
        _to_disk(stamp)
        replaced = "UPDATE attempt SET state = ?, finished = ? WHERE student = ? AND assignment = ? AND state = ?"
        db.execute(replaced, (REPLACED, text_of(moment), student, assignment, WAITING))
        removed = _make_room(db, folder, upload, quota)
        nth = own[0].nth + 1 if own else 1
        columns = "(student, assignment, place, sha256, nth, received, state)"
        added = f"INSERT INTO attempt {columns} VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *"
        return _attempt(db.execute(added, (*upload, nth, text_of(moment), WAITING)).fetchone()), removed


def _make_room(db: sqlite3.Connection, folder: Path, upload: tuple[str, str, str, str], quota: int) -> list[KeptFolder]:
    """Mark the attempts that lose their files so that an upload fits into the quota, and return their folders.

    Args:
        quota: the bytes that all attempts of the student at the assignment may have together.
    """
    student, assignment, place, _ = upload
    own = [_attempt(row) for row in db.execute(OWN, (student, assignment, assignment))]
    new = folder_of(folder, student, assignment, place)
    remove_leftovers(new.parent, {place: True} | {one.place: not one.removed for one in own}, now().timestamp())
    kept = [
        KeptFolder(
            id=one.id,
            place=one.place,
            size=size_of_folder(folder_of(folder, student, assignment, one.place)),
            is_removable=not (one.counts or one.is_open),
            is_last_resort=one.state == FAULT,
        )
        for one in own
        if not one.removed
    ]
    try:
        removed = to_remove(kept, size_of_folder(new), quota)
    except QuotaError:
        told = f"Your attempts at {assignment} may take {quota >> 20} MiB in total, and this file does not fit. "
        raise HTTPException(413, told + "Clear the notebook's outputs, save it, and submit it again.") from None
    db.executemany("UPDATE attempt SET removed = 1 WHERE id = ?", [(one.id,) for one in removed])
    return removed


def refuse_too_many(own: Sequence[Attempt], an_hour: int) -> None:
    """Refuse another attempt if the student has submitted too often within the last hour.

    Args:
        own: the student's attempts at the assignment, the newest first.
        an_hour: the number of attempts that are allowed in an hour.

    Raises:
        HTTPException: the student has submitted `an_hour` times or more.
    """
    recent = [one for one in own if one.when > now() - HOUR]
    if len(recent) >= an_hour:
        minutes = max(1, -int((now() - HOUR - recent[an_hour - 1].when).total_seconds() // 60))
        told = f"You have submitted {len(recent)} times within an hour. Try again in {minutes} minutes."
        raise HTTPException(429, told)


def folder_of(folder: Path, student: str, assignment: str, place: str) -> Path:
    """Return the path of an attempt's folder. `folder` contains submitted/, and `place` is the folder's name."""
    return folder / "submitted" / ATTEMPTS / student / assignment / place


def file_of(store: Store, folder: Path, attempt: tuple[str, str, str], name: str) -> Path:
    """Return the path of a file in the folder of an attempt.

    Args:
        attempt: the student, the assignment, and the attempt's number as text, as in a page's address.

    Raises:
        HTTPException: there is no such attempt, or its folder does not contain the file.
    """
    student, assignment, nth = attempt
    places = [own.place for own in attempts_of(store, student, assignment) if str(own.nth) == nth]
    path = folder_of(folder, student, assignment, places[0]) / name if places else None
    if path is None or not path.is_file():
        raise HTTPException(404, "There is no such attempt, or its files were removed to make room for newer attempts.")
    return path


def submission_of(folder: Path, attempt: Attempt) -> SubmissionFile:
    """Return the record of an attempt's notebook that the grader takes as input."""
    parts = (ATTEMPTS, attempt.student, attempt.assignment, attempt.place, f"{attempt.assignment}.ipynb")
    return SubmissionFile(attempt.student, attempt.assignment, folder / "submitted", parts)


# ---------------------------------------------------------------- the queue, as pages show it


def attempts_of(store: Store, student: str, assignment: str | None = None) -> Sequence[Attempt]:
    """Return a student's attempts at an assignment, the newest first.

    If `assignment` is None, return the attempts at all assignments.
    """
    return [_attempt(row) for row in store.rows(OWN, student, assignment, assignment)]


def everybodys(store: Store) -> Sequence[Attempt]:
    """Return all attempts of all students, in the order in which they were submitted."""
    return [_attempt(row) for row in store.rows("SELECT * FROM attempt ORDER BY id")]


def queue(store: Store, budget: float) -> Sequence[Attempt]:
    """Return the attempts that are being graded, then the waiting attempts in the order of grading.

    Args:
        budget: the seconds of grading that a student has in an hour. Attempts of students who have
            used up their seconds are at the end.
    """
    rows = store.rows("SELECT * FROM attempt WHERE state IN (?, ?)", WAITING, GRADING)
    order = {one.id: number for number, one in enumerate(in_order(_open(store), budget))}
    last = len(order)
    return sorted(map(_attempt, rows), key=lambda one: (one.state != GRADING, order.get(one.id, last), one.id))


def place_in_queue(store: Store, attempt: Attempt, budget: float) -> int | None:
    """Return the number of attempts before a waiting attempt, including the attempts that are being graded.

    Return None if the attempt does not wait, or if its student has used up `budget`, the seconds of grading in an hour.
    """
    return place_of(attempt.id, _open(store), budget)


def waits_until(store: Store, student: str, budget: float) -> datetime | None:
    """Return the time at which a student has grading time again, or None if the student has some now.

    Args:
        budget: the seconds of grading that a student has in an hour.
    """
    used = "SELECT taken, seconds FROM attempt WHERE student = ? AND taken > ?"
    rows = store.rows(used, student, text_of(now() - HOUR))
    return free_at(((datetime.fromisoformat(row["taken"]), row["seconds"]) for row in rows), budget)


def _open(store: Store) -> list[Open]:
    """Return the attempts that wait or are being graded, with the grading time that their students have used."""
    rows = store.rows(OPEN, GRADING, text_of(now() - HOUR), WAITING, GRADING)
    return [Open(**{**dict(row), "is_graded_now": bool(row["is_graded_now"])}) for row in rows]


# ---------------------------------------------------------------- the queue, as grading uses it


def begin(store: Store) -> Sequence[Attempt]:
    """Put attempts back into the queue that a grading process was grading when it died.

    Each of these attempts becomes a suspect, and a suspect is graded alone (see shares.py). If the
    process dies again on a suspect, no other attempt can be to blame, so the suspect is set aside.
    The time of each such turn counts as grading time of the student.

    Returns:
        the attempts that were set aside.
    """
    moment = now()
    with store.writing() as db:
        began = [_attempt(row) for row in db.execute("SELECT * FROM attempt WHERE state = ?", (GRADING,))]
        ended = [_after_death(one, moment) for one in began]
        for one in ended:
            _write(db, one)
    return [one for one in ended if one.state == FAULT]


def _after_death(attempt: Attempt, moment: datetime) -> Attempt:
    """Return an attempt's new state after the grading process died on it: it waits again, or is set aside."""
    deaths, seconds = attempt.deaths + 1, attempt.seconds + min(seconds_since(attempt, moment), MOST_CHARGED)
    attempt = replace(attempt, deaths=deaths, seconds=seconds, state=WAITING)
    if deaths < MOST_DEATHS:
        return attempt
    told = f"the grading process ended {deaths} times while it graded this attempt. The server does not try again."
    return replace(attempt, state=FAULT, message=told, finished=text_of(moment))


def put_back(store: Store) -> None:
    """Put the attempts that are being graded back into the queue, and blame none of them.

    The grading process calls this when the web server or its workers have ended.
    """
    store.change("UPDATE attempt SET state = ?, tries = tries - 1 WHERE state = ?", WAITING, GRADING)


def take(store: Store, budget: float) -> Attempt | None:
    """Mark the next attempt in the queue as being graded and return it, or None if no attempt may begin now.

    Args:
        budget: the seconds of grading that a student has in an hour.
    """
    chosen = next_turn(_open(store), budget)
    if chosen is None:  # so it is mostly: no lock for that
        return None
    with store.writing() as db:  # one process grades, so nobody else takes it; but a newer attempt may replace it
        taken = "UPDATE attempt SET state = ?, tries = tries + 1, taken = ? WHERE id = ? AND state = ? RETURNING *"
        row = db.execute(taken, (GRADING, text_of(now()), chosen.id, WAITING)).fetchone()
        return _attempt(row) if row else None


def seconds_since(attempt: Attempt, moment: datetime) -> float:
    """Return the seconds from the start of an attempt's grading to `moment`, or 0 if the clock was set back."""
    return max(0.0, (moment - datetime.fromisoformat(attempt.taken)).total_seconds()) if attempt.taken else 0.0


def counting(store: Store, student: str, assignment: str) -> Attempt | None:
    """Return the attempt that counts for a student at an assignment, or None if no attempt counts yet."""
    return next((one for one in attempts_of(store, student, assignment) if one.counts), None)


def finish(store: Store, ended: Attempt) -> None:
    """Store how an attempt ended. If it counts, the student's other attempts at the assignment no longer do."""
    with store.writing() as db:
        if ended.counts:
            own = (ended.student, ended.assignment)
            db.execute("UPDATE attempt SET counts = 0 WHERE student = ? AND assignment = ?", own)
        _write(db, replace(ended, finished=text_of(now())))


def again(store: Store) -> int:
    """Put attempts that a grader error left without a grade back into the queue, and return their number.

    An attempt whose files were removed stays without a grade. An attempt on which the grading
    process died is still a suspect: it is graded alone, and set aside as soon as the process dies
    again.
    """
    change = "UPDATE attempt SET state = ?, tries = 0, deaths = min(deaths, ?) WHERE state = ? AND removed = 0"
    return store.change(change, WAITING, MOST_DEATHS - 1, FAULT)


def _write(db: sqlite3.Connection, attempt: Attempt) -> None:
    """Store those columns of an attempt that grading changes."""
    names = ("state", "counts", "score", "max_score", "worth", "message", "finished", "seconds", "deaths", "flags")
    changed = ", ".join(f"{name} = :{name}" for name in names)
    db.execute(f"UPDATE attempt SET {changed} WHERE id = :id", vars(attempt))


def _attempt(row: sqlite3.Row) -> Attempt:
    return Attempt(**{**dict(row), "counts": bool(row["counts"]), "removed": bool(row["removed"])})
