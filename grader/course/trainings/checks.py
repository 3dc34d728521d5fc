"""The checks that verify a training run: it continues as the reference's does, from its own and from secret states."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from grader.course.trainings.recorded import Training
from grader.course.trainings.segment import compare_training, judge_segment
from grader.declare.authoring import SHORT, Case, Check, Finding, Inputs, Trial, Value, failed

NOT_BACK = "the weights of the lesson's model are missing"


def begins(
    cell: str,
    probe: Callable[..., Mapping[str, Value]],
    draw: Callable[..., Inputs],
    build: Callable[[], nn.Module],
    go_on: Callable[..., Mapping[str, Any]],
    *,
    needs: tuple[str, ...],
    points: float = 0,
    names: Mapping[str, str] | None = None,
) -> Check:
    """Return the check that the model of a training cell continues to train as the reference does.

    The model starts from the weights that the cell has given it. So the check does not depend on
    the data that the cell used: a student may have changed the scenes, for instance.

    Args:
        cell: the id of the training cell.
        probe: takes a few steps with the notebook's model, and returns the report of
            `segment.go_on`.
        draw: draws the inputs of the probe. Their "state" has no weights.
        build: makes a model of the reference.
        go_on: called as go_on(model, **inputs) with the reference's model. It returns the same as
            the probe.
        names: parameter of the probe → name in the notebook.
    """

    def judge(case: Case) -> Finding:
        model, start = build(), case.got.get("start")
        if problem := load_returned(model, start):
            return failed(problem)
        right = go_on(model, **case.inputs)
        expected = {name: value for name, value in right.items() if name != "start"}
        return compare_training(case.got, expected, case.inputs["state"]["square"], right["start"], case.rtol)

    return Check(
        name="begins",
        title=f"the training begins as it should: from where its first {SHORT} steps led, it goes on rightly",
        points=points,
        needs=needs,
        probe=probe,
        names=names or {},
        judge=judge,
        at=cell,
        seconds=30,
        trials=(Trial(f"3 steps after the first {SHORT}", draw),),
    )


def load_returned(model: nn.Module, state: object) -> str:
    """Copy weights from the sandbox into a model.

    Return a message if they do not fit the model, or "" if they do.

    Args:
        state: the weights by parameter name; untrusted.
    """
    wanted = dict(model.named_parameters())
    if not isinstance(state, Mapping) or set(state) != set(wanted):
        return NOT_BACK
    for name, parameter in wanted.items():
        value = state[name]
        if not isinstance(value, Tensor) or value.shape != parameter.shape or value.dtype != parameter.dtype:
            return f"the weight {name} has another shape or type than in the lesson"
        if not value.isfinite().all():
            return f"the weight {name} holds NaN or infinity: training has diverged"
        with torch.no_grad():
            parameter.copy_(value)
    return ""


def goes_on(
    cell: str, probe: Callable[..., Mapping[str, Value]], draw: Callable[..., Inputs], *, needs: tuple[str, ...]
) -> Check:
    """Return the check that a training run continues as the reference's does, from two secret states.

    Args:
        cell: the id of the training cell.
        probe: takes a few steps from a state, and returns the report of `segment.go_on`.
        draw: called as draw(sampler, early=…). It returns the inputs of the probe, with a state
            from the first half of the training run if `early` is True.
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


def without_weights(draw: Callable[..., Inputs]) -> Callable[..., Inputs]:
    """Return a function that draws a segment from the first half of a training run, without the state's weights.

    Args:
        draw: draws a segment with weights.
    """

    def drawn(sampler: Any) -> Inputs:
        inputs = draw(sampler, early=True)
        return {**inputs, "state": {name: part for name, part in inputs["state"].items() if name != "weights"}}

    return drawn


def with_trained(draw: Callable[..., Inputs], training: Training) -> Callable[..., Inputs]:
    """Return a function that draws inputs with `draw`, and adds the reference's trained weights as "weights"."""
    return lambda sampler, **sizes: {**draw(sampler, **sizes), "weights": dict(training.trained)}
