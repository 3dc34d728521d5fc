"""results.json: what students see at once, what after publication, and Markdown in which their text does nothing."""

from __future__ import annotations

import json
from dataclasses import replace

from grader.records import CellScore, CheckResult, Grade, GradebookEntry, Outcome, Written
from grader.report.export import export
from grader.report.markdown import feedback_notebook
from grader.report.services.moodle import comments
from tests.report.class_of_grades import ATTACKER, FULL, MISTAKEN, PARTLY, UNREADABLE, UNTOUCHED, verdict

TEXT = "Keys ``` find; <b>values</b> hand over."


def results(entry: GradebookEntry | Grade) -> dict:
    entry = GradebookEntry.of(entry) if isinstance(entry, Grade) else entry
    return json.loads(export("gradescope", [entry]).text)


def test_no_hidden_check_is_shown_before_the_grades_are_published() -> None:
    for grade in (FULL, MISTAKEN, PARTLY, UNTOUCHED, ATTACKER):
        said = results(grade)
        assert said["tests"]
        assert {test["visibility"] for test in said["tests"]} == {"after_published"}
        assert "off by" not in said["output"]


def test_at_once_students_see_what_has_no_answer() -> None:
    assert "when your instructor publishes the grades" in results(FULL)["output"]
    assert "Without an answer" not in results(FULL)["output"]
    grade = replace(FULL, verdicts=(*FULL.verdicts[:8], verdict(8, 0.0, Outcome.MISSING)))
    assert results(grade)["output"].endswith("- 1.9 The pointer's loss (pointer\\_loss)")
    assert "Save it again in Jupyter" in results(UNREADABLE)["output"]


def test_all_of_it_is_markdown_and_there_is_no_leaderboard() -> None:
    said = results(MISTAKEN)
    assert (said["output_format"], said["test_output_format"]) == ("md", "md")
    assert {test["output_format"] for test in said["tests"]} == {"md"}
    assert "leaderboard" not in said


def test_points_of_the_checks_add_up_and_points_by_hand_are_one_test() -> None:
    said = results(MISTAKEN)
    assert [test["max_score"] for test in said["tests"] if test["number"][:3] == "1.4"] == [9.0, 6.0]
    assert sum(test["score"] for test in said["tests"]) == said["score"] == 85.0
    cells = {"1.4": CellScore(points=12.0, max_points=15.0, by_hand=True, comment="Half of *it*.")}
    entry = replace(GradebookEntry.of(MISTAKEN), cells=cells, score=97.0)
    (test,) = (test for test in results(entry)["tests"] if test["number"][:3] == "1.4")
    assert (test["number"], test["score"], test["max_score"]) == ("1.4", 12.0, 15.0)
    assert test["output"].endswith("**Your instructor writes:** Half of \\*it\\*.")


def test_a_question_without_text_and_points_is_no_item() -> None:
    grade = replace(FULL, written=(Written(id="1.Q1", title="Why?", text=""),))
    assert [test["number"] for test in results(grade)["tests"]] == [each.id for each in FULL.verdicts]
    worth = {"1.Q1": CellScore(points=0.0, max_points=4.0)}
    *_, item = results(replace(GradebookEntry.of(grade), cells=worth))["tests"]
    assert (item["number"], item["score"], item["output"]) == ("1.Q1", 0.0, "You wrote nothing here.")


def test_a_question_waits_and_then_counts() -> None:
    grade = replace(FULL, written=(Written(id="1.Q1", title="Why?", text=TEXT),))
    *_, item = results(grade)["tests"]
    assert ("score" in item, item["visibility"]) == (False, "visible")
    assert item["output"].startswith("This answer needs manual grading.")
    assert f"````\n{TEXT}\n````" in item["output"]
    given = {"1.Q1": CellScore(points=3.0, max_points=4.0, by_hand=True, comment="Good.")}
    entry = replace(GradebookEntry.of(grade), cells=given, score=103.0)
    *_, item = results(entry)["tests"]
    assert (item["score"], item["max_score"], item["visibility"]) == (3.0, 4.0, "after_published")
    assert sum(test["score"] for test in results(entry)["tests"]) == 103.0


def test_what_went_wrong_with_the_grader_is_not_told_to_students() -> None:
    secret = "bwrap: /srv/secret"
    broken = verdict(0, 0.0, Outcome.FAULT, message=secret)
    check = CheckResult(name="values", title="t", outcome=Outcome.FAULT, points=0.0, max_points=5.0, message=secret)
    for each in (broken, replace(broken, checks=(check,))):
        grade = replace(FULL, verdicts=(each, *FULL.verdicts[1:]))
        text = json.dumps(results(grade)) + feedback_notebook(GradebookEntry.of(grade))
        text += comments(GradebookEntry.of(grade))
        assert secret not in text
        assert text.count("This exercise could not be graded") == 3
