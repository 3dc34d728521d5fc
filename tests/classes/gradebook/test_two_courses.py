"""Two courses, two gradebooks of one course, and the example class share nothing: their exports say so."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from examples.make import ROOT
from tests.classes.gradebook.read_exports import exported, nbgrader_export, reported, score_on
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse

RESULTS = ("gradebook.db", "autograded", "feedback")


def digests(root: Path) -> dict[str, str]:
    """Return a digest of each file with results."""
    files = [root / "gradebook.db", *root.glob("autograded/**/*"), *root.glob("feedback/**/*")]
    return {str(file): sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}


def mark(url: str, points: Mapping[str, float]) -> None:
    """Give each student a manual score for 1.4."""
    with Gradebook(url, COURSE) as gradebook:
        for student, given in points.items():
            gradebook.find_grade("check-1-4", NAME, NAME, student).manual_score = given
        gradebook.db.commit()


def holds(course: SmallCourse, folder: Path, scores: Mapping[str, float], url: str | None = None) -> None:
    """Check that every export has these students, and no others, with these scores."""
    for place, said in (exported(course, folder, url) | reported(course, folder, url)).items():
        assert {student: float(score) for student, score in said.items()} == scores, place
    theirs = nbgrader_export(url or course.url, folder)
    assert {student: float(row["score"]) for student, row in theirs.items()} == scores


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_two_courses.py::test_another_gradebook_of_the_course_has_its_results_beside_it"
)
def test_two_courses_with_the_same_students(tmp_path: Path) -> None:
    first, second = (SmallCourse.make(tmp_path / name) for name in ("first", "second"))
    first.submit("4711", "1.1", "1.2")
    first.submit("4712")
    second.submit("4711", "1.3")
    second.submit("4713", "1.1")
    first.grade()
    before = digests(first.root)
    second.grade()
    assert digests(first.root) == before
    mark(first.url, {"4711": 1.5, "4712": 7.0})
    mark(second.url, {"4711": 15.0})
    holds(first, tmp_path, {"4711": 11.5, "4712": 7.0})
    holds(second, tmp_path, {"4711": 25.0, "4713": 5.0})
    first.grade()
    second.grade()
    holds(first, tmp_path, {"4711": 11.5, "4712": 7.0})
    holds(second, tmp_path, {"4711": 25.0, "4713": 5.0})
    assert (score_on(first.page("4711")), score_on(second.page("4711"))) == ("11.5", "25")


def test_another_gradebook_of_the_course_has_its_results_beside_it(tmp_path: Path) -> None:
    course = SmallCourse.make(tmp_path / "course")
    course.submit("s1", "1.1")
    course.submit("s2", "1.2")
    course.grade()
    before = digests(course.root)
    trial = tmp_path / "trial"
    trial.mkdir()
    url = f"sqlite:///{trial}/gradebook.db"
    course.submit("s1", "1.1", "1.2", "1.3", to="mocks")
    course.submit("s3", to="mocks")
    course.grade("mocks", "--gradebook", url)
    assert digests(course.root) == before
    assert {path.name for path in trial.iterdir()} >= set(RESULTS)
    assert (trial / "feedback" / "class.html").is_file()
    assert score_on(course.page("s1", trial)) == "20"
    mark(url, {"s3": 2.25})
    holds(course, tmp_path, {"s1": 5.0, "s2": 5.0})
    holds(course, tmp_path, {"s1": 20.0, "s3": 2.25}, url)
    course.grade()  # all of it is in the gradebook
    assert digests(course.root) == before
    course.grade("mocks", "--gradebook", url)
    holds(course, tmp_path, {"s1": 5.0, "s2": 5.0})
    holds(course, tmp_path, {"s1": 20.0, "s3": 2.25}, url)
    assert (score_on(course.page("s1")), score_on(course.page("s3", trial))) == ("5", "2.25")


def test_the_courses_own_gradebook_by_its_name(tmp_path: Path) -> None:
    """Given by --gradebook, or not given: it is the same one, with the same results."""
    course = SmallCourse.make(tmp_path / "course")
    course.submit("s1", "1.1")
    course.grade()
    before = digests(course.root)
    course.grade("submitted", "--gradebook", course.url)
    assert digests(course.root) == before
    holds(course, tmp_path, {"s1": 5.0}, course.url)


def test_a_gradebook_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    course = SmallCourse.make(tmp_path / "course")
    for command in (("export", "csv"), ("report",)):
        said = course.grader(*command, "--gradebook", f"sqlite:///{tmp_path}/none.db", status=2)
        assert f"{tmp_path}/none.db" in said.replace("\n", "")
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_two_courses.py::test_another_gradebook_of_the_course_has_its_results_beside_it"
)
@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_grade_leaves_the_class_alone(tmp_path: Path) -> None:
    """The example class here is two cheap notebooks; the Makefile is the course's."""
    course = SmallCourse.make(tmp_path / "course")
    shutil.copy(ROOT / "Makefile", course.root)
    course.submit("s1", "1.1")
    course.grade()
    mark(course.url, {"s1": 3.0})
    before = digests(course.root)
    course.submit("s1", to="examples/submitted")
    course.submit("no-scaling", "1.1", "1.2", to="examples/submitted")
    said = course.run("make", "-o", "setup", "-o", "build", "-o", "examples", "grade", f"VENV={sys.prefix}")
    assert "no-scaling" in said
    assert digests(course.root) == before
    holds(course, tmp_path, {"s1": 8.0})
