"""Is the grade true? Wrong answers refused and named, right ones accepted, exercise by exercise.

`python -m benchmarks.truth [--assignment 1-attention] [--sample N] [--secrets N]`
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter

from rich.console import Console
from rich.table import Table

from benchmarks import publish
from benchmarks.truth.answers import empty_answers, mistaken, solutions, variants, verdict
from benchmarks.truth.mutate import mutants
from grader.course import lessons
from grader.exercise import Exercise, Lesson, Outcome

out = Console(highlight=False)


def measure(
    lesson: Lesson, exercise: Exercise, *, sample: int | None, secrets: int
) -> tuple[Counter, list[str]]:
    """Counts for one exercise, and a line for each verdict that is wrong or needs a look."""
    count: Counter = Counter()
    lines: list[str] = []
    solution = solutions(lesson.assignment)[exercise.id]
    graded = sum(check.points for check in exercise.checks if check.at is None)

    for name, source in [("solution", solution)] + [
        (one.name, one.source) for one in variants(lesson.assignment) if one.exercise == exercise.id
    ]:
        count["right"] += 1
        for secret in range(secrets):
            got = verdict(lesson, exercise, source, str(secret))
            if got.outcome is not Outcome.PASSED:
                count["right refused"] += 1
                lines.append(f"{exercise.id} RIGHT REFUSED {name}, secret {secret}: {got.message}")
                break

    for wrong in exercise.mistakes:
        count["mistakes"] += 1
        got = mistaken(lesson, exercise, wrong)
        if got.outcome is Outcome.PASSED:
            count["wrong accepted"] += 1
            lines.append(f"{exercise.id} WRONG ACCEPTED mistake {wrong.name}")
        if got.mistake == wrong.name:
            count["named right"] += 1
        else:
            lines.append(f"{exercise.id} mistake {wrong.name} named {got.mistake}")

    for what, source in empty_answers(exercise):
        count["empty"] += 1
        got = verdict(lesson, exercise, source)
        if got.points > 0:
            count["wrong accepted"] += 1
            lines.append(f"{exercise.id} WRONG ACCEPTED {what}: {got.points:g} of {graded:g} points")

    made = list(mutants(solution))
    if sample is not None:
        made = random.Random(exercise.id).sample(made, min(sample, len(made)))
    for what, source in made:
        got = verdict(lesson, exercise, source)
        if got.outcome is not Outcome.PASSED:
            count["mutants"] += 1
            count["mutants named"] += got.mistake is not None
            continue
        differs = [
            s
            for s in range(secrets)
            if verdict(lesson, exercise, source, f"more {s}").outcome is not Outcome.PASSED
        ]
        if differs:
            count["mutants"] += 1
            count["wrong accepted"] += 1
            lines.append(
                f"{exercise.id} WRONG ACCEPTED {what}: refused under {len(differs)} of {secrets} other secrets"
            )
        else:
            count["equivalent"] += 1
            lines.append(f"{exercise.id} equivalent? {what}")
    return count, lines


def main() -> None:
    """Print the table, the verdicts to look at, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignment", action="append", help="this lesson alone")
    parser.add_argument("--sample", type=int, help="at most so many mutants of each exercise")
    parser.add_argument("--secrets", type=int, default=20, help="course secrets to try")
    options = parser.parse_args()

    columns = (
        "right",
        "right refused",
        "mistakes",
        "named right",
        "empty",
        "mutants",
        "equivalent",
        "wrong accepted",
    )
    table = Table("exercise", *columns, box=None)
    total: Counter = Counter()
    for lesson in lessons().values():
        if options.assignment and lesson.assignment not in options.assignment:
            continue
        for exercise in lesson.exercises:
            count, lines = measure(lesson, exercise, sample=options.sample, secrets=options.secrets)
            table.add_row(exercise.id, *(str(count[column]) for column in columns))
            total += count
            for line in lines:
                out.print(line, markup=False, soft_wrap=True)
    table.add_row("all", *(str(total[column]) for column in columns), style="bold")
    publish(
        "truth",
        {
            "wrong_accepted": total["wrong accepted"],
            "right_refused": total["right refused"],
            "mutants": total["mutants"],
            "right_variants": total["right"],
            "named_right": total["named right"] / max(total["mistakes"], 1),
        },
        table,
    )
    sys.exit(1 if total["wrong accepted"] or total["right refused"] else 0)


if __name__ == "__main__":
    main()
