"""What a class predicted and still knew: for each line of a prediction how many filled it in, how many rightly, and the answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from attention.measures.predictions import agrees

from grader.report.text import number

MOST_ANSWERS, MOST_LETTERS = 3, 60

# By the prediction's name what stands in its lines, by their names; None: nothing.
Said = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, kw_only=True)
class PredictedLine:
    """One line of a prediction, over a class."""

    prediction: str
    line: str
    filled_in: int
    right: int | None  # how many agree with what the author filled in; None where that is nothing
    answers: str  # the commonest ones, or the median


def predicted_lines(said: Sequence[Said], known: Said) -> list[PredictedLine]:
    """Count what a class filled in, for each line of each prediction.

    `said` is of each student; `known` is of the solution notebook, which has all predictions and lines, in their order.
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
    """List the commonest answers, and how often they were given."""
    shown = Counter(str(answer)[:MOST_LETTERS] for answer in answers)
    return ", ".join(f"{answer} ({count})" for answer, count in shown.most_common(MOST_ANSWERS))


def _middle(answers: Sequence[object]) -> str:
    """Give the median and the range of the numbers among the answers; "" without any."""
    numbers = [float(answer) for answer in answers if isinstance(answer, int | float) and abs(answer) < 1e9]
    if not numbers:
        return ""
    middle, least, most = (number(round(value, 3)) for value in (median(numbers), min(numbers), max(numbers)))
    return f"median {middle}, from {least} to {most}"
