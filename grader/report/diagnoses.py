"""Counts what wrong answers of a class were told: the declared mistakes, and what else explained them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.records import Grade, Outcome, Verdict
from grader.report.text import by_number

PLACE = re.compile(r"\b([Ll]ine) \d+")
SENTENCE_OF_PLACE = re.compile(r"(?<=[.!?:]) [Ll]ine \d+\b.*", re.S)


@dataclass(frozen=True)
class Diagnosis:
    """What several answers to one exercise were told."""

    exercise: str
    mistake: str  # the declared mistake's name; "" if none is declared for it
    kind: str  # the kind of explanation: "mistake", "structure", "relation", …
    says: str
    count: int
    share: float  # of the commonest, in percent


def commonest_diagnoses(grades: Iterable[Grade]) -> list[Diagnosis]:
    """List what explained the wrong answers, the commonest first.

    Answers that differ in the place alone, in line 3 or in line 5, count as one.
    """
    counts = Counter(
        (verdict.id, verdict.mistake or "", verdict.diagnosis or "mistake", without_place(verdict.hint))
        for grade in grades
        for verdict in grade.verdicts
        if is_explained(verdict)
    )
    highest = max(counts.values(), default=1)
    rows = sorted(counts.items(), key=lambda entry: (-entry[1], by_number(entry[0][0]), entry[0]))
    return [Diagnosis(*key, count, 100 * count / highest) for key, count in rows]


def unexplained(grades: Sequence[Grade]) -> dict[str, int]:
    """Count the wrong answers that nothing explained, by exercise, in the exercises' order."""
    counts = Counter(
        verdict.id
        for grade in grades
        for verdict in grade.verdicts
        if verdict.outcome is Outcome.FAILED and not is_explained(verdict)
    )
    return dict(sorted(counts.items(), key=lambda entry: by_number(entry[0])))


def is_explained(verdict: Verdict) -> bool:
    """Tell whether its student was told more than what was seen."""
    return bool(verdict.mistake or verdict.diagnosis)


def without_place(hint: str) -> str:
    """Leave out where in the student's code it is: a last part that begins with the line, and numbers of lines."""
    return PLACE.sub(r"\1 …", SENTENCE_OF_PLACE.sub("", hint))
