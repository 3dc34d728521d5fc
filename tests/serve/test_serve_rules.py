"""The rules of serve.toml: which attempt counts, when it is late, when feedback is shown; and what is wrong in the file."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.classes.gradebook.reader import read_entry
from grader.records import Grade
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.grading import replaces
from grader.serve.settings import BEST, LAST, Policy, SettingsError, current_settings, read_settings
from grader.serve.site import Site, open_site
from tests.classes.gradebook.read_exports import score_on
from tests.classes.gradebook.small_course import COURSE, NAME
from tests.serve.people import Person, grade, instructor, open_course, set_due, solved, student

FIRST = Attempt(
    id=1, student="ada", assignment=NAME, nth=1, received="2030-01-31T18:00:00+00:00", sha256="", place="", state=attempts.GRADED,
    tries=1, counts=True, score=50.0, max_score=100.0, worth=50.0, message="", finished="",
)  # fmt: skip
SECOND = replace(FIRST, id=2, nth=2, counts=False)
GRADED = Grade(student="ada", assignment=NAME, status="graded", score=40.0, max_score=100.0)
UNREADABLE = replace(GRADED, status="unreadable", score=0.0)


@pytest.mark.parametrize(
    ("attempt", "grade", "worth", "before", "rule", "counts"),
    [
        (FIRST, GRADED, 40.0, None, LAST, True),
        (FIRST, UNREADABLE, 0.0, None, BEST, True),
        (SECOND, GRADED, 40.0, FIRST, LAST, True),
        (SECOND, GRADED, 40.0, FIRST, BEST, False),
        (SECOND, GRADED, 50.0, FIRST, BEST, False),  # of two alike the earlier one
        (SECOND, GRADED, 50.5, FIRST, BEST, True),
        (FIRST, GRADED, 40.0, replace(SECOND, counts=True), LAST, False),  # graded side by side, and ready later
        (SECOND, UNREADABLE, 0.0, FIRST, LAST, False),
        (SECOND, UNREADABLE, 0.0, replace(FIRST, state=attempts.UNREADABLE), LAST, True),
        (SECOND, GRADED, 0.0, replace(FIRST, state=attempts.UNREADABLE, worth=0.0), BEST, True),
        (FIRST, GRADED, 40.0, FIRST, BEST, True),  # a killed process had come that far
    ],
)
def test_which_attempt_counts(
    attempt: Attempt, grade: Grade, worth: float, before: Attempt | None, rule: str, counts: bool
) -> None:
    assert replaces(attempt, grade, worth, before, rule) is counts


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A course in which the best attempt counts and a day late costs 4 points; Ada hands in twice in time, Bob once late."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        site = open_course(tmp_path_factory.mktemp("policy") / "course")
        penalty = "c.AssignLatePenalties.plugin_class = 'grader.classes.nbgrader_plugins.late.PointsPerDay'\nc.PointsPerDay.points = 4.0\n"
        with (site.root / "nbgrader_config.py").open("a") as file:
            file.write(penalty)
        (site.root / "serve.toml").write_text(f'[every]\ncounts = "best"\n[assignment.{NAME}]\nattempts_an_hour = 5\n')
        site = open_site(site.root, None)
        ada, bob = student(site), student(site, "bob")
        for exercises in (("1.1", "1.2"), ("1.1",)):
            ada.hands_in(solved(site, *exercises))
            grade(site)
        set_due(site, datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=1))
        bob.hands_in(solved(site, "1.1", "1.2", remark="bob"))
        ada.hands_in(solved(site, "1.1", "1.2", "1.3", remark="late"))
        grade(site)
        return site


def entry(site: Site, person: str):
    found = read_entry(site.gradebook, COURSE, person, NAME)
    assert found is not None
    return found


def test_the_best_attempt_counts_and_lateness_counts_against_one(graded: Site) -> None:
    """Ada's third attempt has 20 points; late, it is worth 16, which is still more than the 10 of the first."""
    own = {one.nth: one for one in attempts.attempts_of(graded.store, "ada")}
    assert [(own[nth].score, own[nth].worth, own[nth].counts) for nth in (1, 2, 3)] == [
        (10.0, 10.0, False),
        (5.0, 5.0, False),
        (20.0, 16.0, True),
    ]
    assert entry(graded, "ada").grade.submission_sha256 == own[3].sha256
    assert entry(graded, "ada").score == 16.0


def test_a_late_attempt_costs_what_grader_late_would_take(graded: Site) -> None:
    late = entry(graded, "bob")
    assert (late.raw_score, late.penalty, late.score) == (10.0, 4.0, 6.0)
    assert 3500 < (late.seconds_late or 0) < 3800


