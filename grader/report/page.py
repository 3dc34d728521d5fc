"""Makes a submission's feedback page. It shows each trial, the answer's result, and how far the result is off."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from grader import __version__
from grader.records import Appeal, CellScore, CheckResult, GradebookEntry, Outcome, Verdict
from grader.report.heatmap import figure
from grader.report.text import (
    CODE,
    EXERCISE_FAULT,
    SUBMISSION_FAULT,
    SYMBOLS,
    appeal_outcome,
    check_messages,
    clean,
    clean_lines,
    is_waiting,
    kind,
    kind_of_points,
    lateness,
    number,
    said_once,
    worth_of_cell,
)

MOST_LINES, MOST_WIDTH = 200, 160  # that are shown of an answer
MARKED = re.compile(r"^→ *(\d+) │ ?(.*)(?:\n +│ ( *)\^)?", re.MULTILINE)  # as judge/raised.py writes it
UNSURE = re.compile("[\\s⇥\N{REPLACEMENT CHARACTER}]")  # spaces, tabs and what cannot be shown
# As feedback.html.j2 writes it. All text in it is escaped, so that no other text looks like its end.
SOLUTION = re.compile(rb'<details class="solution">.*?</details>', re.DOTALL)

NO_CODE = ("full", "missing", "fault")  # how an exercise ends whose page does not show the student's answer


def feedback_page(
    entry: GradebookEntry,
    solutions: Mapping[str, str] | None = None,
    answers: Mapping[str, str] | None = None,
    thoughts: Sequence[tuple[str, str]] = (),
) -> str:
    """Return one HTML file that needs no other file: no script, font or picture.

    Args:
        entry: the gradebook's record of the submission, with the whole grade.
        solutions: the worked solutions, by exercise; the page shows those of exercises with full
            points.
        answers: the student's own code, by exercise; the page shows it for exercises without full
            points.
        thoughts: the questions for thought of the lesson, each with our answer.
    """
    score = entry.score
    graded = entry.grade.status == "graded"
    verdicts, written = (entry.grade.verdicts, entry.grade.written) if graded else ((), ())
    return render(
        "feedback.html.j2",
        entry=entry,
        grade=entry.grade,
        greeting=_greeting(entry),
        lateness=lateness(entry.penalty, entry.seconds_late),
        score=score,
        share=min(100 * (score or 0.0) / entry.max_score, 100) if entry.max_score else 0.0,
        exercises=[_exercise(verdict, entry, solutions or {}, answers or {}) for verdict in verdicts],
        questions=[(each, entry.cells.get(each.id)) for each in written],
        thoughts=thoughts if graded else (),
        appeals=_appeals(entry),
        others=_others(entry, {each.id for each in verdicts} | {each.id for each in written}),
    )


def without_solutions(page: bytes) -> bytes:
    """Return a feedback page without worked solutions and without answers to questions for thought."""
    return SOLUTION.sub(b"", page)


def _others(entry: GradebookEntry, above: Set[str]) -> dict[str, CellScore]:
    """Return the cells that the page shows below exercises and questions: cells that the instructor added.

    If the page shows no exercises, because the file could not be read for instance, return the
    cells that a person has scored or commented on.

    Args:
        above: the ids of the exercises and questions on the page.
    """
    below = {name: cell for name, cell in entry.cells.items() if name not in above}
    return {name: cell for name, cell in below.items() if above or cell.by_hand or cell.comment}


def _appeals(entry: GradebookEntry) -> dict[str, list[tuple[Appeal, str]]]:
    """Return the student's appeals by exercise, each with the decision in words."""
    by_exercise: dict[str, list[tuple[Appeal, str]]] = {}
    for appeal in entry.appeals:
        by_exercise.setdefault(appeal.exercise, []).append((appeal, appeal_outcome(appeal, entry)))
    return by_exercise


def render(template: str, **values: Any) -> str:
    """Return the page that a template makes from `values`. The page needs no other file."""
    return templates().get_template(template).render(version=__version__, **values)


def address(pages: str, student: str, assignment: str, exercise: str | None = None) -> str:
    """Return the address of a student's page, or of an exercise on that page.

    Args:
        pages: a pattern such as "{student}/{assignment}.html".
    """
    quoted = partial(quote, safe="", errors="surrogateescape")  # as the names of folders are
    page = pages.format(student=quoted(student), assignment=quoted(assignment))
    return f"{page}#{quoted(exercise)}" if exercise else page


@cache
def templates() -> Environment:
    """Return the jinja environment of all pages. It escapes all text, and an unknown name raises an error."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"SYMBOLS": SYMBOLS, "address": address}
    environment.globals |= {"kind_of_points": kind_of_points, "worth_of_cell": worth_of_cell}
    environment.filters |= {"number": number, "lines": _lines, "code": _with_code}
    environment.tests["waiting"] = is_waiting
    return environment


def _clean_text(value: Any) -> Any:
    """Return cleaned text. Return Markup, which is the grader's own HTML or SVG, and other values unchanged."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _lines(text: str) -> Markup:
    """Return a text of several lines, escaped, for an element with the style `white-space: pre-line`."""
    return escape(clean_lines(text.replace("\r\n", "\n")))


