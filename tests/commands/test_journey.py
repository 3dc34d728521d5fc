"""A teacher's way through one assignment with Moodle: handed in, graded, one late, one appeal, and all of it back."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

from tests.classes.gradebook.small_course import NAME, SmallCourse
from tests.commands.platforms import download, moodle_takes

ZIP = {
    "4711": "Ada Lovelace_4711_assignsubmission_file/1-attention.ipynb",
    "4712": "Grace Hopper_4712_assignsubmission_file/my homework.ipynb",
    "4713": "Carl Gauß_4713_assignsubmission_file/1-attention.ipynb",
}
WORKSHEET = """\
"Identifier","Full name","Email address","Status","Grade","Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 4711","Ada Lovelace","ada@example.org","Submitted for grading","","100.00","Yes","Friday","-",""
"Participant 4712","Grace Hopper","grace@example.org","Submitted for grading - 1 day 2 hours late","","100.00","Yes","Saturday","-",""
"Participant 4713","Carl Gauß","carl@example.org","Submitted for grading","","100.00","Yes","Friday","-",""
"Participant 4714","Emmy Noether","emmy@example.org","No submission","","100.00","Yes","-","-",""
"""
PENALTY = """
c.AssignLatePenalties.plugin_class = "grader.classes.nbgrader_plugins.late.PointsPerDay"
c.PointsPerDay.points = 2
"""


class Term(SmallCourse):
    """The course, with what Moodle gives and what goes back."""

    @property
    def zipped(self) -> Path:
        return self.root / "submissions.zip"

    @property
    def worksheet(self) -> Path:
        return self.root / "worksheet.csv"

    def back(self) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
        """Export; return the worksheet's rows by participant, and the pages by participant."""
        self.grader(
            *("export", "moodle", "--out", "back.csv", "--fill", str(self.worksheet)),
            *("--feedback", "back.zip", "--submissions", str(self.zipped)),
        )
        with (self.root / "back.csv").open(encoding="utf-8", newline="") as lines:
            rows = {row["Identifier"].split()[1]: row for row in csv.DictReader(lines)}
        with zipfile.ZipFile(self.root / "back.zip") as archive:
            pages = {moodle_takes(name)[0]: archive.read(name).decode() for name in archive.namelist()}
        return rows, pages

    def scores(self) -> dict[str, float | None]:
        lines = map(json.loads, self.grader("report", "--json", "-").splitlines())
        return {line["student"]: line["gradebook"]["score"] for line in lines if line["status"] != "missing"}


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Term:
    course = Term.make(tmp_path_factory.mktemp("journey") / "course")
    course.configure(PENALTY)
    book = course.submit("template", "1.1", "1.2").read_bytes()
    download(course.zipped, ZIP, book)
    course.worksheet.write_text(WORKSHEET, "utf-8")
    assert "added 4" in course.grader("roster", str(course.worksheet))
    course.nbgrader(("db", "assignment", "add", NAME, "--duedate=2026-11-20 18:00 UTC"))
    assert "4711 Ada Lovelace" in course.grader("grade", str(course.zipped))
    return course


