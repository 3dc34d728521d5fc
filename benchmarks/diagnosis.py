"""What do students read? The corpus of tests/diagnosis, judged: refused, accepted, and told a mistake.

`python -m benchmarks.diagnosis [--say] [--half read|unread]`; --say prints what each wrong answer is told beside its true
cause, for a person to judge whether that is it.
"""

from __future__ import annotations

import argparse
from collections import Counter

import torch

from benchmarks import publish
from benchmarks.truth.answers import verdict
from grader.course import lessons
from grader.records import Outcome
from tests.diagnosis.corpus_answers import Answer, answers

COLUMNS = ("wrong", "refused", "told a mistake", "right", "accepted", "right told a mistake")


def main() -> None:
    """Judge every answer, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--say", action="store_true", help="print what each wrong answer is told")
    parser.add_argument("--half", choices=("read", "unread"), help="this half of the corpus alone")
    options = parser.parse_args()
    torch.set_num_threads(1)
    by_exercise: dict[str, Counter[str]] = {}
    for answer in answers():
        if options.half is None or answer.unread == (options.half == "unread"):
            count = by_exercise.setdefault(answer.exercise, Counter())
            count.update(_measure(answer, say=options.say))
    total = sum(by_exercise.values(), Counter[str]())
    rows = [
        {"exercise": name, **{column: count[column] for column in COLUMNS}}
        for name, count in [*by_exercise.items(), ("all", total)]
    ]
    figures = {
        "wrong": total["wrong"],
        "refused": total["refused"] / max(total["wrong"], 1),
        "told_a_mistake": total["told a mistake"] / max(total["wrong"], 1),
        "right": total["right"],
        "accepted": total["accepted"] / max(total["right"], 1),
        "right_told_a_mistake": total["right told a mistake"],
    }
    publish("diagnosis", figures, rows)


def _measure(answer: Answer, *, say: bool) -> list[str]:
    """Judge one answer; return the columns in which it counts."""
    lesson = next(
        lesson for lesson in lessons().values() if answer.exercise in {one.id for one in lesson.exercises}
    )
    with torch.enable_grad():  # an answer may switch gradients off, and leave them so
        got = verdict(lesson, lesson.exercise(answer.exercise), answer.source)
    passed = got.outcome is Outcome.PASSED
    if answer.right:
        if not passed:
            print(f"{answer.exercise} RIGHT REFUSED {answer.name}: {got.message}")
        return ["right", *["accepted"] * passed, *["right told a mistake"] * bool(got.mistake)]
    if passed:
        print(f"{answer.exercise} WRONG ACCEPTED {answer.name}: {answer.cause}")
    elif say:
        print(f"{answer.exercise} {answer.name}: {answer.cause}\n    told: {got.hint or got.message}")
    return ["wrong", *["refused"] * (not passed), *["told a mistake"] * bool(got.mistake)]


if __name__ == "__main__":
    main()
