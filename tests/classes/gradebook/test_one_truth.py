"""The grade that leaves is the grade that was given: nbgrader's export beside every one of ours, stage by stage.

Twenty submissions go through the real commands, and a person marks them in the real formgrader meanwhile.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from markupsafe import escape
from nbgrader.api import Gradebook

from tests.classes.gradebook.formgrader import Formgrader, formgrader
from tests.classes.gradebook.read_exports import READ, Scores, exported, nbgrader_export, reported, score_on, table_of
from tests.classes.gradebook.small_course import COURSE, NAME, Cell, SmallCourse, cells, comments

STUDENTS = [f"s{number:02}" for number in range(20)]
RESUBMITTING = STUDENTS[1::2]
DUE = datetime(2026, 3, 1, tzinfo=UTC)
LATE = STUDENTS[::3]  # by two days
EXTENDED = LATE[2]  # has three days more
WORTH = {f"check-1-{number}": points for number, points in enumerate((5, 5, 10, 15, 15, 10, 15, 15, 10), 1)}
COMMENTS = (
    "A <b>fine</b> idea.",
    'Look at "√d_k" again & tell me.',
    "Two lines,\nas formgrader lets me write them.",
    "50 % of it is {{ right }}",
    "'single', \"double\"",
)
PENALTY = """
from nbgrader.plugins import LateSubmissionPlugin


class TenPoints(LateSubmissionPlugin):
    def late_submission_penalty(self, student, score, seconds):
        return 10
"""
# In this order; each begins where the one before it ended. Those that do not grade leave the pages as they are.
STAGES = (
    "graded",
    "marked",
    "rerun",
    "late",
    "marked when late",
    "rerun when late",
    "forced",
    "resubmitted",
    "rerun after resubmission",
    "looked at again",
    "feedback",
)
WITHOUT_PAGES = ("marked", "marked when late")
MARKED = STAGES[STAGES.index("rerun") :]  # the marks are on the pages
PLACES = (*READ, "table", "page")
# The fast half goes as far as marks that survive a rerun.
FAST_STAGES = STAGES[: STAGES.index("rerun") + 1]


@dataclass(frozen=True)
class Seen:
    """What the gradebook, the exports and the pages said at the end of a stage."""

    theirs: dict[str, dict[str, str]]  # nbgrader's export
    ours: dict[str, Scores]  # of each service, of the table and of the class page
    csv: dict[str, dict[str, str]]
    cells: dict[tuple[str, str], Cell]
    comments: dict[tuple[str, str], str]
    pages: dict[str, str]


def look(course: SmallCourse, folder: Path) -> Seen:
    ours = exported(course, folder) | reported(course, folder)
    return Seen(
        theirs=nbgrader_export(course.url, folder),
        ours=ours,
        csv={row["student"]: row for row in table_of(folder / "csv.out")},
        cells=cells(course.url),
        comments=comments(course.url),
        pages={student: course.page(student) for student in STUDENTS},
    )


class Story:
    """The class, and what happens to it."""

    def __init__(self, course: SmallCourse, person: Formgrader) -> None:
        self.course, self.person, self.random = course, person, random.Random(18)

    def hand_in(self, students: list[str], remark: str = "") -> None:
        """Hand in notebooks with some of the first three exercises solved."""
        for student in students:
            solved = [id for id in ("1.1", "1.2", "1.3") if self.random.random() < 0.5]
            at = DUE + timedelta(days=2) if student in LATE else DUE - timedelta(days=1)
            self.course.submit(student, *solved, remark=remark, at=at)

    def mark(self, students: list[str]) -> None:
        """Give manual scores, extra credit and comments in formgrader."""
        for student in students:
            for cell in self.random.sample(sorted(WORTH), k=self.random.randint(1, 3)):
                points = self.random.randint(0, 4 * WORTH[cell]) / 4
                manual = self.random.choice([points, points, None])
                self.person.mark(student, cell, manual=manual, extra=self.random.choice([None, 0.5, 2.0]))
            for cell in self.random.sample(sorted(WORTH), k=2):
                text = self.random.choice(COMMENTS)
                self.person.comment(student, cell.replace("check", "exercise"), f"{student}: {text}")

    def penalize(self) -> None:
        """Set a due date in formgrader, an extension, and a plugin in nbgrader_config.py."""
        (self.course.root / "late.py").write_text(PENALTY)
        self.course.configure("c.AssignLatePenalties.plugin_class = 'late.TenPoints'")
        self.person.due(f"{DUE:%Y-%m-%d %H:%M:%S}")
        with Gradebook(self.course.url, COURSE) as gradebook:
            gradebook.grant_extension(NAME, EXTENDED, days=3)

    def stages(self) -> Iterator[str]:
        """Let the story happen; yield the name of each stage at its end."""
        course = self.course
        self.hand_in(STUDENTS)
        course.grade()
        yield "graded"
        self.mark(STUDENTS[:-2])
        self.person.name(STUDENTS[0], first="Ada", last="Lovelace", email="ada@example.org")
        yield "marked"
        course.grade()
        yield "rerun"
        self.penalize()
        course.grade()
        yield "late"
        self.mark(STUDENTS[:6])
        yield "marked when late"
        course.grade()
        yield "rerun when late"
        course.grade("submitted", "--force")
        yield "forced"
        self.hand_in(RESUBMITTING, remark="again")
        course.grade()
        yield "resubmitted"
        course.grade()
        yield "rerun after resubmission"
        for student, cell in flagged(cells(course.url))[::2]:
            given = cells(course.url, [student])[student, cell]
            self.person.mark(student, cell, manual=given.manual, extra=given.extra)
        course.grade()
        yield "looked at again"
        self.person.generate_feedback()
        yield "feedback"


def flagged(found: dict[tuple[str, str], Cell]) -> list[tuple[str, str]]:
    """List students and cells that a person must look at."""
    return [key for key, cell in found.items() if cell.needs_manual_grade]


class Told:
    """What was seen at the end of each stage. The story goes on as far as somebody asks."""

    def __init__(self, course: SmallCourse, person: Formgrader, folder: Path) -> None:
        self._course, self._folder = course, folder
        self._stages = Story(course, person).stages()
        self._seen: dict[str, Seen] = {}

    def __getitem__(self, stage: str) -> Seen:
        while stage not in self._seen:
            ended = next(self._stages, "broken off")
            assert ended == STAGES[len(self._seen)]
            self._seen[ended] = look(self._course, self._folder)
        return self._seen[stage]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    top = tmp_path_factory.mktemp("truth")
    course = SmallCourse.make(top / "course")
    with formgrader(course, top / "formgrader") as person:
        yield Told(course, person, top)


@contextmanager
def of(student: str) -> Iterator[None]:
    """Say of whom an assertion is."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{student}: {error}") from error


