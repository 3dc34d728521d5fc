"""Writes due dates, extensions and delays of submissions, and the late penalties.

Lateness is nbgrader's: the time of submission, less the due date and the student's extension. Where a person says how
late a submission was, that is stored in these columns, too, so that nbgrader and formgrader agree.
"""

from datetime import UTC, datetime, timedelta

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.classes.gradebook.config import LatePenalty
from grader.classes.gradebook.connection import attempt, existing, opened
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.reader import entry_of, seconds_late
from grader.classes.gradebook.rows import begin_to_write, insert_once, set_columns
from grader.classes.gradebook.stored import Stored, load_class, load_known, load_one
from grader.records import GradebookEntry

MARKED = timedelta(seconds=1)  # how late a submission counts that a platform marks as late, and not how late


def time_to_store(
    submitted: datetime | None, *, marked_late: bool, duedate: datetime | None, stored: datetime | None
) -> datetime | None:
    """Return the time of submission to store, in UTC without a zone, or None if the time is unknown.

    A time that the gradebook has stays where the submission comes without one, as from a platform's zip: a person may
    have said it. A platform that marks a submission as late does not say how late; with a due date that counts as one
    second, unless the gradebook knows of more.

    Args:
        submitted: when the student submitted, if the submission says so.
        marked_late: whether the platform marked it as late.
        stored: the time that the gradebook has.
    """
    if submitted is not None:
        return in_utc(submitted)
    if marked_late and duedate is not None and (stored is None or stored <= duedate):
        return duedate + MARKED
    return stored


def in_utc(moment: datetime | None) -> datetime | None:
    """Convert a time to UTC without a zone, as nbgrader stores it; a time without a zone is UTC already."""
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def penalty_of(late_penalty: LatePenalty, student: str, score: float, seconds_late: float) -> float | None:
    """Return the late penalty of a score, as nbgrader's AssignLatePenalties computes it; None for no penalty.

    A submission that is later than due date and extension gets what `late_penalty` returns, at least 0
    and at most the score. Any other submission gets no penalty.
    """
    penalty = late_penalty(student, score, seconds_late) if seconds_late > 0 else None
    return None if penalty is None else min(max(penalty, 0.0), score)


def set_penalty(db: Session, stored: Stored, late_penalty: LatePenalty) -> None:
    """Set the penalty of a submission; the caller commits."""
    entry = entry_of([stored])
    penalty = penalty_of(late_penalty, entry.student.id, entry.raw_score, entry.seconds_late or 0.0)
    table, row = api.SubmittedNotebook.__table__, stored.submission.submitted_notebook
    set_columns(db, table, row, late_submission_penalty=penalty)


def set_lateness(
    url: str, course: str, student: str, assignment: str, hours: float, late_penalty: LatePenalty, *, timed: bool
) -> GradebookEntry:
    """Record how many hours after the due date a submission was made, and return its new entry in the gradebook.

    With 0 hours it counts as in time from now on: the student gets an extension, which no mark of a platform undoes.

    Args:
        timed: whether a timestamp.txt says when the student submitted. Each later run stores that time again, so only
            an extension can make such a submission less late, and nothing here can make it later.

    Raises:
        RecordError: there is no such submission or no due date, its timestamp.txt says an earlier time, or the
            gradebook cannot be written.
    """
    with existing(url, course) as db:

        def write() -> GradebookEntry:
            begin_to_write(db)
            _write_time(db, load_known(db, student, assignment), timedelta(hours=hours), timed=timed)
            set_penalty(db, load_known(db, student, assignment), late_penalty)
            entry = entry_of([load_known(db, student, assignment)])
            db.commit()
            return entry

        return attempt(url, write, undo=db.rollback)


def _write_time(db: Session, stored: Stored, late: timedelta, *, timed: bool) -> None:
    """Write the time or the extension that makes a submission so late; raise RecordError if neither can."""
    row, table = stored.submission, api.SubmittedAssignment.__table__
    if row.duedate is None:
        raise RecordError(
            f"the gradebook has no due date for {row.assignment}. To set one: nbgrader db assignment add "
            f"{row.assignment} --duedate='2030-01-31 18:00:00 UTC'"
        )
    extension = row.extension or timedelta()
    if late and timed and row.timestamp is not None:
        more = row.timestamp - row.duedate - late
        if more < timedelta():
            raise RecordError(
                f"timestamp.txt next to the submitted notebook says {row.timestamp:%Y-%m-%d %H:%M:%S} UTC, which is less "
                f"than {late / timedelta(hours=1):g} hours after the due date, and each run reads this file again. "
                "Change the time in the file, and grade the class again."
            )
        set_columns(db, table, row.submission, extension=more)
    elif late:
        set_columns(db, table, row.submission, timestamp=row.duedate + extension + late)
    elif more := seconds_late(row):
        set_columns(db, table, row.submission, extension=extension + timedelta(seconds=more))


def set_due_date(url: str, course: str, assignment: str, due: datetime | None, late_penalty: LatePenalty) -> None:
    """Set the due date of an assignment, and update the late penalties of its submissions.

    Args:
        due: the new due date; None removes the one that there is.

    Raises:
        RecordError: the gradebook cannot be written.
    """
    with opened(url, course) as gradebook:
        db = gradebook.db

        def write() -> None:
            row = gradebook.update_or_create_assignment(assignment).id
            begin_to_write(db)
            set_columns(db, api.Assignment.__table__, row, duedate=in_utc(due))
            for stored in [*load_class(db, assignment)]:
                set_penalty(db, stored, late_penalty)
            db.commit()

        attempt(url, write, undo=db.rollback)


def set_extension(
    url: str, course: str, student: str, assignment: str, extension: timedelta, late_penalty: LatePenalty
) -> None:
    """Set a student's extension of the due date of an assignment, even if the student has not submitted yet.

    The penalty of a submission follows. Without a submission, nbgrader's table gets a row without a notebook.

    Raises:
        RecordError: the assignment has no due date, or the gradebook cannot be written.
    """
    assignments, table = api.Assignment.__table__, api.SubmittedAssignment.__table__
    with existing(url, course) as db:

        def write() -> None:
            begin_to_write(db)
            row = db.execute(select(assignments).where(assignments.c.name == assignment)).first()
            if row is None or row.duedate is None:
                raise RecordError(f"{assignment} has no due date, so there is none to extend. Set a due date first.")
            insert_once(db, api.Student.__table__, id=student)
            submission, _ = insert_once(db, table, assignment_id=row.id, student_id=student)
            set_columns(db, table, submission, extension=extension or None)
            if stored := load_one(db, student, assignment):
                set_penalty(db, stored, late_penalty)
            db.commit()

        attempt(url, write, undo=db.rollback)
