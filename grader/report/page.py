"""The feedback page of one submission: what was tried, what came back, how far off, what to read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader import __version__
from grader.records import CheckResult, Grade, Outcome, Verdict
from grader.report.heatmap import figure
from grader.report.text import SYMBOLS, clean, kind, number


@dataclass(frozen=True, kw_only=True)
class ManualMarks:
    """What people decided beside the grade."""

    score: float  # what counts in the end: by hand, with extra credit, less the penalty
    penalty: float = 0.0  # for handing in late
    points: Mapping[str, float] = field(
        default_factory=dict
    )  # exercise → points, where a person changed them
    comments: Mapping[str, str] = field(default_factory=dict)  # exercise → what the instructor wrote


def feedback_page(grade: Grade, marks: ManualMarks | None = None) -> str:
    """One HTML file that needs nothing else: no script, no font, no picture from elsewhere.

    Args:
        marks: what people decided; None where nobody has looked yet.
    """
    score = grade.score if marks is None or grade.status == "fault" else marks.score
    return (
        templates()
        .get_template("feedback.html.j2")
        .render(
            grade=grade,
            greeting=_greeting(grade),
            marks=marks or ManualMarks(score=0.0),
            score=score,
            share=min(100 * (score or 0.0) / grade.max_score, 100) if grade.max_score else 0.0,
            exercises=[_exercise(verdict) for verdict in grade.verdicts if grade.status == "graded"],
            version=__version__,
        )
    )


@cache
def templates() -> Environment:
    """The environment of all pages: everything is escaped, and nothing unknown is passed over."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["SYMBOLS"] = SYMBOLS
    environment.filters["number"] = number
    return environment


def _show(value: Any) -> Any:
    # Our own SVG is Markup and stays as it is; every other text loses what no page can show.
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _greeting(grade: Grade) -> str:
    graded = [verdict for verdict in grade.verdicts if verdict.max_points]
    full = sum(verdict.outcome is Outcome.PASSED for verdict in graded)
    if grade.status == "unreadable":
        return "Your file could not be read, so there is nothing to grade in it yet. Here is why, and what helps:"
    if grade.status == "fault":
        return (
            "We could not grade your submission. The fault is ours and costs you nothing: your file is kept, and it "
            "will be graded again. You need not do anything."
        )
    if graded and full == len(graded):
        return "Everything works, on inputs that your notebook has never seen. Well done!"
    if all(verdict.outcome is Outcome.MISSING for verdict in graded):
        return "Nothing is solved yet. Start with the first exercise: it is short, and the next ones build on it."
    return (
        f"{full} of {len(graded)} exercises have full points. For each of the others you find below what was tried, "
        "what came back, and where to read again."
    )


def _exercise(verdict: Verdict) -> dict[str, Any]:
    """What the template shows of one exercise."""
    name = kind(verdict)
    return {
        "verdict": verdict,
        "kind": name,
        "symbol": SYMBOLS[name][0],
        "meaning": SYMBOLS[name][1],
        "message": _message(verdict),
        "checks": [] if name in ("missing", "fault") else [_check(check) for check in verdict.checks],
        "figures": [one for one in map(figure, verdict.heatmaps) if one is not None],
    }


def _message(verdict: Verdict) -> str:
    """What is said once for the whole exercise; what a check says stands with the check."""
    if verdict.outcome is Outcome.FAULT:
        return "This exercise could not be graded. The fault is ours and costs you nothing."
    if verdict.outcome is Outcome.MISSING:
        return verdict.message or "not solved yet"
    return "" if verdict.message in _messages(verdict.checks) else verdict.message


def _messages(checks: Sequence[CheckResult]) -> set[str]:
    return {check.message for check in checks}


def _check(check: CheckResult) -> dict[str, Any]:
    passed = check.outcome is Outcome.PASSED
    # A check that holds may still wait for another one: batches of wrong numbers are worth nothing.
    waiting = passed and check.points < check.max_points
    message = check.message
    if check.outcome is Outcome.FAULT:
        message = "this could not be graded; the fault is ours"
    elif check.outcome is Outcome.MISSING:
        message = check.message or "nothing came back"
    elif waiting:
        message = "this holds, and counts as soon as the values are right"
    return {
        "title": check.title,
        "passed": passed,
        "waiting": waiting,
        "symbol": SYMBOLS["full" if passed else "wrong"][0],
        "message": message,
        "points": check.points,
        "max_points": check.max_points,
        "trials": check.trials,
    }
