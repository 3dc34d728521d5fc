"""Attempts: each upload is kept in a folder of its own, and waits in the queue until it is graded.

    submitted/.attempts/STUDENT/ASSIGNMENT/20301131T180000-3f9a2c71/   one attempt: notebook, timestamp.txt, its page
    submitted/STUDENT/ASSIGNMENT/                                       the attempt that counts, in nbgrader's layout

nbgrader and `grader grade` pass over names that begin with a dot: for them, a student handed in what counts.
"""

import os
import secrets
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from starlette.exceptions import HTTPException

from grader.classes.workers.job import RIGHT_SO_FAR
from grader.report.text import by_number
from grader.serve.store import Store, now, text_of
from grader.submission.file import SubmissionFile

ATTEMPTS = ".attempts"
PAGE = "feedback.html"
WAITING, GRADING, GRADED, UNREADABLE, FAULT = "waiting", "grading", "graded", "unreadable", "fault"
OWN = "SELECT * FROM attempt WHERE student = ? AND (? IS NULL OR assignment = ?) ORDER BY id DESC"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One upload."""

    id: int  # the place in the queue
    student: str
    assignment: str
    nth: int  # of the student, from 1
    received: str  # UTC
    sha256: str
    place: str  # the folder's name
    state: str
    tries: int
    counts: bool  # it is the one in submitted/ and in the gradebook
    score: float | None  # as it was graded; what the gradebook says may have changed since
    max_score: float | None
    worth: float | None  # the score, less what lateness costs
    message: str
    finished: str
    flags: str = ""  # of its grade, as flags.py writes them

    @property
    def is_open(self) -> bool:
        """Tell whether it still waits for its grade."""
        return self.state in (WAITING, GRADING)

    @property
    def when(self) -> datetime:
        """When it was handed in."""
        return datetime.fromisoformat(self.received)


def keep_upload(folder: Path, student: str, assignment: str, file: BinaryIO) -> tuple[str, str]:
    """Write an upload to the disk; return its folder's name and its digest.

    Killed before `enqueue`, a folder is left that nobody was told of.
    """
    place = f"{now():%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
    own = folder_of(folder, student, assignment, place)
    own.mkdir(parents=True)
    with (own / f"{assignment}.ipynb").open("x+b") as kept:
        shutil.copyfileobj(file, kept)
        kept.seek(0)
        digest = file_digest(kept, "sha256").hexdigest()
    for changed in (own / f"{assignment}.ipynb", own, own.parent, own.parent.parent):
        _to_disk(changed)
    return place, digest


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk, and not only in memory."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def enqueue(store: Store, folder: Path, upload: tuple[str, str, str, str], an_hour: int) -> Attempt:
    """Put an upload that is on the disk into the queue. When this returns, it is certain to be graded.

    `upload` is student, assignment, and what `keep_upload` has returned. Raise HTTPException if there were `an_hour`
    attempts in the last hour, or if it is the newest attempt once more.
    """
    student, assignment, place, digest = upload
    moment = now()
    with store.writing() as db:
        own = [_attempt(row) for row in db.execute(OWN, (student, assignment, assignment))]
        refuse_too_many(own, an_hour)
        if own and own[0].sha256 == digest:
            told = f"This is the same file as your attempt {own[0].nth}. Save your notebook, and choose it again."
            raise HTTPException(400, told)
        stamp = folder_of(folder, student, assignment, place) / "timestamp.txt"
        stamp.write_text(f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC\n", "utf-8")
        _to_disk(stamp)
        nth = own[0].nth + 1 if own else 1
        columns = "(student, assignment, place, sha256, nth, received, state)"
        added = f"INSERT INTO attempt {columns} VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *"
        return _attempt(db.execute(added, (*upload, nth, text_of(moment), WAITING)).fetchone())


def refuse_too_many(own: Sequence[Attempt], an_hour: int) -> None:
    """Raise HTTPException if a student has so many attempts within the last hour; the newest is the first."""
    hour = timedelta(hours=1)
    recent = [one for one in own if one.when > now() - hour]
    if len(recent) >= an_hour:
        minutes = max(1, -int((now() - hour - recent[an_hour - 1].when).total_seconds() // 60))
        told = f"You have handed in {len(recent)} times within an hour. Try again in {minutes} minutes."
        raise HTTPException(429, told)


def folder_of(folder: Path, student: str, assignment: str, place: str) -> Path:
    """Return an attempt's folder below the folder of the results; `place` is its own name."""
    return folder / "submitted" / ATTEMPTS / student / assignment / place


