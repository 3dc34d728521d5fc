"""The checks that verified trainings share: it begins as the reference's, and it goes on as the reference's."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from grader.course.trainings.recorded import Training
from grader.course.trainings.segment import compare_training, judge_segment
from grader.declare.authoring import SHORT, Case, Check, Finding, Inputs, Trial, Value, failed


def begins(
    cell: str,
    probe: Callable[..., Mapping[str, Value]],
    begun: Callable[[], Mapping[str, Any]],
    training: Training,
    *,
    needs: tuple[str, ...],
) -> Check:
    """Make the check that the training cell, run for SHORT steps, lands where the reference does.

    Args:
        probe: returns "losses", and "weights" by parameter, of what the cell trained.
        begun: returns the same for the reference, and the "start" of the weights.
        training: the reference's.
    """

    def judge_begin(case: Case) -> Finding:
        right, own = begun(), case.got.get("weights")
        if not isinstance(own, Mapping):
            return failed("no weights came back")
        moved = {
            name: value - right["start"][name]
            for name, value in own.items()
            if name in right["start"]
            and isinstance(value, Tensor)
            and value.is_floating_point()
            and value.shape == right["start"][name].shape
        }
        wanted = {name: value - right["start"][name] for name, value in right["weights"].items()}
        return compare_training(
            {"losses": case.got.get("losses"), "moved": moved},
            {"losses": right["losses"], "moved": wanted},
            training.states()[0].square,
            case.rtol,
            right["start"],
        )

    return Check(
        name="begins",
        title=f"the training begins as it should: {SHORT} steps from its start",
        points=0,
        needs=needs,
        probe=probe,
        judge=judge_begin,
        at=cell,
        seconds=30,
        trials=(Trial(f"the first {SHORT} steps", lambda sampler: {}),),
    )


def goes_on(
    cell: str, probe: Callable[..., Mapping[str, Value]], draw: Callable[..., Inputs], *, needs: tuple[str, ...]
) -> Check:
    """Make the check that a training goes on as the reference's, from two secret states.

    Args:
        probe: takes a few steps from a state, and returns what `go_on` does.
        draw: called as draw(sampler, early=…) → the inputs of the probe; early: in the first half of the training.
    """
    return Check(
        name="goes on",
        title="the training goes on as it should, from secret states in its middle and near its end",
        points=0,
        needs=needs,
        probe=probe,
        judge=judge_segment,
        at=cell,
        seconds=30,
        trials=(
            Trial("3 steps in the middle", lambda sampler: draw(sampler, early=True)),
            Trial("3 steps near the end", lambda sampler: draw(sampler, early=False)),
        ),
    )


def with_trained(draw: Callable[..., Inputs], training: Training) -> Callable[..., Inputs]:
    """Return a function that draws what `draw` does, and adds as "weights" those with which the reference's training ends."""
    return lambda sampler, **sizes: {**draw(sampler, **sizes), "weights": dict(training.trained)}
