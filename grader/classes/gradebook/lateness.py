"""Writes due dates, extensions and delays of submissions, and the late penalties.

The delay is nbgrader's: the time of submission minus the due date and the student's extension. If a
person records how late a submission was, that is stored in the same columns, so that nbgrader and
formgrader agree.
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

    A submission may have no time, for example in a platform's zip. Then the stored time stays,
    because a person may have recorded it. A platform may mark a submission as late without stating
    how late. If there is a due date, the submission is then one second late, unless the stored time
    is later.

    Args:
        submitted: the time at which the student submitted, or None if the submission does not state
            it.
        marked_late: True if the platform marked the submission as late.
        stored: the time that the gradebook contains, or None.
    """
    if submitted is not None:
        return in_utc(submitted)
    if marked_late and duedate is not None and (stored is None or stored <= duedate):
        return duedate + MARKED
    return stored


def in_utc(moment: datetime | None) -> datetime | None:
    """Return a time in UTC without a zone, as nbgrader stores it. A time without a zone already is in UTC."""
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def penalty_of(late_penalty: LatePenalty, student: str, score: float, seconds_late: float) -> float | None:
    """Return the late penalty in points, or None if the submission is not late or the plugin returns None.

    This is how nbgrader's AssignLatePenalties computes it: `late_penalty` returns the penalty,
    which is then limited to the range from 0 to the score.

    Args:
        seconds_late: the delay after due date and extension.
    """
    penalty = late_penalty(student, score, seconds_late) if seconds_late > 0 else None
    return None if penalty is None else min(max(penalty, 0.0), score)


def set_penalty(db: Session, stored: Stored, late_penalty: LatePenalty) -> None:
    """Set the late penalty of a submission. The caller commits the transaction."""
    entry = entry_of([stored])
    penalty = penalty_of(late_penalty, entry.student.id, entry.raw_score, entry.seconds_late or 0.0)
    table, row = api.SubmittedNotebook.__table__, stored.submission.submitted_notebook
    set_columns(db, table, row, late_submission_penalty=penalty)


def set_lateness(
    url: str, course: str, student: str, assignment: str, hours: float, late_penalty: LatePenalty, *, timed: bool
) -> GradebookEntry:
    """Record how many hours after the due date a submission was made, and return its new entry in the gradebook.

    With 0 hours, the submission is in time from now on: the student gets an extension, which a
    platform's mark "late" does not undo.

    Args:
        timed: whether a timestamp.txt contains the time when the student submitted. Each later run
            stores that time again. So only an extension can make such a submission less late, and
            nothing here can make it later.

    Raises:
        RecordError: there is no such submission or no due date, its timestamp.txt contains an
            earlier time, or the gradebook cannot be written.
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
    """Write the time of submission, or the extension, that gives a submission the delay `late`.

    Raises:
        RecordError: the assignment has no due date, or `timed` is True and the submission was made
            less than `late` after the due date.
    """
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
                f"timestamp.txt next to the submitted notebook says {row.timestamp:%Y-%m-%d %H:%M:%S} UTC, which is "
                f"less than {late / timedelta(hours=1):g} hours after the due date, and each run reads this file "
                "again. Change the time in the file, and grade the class again."
            )
        set_columns(db, table, row.submission, extension=more)
    elif late:
        set_columns(db, table, row.submission, timestamp=row.duedate + extension + late)
    elif more := seconds_late(row):
        set_columns(db, table, row.submission, extension=extension + timedelta(seconds=more))


def set_due_date(url: str, course: str, assignment: str, due: datetime | None, late_penalty: LatePenalty) -> None:
    """Set the due date of an assignment, and update the late penalties of its submissions.

    Args:
        due: the new due date; None removes the present one.

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
    """Set a student's extension of an assignment's due date, even if the student has not submitted yet.

    The late penalty of a submission is updated. Without a submission, nbgrader's table of
    submissions gets a row without a notebook.

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