@pytest.mark.fast_cases(*(f"{leaves}-{stage}" for leaves in PLACES for stage in FAST_STAGES))
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("leaves", PLACES)
def test_every_export_says_what_nbgrader_says(story: Told, stage: str, leaves: str) -> None:
    seen = story[stage]
    wanted = {student: float(row["score"]) for student, row in seen.theirs.items()}
    assert sorted(wanted) == STUDENTS
    assert {student: float(score) for student, score in seen.ours[leaves].items()} == wanted


@pytest.mark.fast_cases(*FAST_STAGES)
@pytest.mark.parametrize("stage", STAGES)
def test_the_table_of_all_has_raw_score_penalty_and_every_exercise(story: Told, stage: str) -> None:
    seen = story[stage]
    for student, row in seen.csv.items():
        with of(student):
            theirs = seen.theirs[student]
            assert float(row["raw_score"]) == float(theirs["raw_score"])
            assert float(row["penalty"]) == float(theirs["late_submission_penalty"])
            assert float(row["max_score"]) == float(theirs["max_score"])
            assert row["status"] == "graded"
            for cell in WORTH:
                exercise = cell.removeprefix("check-").replace("-", ".")
                assert float(row[exercise]) == seen.cells[student, cell].score
            names = [row[name] for name in ("last_name", "first_name", "email")]
            assert names == [theirs[name] for name in ("last_name", "first_name", "email")]


@pytest.mark.fast_cases(*FAST_STAGES)
@pytest.mark.parametrize("stage", STAGES)
def test_the_table_says_who_must_be_looked_at(story: Told, stage: str) -> None:
    seen = story[stage]
    waiting = {student for student, _ in flagged(seen.cells)}
    said = {student: row["needs_manual_grade"].lower() for student, row in seen.csv.items()}
    assert set(said.values()) <= {"yes", "no", "true", "false", ""}
    assert {student for student, word in said.items() if word in ("yes", "true")} == waiting


@pytest.mark.fast_cases("graded", "rerun")
@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage not in WITHOUT_PAGES])
def test_every_page_has_the_total_of_the_gradebook(story: Told, stage: str) -> None:
    seen = story[stage]
    totals = {student: float(score_on(page)) for student, page in seen.pages.items()}
    assert totals == {student: float(row["score"]) for student, row in seen.theirs.items()}


@pytest.mark.fast_cases("rerun")
@pytest.mark.parametrize("stage", [stage for stage in MARKED if stage not in WITHOUT_PAGES])
def test_every_page_holds_every_comment(story: Told, stage: str) -> None:
    seen = story[stage]
    assert len(seen.comments) > 30
    for (student, cell), text in seen.comments.items():
        with of(f"{student} {cell}"):
            assert str(escape(" ".join(text.split()))) in " ".join(seen.pages[student].split())


