"""nbgrader's own commands on a gradebook of ours, a restored gradebook, and one that nbgrader alone has made."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from corpus.tools import tools_on_path
from tests.classes.gradebook.read_exports import exported, nbgrader_export, reported, score_on, table_of
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse, cells, comments


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = SmallCourse.make(tmp_path_factory.mktemp("beside") / "course")
    for student in ("s1", "s2", "s3"):
        made.submit(student, "1.1", "1.2")
    made.grade()
    with Gradebook(made.url, COURSE) as gradebook:
        for student in ("s1", "s2"):
            grade = gradebook.find_grade("check-1-4", NAME, NAME, student)
            grade.manual_score, grade.needs_manual_grade = 2.5, False
            gradebook.find_comment("exercise-1-4", NAME, NAME, student).manual_comment = f"To {student}."
        gradebook.db.commit()
    made.grade()
    return made


@pytest.fixture
def course(graded: SmallCourse, tmp_path: Path) -> SmallCourse:
    """The same course, to change."""
    return graded.copy(tmp_path / "course")


def agree(course: SmallCourse, folder: Path, scores: dict[str, float]) -> None:
    """Check every export, and nbgrader's."""
    for place, said in (exported(course, folder) | reported(course, folder)).items():
        assert {student: float(score) for student, score in said.items() if score} == scores, place
    theirs = nbgrader_export(course.url, folder)
    assert {student: float(row["score"]) for student, row in theirs.items()} == scores


def test_a_student_who_was_removed(course: SmallCourse, tmp_path: Path) -> None:
    course.nbgrader(("db", "student", "remove", "s1", "--force"))
    agree(course, tmp_path, {"s2": 12.5, "s3": 10.0})
    assert "s1" not in {row["student"] for row in table_of(tmp_path / "csv.out")}
    course.grade()
    agree(course, tmp_path, {"s1": 10.0, "s2": 12.5, "s3": 10.0})
    assert comments(course.url) == {("s2", "exercise-1-4"): "To s2."}
    assert ("To s1." in course.page("s1"), score_on(course.page("s1"))) == (False, "10")
    assert not any(cell.needs_manual_grade for cell in cells(course.url).values())


