"""Makes the page of a class: scores, exercises, items, predictions, common diagnoses, time, flags and faults.

Students fill in predictions before a measurement. For each line of a prediction, the page shows how
many students filled it in, how many of them are right, and the answers.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import Any

from attention.measures.predictions import agrees

from grader.records import COST_POINTS, Grade, GradebookEntry
from grader.report import items
from grader.report.page import render
from grader.report.text import SYMBOLS, assignments, clean, exercise_ids, kind, number, summary, with_score

MOST_ANSWERS, MOST_LETTERS = 3, 60

# By the prediction's name what stands in its lines, by their names; None: nothing.
Said = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, kw_only=True)
class PredictedLine:
    """One line of a prediction, with the answers of a class."""

    prediction: str
    line: str
    filled_in: int
    right: int | None  # number of answers that agree with the author's; None if the author has none
    answers: str  # the commonest ones, or the median


def predicted_lines(said: Sequence[Said], known: Said) -> list[PredictedLine]:
    """Count the answers of a class to each line of each prediction.

    Args:
        said: the predictions of each student.
        known: the predictions in the solution notebook, which contains all of them in their order.
    """
    lines = []
    for prediction, right in known.items():
        for line, value in right.items():
            answers = [own for each in said if (own := each.get(prediction, {}).get(line)) is not None]
            count = None if value is None else sum(agrees(own, value) for own in answers)
            told = _commonest(answers) if value is not None else _middle(answers)
            lines.append(
                PredictedLine(prediction=prediction, line=line, filled_in=len(answers), right=count, answers=told)
            )
    return lines


def _commonest(answers: Sequence[object]) -> str:
    """Return the most frequent answers as text, each with its number."""
    shown = Counter(str(answer)[:MOST_LETTERS] for answer in answers)
    return ", ".join(f"{answer} ({count})" for answer, count in shown.most_common(MOST_ANSWERS))


def _middle(answers: Sequence[object]) -> str:
    """Return the median and the range of the numbers among the answers as text, or "" without numbers."""
    numbers = [float(answer) for answer in answers if isinstance(answer, int | float) and abs(answer) < 1e9]
    if not numbers:
        return ""
    middle, least, most = (number(round(value, 3)) for value in (median(numbers), min(numbers), max(numbers)))
    return f"median {middle}, from {least} to {most}"


# From Okabe and Ito's palette, whose colours colour-blind readers can tell apart; light enough for dark text.
FILLS = dict(full="#009e73", part="#f0e442", wrong="#d55e00", missing="#bbbbbb", timeout="#cc79a7", fault="#56b4e9")
BINS = 10
MOST_TOGETHER = 10  # pairs of mistakes


def class_page(
    entries: Iterable[GradebookEntry], predictions: Mapping[str, Sequence[PredictedLine]] | None = None, pages: str = ""
) -> str:
    """Return one HTML file that needs no other file, with a section for each assignment.

    If the grades contain their checks, the item analysis also shows the checks.

    Args:
        entries: the gradebook's records of the class, one for each submission.
        predictions: the counted predictions of the class, by assignment.
        pages: the address of a student's page, with {student} and {assignment} in it. Names,
            mistakes and flags are links to it; "" for no links.
    """
    entries = list(entries)
    sections = [
        {**_section(name, group), "predictions": (predictions or {}).get(name, ())}
        for name, group in assignments(entries).items()
    ]
    names = {entry.student.id: entry.student for entry in entries}
    return render(
        "class.html.j2",
        summary=summary(entries),
        sections=sections,
        fills=FILLS,
        least_students=items.LEAST_STUDENTS,
        names=names,
        pages=pages,
    )


def _section(assignment: str, entries: Sequence[GradebookEntry]) -> dict[str, Any]:
    """Return the values that the template shows about one assignment."""
    graded = [entry.grade for entry in entries if entry.grade.status == "graded"]
    ids = exercise_ids(entries)
    return {
        "assignment": assignment,
        "summary": summary(entries),
        "scores": _scores(with_score(entries)),
        "exercises": _exercises(graded, ids),
        "kinds": [
            name for name in SYMBOLS if any(kind(verdict) == name for grade in graded for verdict in grade.verdicts)
        ],
        "items": items.exercise_items(graded),
        "checks": items.check_items(graded),
        "together": items.mistakes_together(graded)[:MOST_TOGETHER],
        "diagnoses": items.commonest_diagnoses(graded),
        "unexplained": items.unexplained(graded),
        "stopped": items.stopped(graded),
        "time": _time(graded),
        "tiers": ", ".join(sorted({f"{grade.isolation} on {grade.device}" for grade in graded if grade.isolation})),
        "flags": [(entry.student, flag) for entry in entries for flag in entry.grade.flags],
        "cost_points": [
            name for name in COST_POINTS if any(flag.kind == name for grade in graded for flag in grade.flags)
        ],
        "problems": [entry for entry in entries if entry.status not in ("graded", "recorded", "missing")],
        "waiting": [entry for entry in entries if entry.waits_for_person],
        "missing": [entry for entry in entries if entry.status == "missing"],
        "ids": ids,
        "students": [entry for entry in entries if entry.status != "missing"],
    }


def _scores(entries: Sequence[GradebookEntry]) -> dict[str, Any] | None:
    """Return the histogram, mean, median and number of full scores, or None if nothing was graded."""
    if not entries:
        return None
    scores = [entry.score or 0.0 for entry in entries]
    max_score = max(entry.max_score for entry in entries) or 1.0
    # A full score counts in the last bin, and so does more than that, with extra credit.
    bins = Counter(min(int(score / max_score * BINS), BINS - 1) for score in scores)
    counts = [bins[index] for index in range(BINS)]
    return {
        "counts": counts,
        "edges": [number(max_score * index / BINS) for index in range(BINS + 1)],
        "label": f"Distribution of {len(scores)} scores from 0 to {number(max_score)}: {', '.join(map(str, counts))}",
        "mean": number(round(mean(scores), 1)),
        "median": number(round(median(scores), 1)),
        "full": sum(score >= entry.max_score for score, entry in zip(scores, entries, strict=True)),
    }


def _exercises(graded: Sequence[Grade], ids: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of the bars that show the outcomes of each exercise, or None if nothing was graded."""
    if not ids:
        return None
    titles = {verdict.id: verdict.title for grade in graded for verdict in grade.verdicts}
    counts = {id: Counter[str]() for id in ids}
    for grade in graded:
        for verdict in grade.verdicts:
            counts[verdict.id][kind(verdict)] += 1
    shares = ", ".join(f"{id} {round(100 * count['full'] / count.total())} %" for id, count in counts.items())
    rows = [(clean(f"{id} {titles[id]}"), counts[id]) for id in ids]
    return {"rows": rows, "label": f"How each exercise ended; full points: {shares}"}


def _time(graded: Sequence[Grade]) -> dict[str, float] | None:
    """Return the median, 95th percentile, maximum and sum of grading times in seconds, or None without grades."""
    seconds = [grade.seconds for grade in graded]
    if not seconds:
        return None
    slow = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]  # the 95th percentile
    return {"median": median(seconds), "slow": slow, "longest": max(seconds), "total": sum(seconds)}