def right_so_far(folder: Path, attempt: Attempt) -> list[str]:
    """Return the exercises of an attempt that are known to be right while it is being graded."""
    path = folder_of(folder, attempt.student, attempt.assignment, attempt.place) / RIGHT_SO_FAR
    return sorted(set(path.read_text("utf-8").split()), key=by_number) if path.is_file() else []


def submission_of(folder: Path, attempt: Attempt) -> SubmissionFile:
    """Return an attempt as grading finds it."""
    parts = (ATTEMPTS, attempt.student, attempt.assignment, attempt.place, f"{attempt.assignment}.ipynb")
    return SubmissionFile(attempt.student, attempt.assignment, folder / "submitted", parts)


# ---------------------------------------------------------------- the queue, as pages show it


def attempts_of(store: Store, student: str, assignment: str | None = None) -> Sequence[Attempt]:
    """Return a student's attempts, the newest first."""
    return [_attempt(row) for row in store.rows(OWN, student, assignment, assignment)]


def everybodys(store: Store) -> Sequence[Attempt]:
    """Return all attempts, in the order of the queue."""
    return [_attempt(row) for row in store.rows("SELECT * FROM attempt ORDER BY id")]


def place_in_queue(store: Store, attempt: Attempt) -> int:
    """Count the attempts before one that waits: those that are being graded, too."""
    return len(store.rows("SELECT 1 FROM attempt WHERE id < ? AND state IN (?, ?)", attempt.id, WAITING, GRADING))


# ---------------------------------------------------------------- the queue, as grading uses it


def begin(store: Store) -> None:
    """Put the attempts that a killed process was grading back into the queue."""
    store.change("UPDATE attempt SET state = ? WHERE state = ?", WAITING, GRADING)


def take(store: Store) -> Attempt | None:
    """Take the next attempt out of the queue; None if none waits."""
    next_one = store.rows("SELECT id FROM attempt WHERE state = ? ORDER BY id LIMIT 1", WAITING)
    if not next_one:  # so it is mostly: no lock for that
        return None
    with store.writing() as db:  # nobody else takes: one process grades
        taken = "UPDATE attempt SET state = ?, tries = tries + 1 WHERE id = ? RETURNING *"
        return _attempt(db.execute(taken, (GRADING, next_one[0]["id"])).fetchone())


def counting(store: Store, student: str, assignment: str) -> Attempt | None:
    """Return the attempt that counts until now; None without one."""
    return next((one for one in attempts_of(store, student, assignment) if one.counts), None)


def finish(store: Store, ended: Attempt) -> None:
    """Write down how an attempt ended. If it counts, no other attempt of the student does."""
    with store.writing() as db:
        if ended.counts:
            own = (ended.student, ended.assignment)
            db.execute("UPDATE attempt SET counts = 0 WHERE student = ? AND assignment = ?", own)
        changed = "state = :state, counts = :counts, score = :score, max_score = :max_score, worth = :worth"
        values = {**vars(ended), "finished": text_of(now())}
        db.execute(
            f"UPDATE attempt SET {changed}, message = :message, finished = :finished, flags = :flags WHERE id = :id",
            values,
        )


def again(store: Store) -> int:
    """Put attempts that could not be graded by our fault back into the queue; return how many."""
    return store.change("UPDATE attempt SET state = ?, tries = 0 WHERE state = ?", WAITING, FAULT)


def _attempt(row: sqlite3.Row) -> Attempt:
    return Attempt(**{**dict(row), "counts": bool(row["counts"])})
