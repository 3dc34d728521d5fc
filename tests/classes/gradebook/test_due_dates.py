"""Due dates and extensions are nbgrader's own, and penalties follow them at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.api import Gradebook

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.lateness import set_due_date, set_extension
from grader.classes.gradebook.reader import read_class, read_due_dates, read_entry
from grader.records import GradebookEntry
from tests.classes.gradebook.test_gradebook import ASSIGNMENT, fresh, graded, record, url, without_score

__all__ = ["fresh", "url"]
COURSE = "default_course"
DUE = datetime(2031, 1, 31, 18, tzinfo=UTC)
LATE = (DUE + timedelta(hours=5)).replace(tzinfo=None)


def penalty(student: str, score: float, seconds: float) -> float:
    """Take a point off for each hour."""
    return seconds / 3600


def entry(url: str, student: str) -> GradebookEntry:
    found = read_entry(url, COURSE, student, ASSIGNMENT)
    assert found is not None
    return found


def test_penalties_follow_a_due_date_and_an_extension(url: str) -> None:
    record(url, graded("s1", 5.0, 7.5), graded("s2", 5.0, 2.5), timestamp=LATE)
    set_due_date(url, COURSE, ASSIGNMENT, DUE, penalty)
    assert [(entry(url, id).score, entry(url, id).penalty) for id in ("s1", "s2")] == [(7.5, 5.0), (2.5, 5.0)]
    set_extension(url, COURSE, "s2", ASSIGNMENT, timedelta(hours=3), penalty)
    assert [entry(url, id).penalty for id in ("s1", "s2")] == [5.0, 2.0]
    assert entry(url, "s2").due == DUE + timedelta(hours=3)
    set_due_date(url, COURSE, ASSIGNMENT, DUE + timedelta(hours=1), penalty)
    assert [entry(url, id).penalty for id in ("s1", "s2")] == [4.0, 1.0]
    set_extension(url, COURSE, "s2", ASSIGNMENT, timedelta(), penalty)
    assert [entry(url, id).penalty for id in ("s1", "s2")] == [4.0, 4.0]
    set_due_date(url, COURSE, ASSIGNMENT, None, penalty)
    assert [(entry(url, id).score, entry(url, id).penalty) for id in ("s1", "s2")] == [(12.5, 0.0), (7.5, 0.0)]
    assert read_due_dates(url, COURSE, "s2") == {}


def test_nbgrader_reads_both(url: str) -> None:
    record(url, graded("s1", 5.0, 7.5), timestamp=LATE)
    set_due_date(url, COURSE, ASSIGNMENT, DUE, penalty)
    set_extension(url, COURSE, "s1", ASSIGNMENT, timedelta(hours=2), penalty)
    with Gradebook(url) as gradebook:
        found = gradebook.find_submission(ASSIGNMENT, "s1")
        assert found.duedate == datetime(2031, 1, 31, 20)
        assert found.total_seconds_late == 3 * 3600
        assert found.late_submission_penalty == 3.0


def test_an_assignment_that_nobody_has_submitted_gets_a_due_date(url: str) -> None:
    set_due_date(url, COURSE, "2-heads", DUE, penalty)
    assert read_due_dates(url, COURSE, "s1") == {"2-heads": DUE}
    with Gradebook(url) as gradebook:
        assert gradebook.find_assignment("2-heads").course_id == COURSE


def test_an_extension_comes_before_the_submission(url: str) -> None:
    set_due_date(url, COURSE, ASSIGNMENT, DUE, penalty)
    set_extension(url, COURSE, "s1", ASSIGNMENT, timedelta(hours=2), penalty)
    assert read_due_dates(url, COURSE, "s1") == {ASSIGNMENT: DUE + timedelta(hours=2)}
    assert read_class(url, COURSE) == []  # an extension is not a submission
    with Gradebook(url) as gradebook:
        assert gradebook.submission_dicts(ASSIGNMENT) == []
        assert [student["score"] for student in gradebook.student_dicts()] == [0.0]
    record(url, graded("s1", 5.0, 7.5), timestamp=LATE, late_penalty=penalty)
    assert (entry(url, "s1").penalty, entry(url, "s1").score) == (3.0, 9.5)


def test_a_fault_after_an_extension_keeps_the_time_of_submission(url: str) -> None:
    set_due_date(url, COURSE, ASSIGNMENT, DUE, penalty)
    set_extension(url, COURSE, "s1", ASSIGNMENT, timedelta(hours=2), penalty)
    record(url, without_score("s1", "fault"), timestamp=LATE)
    assert entry(url, "s1").seconds_late == 3 * 3600


def test_without_a_due_date_there_is_nothing_to_extend(url: str) -> None:
    record(url, graded("s1", 5.0, 7.5))
    with pytest.raises(RecordError, match="1-attention has no due date"):
        set_extension(url, COURSE, "s1", ASSIGNMENT, timedelta(hours=2), penalty)
    with pytest.raises(RecordError, match="9-none has no due date"):
        set_extension(url, COURSE, "s1", "9-none", timedelta(hours=2), penalty)
    with Gradebook(url) as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "s1").extension is None