@pytest.mark.slow(held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_student_who_was_removed")
def test_the_assignment_was_removed(course: SmallCourse, tmp_path: Path) -> None:
    course.nbgrader(("db", "assignment", "remove", NAME, "--force"))
    course.grade()
    agree(course, tmp_path, dict.fromkeys(("s1", "s2", "s3"), 10.0))
    assert "To s2." not in course.page("s2")


@pytest.mark.slow(held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_student_who_was_removed")
def test_a_student_who_was_added_handed_in_nothing(course: SmallCourse, tmp_path: Path) -> None:
    course.nbgrader(("db", "student", "add", "s9", "--first-name=Ada", "--last-name=Lovelace"))
    agree(course, tmp_path, {"s1": 12.5, "s2": 12.5, "s3": 10.0})
    rows = {row["student"]: row for row in table_of(tmp_path / "csv.out")}
    assert (rows["s9"]["status"], rows["s9"]["score"], rows["s9"]["last_name"]) == ("missing", "", "Lovelace")
    for service in ("canvas", "moodle"):
        assert "s9" not in (tmp_path / f"{service}.out").read_text("utf-8")


@pytest.mark.slow(held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_student_who_was_removed")
def test_a_database_upgrade(course: SmallCourse, tmp_path: Path) -> None:
    rows = exported(course, tmp_path)
    whole = (tmp_path / "csv.out").read_bytes()
    course.nbgrader(("db", "upgrade"))
    assert exported(course, tmp_path) == rows
    assert (tmp_path / "csv.out").read_bytes() == whole
    course.grade()
    exported(course, tmp_path)
    assert (tmp_path / "csv.out").read_bytes() == whole  # the seconds, too: nothing ran again


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_gradebook_restored_with_the_submissions"
)
def test_a_gradebook_restored_from_before_the_last_run(course: SmallCourse, tmp_path: Path) -> None:
    backup = course.file.read_bytes()
    course.submit("s2", "1.1", remark="less")
    course.submit("s3", "1.1", "1.2", "1.3")
    course.grade()
    wanted = {"s1": 12.5, "s2": 7.5, "s3": 20.0}
    agree(course, tmp_path, wanted)
    after = cells(course.url), {student: course.page(student) for student in wanted}
    course.file.write_bytes(backup)
    agree(course, tmp_path, {"s1": 12.5, "s2": 12.5, "s3": 10.0})
    course.grade()
    agree(course, tmp_path, wanted)
    assert cells(course.url) == after[0]
    assert {student: score_on(course.page(student)) for student in wanted} == {
        student: score_on(page) for student, page in after[1].items()
    }


def test_a_gradebook_restored_with_the_submissions(course: SmallCourse, tmp_path: Path) -> None:
    """The executed notebook that lies there is then of another version."""
    backup, before = course.file.read_bytes(), course.root / "submitted" / "s3" / NAME / f"{NAME}.ipynb"
    old = before.read_bytes()
    course.submit("s3", "1.1", "1.2", "1.3")
    course.grade()
    newer = (course.root / "autograded" / "s3" / NAME / f"{NAME}.ipynb").read_bytes()
    course.file.write_bytes(backup)
    before.write_bytes(old)
    course.grade()
    agree(course, tmp_path, {"s1": 12.5, "s2": 12.5, "s3": 10.0})
    assert (course.root / "autograded" / "s3" / NAME / f"{NAME}.ipynb").read_bytes() != newer
    assert score_on(course.page("s3")) == "10"


def test_a_gradebook_from_before_the_marks(course: SmallCourse, tmp_path: Path) -> None:
    course.file.unlink()
    course.grade()
    agree(course, tmp_path, dict.fromkeys(("s1", "s2", "s3"), 10.0))
    assert not any(f"To {student}." in course.page(student) for student in ("s1", "s2"))


def made_by_nbgrader_alone(course: SmallCourse) -> None:
    """Fill a gradebook through nbgrader's own functions, as its own autograder does."""
    course.file.unlink(missing_ok=True)
    with tools_on_path(), Gradebook(course.url, COURSE) as gradebook:
        gradebook.add_assignment(NAME)
        gradebook.add_notebook(NAME, NAME)
        for number, points in enumerate((5, 5, 10, 15, 15, 10, 15, 15, 10), 1):
            gradebook.add_grade_cell(f"check-1-{number}", NAME, NAME, max_score=points, cell_type="code")
            gradebook.add_solution_cell(f"exercise-1-{number}", NAME, NAME)
        for student, points in (("s1", 5.0), ("s2", 2.0)):
            gradebook.add_student(student)
            with gradebook.db.no_autoflush:  # nbgrader's function would flush rows that are not in the session yet
                gradebook.add_submission(NAME, student)
            grade = gradebook.find_grade("check-1-1", NAME, NAME, student)
            grade.auto_score, grade.needs_manual_grade = points, False
        gradebook.find_comment("exercise-1-1", NAME, NAME, "s2").manual_comment = "By hand."
        gradebook.find_grade("check-1-2", NAME, NAME, "s2").manual_score = 3.5
        gradebook.db.commit()


@pytest.mark.slow(held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_student_who_was_removed")
def test_a_gradebook_that_nbgrader_alone_has_made(course: SmallCourse, tmp_path: Path) -> None:
    made_by_nbgrader_alone(course)
    before = course.file.read_bytes()
    agree(course, tmp_path, {"s1": 5.0, "s2": 5.5})
    assert course.file.read_bytes() == before  # reading writes nothing
    course.grade()
    agree(course, tmp_path, {"s1": 10.0, "s2": 8.5, "s3": 10.0})
    assert cells(course.url)["s2", "check-1-2"].manual == 3.5
    assert "By hand." in course.page("s2")


@pytest.mark.slow(held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_student_who_was_removed")
def test_feedback_of_a_submission_that_another_grader_graded(course: SmallCourse) -> None:
    made_by_nbgrader_alone(course)
    said = course.nbgrader(("generate_feedback", NAME), status=1)
    assert "holds nothing that this grader found of s1" in said
    assert f"Run: nbgrader autograde {NAME} --force" in said


@pytest.mark.slow(held_by="tests/classes/gradebook/test_beside_nbgrader.py::test_a_student_who_was_removed")
def test_an_empty_gradebook(course: SmallCourse) -> None:
    course.file.unlink()
    with tools_on_path(), Gradebook(course.url, COURSE):
        pass
    for command in (("export", "csv"), ("report",)):
        said = course.grader(*command, status=2)
        assert len(said.strip().splitlines()) == 1
        assert "grader grade" in said
