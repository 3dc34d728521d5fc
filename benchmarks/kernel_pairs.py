"""How far from the reference right answers land that a processor with other kernels has computed: for each pair of kernels.

    python -m benchmarks.kernel_pairs [--answers 12] [1-attention …]

The reference is trained, its states kept, the inputs drawn and the answers judged with the kernels of one processor; right
answers take their steps, and use the trained weights, with those of another, on one thread and on two. That is a class that is
graded on several machines, or with trainings that another machine has kept. Says for each training check and pair which share
of the tolerance is used in the worst case. A tenth may be used: the rest is for processors that nobody has tried.

Of the lab, which keeps no training, each judge trains the first steps of the reference itself, on the machine of the sandbox. So
there only equal kernels can meet. (Its models begin with an aligner that was trained a little. Where pixels are nearly always
blank, Adam moves its weights by rounding alone: by 1e-3 of their length, from processor to processor.)
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import torch

from benchmarks import publish
from benchmarks.kernels import KERNELS, SECRET, with_kernels
from benchmarks.verified import namespace
from corpus.answers import answers
from grader.course import lessons
from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge_trial
from grader.records import Evidence, Outcome

SHARES = (1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the tolerance, which is tried with
MOST = 0.1  # of the tolerance that may be used
THREADS = (1, 2)
NOTHING_KEPT = "6-explain"


def trials(lesson: Lesson) -> Iterator[PlannedTrial]:
    """Yield the trials of a lesson's verified trainings, for two submissions."""
    for exercise in lesson.exercises:
        names = lesson.training_checks(exercise.id)
        for sha in ("one", "two") if names else ():
            for one in plan_exercise(exercise, SECRET, sha):
                if one.check.name in names:
                    yield replace(one, key=f"{one.key} {sha}")


def right_answers(lesson: Lesson, user: str, count: int) -> list[tuple[str, str, str]]:
    """Return exercise, name and source of some right answers that a training runs; the solution is the first."""
    ids = foundations(lesson, user) | {user}
    among = [(one.exercise, one.name, one.source) for one in answers("variants") if one.exercise in ids]
    return [("", "solution", ""), *random.Random(user).sample(among, min(count, len(among)))]


def draw(assignment: str, folder: Path, kernels: str) -> None:
    """Draw the inputs, and keep them for the other processes."""
    drawn = {one.key: dict(one.inputs) for one in trials(lessons()[assignment])}
    torch.save(drawn, folder / f"{kernels}.inputs")


def answer(assignment: str, folder: Path, kernels: str, threads: int, count: int) -> None:
    """Run right answers on the inputs of each processor, and keep what comes back."""
    torch.set_num_threads(threads)
    lesson = lessons()[assignment]
    drawn = {other: torch.load(folder / f"{other}.inputs") for other in KERNELS}
    planned = list(trials(lesson))
    came: dict[tuple[str, str, str], Any] = {}
    for user in dict.fromkeys(one.exercise.id for one in planned):
        mine = sorted(
            (one for one in planned if one.exercise.id == user),
            key=lambda one: one.check.name != "begins",  # first, before other weights are put in
        )
        cell = next(one.check.at for one in mine if one.check.at)
        for id, name, source in right_answers(lesson, user, count):
            with contextlib.redirect_stdout(io.StringIO()):
                there = namespace(lesson, cell or "", id, source, {})
            torch.set_num_threads(threads)  # the notebook may have set its own
            for one, other in product(mine, KERNELS):
                given = {name: there[name] for name in one.takes if name in there}
                got = run_here(one.check, given, drawn[other][one.key], one.key)
                buffer = io.BytesIO()  # a copy, as the sandbox sends one
                torch.save(got, buffer)
                came[other, one.key, f"{id} {name}"] = buffer.getvalue()
    torch.save(came, folder / f"{kernels}-{threads}.came")


def judge(assignment: str, folder: Path, kernels: str) -> None:
    """Judge what came back from each processor, and print a line for each check and processor."""
    lesson = lessons()[assignment]
    ours = ReferenceResults(lesson.reference)
    by_key = {one.key: one for one in trials(lesson)}
    for other, threads in product(KERNELS, THREADS):
        worst: dict[str, tuple[float, str]] = {}
        for (drawn, key, name), content in torch.load(folder / f"{other}-{threads}.came").items():
            if drawn == kernels and (other == kernels or assignment != NOTHING_KEPT):
                one = by_key[key]
                got = torch.load(io.BytesIO(content), weights_only=False)
                check = f"{one.exercise.id} {one.check.name}"
                worst[check] = max(worst.get(check, (0.0, "")), (share(one, got, ours), name))
        for check, (used, name) in worst.items():
            print(
                json.dumps(
                    {"check": check, "kept": kernels, "ran": other, "threads": threads, "share": used, "answer": name}
                )
            )


def share(trial: PlannedTrial, got: Evidence, ours: ReferenceResults) -> float:
    """Return the least of SHARES with which an answer still passes; infinite if it passes with none."""
    for factor in SHARES:
        check = replace(trial.check, rtol=factor * trial.check.rtol)
        if judge_trial(replace(trial, check=check), got, ours).outcome is Outcome.PASSED:
            return factor
    return float("inf")


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    parser.add_argument("--answers", type=int, default=12, help="right answers to each training, beside the solution")
    parser.add_argument("--here", nargs="+", help=argparse.SUPPRESS)  # in a process of its own, with some kernels
    options = parser.parse_args()
    if options.here:
        mpl.use("agg")
        warnings.simplefilter("ignore")
        step, folder, kernels, *threads = options.here
        (assignment,) = options.assignments
        if step == "draw":
            draw(assignment, Path(folder), kernels)
        elif step == "answer":
            answer(assignment, Path(folder), kernels, int(threads[0]), options.answers)
        else:
            judge(assignment, Path(folder), kernels)
        return
    lines = []
    for assignment in options.assignments:
        with tempfile.TemporaryDirectory() as folder:
            lines += _measured(assignment, Path(folder), options.answers)
    checks = dict.fromkeys(line["check"] for line in lines)
    rows = []
    for check in checks:
        row: dict[str, Any] = {"check": check}
        for kept, ran in product(KERNELS, KERNELS):
            of = [one for one in lines if (one["check"], one["kept"], one["ran"]) == (check, kept, ran)]
            row[f"{kept}, {ran}"] = f"{max(one['share'] for one in of):g}" if of else ""
        rows.append(row)
    largest = {check: max(one["share"] for one in lines if one["check"] == check) for check in checks}
    publish("kernel_pairs", {**largest, "over": sum(one > MOST for one in largest.values())}, rows)


def _measured(assignment: str, folder: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of one lesson."""

    def run(step: str, kernels: str, *more: str) -> str:
        module = ["benchmarks.kernel_pairs", assignment, "--answers", str(count)]
        return with_kernels(kernels, folder / "trainings", *module, "--here", step, str(folder), kernels, *more)

    for kernels in KERNELS:
        run("draw", kernels)
    for kernels, threads in product(KERNELS, THREADS):
        run("answer", kernels, str(threads))
    for kernels in KERNELS:
        yield from map(json.loads, run("judge", kernels).splitlines())


if __name__ == "__main__":
    main()