def _with_code(message: str) -> Markup:
    """Return a message as escaped HTML in which text between backticks is shown as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(clean(message)))))


def _greeting(entry: GradebookEntry) -> str:
    """Return the first sentences of the page, which state the result of the submission and the next step."""
    grade = entry.grade
    graded = [verdict for verdict in grade.verdicts if verdict.max_points]
    if grade.status == "fault":
        return (
            "Your submission could not be graded because of a grader error. You lose no points. Your file is kept and "
            "will be graded again. You do not need to do anything."
        )
    if entry.fault:
        about = "This page is about your earlier submission."
        return f"{SUBMISSION_FAULT} Your file is kept and will be graded again. {about}"
    if grade.status == "unreadable":
        return "The grader could not read your file, so it has nothing to grade yet. Read below what the problem is:"
    if graded and all(verdict.outcome is Outcome.PASSED for verdict in graded):
        return "Everything works, on inputs that your notebook has never seen. Well done!"
    if all(verdict.outcome is Outcome.MISSING for verdict in graded):
        return "Nothing is solved yet. Start with the first exercise: it is short, and the next ones build on it."
    full = sum((entry.points(verdict) or 0.0) >= verdict.max_points for verdict in graded)
    tells = "this page shows what the grader tried, what your code returned, and where to read again."
    if len(graded) == 1:
        return f"The exercise {'has' if full else 'does not have'} full points{'' if full else ' yet'}: {tells}"
    have = "has" if full == 1 else "have"
    return f"{full} of {len(graded)} exercises {have} full points. For each of the others, {tells}"


def _exercise(
    verdict: Verdict, entry: GradebookEntry, solutions: Mapping[str, str], answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values that the template shows about one exercise."""
    name = kind(verdict)
    code = own_code(verdict, answers.get(verdict.id, "") if name not in NO_CODE else "")
    has_excerpt = verdict.outcome is not Outcome.FAULT and not (code and code.is_marked)
    said = zip(verdict.checks, check_messages(verdict), strict=True)
    without_checks = name in ("missing", "fault") or said_once(verdict)
    return {
        "verdict": verdict,
        "cell": entry.cells.get(verdict.id),
        "points": entry.points(verdict),
        "kind": name,
        "mark": kind_of_points(verdict, entry),
        "message": _message(verdict),
        # `escape` makes it Markup, which keeps its lines and spaces.
        "excerpt": escape(clean_lines(verdict.excerpt)) if has_excerpt else "",
        "code": code,
        "checks": [] if without_checks else [(check, _check_message(check, message)) for check, message in said],
        "solution": _solution(verdict, entry, solutions),
        "figures": [*filter(None, map(figure, verdict.heatmaps))],
    }


def _solution(verdict: Verdict, entry: GradebookEntry, solutions: Mapping[str, str]) -> Markup:
    """Return the worked solution of an exercise that passed with full points, or "" for any other exercise."""
    passed = verdict.outcome is Outcome.PASSED and (entry.points(verdict) or 0.0) >= verdict.max_points
    return escape(solutions.get(verdict.id, "") if passed else "")


def _message(verdict: Verdict) -> str:
    """Return the message for the whole exercise, or "" if the page shows the same message at a check."""
    if verdict.outcome is Outcome.FAULT:
        return EXERCISE_FAULT
    if verdict.outcome is Outcome.MISSING:
        return verdict.message or "not solved yet"
    shown_below = verdict.message in {check.message for check in verdict.checks} and not said_once(verdict)
    return "" if shown_below else verdict.message


def _check_message(check: CheckResult, message: str) -> str:
    """Return the message of a check. For a grader error or a missing result, return a fixed text."""
    if check.outcome is Outcome.FAULT:
        return "this check could not be graded because of a grader error"
    return message or ("no result" if check.outcome is Outcome.MISSING else "")


@dataclass(frozen=True)
class OwnCode:
    """The lines of an answer as the page shows them, with a caret below the marked line.

    Each line has its number, its text, and True if it is marked.
    """

    lines: tuple[tuple[int, Markup, bool], ...]
    caret: Markup  # spaces and a caret; "" without a caret

    @property
    def is_marked(self) -> bool:
        """Return True if a line is marked."""
        return any(marked for _, _, marked in self.lines)


def own_code(verdict: Verdict, source: str) -> OwnCode | None:
    """Return the lines of an answer that the page shows, or None if the page shows no lines.

    Args:
        source: the source of the exercise's cell. The line that the verdict's excerpt marks is
            marked here, too, unless the excerpt is from another cell.
    """
    if not source.strip():
        return None
    lines = clean_lines(source.replace("\t", "    ")).rstrip().split("\n")
    number, caret = _marked_line(verdict.excerpt, lines)
    shown = [(place, escape(line[:MOST_WIDTH]), place == number) for place, line in enumerate(lines[:MOST_LINES], 1)]
    if len(lines) > MOST_LINES:
        shown.append((MOST_LINES + 1, escape(f"… {len(lines) - MOST_LINES} more lines"), False))
    return OwnCode(tuple(shown), escape(caret))


def _marked_line(excerpt: str, lines: Sequence[str]) -> tuple[int, str]:
    """Return the number of the line that an excerpt marks, and the text of its caret.

    Return 0 and "" if the excerpt is not from these lines.
    """
    found = MARKED.search(excerpt)
    if found is None or not 0 < (number := int(found[1])) <= len(lines):
        return 0, ""
    text, before = found[2], found[3]
    if not _is_cut_from(text, lines[number - 1]):
        return 0, ""
    as_it_is = before is not None and not text.startswith("…") and "⇥" not in text
    return number, f"{before}^" if as_it_is else ""


def _is_cut_from(shown: str, line: str) -> bool:
    """Return True if a line of an excerpt, which may be cut at both ends, is a part of this line of code."""
    wanted, there = (UNSURE.sub("", text) for text in (shown.strip("…"), line))
    return bool(wanted) and wanted in there