def test_the_page_says_which_attempt_counts(graded: Site) -> None:
    page = student(graded).get(f"/a/{NAME}").text
    assert "Your best attempt counts." in page
    assert "You can submit 5 times an hour." in page


def test_each_attempt_has_one_score_wherever_it_is_shown(graded: Site) -> None:
    """The list, the page of the attempt and the gradebook: the score after the penalty, and the words that it was late.

    The due date was moved to an hour ago when the first two attempts were graded already.
    """
    ada = student(graded)
    rows = dict(re.findall(r"<tr>\s*<td>(\d)(.*?)</tr>", ada.get(f"/a/{NAME}").text, re.DOTALL))
    late = "The submission was late: 4 points were subtracted."
    for nth, (score, is_late) in {"1": ("10", False), "2": ("5", False), "3": ("16", True)}.items():
        assert f'<td class="right">{score}</td>' in rows[nth]
        assert 'class="tag">late' in rows[nth]
        (link,) = re.findall(r'href="([^"]+)">read it', rows[nth])
        page = ada.get(link).text
        assert score_on(page) == score
        assert (late in page) is is_late
    assert "16" in ada.get("/").text
    assert score_on(ada.get(f"/a/{NAME}/attempts/3").text) == "16"
    bob = student(graded, "bob").get(f"/a/{NAME}").text
    assert late in bob
    assert "<b>6</b>" in bob


def test_feedback_after_the_due_date(graded: Site) -> None:
    bob = student(graded, "bob")
    (graded.root / "serve.toml").write_text('[every]\ncounts = "best"\nfeedback = "after the due date"\n#\n')
    set_due(graded, datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1))
    assert "You can read the feedback here after the due date." in bob.get(f"/a/{NAME}").text
    assert bob.get(f"/a/{NAME}/feedback").status_code == 404
    set_due(graded, datetime.now(UTC).replace(tzinfo=None) - timedelta(days=1))
    assert "Read the feedback" in bob.get(f"/a/{NAME}").text
    assert bob.get(f"/a/{NAME}/feedback").status_code == 200


def test_the_class_page_has_a_button_for_feedback_by_hand(graded: Site) -> None:
    eva = instructor(graded)
    (graded.root / "serve.toml").write_text('[every]\ncounts = "best"\nfeedback = "by hand"\n##\n')
    assert "Show scores and feedback" in eva.get("/class").text
    eva.posts("/class/show", assignment=NAME)
    assert student(graded, "bob").get(f"/a/{NAME}/feedback").status_code == 200


@pytest.mark.slow(
    held_by="tests/serve/test_serve_rules.py::test_a_grade_that_fails_is_tried_twice_and_then_left_for_the_instructor"
)
def test_what_we_could_not_grade_is_graded_again_when_the_instructor_asks(graded: Site) -> None:
    carl = student(graded, "carl")
    carl.hands_in(solved(graded, remark="carl"))
    (one,) = attempts.attempts_of(graded.store, "carl")
    attempts.finish(graded.store, replace(one, state=attempts.FAULT, message="the disk was full"))
    assert "because of a grader error. You lose no points." in carl.get(f"/a/{NAME}").text
    eva = instructor(graded)
    assert "the disk was full" in eva.get("/class").text
    eva.posts("/class/again")
    grade(graded)
    assert [one.state for one in attempts.attempts_of(graded.store, "carl")] == [attempts.GRADED]


