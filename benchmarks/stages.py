"""Where the time of one submission goes, stage by stage: a right one, and one with a mistake that others build on.

    python -m benchmarks.stages [--students 5] [1-attention …]

Grades a class in this process, with one job, and measures wall time: while the sandbox works, this process waits. Time of a
stage within another counts for the inner one, and all of a second run counts as that. The time of a small class is taken
from that of a larger one, so that what is done once for a class is left out. To find the words for a wrong answer counts for
"try repairs", which asks for them first. On a busy machine the figures say little.
"""

from __future__ import annotations

import argparse
import io
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from inspect import isgenerator
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter
from typing import Any
from unittest.mock import patch

from rich.console import Console

from benchmarks import publish
from benchmarks.classes import make_course
from corpus.answers import answers
from grader.commands.console import Terminal
from grader.commands.grade import run
from grader.commands.options import GradeOptions

WARM = 2  # submissions of the small class
AGAIN = "second run"  # with stand-ins
# Stage → what does it: the name under which the callers find it.
STAGES = {
    "read and rebuild": ("grader.grading.grade.read", "grader.grading.grade.rebuild"),
    "draw inputs": ("grader.grading.grade.plan_exercise",),
    "plan the run": ("grader.grading.grade.schedule",),
    "fork": ("grader.sandbox.server.Server.spawn",),
    "cells": ("grader.sandbox.connection.Sandbox.run_cell",),
    "probes": ("grader.sandbox.connection.Sandbox.call",),
    "judge": ("grader.grading.judge_run.judge_trials",),
    "explain": ("grader.grading.judge_run.wrong_answer", "grader.grading.judge_run.diagnose"),
    AGAIN: ("grader.grading.grade._Grading._judge_again",),
    "notebook": ("grader.classes.results.writer.write_autograded",),
    "database": ("grader.classes.gradebook.writer.GradeWriter.record",),
    "page": ("grader.classes.results.writer.page_of", "grader.classes.results.writer.write_feedback"),
    "all else": ("grader.classes.results.writer.ResultsWriter.record", "grader.classes.workers.worker.run"),
}
MISTAKEN = {"1-attention": "1.2", "2-heads": "2.4", "3-vlm": "3.2"}  # the exercise with the mistake


class Clock:
    """Shares out wall time among the stages that run."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._running: list[str] = []
        self._since = 0.0

    def _switch(self) -> None:
        now = perf_counter()
        if self._running:
            self.spent[AGAIN if AGAIN in self._running else self._running[-1]] += now - self._since
        self._since = now

    def timed(self, stage: str, call: Callable) -> Callable:
        """Wrap a function of a stage."""

        def wrapped(*arguments: Any, **named: Any) -> Any:
            with self._at(stage):
                made = call(*arguments, **named)
            return self._steps(stage, made) if isgenerator(made) else made

        return wrapped

    @contextmanager
    def _at(self, stage: str) -> Iterator[None]:
        """Count the time of a block for a stage."""
        self._switch()
        self._running.append(stage)
        try:
            yield
        finally:
            self._switch()
            self._running.pop()

    def _steps(self, stage: str, generator: Generator) -> Generator:
        """Count the time of a generator's own steps, and not of what is done with what it yields."""
        answer = None
        while True:
            with self._at(stage):
                try:
                    made = generator.send(answer)
                except StopIteration as end:
                    return end.value
            answer = yield made


@contextmanager
def measured(clock: Clock) -> Iterator[None]:
    """Measure what the functions in STAGES take."""
    with ExitStack() as stack:
        for stage, names in STAGES.items():
            for name in names:
                stack.enter_context(patch(name, clock.timed(stage, resolve_name(name))))
        yield


def seconds(assignment: str, own: Mapping[str, str], students: int) -> dict[str, float]:
    """Grade a class in which all hand in the same answers; return the seconds of each stage for one of them."""
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        # The first class pays for what a process does once, the third has so many students more than the second.
        for number, count in enumerate((WARM, WARM, WARM + students)):
            course = make_course(Path(folder, str(number)), {assignment: [own] * count})
            clock, said = Clock(), Console(file=io.StringIO())
            options = GradeOptions(paths=[course / "submitted"], root=course, device="cpu", jobs=1)
            settings = {"GRADER_COURSE": str(course), "GRADER_SECRET": "benchmark"}
            with patch.dict(os.environ, settings), measured(clock):
                if run(options, Terminal(out=said, err=said)):
                    raise RuntimeError(said.file.getvalue()[-2000:])
            spent.append(clock.spent)
    _, few, more = spent
    return {stage: (more[stage] - few[stage]) / students for stage in STAGES}


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(MISTAKEN))
    parser.add_argument("--students", type=int, default=5)
    options = parser.parse_args()
    columns: dict[str, dict[str, float]] = {}
    for assignment in options.assignments:
        id = MISTAKEN[assignment]
        wrong = next(one.source for one in answers() if one.exercise == id and not one.right)
        columns[f"{assignment} right"] = seconds(assignment, {}, options.students)
        columns[f"{assignment} wrong {id}"] = seconds(assignment, {id: wrong}, options.students)
    rows: list[dict[str, object]] = [
        {"stage": stage, **{name: round(1000 * column[stage]) for name, column in columns.items()}} for stage in STAGES
    ]
    rows.append(
        {"stage": "ms in all", **{name: round(1000 * sum(column.values())) for name, column in columns.items()}}
    )
    publish("stages", {name: sum(column.values()) for name, column in columns.items()}, rows)


if __name__ == "__main__":
    main()