def test_a_term(term: Term, monkeypatch: pytest.MonkeyPatch) -> None:
    assert term.scores() == {"4711": 10.0, "4712": 10.0, "4713": 10.0}

    page = term.root / "feedback" / "class.html"
    assert "<summary>Each check</summary>" in page.read_text("utf-8")

    # One was late: Moodle's worksheet says so, and its zip does not.
    assert "26 hours late; 4 points subtracted; score 10 → 6" in term.grader("late", "4712", "26")
    assert "(late −4)" in page.read_text("utf-8")
    # One appeals, and is right.
    digest = next(
        json.loads(line)["submission_sha256"]
        for line in term.grader("report", "--json", "-").splitlines()
        if json.loads(line)["student"] == "4713"
    )
    assert "4713 Carl Gauß" in term.grader("appeal", "add", digest[:8], "1.3", "I did it on paper.")
    assert "4713 Carl Gauß" in term.grader("appeal", "list")
    said = term.grader("appeal", "decide", "1", "--points", "5", "--comment", "So you did.")
    assert "4713 Carl Gauß, 1-attention, 1.3: 0 of 10 → 5 of 10; score 10 → 15" in said
    assert '<td class="right">15</td>' in page.read_text("utf-8")  # the page of the class is not behind

    rows, pages = term.back()
    assert {id: row["Grade"] for id, row in rows.items()} == {
        "4711": "10.00",
        "4712": "6.00",
        "4713": "15.00",
        "4714": "",
    }
    assert "The submission was late: 4 points were subtracted." in rows["4712"]["Feedback comments"]
    assert "So you did." in rows["4713"]["Feedback comments"]
    assert {row["Last modified (submission)"] for row in rows.values()} == {"Friday", "Saturday", "-"}
    assert set(pages) == set(ZIP)
    assert "4 points were subtracted" in pages["4712"]
    assert "So you did." in pages["4713"]

    assert "submitted nothing: 4714 Emmy Noether" in term.grader("report")

    # Grading the same zip again forgets none of it, and an excuse counts.
    term.grader("grade", str(term.zipped), "--force")
    assert term.scores() == {"4711": 10.0, "4712": 6.0, "4713": 15.0}
    assert "on time; score 6 → 10" in term.grader("late", "4712", "0")
    monkeypatch.setattr("grader.commands.from_gradebook.MOST_WITH_CHECKS", 2)
    term.grader("grade", str(term.zipped))
    assert "Each check" not in page.read_text("utf-8")  # of a class that is too large for it
    assert term.scores()["4712"] == 10.0


def test_a_time_in_a_file_and_a_person_who_says_another(tmp_path: Path) -> None:
    course = Term.make(tmp_path / "course")
    course.configure(PENALTY)
    notebook = course.submit("4711", "1.1", "1.2")
    notebook.with_name("timestamp.txt").write_text("2026-11-21 10:00 UTC")  # 16 hours late
    course.nbgrader(("db", "assignment", "add", NAME, "--duedate=2026-11-20 18:00 UTC"))
    course.grader("grade", "submitted")
    assert course.scores() == {"4711": 8.0}

    said = course.grader("late", "4711", "26", status=2)
    assert "timestamp.txt next to the submitted notebook says 2026-11-21 10:00:00 UTC" in said
    assert course.scores() == {"4711": 8.0}
    notebook.with_name("timestamp.txt").write_text("2026-11-21 20:00 UTC")
    course.grader("grade", "submitted")
    assert course.scores() == {"4711": 6.0}

    assert "3 hours late; 2 points subtracted; score 6 → 8" in course.grader("late", "4711", "3")
    course.grader("grade", "submitted", "--force")
    assert course.scores() == {"4711": 8.0}


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (0, "nbgrader_config.py sets no late penalty. To subtract 10 points per day, set these two options there"),
        (10, "no points were subtracted, because the score was already 0"),
    ],
)
def test_a_late_submission_without_a_penalty_is_told_why(tmp_path: Path, points: int, message: str) -> None:
    course = Term.make(tmp_path / "course")
    course.configure(PENALTY.replace("points = 2", f"points = {points}"))
    download(
        course.zipped,
        dict([*ZIP.items()][:1]),
        course.submit("template", *(["1.1"] if not points else [])).read_bytes(),
    )
    course.nbgrader(("db", "assignment", "add", NAME, "--duedate=2026-11-20 18:00 UTC"))
    course.grader("grade", str(course.zipped))
    assert message in course.grader("late", "4711", "3")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("late", "nobody", "3"), "the gradebook contains no submission of 'nobody'"),
        (("late", "4714", "3"), "the gradebook contains no submission of '4714'"),
        (("late", "4711", "3", "--assignment", "2-heads"), "the gradebook contains no submission of '4711'"),
    ],
)
def test_who_handed_in_nothing_was_not_late(term: Term, arguments: tuple[str, ...], message: str) -> None:
    said = term.grader(*arguments, status=2)
    assert said.count("\n") == 1
    assert message in said