def test_a_grade_that_fails_is_tried_twice_and_then_left_for_the_instructor(
    graded: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dan = student(graded, "dan")
    dan.hands_in(solved(graded, remark="dan"))
    tried = []

    def full(*arguments: object) -> None:
        tried.append(arguments)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.serve.grading.write_atomically", full)
    grade(graded)
    (one,) = attempts.attempts_of(graded.store, "dan")
    assert (one.state, len(tried)) == (attempts.FAULT, 2)
    assert "No space left on device" in one.message
    assert "No space left" not in dan.get(f"/a/{NAME}").text


def test_an_earlier_file_once_more_takes_nothing_from_the_next_one(graded: Site) -> None:
    """The gradebook knows the grade of the same bytes; the attempt after it has a grade of its own all the same."""
    (graded.root / "serve.toml").write_text('[every]\ncounts = "best"\n####\n')
    fay = student(graded, "fay")
    first = solved(graded, "1.1", remark="fay")
    assert fay.hands_in(first).status_code == 303
    grade(graded)
    for content in (b"{", first, solved(graded, "1.1", "1.2", "1.3", remark="fay")):
        assert fay.hands_in(content).status_code == 303
    waits = "UPDATE attempt SET state = ? WHERE student = 'fay' AND state = ?"  # as an older version left the queue
    assert graded.store.change(waits, attempts.WAITING, attempts.REPLACED) == 2
    grade(graded)  # the three by one process
    own = attempts.attempts_of(graded.store, "fay")
    assert [(one.nth, one.counts, one.score) for one in own] == [
        (4, True, 20.0), (3, False, 5.0), (2, False, 0.0), (1, False, 5.0),
    ]  # fmt: skip
    assert entry(graded, "fay").grade.submission_sha256 == own[0].sha256
    assert "Feedback for fay" in fay.get(f"/a/{NAME}/attempts/3").text


# ---------------------------------------------------------------- serve.toml


def test_rules_of_one_assignment_stand_on_those_of_all(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text(
        'port = 9000\n[every]\ncounts = "best"\n[assignment.2-heads]\nattempts_an_hour = 3\n'
    )
    settings = read_settings(tmp_path)
    assert settings.port == 9000
    assert settings.policy("2-heads") == Policy(counts="best", attempts_an_hour=3)
    assert settings.policy(NAME) == Policy(counts="best")
    assert read_settings(tmp_path / "none").policy(NAME) == Policy()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port = 'x'", "port: Input should be a valid integer"),
        ("prot = 1", "prot: there is no such key"),
        ("[every]\ncounts = 'first'", "[every] counts: Input should be 'last' or 'best'"),
        ("[every]\nfeedback = 'never'", "Input should be 'at once', 'after the due date' or 'by hand'"),
        (
            "[assignment.1-attention]\nattempts_an_hour = 0",
            "[assignment.1-attention] attempts_an_hour: Input should be greater than or equal to 1",
        ),
        ("[assignment.1-attention]\nopen = 1", "open: Input should be a valid boolean"),
        ("assignment = 3", "assignment: Input should be a valid dictionary"),
        ("every = 3", "every: Input should be a valid dictionary"),
        ("port = ", "Fix this line."),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "serve.toml").write_text(text)
    with pytest.raises(SettingsError) as error:
        read_settings(tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_change_of_the_file_holds_at_once(tmp_path: Path) -> None:
    assert current_settings(tmp_path).policy(NAME).open
    (tmp_path / "serve.toml").write_text("[every]\nopen = false\n")
    assert not current_settings(tmp_path).policy(NAME).open


def test_a_mistake_in_the_file_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "serve.toml"
    file.write_text("[every]\nattempts_an_hour = 7\n")
    assert current_settings(tmp_path).policy(NAME).attempts_an_hour == 7
    file.write_text("[every]\nattempts_an_hour = 0\n")
    os.utime(file, (1, 1))
    for _ in range(2):
        assert current_settings(tmp_path).policy(NAME).attempts_an_hour == 7
    assert caplog.text.count("The earlier rules stay in force.") == 1
    assert "attempts_an_hour" in caplog.text
    file.write_text("[every]\nattempts_an_hour = 8\n")
    assert current_settings(tmp_path).policy(NAME).attempts_an_hour == 8


def test_the_class_page_leads_to_formgrader(graded: Site) -> None:
    (graded.root / "serve.toml").write_text('formgrader = "https://hub.example.org/services/formgrader"\n')
    assert 'href="https://hub.example.org/services/formgrader"' in instructor(graded).get("/class").text
    (graded.root / "serve.toml").write_text('formgrader = "javascript:alert(1)"\n')
    with pytest.raises(SettingsError, match="formgrader: is not protected"):
        read_settings(graded.root)
    (graded.root / "serve.toml").write_text("# no formgrader\n")
    assert "Formgrader" not in instructor(graded).get("/class").text


def test_a_stranger_is_told_how_to_sign_in(graded: Site) -> None:
    assert "open the personal link" in Person.of(graded).get("/").text


def test_a_student_whose_folder_cannot_be_made_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instructor keeps a file in feedback/ that is called like a student: to try again for a minute changes nothing."""
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course")
    (site.folder / "feedback").mkdir()
    (site.folder / "feedback" / "index.html").write_text("of the instructor")
    pauses: list[float] = []
    monkeypatch.setattr("grader.serve.grading.time", SimpleNamespace(sleep=pauses.append))
    student(site, "index.html").hands_in(solved(site, "1.1", remark="a page"))
    student(site, "ada", fresh=True).hands_in(solved(site, "1.1", remark="after it"))
    grade(site)
    states = {one.student: one.state for one in attempts.everybodys(site.store)}
    assert states == {"index.html": attempts.FAULT, "ada": attempts.GRADED}
    assert pauses == []
    assert (site.folder / "feedback" / "index.html").read_text() == "of the instructor"
