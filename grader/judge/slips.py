"""Find out whether a check fails because of one slip alone; it then keeps half of its points.

A slip is mended in one place: the two results in the other order, right numbers in another dtype, or what a declaration marks
as a slip. "Alone" is measured: on every failing trial of the check the answer gives what
the right answer with this slip gives.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any

import torch
from torch import Tensor

from grader.declare.exercise import Exercise, Mistake
from grader.judge.compare import compare, flatten
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults
from grader.records import Evidence, Status

KEEPS = 0.5  # the share of a check's points
NOTE = "One slip, and the rest is right: a check that fails for it alone keeps half of its points."


def is_slip(
    exercise: Exercise,
    failing: Sequence[tuple[PlannedTrial, Evidence]],
    reference_results: ReferenceResults,
    device: str = "cpu",
) -> bool:
    """Tell whether one slip explains all failing trials of a check, each with what came back for it."""
    if any(trial.check.judge is not None for trial, _ in failing):
        return False  # what such a check passes is no single result, so none can be told from another
    if all(_of_another_dtype(trial, got, reference_results, device) for trial, got in failing):
        return True
    slips = [*(one for one in exercise.mistakes if one.slip), *_turned_around(exercise.reference)]
    return any(all(_gives(slip, trial, got, reference_results) for trial, got in failing) for slip in slips)


def _gives(slip: Mistake, trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults) -> bool:
    """Tell whether the right answer with this slip gives what came back for a trial, and without it something else."""
    wrong, right = reference_results.wrong(trial, slip), reference_results.right(trial)
    return same(got, wrong, trial) and not same(wrong, right, trial)


def same(got: Evidence, wrong: Evidence, trial: PlannedTrial) -> bool:
    """Tell whether an answer and a mistake raised the same error, or returned the same within ten times the allowed difference."""
    if got.status is Status.RAISED:
        # Compare the text, too: exceptions of one class have many causes, but a text that names the same
        # shapes has one.
        return wrong.status is Status.RAISED and (got.error, got.message) == (wrong.error, wrong.message)
    if got.status is not Status.OK or wrong.status is not Status.OK:
        return False
    return compare(got.values, wrong.values, rtol=trial.check.rtol * 10).passed


def _of_another_dtype(trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str) -> bool:
    """Tell whether some tensor has another dtype than it should, and all is right once each is converted."""
    right = reference_results.right(trial)
    if got.status is not Status.OK or right.status is not Status.OK:
        return False
    values, wanted = dict(flatten(got.values)), dict(flatten(right.values))
    pairs = [(value, wanted.get(name)) for name, value in values.items()]
    if not any(isinstance(came, Tensor) and isinstance(due, Tensor) and came.dtype != due.dtype for came, due in pairs):
        return False
    # Where float32 and float64 meet, all is as exact as float32, gradients too.
    values = {name: _in_float32(_like(value, wanted.get(name))) for name, value in values.items()}
    wanted = {name: _in_float32(value) for name, value in wanted.items()}
    return compare(values, wanted, rtol=trial.check.rtol, device=device).passed


def _in_float32(value: Any) -> Any:
    """Return a float64 tensor in float32, and anything else as it is."""
    return value.float() if isinstance(value, Tensor) and value.dtype == torch.float64 else value


def _like(got: Any, want: Any) -> Any:
    """Convert a tensor to the integer or bool dtype that is expected, if no number changes; return anything else as it is."""
    if not isinstance(got, Tensor) or not isinstance(want, Tensor):
        return got
    if want.is_floating_point() or got.dtype == want.dtype:
        return got
    made = got.to(want.dtype)
    return made if torch.equal(made.to(got.dtype), got) else got


@lru_cache(maxsize=256)
def _turned_around(reference: tuple[Any, ...]) -> tuple[Mistake, ...]:
    """Return a mistake for each right answer of an exercise: the same, with its two results in the other order."""
    return tuple(
        Mistake(f"results of {right.__name__} turned around", {right.__name__: wrong}, "", slip=True)
        for right in reference
        for wrong in (_layer_turned_around(right) if isinstance(right, type) else _call_turned_around(right),)
    )


def _call_turned_around(right: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function: a pair that it returns is turned around, and any other value is returned as it is."""

    @wraps(right)
    def call(*args: Any, **options: Any) -> Any:
        returned = right(*args, **options)
        return returned[::-1] if isinstance(returned, (tuple, list)) and len(returned) == 2 else returned

    return call


def _layer_turned_around(right: Any) -> type:
    """Return a subclass of a layer class whose `forward` turns its pair around."""
    return type(right.__name__, (right,), {"forward": _call_turned_around(right.forward)})
