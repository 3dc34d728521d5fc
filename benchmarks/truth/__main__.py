"""Is the grade true? Wrong answers refused and named, right ones accepted, exercise by exercise.

`python -m benchmarks.truth [--assignment 1-attention] [--sample N] [--secrets N] [--jobs N]`
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rich.console import Console
from rich.table import Table

from benchmarks import publish
from benchmarks.truth.measure import COLUMNS, measure_alone
from grader.course import lessons

out = Console(highlight=False)


def main() -> None:
    """Print the table, the verdicts to look at, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignment", action="append", help="this lesson alone")
    parser.add_argument("--sample", type=int, help="at most so many mutants of each exercise")
    parser.add_argument("--secrets", type=int, default=20, help="course secrets to try")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="exercises side by side")
    options = parser.parse_args()

    todo = [
        (lesson.assignment, exercise.id, options.secrets, options.sample)
        for lesson in lessons().values()
        if not options.assignment or lesson.assignment in options.assignment
        for exercise in lesson.exercises
    ]
    table = Table("exercise", *COLUMNS, box=None)
    total: Counter = Counter()
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for (_, id, *_), (count, lines) in zip(todo, pool.map(measure_alone, *zip(*todo, strict=True)), strict=True):
            table.add_row(id, *(str(count[column]) for column in COLUMNS))
            total += count
            for line in lines:
                out.print(line, markup=False, soft_wrap=True)
    table.add_row("all", *(str(total[column]) for column in COLUMNS), style="bold")
    publish(
        "truth",
        {
            "wrong_accepted": total["wrong accepted"],
            "right_refused": total["right refused"],
            "mutants": total["mutants"],
            "right_variants": total["right"],
            "named_right": total["named right"] / max(total["mistakes"], 1),
            "diagnosed": total["diagnosed"] / max(total["mistakes"], 1),
            "misdiagnosed": total["misdiagnosed"],
            "self_check_agrees": total["self-check agrees"] / max(total["self-check asked"], 1),
            "changed_with_the_secret": total["changed"],
            "secrets": options.secrets,
        },
        table,
    )
    sys.exit(1 if any(total[wrong] for wrong in ("wrong accepted", "right refused", "changed")) else 0)


if __name__ == "__main__":
    main()