@pytest.mark.slow(held_by="tests/classes/gradebook/test_random_records.py::TestFewSemesters::runTest")
def test_nothing_that_a_person_gave_is_ever_changed(story: Told) -> None:
    def given(seen: Seen) -> tuple:
        marks = {key: (cell.manual, cell.extra) for key, cell in seen.cells.items()}
        return marks, seen.comments

    for first in ("marked", "marked when late"):
        marks, _ = given(story[first])
        assert len([mark for mark in marks.values() if mark != (None, None)]) > 20
    assert given(story["rerun"]) == given(story["late"]) == given(story["marked"])
    for stage in STAGES[STAGES.index("rerun when late") :]:
        assert given(story[stage]) == given(story["marked when late"]), stage


@pytest.mark.slow(held_by="tests/classes/gradebook/test_gradebook.py::test_a_late_penalty_as_nbgrader_gives_it")
def test_who_is_late_loses_ten_points_and_an_extension_counts(story: Told) -> None:
    assert not any(float(row["late_submission_penalty"]) for row in story["rerun"].theirs.values())
    seen = story["rerun when late"]
    for student, row in seen.theirs.items():
        with of(student):
            late = student in LATE and student != EXTENDED
            raw = float(row["raw_score"])
            assert float(row["late_submission_penalty"]) == (min(10.0, raw) if late else 0.0)
            assert float(seen.csv[student]["seconds_late"] or 0) == (2 * 86400 if late else 0)
            assert ("subtracted" in seen.pages[student]) == (late and raw > 0)


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_gradebook.py::test_a_manual_score_waits_for_a_person_after_a_resubmission_alone"
)
def test_only_other_bytes_under_a_manual_score_must_be_looked_at_again(story: Told) -> None:
    for stage in STAGES[: STAGES.index("resubmitted")]:
        assert not flagged(story[stage].cells), stage
    seen = story["resubmitted"]
    wanted = [key for key, cell in seen.cells.items() if key[0] in RESUBMITTING and cell.manual is not None]
    assert len(wanted) > 5
    assert flagged(seen.cells) == wanted
    assert flagged(story["rerun after resubmission"].cells) == wanted
    assert flagged(story["looked at again"].cells) == [key for key in wanted if key not in wanted[::2]]


@pytest.mark.fast_cases("rerun")
@pytest.mark.parametrize("stage", STAGES[STAGES.index("rerun") :])
def test_the_page_says_that_points_are_of_an_earlier_version(story: Told, stage: str) -> None:
    if stage in WITHOUT_PAGES:
        return
    seen = story[stage]
    waiting = {student for student, _ in flagged(seen.cells)}
    assert {student for student, page in seen.pages.items() if "for an earlier submission" in page} == waiting


@pytest.mark.slow(held_by="tests/classes/gradebook/test_gradebook.py::test_a_regrade_replaces_the_auto_score")
def test_the_resubmission_itself_is_graded(story: Told) -> None:
    before, after = story["forced"].cells, story["resubmitted"].cells
    changed = {student for student, cell in after if after[student, cell].auto != before[student, cell].auto}
    assert changed
    assert changed <= set(RESUBMITTING)


@pytest.mark.slow(
    held_by="tests/classes/nbgrader_plugins/test_nbgrader.py::test_feedback_is_our_page_with_the_marks_of_people"
)
def test_nbgrader_makes_the_same_page(story: Told) -> None:
    assert story["feedback"].pages == story["looked at again"].pages


@pytest.mark.slow(held_by="tests/classes/gradebook/test_gradebook.py::test_the_same_grade_again_writes_nothing")
def test_forcing_changes_nothing(story: Told) -> None:
    before, after = story["rerun when late"], story["forced"]
    assert (after.theirs, after.cells, after.comments) == (before.theirs, before.cells, before.comments)
    assert after.ours == before.ours


@pytest.mark.slow(held_by="tests/classes/gradebook/test_one_truth.py::test_every_export_says_what_nbgrader_says")
def test_the_command_of_nbgrader_and_ours_agree_as_programs(tmp_path: Path) -> None:
    """Once with both as their own processes, on a gradebook with one late and marked submission."""
    course = SmallCourse.make(tmp_path / "course")
    course.submit("s1", "1.1", "1.2")
    course.grade()
    with Gradebook(course.url, COURSE) as gradebook:
        grade = gradebook.find_grade("check-1-2", NAME, NAME, "s1")
        grade.manual_score, grade.extra_credit = 4.0, 1.5
        gradebook.find_submission_notebook(NAME, NAME, "s1").late_submission_penalty = 2.25
        gradebook.db.commit()
    course.nbgrader(("export", "--to", "theirs.csv"))
    (theirs,) = table_of(course.root / "theirs.csv")
    printed = course.grader("export", "csv")
    assert theirs["score"] == "8.25"
    assert ",8.25,100" in printed
