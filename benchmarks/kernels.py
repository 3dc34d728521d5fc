"""Are the marks the same whichever kernels a processor computes with?

    python -m benchmarks.kernels [--jobs 2] [--corpus 100] [--mutants 6] [1-attention …]

PyTorch, MKL and oneDNN choose their kernels by what the processor can do; environment variables make them choose those of a
lesser one. So one machine can stand for three processors. With the kernels of each this judges the same answers on the same
inputs: solutions, right variants, declared mistakes, the corpus, and some mutants. First in the checks of their own exercise;
then, where an exercise is about a training, in the checks on what the notebook trains with them. The reference is trained with
the same kernels as the answers, so its weights differ, as they do from machine to machine.

Outcome and points of each check must be the same. The table counts also where they would be others with a tenth or with ten
times the tolerance: there another processor might still decide otherwise. A right answer must not be among these.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import torch

from benchmarks import publish
from benchmarks.verified import namespace
from corpus.answers import answers as answers_of
from corpus.judging import TooLong, alarm, sheet, solutions, tried
from corpus.mutate import mutants
from grader.course import lessons
from grader.course.trainings.recorded import FOLDER
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge, judge_trial
from grader.records import Evidence, Outcome

# The plainest kernels, those of processors without AVX-512, and those of this machine: what the environment must say.
KERNELS: Mapping[str, Mapping[str, str]] = {
    "plain": {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "best": {},
}
CHOSEN_BY = frozenset(KERNELS["plain"])
SECRET = "kernels"  # the same inputs for all
SECONDS = 900  # one answer in a notebook with a short training, on a machine with much else to do
FACTORS = (1.0, 0.1, 10.0)  # of the tolerance

Marks = dict[str, tuple[str, float]]  # check → outcome and points


class Answer(NamedTuple):
    """One answer to one exercise."""

    kind: str  # right, mistake, corpus or mutant
    name: str
    source: str  # "" where `replaces` has its definitions
    replaces: Mapping[str, Any]


def answers(lesson: Lesson, exercise: Exercise, most_of_corpus: int, mutants_of_each: int) -> Iterator[Answer]:
    """Yield the answers to an exercise, right and wrong: some of the corpus, and some mutants of the solution."""
    solution = solutions(lesson.assignment)[exercise.id]
    yield Answer("right", "solution", solution, {})
    for one in answers_of("variants"):
        if one.exercise == exercise.id:
            yield Answer("right", one.name, one.source, {})
    for wrong in exercise.mistakes:
        yield Answer("mistake", wrong.name, "", wrong.replaces)
    choose = random.Random(exercise.id)
    there = [one for one in answers_of() if one.exercise == exercise.id]
    for found in choose.sample(there, min(most_of_corpus, len(there))):
        yield Answer("right" if found.right else "corpus", found.name, found.source, {})
    made = list(mutants(solution))
    for what, source in choose.sample(made, min(mutants_of_each, len(made))):
        yield Answer("mutant", what, source, {})


# ---------------------------------------------------------------- in a process of its own, with some kernels


def judge_all(lesson: Lesson, *counts: int) -> Iterator[dict[str, Any]]:
    """Judge all answers of a lesson, and yield what each gets, in its own exercise and in the trainings that run it."""
    trained = [exercise for exercise in lesson.exercises if _planned(lesson.assignment, exercise.id)[0]]
    for exercise in lesson.exercises:
        for answer in answers(lesson, exercise, *counts):
            found = {f"{exercise.id} {name}": marks for name, marks in _alone(lesson, exercise, answer).items()}
            for user in trained:
                if exercise.id in foundations(lesson, user.id) | {user.id}:
                    found |= {
                        f"{user.id} {name}": marks
                        for name, marks in _in_training(lesson, user, exercise, answer).items()
                    }
            yield {"kind": answer.kind, "answer": f"{exercise.id} {answer.name}", "found": found}


def _alone(lesson: Lesson, exercise: Exercise, answer: Answer) -> Mapping[str, Sequence]:
    """Judge an answer on the trials of its own exercise, with each factor of the tolerance."""
    on = sheet(lesson.assignment, exercise.id, SECRET)
    if answer.source:
        evidence: Mapping[str, Evidence] = tried(on, answer.source)
    else:
        replaced = {**lesson.reference, **answer.replaces}
        evidence = {one.key: run_here(one.check, replaced, one.inputs, one.key) for one in on.planned}
    found: dict[str, list] = defaultdict(list)
    for factor in FACTORS:
        checks = {one.name: replace(one, rtol=factor * one.rtol) for one in on.exercise.checks}
        planned = [replace(one, check=checks[one.check.name]) for one in on.planned]
        verdict = judge(replace(on.exercise, checks=tuple(checks.values())), planned, evidence, on.ours)
        for check in verdict.checks:
            found[check.name].append([check.outcome, check.points])
    return found


def _in_training(lesson: Lesson, user: Exercise, exercise: Exercise, answer: Answer) -> Mapping[str, Sequence]:
    """Judge what a notebook trains with an answer in it, each check by itself, with each factor of the tolerance."""
    planned, ours = _planned(lesson.assignment, user.id)
    cell = next(one.check.at for one in planned if one.check.at)
    evidence: dict[str, Evidence] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            with alarm(SECONDS):
                there = namespace(lesson, cell or "", exercise.id, answer.source, answer.replaces)
                for one in planned:
                    given = {name: there[name] for name in one.takes if name in there}
                    got = run_here(one.check, given, one.inputs, one.key)
                    # a copy, as the sandbox sends one: the next probe may put other weights into the model
                    evidence[one.key] = replace(got, values=deepcopy(got.values))
        except (Exception, TooLong) as error:
            return {one.check.name: [[f"the notebook raised {type(error).__name__}", 0.0]] for one in planned}
    return _marks(planned, evidence, ours)


@cache
def _planned(assignment: str, id: str) -> tuple[list[PlannedTrial], ReferenceResults]:
    """Draw the trials of a verified training, and make what keeps the reference's results on them."""
    lesson = lessons()[assignment]
    names = lesson.training_checks(id)
    planned = plan_exercise(lesson.exercise(id), SECRET, "kernels")
    return [one for one in planned if one.check.name in names], ReferenceResults(lesson.reference)


