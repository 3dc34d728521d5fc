"""How near right answers come to the tolerance, by rounding alone.

    python -m benchmarks.margins [--seconds 10] [--first 0] [1.6 4.9 …]

Each right answer that is known (the solution, the variants, those of the blind corpora) is judged on many draws of the hidden
inputs, four times: as it is written; with products and sums from the last term to the first; with a factor before each product
and its inverse after it; and with float64 inside. A table gives for each exercise the largest share of a check's tolerance that
one of them needed. From 1 on, rounding refuses a right answer. What fails with any tolerance is listed, too, and is no matter of
rounding. Trained objects are not judged; `benchmarks.kernels` does that.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from benchmarks import publish
from corpus.answers import BLIND, answers
from corpus.judging import Sheet, sheet, solutions, tried
from grader.course import lessons
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.planned_trial import PlannedTrial
from grader.judge.verdicts import judge_trial
from grader.records import Evidence, Outcome

PRODUCTS = {torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.mm, Tensor.mm}
SUMS = {torch.sum, Tensor.sum, torch.mean, Tensor.mean}
EXPONENTIALS = {torch.softmax, Tensor.softmax, F.softmax, torch.exp, Tensor.exp, torch.log_softmax, F.log_softmax}
WIDENED = {*PRODUCTS, *EXPONENTIALS, torch.sum, Tensor.sum, torch.einsum, F.linear, F.layer_norm, F.cross_entropy}
FACTOR = 3**-0.5
LEAST = 1e-3  # share of the tolerance that is looked for
STEP = 2**0.25  # how exactly


class _Reversed(TorchFunctionMode):
    """Sums up from the last term to the first."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in PRODUCTS and _are_floats(args):
            args = (args[0].flip(-1), args[1].flip(-min(args[1].ndim, 2)))
        elif func is F.linear and _are_floats(args):
            args = (args[0].flip(-1), args[1].flip(-1), *args[2:])
        elif func in SUMS and _are_floats(args[:1]) and args[0].ndim:
            where = (kwargs or {}).get("dim", args[1] if len(args) > 1 else tuple(range(args[0].ndim)))
            args = (args[0].flip(where), *args[1:]) if isinstance(where, (int, tuple, list)) else args
        return func(*args, **(kwargs or {}))


class _FactorFirst(TorchFunctionMode):
    """Multiplies by a factor before a product, and by its inverse after it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in PRODUCTS and _are_floats(args):
            return func(args[0] * FACTOR, args[1]) / FACTOR
        if func is F.linear and _are_floats(args):
            return func(args[0] * FACTOR, args[1]) / FACTOR + (args[2:] or (0,))[0]
        if func is torch.einsum and len(args) == 3 and _are_floats(args[1:]):
            return func(args[0], args[1] * FACTOR, args[2]) / FACTOR
        return func(*args, **(kwargs or {}))


class _Wide(TorchFunctionMode):
    """Computes in float64 what rounds, and returns float32."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        floats = [one for one in (*args, *kwargs.values()) if _are_floats([one])]
        if func not in WIDENED or not floats or {one.dtype for one in floats} != {torch.float32}:
            return func(*args, **kwargs)
        result = func(*map(_widened, args), **{name: _widened(one) for name, one in kwargs.items()})
        return result.float() if _are_floats([result]) and kwargs.get("dtype") is None else result


ORDERS = {"as written": nullcontext, "last first": _Reversed, "factor first": _FactorFirst, "float64 inside": _Wide}


def _are_floats(values: Any) -> bool:
    return all(isinstance(one, Tensor) and one.is_floating_point() for one in values)


def _widened(value: Any) -> Any:
    return value.double() if _are_floats([value]) else value


def right_answers(lesson: Lesson, exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield names and sources of the answers to an exercise that are known to be right."""
    yield "solution", solutions(lesson.assignment)[exercise.id]
    yield from ((one.name, one.source) for one in answers("variants") if one.exercise == exercise.id)
    for name in BLIND:
        found = (one for one in answers(name) if one.right and one.exercise == exercise.id)
        yield from ((f"{name}: {one.name}", one.source) for one in found)


def passes(one: PlannedTrial, evidence: Evidence, on: Sheet, share: float) -> bool:
    """Tell whether evidence passes with a share of the tolerance."""
    trial = replace(one, check=replace(one.check, rtol=share * one.check.rtol))
    return judge_trial(trial, evidence, on.ours).outcome is Outcome.PASSED


def measure(lesson: Lesson, exercise: Exercise, first: int, seconds: float) -> dict[str, Any]:
    """Judge the right answers to an exercise, draw after draw, until the time is over."""
    right = list(right_answers(lesson, exercise))
    row: dict[str, Any] = {"exercise": exercise.id, "answers": len(right), "judged": 0, "over": 0, "share": LEAST}
    stop = time.monotonic() + seconds
    for row["draws"], number in enumerate(count(first)):
        if row["draws"] and time.monotonic() > stop:
            return row
        on = sheet.__wrapped__(lesson.assignment, exercise.id, f"margins {number}")  # of which 64 would be kept
        planned = [one for one in on.planned if not one.public]
        on = replace(on, planned=tuple(planned))
        for order, mode in ORDERS.items():
            for name, source in right:
                with mode():
                    found = tried(on, source)
                for one in planned:
                    row["judged"] += 1
                    if passes(one, found[one.key], on, row["share"]):
                        continue
                    what = f"{one.check.name}: {name}, {order}, {one.trial.describe}, draw {number}"
                    if not passes(one, found[one.key], on, 1e9):
                        print(
                            f"  {exercise.id} {what}: {judge_trial(one, found[one.key], on.ours).message}", flush=True
                        )
                        continue
                    row["over"] += not passes(one, found[one.key], on, 1)
                    while not passes(one, found[one.key], on, row["share"]):
                        row["share"] *= STEP
                    row["by"] = what
    raise AssertionError("numbers do not end")


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exercises", nargs="*", help="all, if none is named")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each exercise")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows = [
        measure(lesson, exercise, options.first, options.seconds)
        for lesson in lessons().values()
        for exercise in lesson.exercises
        if not options.exercises or exercise.id in options.exercises
    ]
    rows.sort(key=lambda row: -row["share"])
    figures = {name: sum(row[name] for row in rows) for name in ("judged", "draws", "over")}
    publish("margins", {**figures, "largest_share": round(max(row["share"] for row in rows), 3)}, rows)


if __name__ == "__main__":
    main()
