"""The gradebook's own table: grades come back as they went in, and a damaged row is graded anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.classes.gradebook.stored import grade_in, line_of, row_of, without_checks
from grader.records import CheckResult, Grade, Heatmap, Outcome, Verdict
from grader.report.jsonl import from_json, to_json

CHECK = CheckResult(name="values", title="", outcome=Outcome.FAILED, points=0, max_points=5, message="off")
VERDICT = Verdict(
    id="1.1",
    name="f",
    title="F",
    outcome=Outcome.FAILED,
    points=0.0,
    max_points=5.0,
    message="m",
    hint="h",
    checks=(CHECK,),
    heatmaps=(Heatmap(title="t", got=((float("nan"),),), expected=((0.5,),)),),
)
GRADE = Grade(
    student="zoë", assignment="1-attention", status="graded", score=85.0, max_score=100.0, verdicts=(VERDICT,)
)


def test_a_grade_comes_back_whole_and_as_a_summary():
    row = row_of(GRADE, "key", "digest")
    assert line_of(row["line"]) == to_json(GRADE)
    assert to_json(from_json(line_of(row["line"]))) == to_json(GRADE)
    assert grade_in(row["summary"]) == without_checks(GRADE)
    assert without_checks(GRADE).verdicts == (replace(VERDICT, checks=(), heatmaps=()),)


def test_a_fault_is_found_under_no_key():
    assert row_of(GRADE, "key", "")["key"] == "key"
    fault = row_of(replace(GRADE, status="fault", score=None, message="no sandbox"), "key", "")
    assert (fault["key"], fault["fault"]) == ("", "no sandbox")


@pytest.mark.parametrize("text", [None, "", "{", "{}", "[]", '{"student": 1}'])
def test_a_row_of_another_version_is_no_grade(text: str | None):
    assert grade_in(text) is None
