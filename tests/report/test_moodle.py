"""Moodle's grading worksheet: ours, and its own filled in, as mod/assign/feedback/offline reads them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from grader.records import CellScore, GradebookEntry, Written
from grader.report.export import CannotExport, WrongOwnFile, export
from grader.report.services.moodle import comments
from tests.report.class_of_grades import ATTACKER, FAULT, FULL, MISTAKEN, UNREADABLE, entries, from_platform

ADA, BOB = replace(FULL, student="4711"), replace(MISTAKEN, student="4712")
OWN = (
    "\N{BYTE ORDER MARK}"
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 4711","Lovelace_Ada, =1+1",ada@example.org,"Submitted for grading",,100.00,Yes,'
    '"Thursday, 31 January 2030, 6:00 PM",-,\n'
    '"Participant 4712","Ünal Ö.",b@example.org,"Submitted for grading",12.00,100.00,Yes,-,-,"kept by nobody"\n'
    '"Participant 4790","Handed in nothing",c@example.org,"No submission",,100.00,Yes,-,-,\n'
)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_the_worksheet_has_comments() -> None:
    ada, bob = read(export("moodle", from_platform([ADA, BOB])).text)
    assert ada["Feedback comments"] == ""
    off = "5 queries, 7 keys, d_k = 3: weights: off by 0.49, allowed 1e-05"
    hint = "Divide the scores by √d_k."
    assert bob["Feedback comments"] == f"<p>1.4 Attention: 0 of 15<br>{hint}<br>{off}</p>"


def test_moodle_s_own_worksheet_is_filled_in_and_nothing_else_in_it_changes() -> None:
    before = read(OWN.removeprefix("\N{BYTE ORDER MARK}"))
    exported = export("moodle", from_platform([ADA, BOB]), own=OWN)
    after = read(exported.text)
    assert [row["Grade"] for row in after] == ["100.00", "85.00", ""]
    assert after[1]["Feedback comments"].startswith("<p>1.4 Attention: 0 of 15<br>")
    for old, new in zip(before, after, strict=True):
        same = set(old) - {"Grade", "Feedback comments"}
        assert {name: old[name] for name in same} == {name: new[name] for name in same}
    assert after[2]["Feedback comments"] == ""
    assert exported.left_out == ()


def test_a_score_for_a_draft_is_named() -> None:
    own = OWN.replace("Submitted for grading", "Draft (not submitted)", 1)
    exported = export("moodle", from_platform([ADA, BOB]), own=own)
    assert exported.remarks == ("have a score for a submission that is still a draft in Moodle: 4711",)
    assert export("moodle", from_platform([ADA, BOB]), own=OWN).remarks == ()
    assert export("moodle", from_platform([BOB]), own=own).remarks == ()


def test_a_worksheet_without_comments_gets_the_column() -> None:
    own = "\n".join(line.rpartition(",")[0] for line in OWN.splitlines())
    assert "Feedback comments" in read(export("moodle", from_platform([BOB]), own=own).text)[0]


def test_who_is_not_in_the_worksheet_is_named() -> None:
    others = [*from_platform([replace(FULL, student="1")]), *entries([replace(FULL, student="bob")])]
    assert export("moodle", others, own=OWN).left_out == ("bob", "1")


@pytest.mark.parametrize("own", ["a,b\n1,2\n", "Identifier,Name\n"])
def test_another_file_is_refused(own: str) -> None:
    with pytest.raises(WrongOwnFile, match="not a Moodle grading worksheet"):
        export("moodle", from_platform([ADA]), own=own)


def test_a_worksheet_is_of_one_assignment() -> None:
    with pytest.raises(CannotExport, match="pass --assignment"):
        export("moodle", from_platform([ADA, replace(ADA, assignment="2-heads")]), own=OWN)


def test_what_a_student_wrote_does_nothing_in_a_comment() -> None:
    said = comments(GradebookEntry.of(ATTACKER))
    assert "&lt;script&gt;" in said
    assert not set(said.split("<")[1:]) - {part for part in said.split("<") if part.startswith(("p>", "/p>", "br>"))}


def test_faults_and_files_that_cannot_be_read_say_so_and_no_reason_of_ours() -> None:
    assert "You lose no points" in comments(GradebookEntry.of(FAULT))
    assert "bwrap" not in comments(GradebookEntry.of(FAULT))
    assert "Save it again in Jupyter" in comments(GradebookEntry.of(UNREADABLE))


def test_people_s_points_and_words_are_in_it() -> None:
    grade = replace(FULL, written=(Written(id="1.Q1", title="Why three?", text="Because."),))
    cells = {"1.1": CellScore(points=4.0, max_points=5.0, by_hand=True, comment="See <b>me</b>.")}
    waiting = {"1.Q1": CellScore(points=None, max_points=4.0, needs_manual_grade=True)}
    said = comments(replace(GradebookEntry.of(grade), cells=cells | waiting, penalty=10.0))
    assert said == (
        "<p>The submission was late: 10 points were subtracted.</p>"
        "<p>1.1 Dot-product scores: 4 of 5<br>Your instructor writes: See &lt;b&gt;me&lt;/b&gt;.</p>"
        "<p>1.Q1 Why three?: needs manual grading</p>"
    )
    given = {"1.Q1": CellScore(points=3.0, max_points=4.0, by_hand=True, comment="Good.")}
    said = comments(replace(GradebookEntry.of(grade), cells=given))
    assert said == "<p>1.Q1 Why three?: 3 of 4<br>Your instructor writes: Good.</p>"
