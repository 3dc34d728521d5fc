"""What a person gives in formgrader goes around: to nbgrader's pages, through our runs, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from markupsafe import escape

from tests.classes.gradebook.formgrader import Formgrader, formgrader
from tests.classes.gradebook.read_exports import exported, nbgrader_export, reported, score_on, table_of
from tests.classes.gradebook.small_course import Cell, SmallCourse, cells, comments

COMMENT = "A <b>fine</b> idea; the rest is in § 3."


class Marked(NamedTuple):
    """A course with one submission, which a person has marked: 5 + 4 + 1 points."""

    course: SmallCourse
    person: Formgrader


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marked]:
    top = tmp_path_factory.mktemp("formgrader")
    course = SmallCourse.make(top / "course")
    with formgrader(course, top / "formgrader") as person:
        yield Marked(course, person)


@pytest.fixture
def marked(once: Marked) -> Marked:
    course, person = once
    course.submit("s1", "1.1", "1.2")
    course.grade()
    person.mark("s1", "check-1-2", manual=4, extra=1)
    person.comment("s1", "exercise-1-2", COMMENT)
    return once


def totals(course: SmallCourse, folder: Path) -> set[float]:
    """Collect the total of s1 in every place where it leaves."""
    said = [ours["s1"] for ours in (*exported(course, folder).values(), *reported(course, folder).values())]
    return {float(score) for score in (*said, nbgrader_export(course.url, folder)["s1"]["score"])}


def test_a_comment_goes_round(marked: Marked, tmp_path: Path) -> None:
    course, person = marked
    assert totals(course, tmp_path) == {10.0}
    person.generate_feedback()
    made_by_nbgrader = course.page("s1")
    assert str(escape(COMMENT)) in made_by_nbgrader
    assert score_on(made_by_nbgrader) == "10"
    assert course.grade().count("s1") >= 1
    assert course.page("s1") == made_by_nbgrader
    course.grade("submitted", "--force")
    forced = course.page("s1")
    assert str(escape(COMMENT)) in forced
    assert score_on(forced) == "10"
    assert totals(course, tmp_path) == {10.0}


def test_grade_says_the_score_of_the_gradebook(marked: Marked) -> None:
    """Its table, its page of the class, and its lines."""
    course, _ = marked
    printed = course.grade("submitted", "--json", "lines.jsonl")
    assert "10 / 100" in " ".join(printed.split())
    assert '<td class="right">10</td>' in (course.root / "feedback" / "class.html").read_text("utf-8")


@pytest.mark.slow(
    held_by="tests/classes/nbgrader_plugins/test_nbgrader.py::test_what_was_given_by_hand_survives_and_being_late_costs"
)
def test_nbgraders_autograde_keeps_it_and_asks_nobody_to_look_again(marked: Marked, tmp_path: Path) -> None:
    course, _ = marked
    course.nbgrader(("autograde", "1-attention", "--force"), ("generate_feedback", "1-attention"))
    assert str(escape(COMMENT)) in course.page("s1")
    assert cells(course.url)["s1", "check-1-2"] == Cell(5.0, 4.0, 1.0, 5.0, False)
    assert comments(course.url) == {("s1", "exercise-1-2"): COMMENT}
    assert totals(course, tmp_path) == {10.0}


def test_a_score_that_is_taken_back_is_gone_everywhere(marked: Marked, tmp_path: Path) -> None:
    course, person = marked
    course.grade()
    person.mark("s1", "check-1-2", manual=None)
    person.comment("s1", "exercise-1-2", "")
    assert totals(course, tmp_path) == {10.0}  # 5 + 5: as the autograder gave
    assert table_of(tmp_path / "csv.out")[0]["1.2"] == "5"
    course.grade()
    page = course.page("s1")
    assert str(escape(COMMENT)) not in page
    assert "Your instructor" not in page


def test_other_bytes_keep_the_score_until_a_person_has_looked(marked: Marked, tmp_path: Path) -> None:
    course, person = marked
    course.submit("s1", "1.1", remark="1.2 is not solved any more")
    course.grade()
    assert cells(course.url)["s1", "check-1-2"] == Cell(0.0, 4.0, 1.0, 5.0, True)
    assert totals(course, tmp_path) == {10.0}
    assert "for an earlier submission" in course.page("s1")
    assert str(escape(COMMENT)) in course.page("s1")
    for again in ((), ("submitted", "--force")):
        course.grade(*again)
        assert cells(course.url)["s1", "check-1-2"].needs_manual_grade
        assert "for an earlier submission" in course.page("s1")
    person.mark("s1", "check-1-2", manual=2)
    assert totals(course, tmp_path) == {7.0}
    for again in ((), ("submitted", "--force")):
        course.grade(*again)
        assert cells(course.url)["s1", "check-1-2"] == Cell(0.0, 2.0, None, 2.0, False)
        assert "for an earlier submission" not in course.page("s1")


def test_the_first_version_again_is_another_version(marked: Marked) -> None:
    """A grade of the same bytes was recorded before, but not last."""
    course, _ = marked
    course.submit("s1", "1.1", remark="one thing")
    course.grade()
    course.submit("s1", "1.1", "1.2")
    course.grade()
    assert cells(course.url)["s1", "check-1-2"] == Cell(5.0, 4.0, 1.0, 5.0, True)


def test_an_unreadable_version_keeps_the_score_and_is_looked_at(marked: Marked, tmp_path: Path) -> None:
    course, _ = marked
    course.submit("s1").write_text("{ cut off")
    course.grade(status=1)
    assert cells(course.url)["s1", "check-1-2"] == Cell(0.0, 4.0, 1.0, 5.0, True)
    assert totals(course, tmp_path) == {5.0}
    assert score_on(course.page("s1")) == "5"
    assert str(escape(COMMENT)) in course.page("s1")


def test_practice_has_no_points_and_may_have_a_comment(marked: Marked) -> None:
    """And so has every answer: each comment that formgrader takes is on the page."""
    course, person = marked
    answers = [f"exercise-1-{number}" for number in range(1, 10)]
    for cell in answers:
        person.comment("s1", cell, f"About {cell}.")
    course.grade()
    assert [cell for cell in answers if f"About {cell}." not in course.page("s1")] == []