def _marks(
    planned: Sequence[PlannedTrial], evidence: Mapping[str, Evidence], ours: ReferenceResults
) -> Mapping[str, Sequence]:
    found: dict[str, list] = {one.check.name: [] for one in planned}
    for factor in FACTORS:
        got: dict[str, list[Outcome]] = defaultdict(list)
        for one in planned:
            check = replace(one.check, rtol=factor * one.check.rtol)
            got[check.name].append(judge_trial(replace(one, check=check), evidence[one.key], ours).outcome)
        for name, outcomes in got.items():
            worst = next((one for one in outcomes if one is not Outcome.PASSED), Outcome.PASSED)
            points = next(one.check.points for one in planned if one.check.name == name)
            found[name].append([worst, points * (worst is Outcome.PASSED)])
    return found


# ---------------------------------------------------------------- side by side


def with_kernels(kernels: str, trainings: Path, *command: str) -> str:
    """Run a module in a process with some kernels, and return what it prints.

    Args:
        trainings: folder for the trainings of all kernels, each in a folder of its own.
        command: the name of the module, and its arguments.

    Raises:
        CalledProcessError: the process failed.
    """
    others = {name: value for name, value in os.environ.items() if name not in CHOSEN_BY}
    environment = {**others, **KERNELS[kernels], FOLDER: str(trainings / kernels)}
    line = [sys.executable, "-m", *command]
    return subprocess.run(line, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def judged_with(kernels: str, assignment: str, counts: Sequence[str], trainings: Path) -> dict[str, dict[str, Any]]:
    """Judge a lesson's answers in a process with some kernels; return what `judge_all` yields, by kind and answer."""
    command = ["benchmarks.kernels", "--here", *counts, assignment]
    lines = map(json.loads, with_kernels(kernels, trainings, *command).splitlines())
    return {f"{line['kind']}: {line['answer']}": line for line in lines}


def compared(assignment: str, by_kernels: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each kind of answer; print each check that gives something else with other kernels, or nearly does."""
    best = by_kernels["best"]
    for kind in dict.fromkeys(line["kind"] for line in best.values()):
        row: dict[str, Any] = {"lesson": assignment, "kind": kind, "answers": 0, "checks": 0, "differ": 0, "near": 0}
        for name, line in best.items():
            if line["kind"] != kind:
                continue
            row["answers"] += 1
            for check in line["found"]:
                got = {kernels: found[name]["found"].get(check) for kernels, found in by_kernels.items()}
                row["checks"] += 1
                if len({json.dumps(one and one[0]) for one in got.values()}) > 1:
                    row["differ"] += 1
                    print(f"  DIFFERS {assignment} {name}, check {check}: {_words(got)}", flush=True)
                elif any(one != first for first, *rest in got.values() for one in rest):
                    row["near"] += 1
                    print(f"  near {assignment} {name}, check {check}: {_words(got)}", flush=True)
        yield row


def _words(got: Mapping[str, Any]) -> str:
    """Say what each of the kernels gives, with the tolerance as it is, a tenth of it, and ten times."""
    return "; ".join(
        f"{kernels} " + " | ".join(f"{outcome} {points:g}" for outcome, points in found or [])
        for kernels, found in got.items()
    )


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--corpus", type=int, default=100, help="answers of the corpus to each exercise, at most")
    parser.add_argument("--mutants", type=int, default=6, help="of each solution, at most")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        mpl.use("agg")
        torch.set_num_threads(1)
        result = sys.stdout
        with contextlib.redirect_stdout(io.StringIO()):  # what cells print
            for assignment in options.assignments:
                for line in judge_all(lessons()[assignment], options.corpus, options.mutants):
                    print(json.dumps(line), file=result, flush=True)
        return
    counts = ["--corpus", str(options.corpus), "--mutants", str(options.mutants)]
    rows = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        runs = {
            (assignment, kernels): pool.submit(judged_with, kernels, assignment, counts, Path(folder))
            for assignment in options.assignments
            for kernels in KERNELS
        }
        for assignment in options.assignments:
            rows += compared(assignment, {kernels: runs[assignment, kernels].result() for kernels in KERNELS})
    figures = {name: sum(row[name] for row in rows) for name in ("answers", "checks", "differ", "near")}
    figures["right_near"] = sum(row["near"] for row in rows if row["kind"] == "right")
    publish("kernels", figures, rows)


if __name__ == "__main__":
    main()
