"""What a grade sets in nbgrader's tables: the columns of each cell's row of grades and of comments."""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from grader.classes.gradebook.cells import Cells
from grader.records import Grade, Outcome, Verdict

# What Markdown, as nbconvert renders it, makes more of than text.
RENDERED = re.compile(r"<|\][(\[:]|\$|&#|://|\\[(\[]|\bwww\.")
WITHHELD = (
    "The newest submission could not be graded: a fault of the grader. A score that stands here is of an earlier one."
)


def scores_and_comments(
    grade: Grade, cells: Cells, stored: Mapping[str, Row], *, same: bool
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return for the tables of grades and comments: each cell's id → the columns to set in its row.

    The cells that the instructor added get a row, in which nothing is set. `stored` is the rows of grades that are
    there, by cell; `same` tells whether they are of the same submission.
    """
    verdicts = {verdict.id: verdict for verdict in grade.verdicts}
    scores = {cell: _scores(grade, verdicts.get(id)) for id, cell in cells.grades.items()}
    texts = {written.id: written.text for written in grade.written}
    scores |= {
        question.row: _question_scores(grade, texts.get(id, ""), question.points)
        for id, question in cells.questions.items()
    }
    scores |= {cell: {} for cell in cells.other_grades}
    for cell, row in stored.items():
        if cell in scores and row.manual_score is not None:
            needs = _needs_manual_grade_again(grade, row, scores[cell], same=same)
            scores[cell]["needs_manual_grade"] = needs
    comments = {cell: _comment(grade, verdicts.get(id)) for id, cell in cells.comments.items()}
    comments |= {cell: {} for cell in cells.other_comments}
    return scores, comments


def _needs_manual_grade_again(grade: Grade, row: Row, score: Mapping[str, Any], *, same: bool) -> bool:
    """Tell whether a person must look again at a cell with a manual score.

    That is so once submission or automatic score are not those for which the score was given, until the
    person saves the cell. A fault, which changes neither, leaves the mark as it is.
    """
    changed = not same or score.get("auto_score", row.auto_score) != row.auto_score
    return bool(row.needs_manual_grade) or (changed and grade.status != "fault")


# An exercise without a verdict is marked "needs manual grade" and keeps its stored score: a missing verdict
# does not set a score.


def _scores(grade: Grade, verdict: Verdict | None) -> dict[str, Any]:
    """Return the columns to set in an exercise's row of grades; never `manual_score` and `extra_credit`."""
    if grade.status == "unreadable":
        return {"auto_score": 0.0, "needs_manual_grade": False}
    if verdict is None or _is_withheld(grade, verdict):
        return {"needs_manual_grade": True}
    return {"auto_score": float(verdict.points), "needs_manual_grade": False}


def _question_scores(grade: Grade, text: str, points: float) -> dict[str, Any]:
    """Return the columns to set in a question's row of grades, as nbgrader does: nothing written earns nothing.

    A person must look at what was written, if it can earn points.
    """
    if grade.fault:
        return {"needs_manual_grade": points > 0}
    if not text:
        return {"auto_score": 0.0, "needs_manual_grade": False}
    return {"auto_score": None, "needs_manual_grade": points > 0}


def _comment(grade: Grade, verdict: Verdict | None) -> dict[str, str | None]:
    """Return the columns to set in an exercise's row of comments."""
    if grade.status == "unreadable":
        return {"auto_comment": _neutral(grade.message)}
    if verdict is None or _is_withheld(grade, verdict):
        return {"auto_comment": WITHHELD}
    if verdict.outcome is Outcome.PASSED:
        return {"auto_comment": None}
    return {"auto_comment": _neutral("\n".join(filter(None, (verdict.hint, verdict.excerpt, verdict.message)))) or None}


def _neutral(comment: str) -> str:
    """Indent a comment that Markdown may take for a tag, a link, an image or a formula; then it is code and does nothing.

    nbgrader's own feedback page renders comments, and they quote what students write. This grader's page does not.
    """
    return "\n".join(f"    {line}" for line in comment.split("\n")) if RENDERED.search(comment) else comment


def _is_withheld(grade: Grade, verdict: Verdict) -> bool:
    """Tell whether a fault of the grader left the exercise without a score."""
    return grade.status == "fault" or verdict.outcome is Outcome.FAULT
