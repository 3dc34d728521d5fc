"""A few steps of training from a secret state: how the state is drawn, what the sandbox runs, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.course.trainings.recorded import State
from grader.declaration.sampler import InputSampler
from grader.records import Case, Finding, Value

# A state that is drawn is off the reference's path by this share of each weight's spread: nobody can know it in advance.
NOISE = 0.02
# How far an update may be from the reference's, relative to its own length, for each weight; and a loss, relative to it.
# Measured over all right answers of the tests, and all mistakes: see docs/design.md, "Trainings are verified".
MOST_OFF, MOST_LOSS_OFF = 0.05, 1e-3
LEAST_MOVE = 1e-6  # an update shorter than this, relative to the longest one, is rounding


# ---------------------------------------------------------------- inputs


def draw_state(sampler: InputSampler, states: Sequence[State]) -> dict[str, Any]:
    """Draw a state: one of these, moved a little in all its weights."""
    chosen = states[int(sampler.integers(0, len(states), 1))]
    weights = {
        name: weight + NOISE * _spread(weight) * sampler.normal(*weight.shape)
        for name, weight in chosen.weights.items()
    }
    return {"step": chosen.step, "weights": weights, "mean": dict(chosen.mean), "square": dict(chosen.square)}


def _spread(weight: Tensor) -> float:
    return weight.double().pow(2).mean().sqrt().item()


# ---------------------------------------------------------------- what the sandbox runs


def go_on(
    model, optimizer, take_step: Callable, state: Mapping, rates: Sequence, batches: Sequence
) -> Mapping[str, Value]:
    """Put a model and its optimizer into a state, and take a step on each batch.

    Returns:
        "losses"; and by parameter, how far it "moved" and the optimizer's "mean" of its gradients.
    """
    parameters = dict(model.named_parameters())
    load_weights_by_name(parameters, state["weights"])
    for name, mean in state["mean"].items():
        optimizer.state[parameters[name]] = {
            "step": torch.tensor(float(state["step"])),
            "exp_avg": mean.clone(),
            "exp_avg_sq": state["square"][name].clone(),
        }
    losses = []
    for rate, batch in zip(rates, batches):  # noqa: B905 - the sandbox runs this, too
        optimizer.param_groups[0]["lr"] = float(rate)
        losses.append(float(take_step(batch)))
    return {
        "losses": losses,
        "moved": {
            name: parameter.detach() - state["weights"][name] for name, parameter in parameters.items()
        },
        "mean": {name: optimizer.state[parameters[name]]["exp_avg"] for name in state["mean"]},
    }


def load_weights_by_name(parameters: Mapping, weights: Mapping) -> None:
    """Copy weights into parameters of the same names.

    Raises:
        RuntimeError: the names or the shapes differ.
    """
    if set(parameters) != set(weights):
        other = sorted(set(parameters) ^ set(weights))[0]
        raise RuntimeError(f"the model's parameters are not those of the lesson: see {other}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            if parameter.shape != weights[name].shape:
                raise RuntimeError(f"the parameter {name} has another shape than in the lesson")
            parameter.copy_(weights[name])


# ---------------------------------------------------------------- judge


def judge_segment(case: Case) -> Finding:
    """Pass if the losses and all updates are the reference's, up to rounding."""
    return compare_training(case.got, case.expected())


def compare_training(got: Mapping[str, Any], expected: Mapping[str, Any]) -> Finding:
    """Compare what some steps of a training gave with what they give with the reference.

    Args:
        got: "losses", and tensors by parameter under other names; untrusted.
        expected: the same.
    """
    losses = got.get("losses")
    wanted = expected["losses"]
    if not isinstance(losses, (list, tuple)) or len(losses) != len(wanted):
        return Finding(passed=False, message=f"{len(wanted)} losses are expected, {losses!r} came back"[:200])
    for step, (own, right) in enumerate(zip(losses, wanted, strict=True), 1):
        if not isinstance(own, (int, float)) or not abs(own - right) <= MOST_LOSS_OFF * max(abs(right), 1e-2):
            text = f"the loss of step {step} is {_number(own)}, and {right:.4f} with a right answer"
            return Finding(passed=False, message=text)
    for kind in expected.keys() - {"losses"}:
        longest = max((value.double().norm().item() for value in expected[kind].values()), default=0.0)
        for name, right in expected[kind].items():
            own = got[kind].get(name) if isinstance(got.get(kind), Mapping) else None
            off = how_far_off(own, right, LEAST_MOVE * longest)
            if not off <= MOST_OFF:
                return Finding(passed=False, message=_words(name, off, len(wanted)))
    return Finding(passed=True)


def how_far_off(own: object, right: Tensor, least: float) -> float:
    """Return the distance of two tensors relative to the length of the right one; infinite if they cannot be compared."""
    if not isinstance(own, Tensor) or own.shape != right.shape or not own.is_floating_point():
        return float("inf")
    distance = (own.double() - right.double()).norm().item()
    return distance / max(right.double().norm().item(), least, 1e-30)


def _number(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, (int, float)) else "no number"


def _words(name: str, off: float, steps: int) -> str:
    after = f"after {steps} steps" if steps > 1 else "after one step"
    if off == float("inf"):
        return f"{after}, {name} did not come back"
    return f"{after}, {name} is off by {off:.0%} of the way that it goes with a right answer"
