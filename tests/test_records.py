"""The records that a grade is made of."""

from grader.records import MOST_TEXT, CheckResult, Flag, Grade, Outcome, Verdict


def test_no_text_of_a_grade_is_long() -> None:
    """A student's error of a megabyte would stand in page, gradebook, notebook and report."""
    long = "x" * 1_000_000
    check = CheckResult(name="values", title="", outcome=Outcome.FAILED, points=0, max_points=1, message=long)
    verdict = Verdict(
        id="1.1", name="f", title="", outcome=Outcome.FAILED, points=0, max_points=1, message=long, hint=long,
        excerpt=long, notes=(long, "short"), checks=(check,),
    )  # fmt: skip
    grade = Grade(
        student="s", assignment="1-attention", status="graded", score=0, max_score=1, message=long,
        verdicts=(verdict,), flags=(Flag(kind="renamed", exercise=None, detail=long),),
    )  # fmt: skip
    texts = [
        grade.message, grade.flags[0].detail, verdict.message, verdict.hint, verdict.excerpt, *verdict.notes,
        grade.verdicts[0].checks[0].message,
    ]  # fmt: skip
    assert {len(text) for text in texts} == {MOST_TEXT, len("short")}
    assert verdict.notes[1] == "short"
