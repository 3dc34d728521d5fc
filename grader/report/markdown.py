"""Writes feedback as Markdown: for Gradescope, and as a notebook for platforms that keep the submission's file name.

Text from a student, or from an exception in the student's code, cannot act as Markdown: it is
escaped, or is in a code block.
"""

import json
import re

from grader.records import CellScore, CheckResult, GradebookEntry, Outcome, Verdict, Written
from grader.report.text import (
    CODE,
    EXERCISE_FAULT,
    SUBMISSION_FAULT,
    SYMBOLS,
    check_messages,
    clean,
    clean_lines,
    kind_of_points,
    lateness,
    number,
    said_once,
    worth,
    worth_of_cell,
)

# Characters that Markdown may make more of than text, anywhere in a line; ":" and "." make links of bare addresses.
SPECIAL = re.compile(r"[\\`*_\[\]<>&#|~$!{}]|:(?=//)|(?<=www)\.|@")
AT_THE_START = re.compile(r"^([-+=]|[0-9]+(?=[.)](?:\s|$)))")


def escape(text: str) -> str:
    """Return one line of Markdown that shows a text unchanged. Text between backticks stays code."""
    parts = CODE.split(clean(text))  # text and code in turn
    return "".join(f"`{part}`" if place % 2 else _escape(part, place == 0) for place, part in enumerate(parts))


def _escape(text: str, is_start: bool) -> str:
    """Return text with a backslash before each special character of Markdown.

    Args:
        is_start: the text begins a line, so also escape characters that would begin a list.
    """
    plain = SPECIAL.sub(lambda found: f"\\{found[0]}", text)
    if is_start and (mark := AT_THE_START.match(plain)):
        end = mark.end()
        return f"{plain[:end]}\\{plain[end:]}" if mark[1].isdigit() else f"\\{plain}"
    return plain


def code_block(text: str) -> str:
    """Return lines of code as a Markdown code block, whose end cannot be faked by the code."""
    lines = clean_lines(text)
    longest = max((len(run) for run in re.findall(r"`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{lines}\n{fence}"


def hint(verdict: Verdict) -> str:
    """Return the explanation of a wrong answer and the part of the lesson to read again, or "" without both."""
    explained = f"**Likely cause:** {escape(verdict.hint)}" if verdict.hint else ""
    again = bool(verdict.review) and verdict.outcome is not Outcome.PASSED
    read = f"**Read again:** “{escape(verdict.review)}” in the lesson." if again else ""
    return "\n\n".join(filter(None, (explained, read)))


def remarks(verdict: Verdict, cell: CellScore | None, said: str) -> str:
    """Return all messages about an exercise: the hint, the line of code, the observation, the comment and the notes.

    Args:
        said: the observation, as Markdown.
    """
    excerpt = code_block(verdict.excerpt) if verdict.excerpt and verdict.outcome is not Outcome.FAULT else ""
    notes = (f"Note: {escape(note)}" for note in verdict.notes)
    return "\n\n".join(filter(None, (hint(verdict), excerpt, said, comment(cell), *notes)))


def comment(cell: CellScore | None) -> str:
    """Return the instructor's comment on an exercise or a question, or "" without a comment."""
    return f"**Your instructor writes:** {escape(cell.comment)}" if cell and cell.comment else ""


def exercise(verdict: Verdict, entry: GradebookEntry) -> str:
    """Return the feedback on one exercise: its points, its checks and the explanation of an error."""
    name, cell = kind_of_points(verdict, entry), entry.cells.get(verdict.id)
    points = entry.points(verdict)
    earned = "practice" if not verdict.max_points else worth(points, verdict.max_points)
    head = f"## {SYMBOLS[name][0]} {escape(verdict.id)} · {escape(verdict.title)}: {earned}"
    by_hand = "Your instructor set these points." if cell and cell.by_hand else ""
    return "\n\n".join(filter(None, (head, by_hand, remarks(verdict, cell, _said(verdict)))))


def _said(verdict: Verdict) -> str:
    """Return the message of an exercise, or a list with the messages of its checks."""
    if verdict.outcome is Outcome.FAULT:
        return EXERCISE_FAULT
    if not verdict.checks or verdict.outcome is Outcome.MISSING or said_once(verdict):
        return escape(verdict.message)
    said = zip(verdict.checks, check_messages(verdict), strict=True)
    return "\n".join(f"- {_check(check, message)}" for check, message in said)


def _check(check: CheckResult, message: str) -> str:
    passed = check.outcome is Outcome.PASSED
    symbol = SYMBOLS["full" if passed else "wrong"][0]
    points = f" ({number(check.points)} of {number(check.max_points)})" if check.max_points else ""
    return f"{symbol} {escape(check.title)}{points}{': ' + escape(message) if message else ''}"


def question(written: Written, cell: CellScore | None) -> str:
    """Return the feedback on a question: the student's text, the points and the instructor's comment."""
    earned = worth_of_cell(cell, cell.points if cell else None)
    head = f"## {escape(written.id)} · {escape(written.title)}: {earned}"
    return "\n\n".join(filter(None, (head, text_of(written), comment(cell))))


def text_of(written: Written) -> str:
    """Return the student's answer to a question, with an introduction, or a sentence if it is empty."""
    return f"You wrote:\n\n{code_block(written.text)}" if written.text else "You wrote nothing here."


def feedback_notebook(entry: GradebookEntry) -> str:
    """Return the feedback on a submission as a notebook that has only Markdown cells.

    Args:
        entry: the gradebook's record of the submission, with the whole grade.
    """
    graded = entry.grade.status == "graded"
    sections = [_head(entry)]
    sections += [exercise(verdict, entry) for verdict in entry.grade.verdicts if graded]
    sections += [question(written, entry.cells.get(written.id)) for written in entry.grade.written if graded]
    cells = [
        {"cell_type": "markdown", "id": f"feedback-{place}", "metadata": {}, "source": source}
        for place, source in enumerate(sections)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _head(entry: GradebookEntry) -> str:
    """Return the first cell: the student's name, the score, or the reason why there is no score."""
    who = f"{entry.student.name} ({entry.student.id})" if entry.student.name else entry.student.id
    lines = [f"# {escape(entry.assignment)}: feedback for {escape(who)}"]
    if entry.score is not None:
        lines.append(f"**{number(entry.score)} of {number(entry.max_score)} points**")
    if late := lateness(entry.penalty, entry.seconds_late):
        lines.append(late)
    if entry.fault:
        earlier = "This feedback is about your earlier submission." if entry.has_earlier_score else ""
        lines.append(f"{SUBMISSION_FAULT} {earlier}")
    elif entry.status == "unreadable":
        lines.append(escape(entry.message))
    lines.append(f"Submission {entry.grade.submission_sha256 or 'not read'}.")
    return "\n\n".join(lines)
