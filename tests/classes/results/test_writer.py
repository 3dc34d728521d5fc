"""What is recorded, in which order, and what a rerun finds missing."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.reader import read_entry
from grader.classes.gradebook.writer import GradeWriter, open_gradebook
from grader.classes.results import folders
from grader.classes.results.pages import page_of
from grader.classes.results.writer import ResultsWriter
from grader.classes.workers.grade_class import grade_class
from grader.classes.workers.job import Course, Job, Workers
from grader.course import lessons
from grader.grading.graded import Graded
from grader.records import CheckResult, Grade, GradebookEntry, GradingSettings, Heatmap, Outcome, Verdict
from grader.submission.cells import answer_cell
from grader.submission.intake import find

NAME = "1-attention"
BOOK = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1", id="x")])
CHECK = CheckResult(name="values", title="", outcome=Outcome.FAILED, points=0, max_points=5, message="off")
WRONG = Verdict(
    id="1.1",
    name="attention_scores",
    title="Scores",
    outcome=Outcome.FAILED,
    points=0.0,
    max_points=5.0,
    mistake="summed",
    hint="h",
    checks=(CHECK,),
    heatmaps=(Heatmap(title="t", got=((1.0,),), expected=((0.5,),)),),
)


def refuse(job: Job) -> Graded:
    """Stand where a worker would grade; `Pretended` never calls it."""
    raise AssertionError(job.file.student)


class Pretended(Executor):
    """Grades at once, and can lose a worker; the real ones are in test_kill and test_cluster."""

    def __init__(self) -> None:
        self.graded: list[str] = []
        self.notebook = BOOK  # that each submission leaves
        self.deadly: dict[str, int] = {}  # student → how many workers it takes with it

    def submit(self, call, job: Job) -> Future:
        future: Future = Future()
        student = job.file.student
        if self.deadly.get(student, 0):
            self.deadly[student] -= 1
            future.set_exception(BrokenExecutor("killed"))
            return future
        self.graded.append(student)
        grade = Grade(student=student, assignment=NAME, status="graded", score=0.0, max_score=100.0, verdicts=(WRONG,))
        future.set_result(Graded(grade=grade, notebook=self.notebook))
        return future


class SmallCourse:
    """A course with a small class."""

    def __init__(self, root: Path, gradebook: Path) -> None:
        shutil.copy(gradebook, root / "gradebook.db")
        self.root, self.executor = root, Pretended()
        self.url = f"sqlite:///{root / 'gradebook.db'}"
        (root / "notebooks" / NAME).mkdir(parents=True)
        nbformat.write(BOOK, root / "notebooks" / NAME / f"{NAME}.ipynb")
        for student in ("ada", "bob", "cem"):
            self.hand_in(student)

    def hand_in(self, student: str, source: str = "y = 1") -> None:
        folder = self.root / "submitted" / student / NAME
        folder.mkdir(parents=True, exist_ok=True)
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="y")])
        nbformat.write(book, folder / f"{NAME}.ipynb")

    def grade(self, **settings: object) -> list[str]:
        """Grade and record the class; who was graded anew."""
        self.executor.graded.clear()
        for job, done, writer in self.grading(**settings):
            writer.record(job, done)
        return sorted(self.executor.graded)

    def grading(self, *, force: bool = False, secret: str = "s") -> Iterator[tuple[Job, Graded, ResultsWriter]]:
        settings = GradingSettings(secret=secret, device="cpu", tier="full")
        course = Course(root=self.root, settings=settings, force=force)
        files = find(self.root / "submitted", (NAME,))
        workers = Workers(start=lambda: self.executor, ahead=lambda: 2, grade=refuse)
        with open_gradebook(self.url, lessons()) as gradebook:
            writer = ResultsWriter(self.root, None, gradebook)
            for job, graded in grade_class(files, course, workers, writer.recorded):
                yield job, graded, writer

    def scores(self) -> dict[str, float]:
        with Gradebook(self.url) as gradebook:
            return {row.student_id: row.score for row in gradebook.assignment_submissions(NAME)}

    def page(self, student: str) -> Path:
        return self.root / "feedback" / student / NAME / f"{NAME}.html"

    def notebook(self, student: str) -> Path:
        return self.root / "autograded" / student / NAME / f"{NAME}.ipynb"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new gradebook, which takes nbgrader a second to make."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    with open_gradebook(f"sqlite:///{path}", lessons()):
        return path


@pytest.fixture
def course(tmp_path: Path, empty: Path) -> SmallCourse:
    return SmallCourse(tmp_path, empty)


def test_only_what_changed_is_graded_anew(course: SmallCourse) -> None:
    assert course.grade() == ["ada", "bob", "cem"]  # one content, and yet each has a record of its own
    assert set(course.scores()) == {"ada", "bob", "cem"}
    assert course.grade() == []
    course.hand_in("bob", "y = 2")
    assert course.grade() == ["bob"]
    assert course.grade(force=True) == ["ada", "bob", "cem"]
    assert course.grade(secret="another") == ["ada", "bob", "cem"]


def test_the_page_shows_the_answer_that_was_graded(course: SmallCourse) -> None:
    answer = nbformat.v4.new_code_cell("y = 'mine'", id=answer_cell(WRONG.id))
    course.executor.notebook = nbformat.v4.new_notebook(cells=[answer])
    course.grade()
    page = course.page("ada").read_text("utf-8")
    assert "y = &#39;mine&#39;" in page
    entry = read_entry(course.url, "default_course", "ada", NAME)
    assert page == page_of(entry, course.notebook("ada"))
    assert "Your answer" not in page_of(entry, course.root / "none.ipynb")


def test_what_the_exchange_needs_to_hand_feedback_back_goes_along(course: SmallCourse, tmp_path: Path) -> None:
    secret, outside = "submission_secret.txt", tmp_path / "outside"
    outside.write_text("of the machine")
    (course.root / "submitted" / "ada" / NAME / secret).write_text("a" * 128)
    (course.root / "submitted" / "bob" / NAME / secret).symlink_to(outside)
    (course.root / "submitted" / "cem" / NAME / secret).write_text("a" * 10_000)
    course.grade()
    folders = [
        course.root / kind / student / NAME for student in ("ada", "bob", "cem") for kind in ("autograded", "feedback")
    ]
    assert [(folder / secret).is_file() for folder in folders] == [True, True, False, False, False, False]
    assert (folders[1] / secret).read_text() == "a" * 128
    (course.root / "submitted" / "ada" / NAME / secret).write_text("b" * 128)  # handed in again
    course.grade()
    assert (folders[1] / secret).read_text() == "b" * 128


def test_nothing_but_the_gradebook_knows_a_grade(course: SmallCourse, empty: Path) -> None:
    course.grade()
    shutil.copy(empty, course.root / "gradebook.db")
    assert course.grade() == ["ada", "bob", "cem"]


def test_a_rerun_completes_what_is_missing(course: SmallCourse) -> None:
    course.grade()
    course.page("ada").unlink()
    course.page("bob").write_text("something else")
    course.notebook("cem").unlink()
    assert course.grade() == ["cem"]  # only a notebook that is gone must be run again
    assert set(course.scores()) == {"ada", "bob", "cem"}
    assert "ada" in course.page("ada").read_text("utf-8")
    assert "bob" in course.page("bob").read_text("utf-8")
    assert course.notebook("cem").is_file()


def test_an_older_submission_that_comes_back_is_not_shown_with_the_newer_ones_notebook(course: SmallCourse) -> None:
    """Graded, handed in anew, and killed after the notebook was written; then the older one comes back."""
    course.grade()
    course.notebook("ada").write_text("of another submission")
    assert course.grade() == ["ada"]


def test_a_later_hand_in_of_the_same_content_keeps_its_new_time(course: SmallCourse) -> None:
    course.grade()
    stamp = course.root / "submitted" / "ada" / NAME / "timestamp.txt"
    stamp.write_text("2026-03-01 12:00:00 UTC")
    assert course.grade() == []
    assert course.notebook("ada").with_name("timestamp.txt").read_text().startswith("2026-03-01 12:00:00")
    with Gradebook(course.url) as gradebook:
        assert gradebook.find_submission(NAME, "ada").timestamp == datetime(2026, 3, 1, 12)


def test_what_was_recorded_before_the_gradebook_failed_is_kept(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, done = GradeWriter.record, []

    def full(self: GradeWriter, grade: Grade, *others: object, **more: object) -> GradebookEntry:
        if done:
            raise RecordError("the disk is full")
        done.append(grade.student)
        return record(self, grade, *others, **more)

    with monkeypatch.context() as patch:
        patch.setattr(GradeWriter, "record", full)
        with pytest.raises(RecordError, match="full"):
            course.grade()
    assert done == ["ada"]
    assert course.grade() == ["bob", "cem"]
    assert set(course.scores()) == {"ada", "bob", "cem"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("kind", [".ipynb", ".html"])
def test_a_file_that_cannot_be_written_changes_no_score_and_a_rerun_completes(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, kind: str, number: int
) -> None:
    course.grade()
    before = course.scores()
    course.hand_in("bob", "y = 2")
    write = folders.write_atomically

    def fail(path: Path, content: bytes) -> None:
        if path.suffix == kind and "bob" in path.parts:
            raise OSError(number, os.strerror(number))
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(folders, "write_atomically", fail)
        with pytest.raises(RecordError, match=r"bob.*Make (its folder writable|room on its disk)"):
            course.grade()
    assert course.scores() == before
    course.grade()
    assert course.scores() == before
    assert read_entry(course.url, "default_course", "bob", NAME).status == "graded"
    assert course.notebook("bob").is_file()
    assert course.grade() == []


def test_a_rerun_shows_what_a_person_wrote_since(course: SmallCourse) -> None:
    course.grade()
    with Gradebook(course.url) as gradebook:
        notebook = gradebook.find_submission(NAME, "ada").notebooks[0]
        next(grade for grade in notebook.grades if grade.name == "check-1-1").manual_score = 3.0
        next(comment for comment in notebook.comments if comment.name == "exercise-1-1").manual_comment = "Look at k."
        gradebook.db.commit()
    assert course.grade() == []
    text = course.page("ada").read_text("utf-8")
    assert "Look at k." in text
    assert "3 of 5" in text
    assert "The autograder gave 0" in text
    assert "Look at k." not in course.page("bob").read_text("utf-8")
    unchanged = course.page("ada").stat().st_mtime_ns
    course.grade()
    assert course.page("ada").stat().st_mtime_ns == unchanged


def test_a_fault_keeps_all_that_was_found_and_a_rerun_is_free(course: SmallCourse) -> None:
    course.grade()
    notebook = course.notebook("bob").read_bytes()
    course.hand_in("bob", "y = 2")
    course.executor.deadly = {"bob": 99}
    course.grade()
    assert "Your newest submission could not be graded" in course.page("bob").read_text("utf-8")
    assert "summed" in read_entry(course.url, "default_course", "bob", NAME).grade.verdicts[0].mistake
    assert course.notebook("bob").read_bytes() == notebook
    course.hand_in("bob")  # the version before
    course.executor.deadly = {}
    assert course.grade() == []
    entry = read_entry(course.url, "default_course", "bob", NAME)
    assert (entry.status, entry.score) == ("graded", 0.0)
    assert not entry.cells["1.1"].needs_manual_grade
    assert "could not grade" not in course.page("bob").read_text("utf-8")


def test_a_manual_score_survives_a_regrade(course: SmallCourse) -> None:
    course.grade()
    with Gradebook(course.url) as gradebook:
        cell = gradebook.find_submission(NAME, "ada").notebooks[0].grades[0]
        cell.manual_score = 3.0
        gradebook.db.commit()
    course.grade(force=True)
    assert course.scores()["ada"] == 3.0


def test_a_worker_that_dies_costs_only_time(course: SmallCourse) -> None:
    course.executor.deadly = {"bob": 1}
    assert course.grade() == ["ada", "bob", "cem"]


def test_a_submission_that_takes_its_worker_with_it_twice_is_a_fault_and_alone(course: SmallCourse) -> None:
    course.executor.deadly = {"bob": 99}
    statuses = {}
    for job, done, writer in course.grading():
        writer.record(job, done)
        statuses[job.file.student] = (done.grade.status, done.grade.score)
    assert statuses == {"ada": ("graded", 0.0), "bob": ("fault", None), "cem": ("graded", 0.0)}
    assert course.executor.deadly["bob"] == 97
    course.executor.deadly = {}
    assert course.grade() == ["bob"]  # a rerun goes on
