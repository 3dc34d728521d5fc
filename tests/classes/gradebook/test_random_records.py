"""Grades, marks, faults and penalties in any order: at every moment, all that leaves says what nbgrader says."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from markupsafe import escape
from nbgrader.api import Gradebook

from grader.classes.gradebook.reader import read_class, read_entry
from grader.classes.gradebook.writer import Handover, open_gradebook
from grader.classes.results.pages import page_of
from grader.course import lessons
from grader.records import Grade, Outcome, Student, Verdict
from grader.report.class_page import class_page
from grader.report.export import export
from tests.classes.gradebook.read_exports import COLUMN, READ, nbgrader_export, read_class_page, score_on, table_of
from tests.classes.gradebook.small_course import COURSE, NAME, cells, comments

STUDENTS = ("s1", "s2", "s3", "s4")  # the last never hands in anything that can be graded
EXERCISES = lessons()[NAME].exercises
DUE = datetime(2026, 3, 1)
CENTS = 0.005 + 1e-9  # exports round to two digits

students = st.sampled_from(STUDENTS[:3])
exercises = st.sampled_from(EXERCISES)
# Without subnormal numbers: another test of this process may have switched them off in the processor.
points = st.floats(0, 15, allow_nan=False, allow_subnormal=False) | st.sampled_from([0.0, 1 / 3, 4.0, 15.0])


def a_grade(student: str, version: int, status: str, share: float) -> Grade:
    """The grade of a version of a submission: its points follow from the arguments, as with real ones."""
    if status == "graded":
        verdicts = tuple(
            Verdict(
                id=one.id,
                name=one.id,
                title=one.title,
                outcome=Outcome.PASSED if (number + version) % 3 == 0 else Outcome.FAILED,
                points=float(one.points) if (number + version) % 3 == 0 else round(one.points * share, 2),
                max_points=float(one.points),
                message="off by 0.3",
            )
            for number, one in enumerate(EXERCISES)
        )
        score = sum(one.points for one in verdicts)
    else:
        verdicts, score = (), (0.0 if status == "unreadable" else None)
    return Grade(
        student=student,
        assignment=NAME,
        status=status,
        score=score,
        max_score=100.0,
        verdicts=verdicts,
        message="" if status == "graded" else "because",
        submission_sha256=f"{version:064}",
    )


@cache
def empty_gradebook() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        with open_gradebook(f"sqlite:///{folder}/gradebook.db", {}, course=COURSE):
            pass
        return (Path(folder) / "gradebook.db").read_bytes()


class Semester(RuleBasedStateMachine):
    """What graders and people do, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        (self.folder / "gradebook.db").write_bytes(empty_gradebook())
        self.url = f"sqlite:///{self.folder}/gradebook.db"
        self.version = 0
        self.last: dict[str, tuple[Grade, Handover, str]] = {}  # what was recorded last, and not as a fault
        self.penalty = 10.0
        self.given: dict[tuple[str, str], tuple[float | None, float | None]] = {}
        self.written: dict[tuple[str, str], str] = {}

    def teardown(self) -> None:
        self.temporary.cleanup()

    def _record(self, grade: Grade, came_in: Handover, key: str, *, again: bool = False) -> None:
        with open_gradebook(self.url, lessons(), course=COURSE, late_penalty=lambda *late: self.penalty) as gradebook:
            recorded = gradebook.recorded(grade.student, NAME, key) if again else None
            if recorded is None:
                gradebook.record(grade, came_in, key=key)
            else:
                gradebook.confirm(recorded, came_in)

    def _change(self, work: Callable[[Gradebook], None]) -> None:
        with Gradebook(self.url, COURSE) as gradebook:
            work(gradebook)
            gradebook.db.commit()

    @initialize()
    def begin(self) -> None:
        for student in STUDENTS[:3]:
            self.hand_in(student, share=0.5, late=student == STUDENTS[0], status="graded")
        self.change_the_due_date(f"{DUE:%Y-%m-%d %H:%M} UTC")
        self.grade_again(STUDENTS[0], force=False)
        assert float(nbgrader_export(self.url, self.folder)[STUDENTS[0]]["late_submission_penalty"]) == 10
        # Other bytes with the same points: the manual score waits all the same.
        self.mark(STUDENTS[1], EXERCISES[0], 4.0, 1.0)
        self.version += 1
        self.hand_in(STUDENTS[1], share=0.5, late=False, status="graded")
        self._change(lambda gradebook: gradebook.add_student(STUDENTS[3]))

    @rule(
        student=st.sampled_from(STUDENTS[:3]),
        share=st.sampled_from([0.0, 1 / 3, 0.9]),
        late=st.booleans(),
        status=st.sampled_from(["graded", "graded", "unreadable"]),
    )
    def hand_in(self, student: str, share: float, late: bool, status: str) -> None:
        """Another version: each manual score waits for a person, and no other cell."""
        self.version += 1
        grade = a_grade(student, self.version, status, share)
        submitted = DUE + timedelta(days=2 if late else -1)
        came_in = Handover(student=Student(id=student), submitted=submitted)
        self._record(grade, came_in, key=str(self.version))
        self.last[student] = (grade, came_in, str(self.version))
        for (owner, cell), row in cells(self.url, [student]).items():
            assert row.needs_manual_grade == (row.manual is not None), (owner, cell)

    @rule(student=students, force=st.booleans())
    def grade_again(self, student: str, force: bool) -> None:
        """The same bytes: whoever had looked need not look again, and nothing else changes."""
        before = cells(self.url, [student])
        grade, came_in, key = self.last[student]
        again = replace(grade, seconds=grade.seconds + 1)
        self._record(again, came_in, key, again=not force)
        if not read_entry(self.url, COURSE, student, NAME).fault:
            after = cells(self.url, [student])
            assert {key: row.needs_manual_grade for key, row in after.items() if row.manual is not None} == {
                key: row.needs_manual_grade for key, row in before.items() if row.manual is not None
            }
            assert {key: row.score for key, row in after.items()} == {key: row.score for key, row in before.items()}

    @rule(student=st.sampled_from(STUDENTS))
    def fault(self, student: str) -> None:
        """No score changes; what has no manual score waits."""
        before = cells(self.url, [student])
        self.version += 1
        came_in = Handover(student=Student(id=student), submitted=DUE)
        self._record(a_grade(student, self.version, "fault", 0.0), came_in, key=str(self.version))
        after = cells(self.url, [student])
        for key, row in after.items():
            old = before.get(key)
            if old is not None:
                assert (row.auto, row.manual, row.extra) == (old.auto, old.manual, old.extra)
            assert row.needs_manual_grade or row.manual is not None

    @rule(student=students, exercise=exercises, manual=points | st.none(), extra=points | st.just(-3.0) | st.none())
    def mark(self, student: str, exercise, manual: float | None, extra: float | None) -> None:
        """As formgrader's own handler does it."""
        cell = "check-" + exercise.id.replace(".", "-")

        def work(gradebook: Gradebook) -> None:
            row = gradebook.find_grade(cell, NAME, NAME, student)
            row.manual_score, row.extra_credit = manual, extra
            row.needs_manual_grade = manual is None and row.auto_score is None

        self._change(work)
        self.given[student, cell] = (manual, extra)

    @rule(student=students, exercise=exercises, text=st.text(st.characters(codec="utf-8"), max_size=20))
    def comment(self, student: str, exercise, text: str) -> None:
        cell = "exercise-" + exercise.id.replace(".", "-")

        def work(gradebook: Gradebook) -> None:
            gradebook.find_comment(cell, NAME, NAME, student).manual_comment = text

        self._change(work)
        self.written[student, cell] = text

    @rule(penalty=st.sampled_from([0.0, 10.0, 1000.0, -3.0]))
    def change_the_penalty(self, penalty: float) -> None:
        self.penalty = penalty

    @rule(due=st.sampled_from(["2026-03-01 00:00 UTC", "2027-01-01 00:00 UTC"]))
    def change_the_due_date(self, due: str) -> None:
        self._change(lambda gradebook: gradebook.update_or_create_assignment(NAME, duedate=due))

    @rule(student=students, days=st.sampled_from([0, 1, 3]))
    def extend(self, student: str, days: int) -> None:
        self._change(lambda gradebook: gradebook.grant_extension(NAME, student, days=days))

    @precondition(lambda self: self.last)
    @invariant()
    def everything_says_what_nbgrader_says(self) -> None:
        theirs = {name: float(row["score"]) for name, row in nbgrader_export(self.url, self.folder).items()}
        found = cells(self.url)
        unscored = {
            student
            for student in theirs
            if all(row.auto is None and row.manual is None for (own, _), row in found.items() if own == student)
        }
        entries = read_class(self.url, COURSE)
        for service, read in READ.items():
            file = self.folder / f"{service}.out"
            exported = export(service, entries, column=COLUMN if service == "blackboard" else "")
            file.write_bytes(exported.text.encode(exported.encoding))
            self._agree(service, read(file), theirs, unscored)
        self._agree("class page", read_class_page(class_page(entries)), theirs, unscored)
        for row in table_of(self.folder / "csv.out"):
            waiting = any(cell.needs_manual_grade for (own, _), cell in found.items() if own == row["student"])
            assert row["needs_manual_grade"] == ("yes" if waiting else "no"), row["student"]

    def _agree(self, place: str, ours: dict[str, str], theirs: dict[str, float], unscored: set[str]) -> None:
        """Check scores; who has none is empty or not there, and a student without a submission, too."""
        assert {name for name, score in ours.items() if score} == theirs.keys() - unscored, place
        for student, score in ours.items():
            assert not score or float(score) == pytest.approx(theirs[student], abs=CENTS), (place, student)

    @precondition(lambda self: self.last)
    @invariant()
    def every_page_has_the_total_and_every_comment(self) -> None:
        for student, row in nbgrader_export(self.url, self.folder).items():
            page = page_of(read_entry(self.url, COURSE, student, NAME), self.folder / "none.ipynb")
            if score := score_on(page):
                assert float(score) == pytest.approx(float(row["score"]), abs=CENTS), student
            for (own, cell), text in comments(self.url).items():
                if own == student:
                    shown = "".join(
                        mark if mark.isprintable() or mark == "\n" else "\N{REPLACEMENT CHARACTER}"
                        for mark in text.replace("\r\n", "\n")
                    )
                    assert str(escape(shown)) in page, (student, cell)

    @precondition(lambda self: self.last)
    @invariant()
    def what_a_person_gave_stays(self) -> None:
        found = cells(self.url)
        for key, given in self.given.items():
            assert (found[key].manual, found[key].extra) == given, key
        stored = comments(self.url)
        assert {key: text for key, text in self.written.items() if text} == stored


class OfTheFastHalf(Semester):
    """The same, for fewer examples."""


TestFewSemesters = OfTheFastHalf.TestCase
TestFewSemesters.settings = settings(
    max_examples=2, stateful_step_count=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
TestSemester = pytest.mark.slow(held_by="tests/classes/gradebook/test_random_records.py::TestFewSemesters::runTest")(
    Semester.TestCase
)
TestSemester.settings = settings(TestFewSemesters.settings, max_examples=10)
