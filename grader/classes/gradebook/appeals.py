"""Appeals: students' requests that an instructor looks at their points again, and the instructor's decisions.

A request is a row of this grader's table `APPEALS`. A decision is written in one transaction. The
row of the request gets only the fact and the date of the decision. The decision itself goes into
the columns of nbgrader that formgrader also writes: points into `manual_score` of the exercise's
cell, words into `manual_comment` of its answer. So formgrader, pages and exports show it like all
other manual points.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import cast

from nbgrader import api
from sqlalchemy import CursorResult, Row, insert, update
from sqlalchemy.orm import Session

from grader.classes.gradebook.connection import attempt, existing
from grader.classes.gradebook.errors import AppealError, RecordError
from grader.classes.gradebook.reader import cell_name
from grader.classes.gradebook.rows import begin_to_write, set_columns
from grader.classes.gradebook.stored import APPEALS, load_known, make_tables
from grader.records import MOST_TEXT, Appeal, GradebookEntry

SHORTEST_PREFIX = 6  # digits of a submission's digest that are enough to name it
KEPT, CHANGED = "keep", "points"  # what was decided


def appeals_of(entries: Iterable[GradebookEntry]) -> list[tuple[GradebookEntry, Appeal]]:
    """Return all appeals with their entries, sorted by the numbers of the appeals.

    An entry is the gradebook's record of one submission.
    """
    found = [(entry, appeal) for entry in entries for appeal in entry.appeals]
    return sorted(found, key=lambda pair: pair[1].number)


def submission_of(entries: Sequence[GradebookEntry], prefix: str, student: str = "") -> GradebookEntry:
    """Return the submission whose digest begins with `prefix`.

    The feedback page of a submission shows the digest in its last lines.

    Args:
        student: the id, if two students submitted the same file; "" for any student.

    Raises:
        RecordError: the prefix is too short or not hexadecimal, or does not belong to exactly one
            submission among `entries`.
    """
    start = prefix.strip().lower()
    if len(start) < SHORTEST_PREFIX or not set(start) <= set("0123456789abcdef"):
        raise RecordError(
            f"{prefix!r} does not name a submission. Give the first {SHORTEST_PREFIX} digits or more of what the "
            "student's page shows at its end, after “submission”."
        )
    own = [entry for entry in entries if student in ("", entry.student.id)]
    found = [entry for entry in own if entry.grade.submission_sha256.startswith(start)]
    if not found:
        raise RecordError(
            f"no submission in the gradebook begins with {start}. The page of an earlier version has another number: "
            "look at the page that stands in feedback/ now."
        )
    if len(found) > 1:
        names = ", ".join(sorted(entry.student.id for entry in found))
        raise RecordError(f"{start} names several submissions: {names}. Pass more digits, or --student.")
    return found[0]


def add_appeal(url: str, course: str, entry: GradebookEntry, exercise: str, text: str) -> Appeal:
    """Record a student's request about an exercise of a submission, and return it with its number.

    Raises:
        AppealError: the exercise has no points, the text is empty, or an appeal about the exercise
            already waits for a decision.
        RecordError: the gradebook cannot be written.
    """
    worth = {name: cell.max_points for name, cell in entry.cells.items() if cell.max_points}
    if exercise not in worth:
        raise AppealError(f"{exercise!r} has no points in {entry.assignment}. Choose one of {', '.join(worth)}.")
    if not text.strip():
        raise AppealError("what does the student ask for? The text is empty.")
    for each in entry.appeals:
        if each.exercise == exercise and not each.outcome:
            raise AppealError(f"appeal {each.number} of {entry.student.id} about {exercise} is still open")
    text, sha = text.strip()[:MOST_TEXT], entry.grade.submission_sha256
    asked = Appeal(number=0, exercise=exercise, text=text, submission_sha256=sha, made=_today())
    with existing(url, course) as db:

        def add() -> int:
            make_tables(db)
            row = load_known(db, entry.student.id, entry.assignment).submission
            values = {**asdict(asked), "notebook_id": row.submitted_notebook}
            del values["number"]  # the database chooses it
            added = cast(CursorResult, db.execute(insert(APPEALS).values(**values)))
            (number,) = added.inserted_primary_key or (0,)
            db.commit()
            return number

        return replace(asked, number=attempt(url, add, undo=db.rollback))


def decide_appeal(
    url: str, course: str, entry: GradebookEntry, appeal: Appeal, points: float | None, comment: str
) -> None:
    """Record an instructor's decision on an appeal.

    Args:
        points: the new points of the exercise; None keeps its points.
        comment: the text that the student reads, added to earlier comments of people.

    Raises:
        AppealError: the comment is empty, the appeal is decided already, or `points` exceed the
            maximum points of the exercise.
        RecordError: the gradebook cannot be written.
    """
    if appeal.outcome:
        raise AppealError(
            f"appeal {appeal.number} was decided on {appeal.decided}. To change the points again, use formgrader."
        )
    worth = entry.cells[appeal.exercise].max_points
    if points is not None and not 0 <= points <= worth:
        raise AppealError(
            f"{appeal.exercise} is worth {worth:g} points, so {points:g} cannot be given. "
            "For extra credit use formgrader."
        )
    if not comment.strip():
        raise AppealError("pass --comment: the student reads on the page why")
    with existing(url, course) as db:
        attempt(url, lambda: _decide(db, entry, appeal, points, comment), undo=db.rollback)


def _decide(db: Session, entry: GradebookEntry, appeal: Appeal, points: float | None, comment: str) -> None:
    """Write an instructor's decision on an appeal in one transaction."""
    begin_to_write(db)
    stored = load_known(db, entry.student.id, entry.assignment)
    if points is not None:
        grade = _row(stored.grades, appeal.exercise)
        set_columns(db, api.Grade.__table__, grade.id, manual_score=float(points), needs_manual_grade=False)
    said = _row(stored.comments, appeal.exercise)
    words = "\n".join(filter(None, (said.manual_comment, f"On your appeal: {comment.strip()}")))
    set_columns(db, api.Comment.__table__, said.id, manual_comment=words)
    undecided = (APPEALS.c.number == appeal.number) & (APPEALS.c.outcome == "")
    outcome = KEPT if points is None else CHANGED
    db.execute(update(APPEALS).where(undecided).values(outcome=outcome, decided=_today()))
    db.commit()


def _row(rows: Sequence[Row], exercise: str) -> Row:
    """Return the row of an exercise's or question's cell.

    Raises:
        RecordError: nbgrader has no such row, as for some cells that the instructor added.
    """
    row = next((row for row in rows if cell_name(row.cell) == exercise), None)
    if row is None:
        raise RecordError(f"nbgrader keeps no comment for {exercise}. Decide about it in formgrader.")
    return row


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
