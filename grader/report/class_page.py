"""The class on one page: scores, exercises, commonest mistakes, time, flags, faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import mean, median, quantiles
from typing import Any

from grader import __version__
from grader.records import Grade, Outcome
from grader.report.page import templates
from grader.report.plots import FILLS, histogram, outcome_bars
from grader.report.text import SYMBOLS, assignments, exercise_ids, kind, number, summary

BINS = 10


def class_page(grades: Iterable[Grade]) -> str:
    """One HTML file that needs nothing else; a section for each assignment."""
    grades = list(grades)
    return (
        templates()
        .get_template("class.html.j2")
        .render(
            summary=summary(grades),
            sections=[_section(name, group) for name, group in assignments(grades).items()],
            fills=FILLS,
            version=__version__,
        )
    )


def _section(assignment: str, grades: Sequence[Grade]) -> dict[str, Any]:
    graded = [grade for grade in grades if grade.status == "graded"]
    ids = exercise_ids(graded)
    return {
        "assignment": assignment,
        "summary": summary(grades),
        "scores": _scores(graded),
        "exercises": _exercises(graded, ids),
        "kinds": [
            name for name in SYMBOLS if any(kind(one) == name for grade in graded for one in grade.verdicts)
        ],
        "mistakes": _mistakes(graded),
        "unnamed": _unnamed(graded),
        "time": _time(graded),
        "tiers": ", ".join(
            sorted({f"{grade.isolation} on {grade.device}" for grade in graded if grade.isolation})
        ),
        "flags": [(grade.student, flag) for grade in grades for flag in grade.flags],
        "problems": [grade for grade in grades if grade.status != "graded"],
        "ids": ids,
        "students": [_student(grade, ids) for grade in grades],
    }


def _scores(graded: Sequence[Grade]) -> dict[str, Any] | None:
    """How the scores are spread, as shares of the points that could be had."""
    if not graded:
        return None
    scores = [grade.score or 0.0 for grade in graded]
    most = max(grade.max_score for grade in graded) or 1.0
    # Full marks belong to the last bin, not to one of their own.
    bins = Counter(min(int(score / most * BINS), BINS - 1) for score in scores)
    counts = [bins[index] for index in range(BINS)]
    edges = [number(most * index / BINS) for index in range(BINS + 1)]
    label = f"Distribution of {len(scores)} scores from 0 to {number(most)}: {', '.join(map(str, counts))}"
    return {
        "plot": histogram(counts, edges, label),
        "mean": number(round(mean(scores), 1)),
        "median": number(round(median(scores), 1)),
        "full": sum(score >= grade.max_score for score, grade in zip(scores, graded, strict=True)),
    }


def _exercises(graded: Sequence[Grade], ids: Sequence[str]) -> Any:
    if not ids:
        return None
    titles = {verdict.id: verdict.title for grade in graded for verdict in grade.verdicts}
    counts = {id: Counter[str]() for id in ids}
    for grade in graded:
        for verdict in grade.verdicts:
            counts[verdict.id][kind(verdict)] += 1
    shares = ", ".join(f"{id} {round(100 * count['full'] / count.total())} %" for id, count in counts.items())
    rows = [(f"{id} {titles[id]}", counts[id]) for id in ids]
    return outcome_bars(rows, f"How each exercise ended; full points: {shares}")


def _mistakes(graded: Sequence[Grade]) -> list[dict[str, Any]]:
    """Recognised mistakes, the commonest first."""
    found = Counter(
        (verdict.id, verdict.mistake, verdict.hint)
        for grade in graded
        for verdict in grade.verdicts
        if verdict.mistake
    )
    most = max(found.values(), default=1)
    return [
        {"id": id, "name": name, "hint": hint, "count": count, "share": 100 * count / most}
        for (id, name, hint), count in sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    ]


def _unnamed(graded: Sequence[Grade]) -> int:
    """Wrong answers that look like no declared mistake: where the next mistake to declare is found."""
    return sum(
        verdict.outcome is Outcome.FAILED and not verdict.mistake
        for grade in graded
        for verdict in grade.verdicts
    )


def _time(graded: Sequence[Grade]) -> dict[str, str] | None:
    seconds = [grade.seconds for grade in graded]
    if not seconds:
        return None
    slow = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return {
        "median": f"{median(seconds):.1f}",
        "slow": f"{slow:.1f}",
        "longest": f"{max(seconds):.1f}",
        "total": f"{sum(seconds):.0f}",
    }


def _student(grade: Grade, ids: Sequence[str]) -> dict[str, Any]:
    kinds = {verdict.id: kind(verdict) for verdict in grade.verdicts}
    return {"grade": grade, "marks": [(id, kinds.get(id)) for id in ids]}
