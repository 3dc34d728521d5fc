"""A few steps of training from a secret state: functions to draw the state, to take the steps, and to judge them.

The state of a training run consists of the weights and of Adam's running means.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from grader.course.trainings.recorded import State
from grader.declare.authoring import Case, Finding, InputSampler, Value, failed

# A drawn state is off the reference's path by this share of each weight's spread, so that nobody
# can know it in advance.
NOISE = 0.02
# How far an update may be from the reference's, relative to its own length, for each weight; and a
# loss, relative to the reference's loss. Right answers are off by at most 1e-3, whichever
# processors they and the reference run on (`python -m benchmarks.kernel_pairs`).
MOST_OFF, MOST_LOSS_OFF = 0.01, 1e-3
# A smaller loss is compared as if it were this large: it is the difference of logits near 20, and
# so has their rounding error, 1e-6.
LEAST_LOSS = 0.1
# An update shorter than this, relative to the longest one, is rounding: the gradient of the bias in 6.7 is 0.
LEAST_MOVE = 1e-5
# A weight keeps 24 bits: an update changes it by a multiple of its last digit, and where it is short, that is seen.
LAST_DIGIT = 3e-8


# ---------------------------------------------------------------- inputs


def draw_state(sampler: InputSampler, states: Sequence[State], *, early: bool) -> dict[str, Any]:
    """Draw a state of a training run, except its end, and move all its weights a little.

    Args:
        states: the states of the training run, in order; the last one is its end.
        early: draw from the first half, not from the second half.
    """
    half = (len(states) - 1) // 2
    among = states[:half] if early else states[half:-1]
    chosen = among[int(sampler.integers(0, len(among), 1))]
    weights = {
        name: weight + NOISE * _spread(weight) * sampler.normal(*weight.shape)
        # In one order, whether this process ran the training or read it: the sampler draws the next numbers for each.
        for name, weight in sorted(chosen.weights.items())
    }
    return {"weights": weights, **moments(chosen)}


def moments(state: State) -> dict[str, Any]:
    """Return the parts of a state without its weights, with which a model continues from its own weights."""
    return {"step": state.step, "mean": dict(state.mean), "square": dict(state.square)}


def _spread(weight: Tensor) -> float:
    """Return the root of the mean square of a tensor's numbers."""
    return weight.double().pow(2).mean().sqrt().item()


# ---------------------------------------------------------------- what the sandbox runs


def go_on(
    model, optimizer, take_step: Callable, state: Mapping, rates: Sequence, batches: Sequence
) -> Mapping[str, Value]:
    """Put a model and its optimizer into a state, take a step on each batch, and return a report.

    Args:
        state: a state that `draw_state` has drawn. If it has no weights, the model keeps its own.
        rates: the learning rate for each batch.

    Returns:
        "losses"; and for each parameter its value at the "start" if the state has no weights, the
        distance that it "moved", and the optimizer's "mean" of its gradients.
    """
    parameters = dict(model.named_parameters())
    if "weights" in state:
        load_weights_by_name(parameters, state["weights"])
    start = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    fused = optimizer.defaults["fused"]
    for name, mean in state["mean"].items():
        optimizer.state[parameters[name]] = {
            # A fused optimizer counts on the device.
            "step": torch.tensor(float(state["step"]), device=mean.device if fused else None),
            "exp_avg": mean.clone(),
            "exp_avg_sq": state["square"][name].clone(),
        }
    losses = []
    for rate, batch in zip(rates, batches, strict=True):
        optimizer.param_groups[0]["lr"] = float(rate)
        losses.append(float(take_step(batch)))
    return {
        "losses": losses,
        **({} if "weights" in state else {"start": start}),
        "moved": {name: parameter.detach() - start[name] for name, parameter in parameters.items()},
        "mean": {name: optimizer.state[parameters[name]]["exp_avg"] for name in state["mean"]},
    }


def steps_on(optimizer, loss_of: Callable) -> Callable:
    """Return a function that takes one step on a batch, and returns the loss.

    Args:
        loss_of: returns the loss for the parts of a batch.
    """

    def take_step(batch: Sequence) -> float:
        loss = loss_of(*batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return take_step


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
    """Pass if the losses and all updates are the reference's, except for rounding."""
    state = case.inputs["state"]
    return compare_training(case.got, case.expected(), state["square"], state["weights"], case.rtol)


def compare_training(
    got: Mapping[str, Any],
    expected: Mapping[str, Any],
    square: Mapping[str, Tensor],
    start: Mapping[str, Tensor],
    rtol: float = 1.0,
) -> Finding:
    """Compare the results of some training steps with those of the reference.

    Args:
        got: "losses", and tensors by parameter under other names; untrusted.
        expected: the same values of the reference.
        square: the running mean of the squared gradients. Adam divides by its root, so if a
            gradient is 0 except for rounding, its weight moves by chance. So a move is weighted
            by the usual size of the gradient.
        start: the weights from which a move is computed.
        rtol: a factor on the allowed differences.
    """
    losses = got.get("losses")
    wanted = expected["losses"]
    if not isinstance(losses, (list, tuple)) or len(losses) != len(wanted):
        return failed(f"expected {len(wanted)} losses, got {losses!r}"[:200])
    for step, (own, right) in enumerate(zip(losses, wanted, strict=True), 1):
        if not isinstance(own, float) or not abs(own - right) <= rtol * MOST_LOSS_OFF * max(abs(right), LEAST_LOSS):
            text = f"the loss of step {step} is {_number(own)}, and {right:.4f} with a right answer"
            return failed(text)
    for kind in sorted(expected.keys() - {"losses"}):
        of_move = (square, start) if kind == "moved" else ({},)
        for name, off in distances(got.get(kind), expected[kind], *of_move).items():
            if not off <= rtol * MOST_OFF:
                return failed(_words(name, off, len(wanted)))
    return Finding(passed=True)


def distances(
    got: object, expected: Mapping[str, Tensor], square: Mapping[str, Tensor], start: Mapping[str, Tensor] | None = None
) -> dict[str, float]:
    """Return the distance of each tensor from the expected one, as a share of the expected tensor's length.

    Args:
        square: weights a distance by its root, see `compare_training`.
        start: the weights from which a move is computed, if the tensors are moves.
    """
    weights = {name: square[name].double().sqrt() if name in square else torch.ones(()) for name in expected}

    def length(name: str, tensor: Tensor) -> float:
        return (weights[name] * tensor.double()).norm().item()

    lengths = {name: length(name, right) for name, right in expected.items()}
    least = LEAST_MOVE * max(lengths.values(), default=0.0)
    rounded = {name: LAST_DIGIT * length(name, start[name]) for name in expected} if start else {}
    own = got if isinstance(got, Mapping) else {}
    return {
        name: how_far_off(own.get(name), right, weights[name], max(lengths[name], least, 1e-30), rounded.get(name, 0.0))
        for name, right in expected.items()
    }


def how_far_off(own: object, right: Tensor, weight: Tensor, length: float, rounding: float) -> float:
    """Return the weighted distance of two tensors, minus the rounding, as a share of a length.

    It is infinite if the tensors cannot be compared.
    """
    if not isinstance(own, Tensor) or own.shape != right.shape or not own.is_floating_point():
        return float("inf")
    distance = (weight * (own.double() - right.double())).norm().item()
    return max(distance - rounding, 0.0) / length if isfinite(distance) else float("inf")


def _number(value: object) -> str:
    """Return a float as text with four decimals, or "no number" for any other value."""
    return f"{value:.4f}" if isinstance(value, float) else "no number"


def _words(name: str, off: float, steps: int) -> str:
    """Return a message about a parameter that is wrong after some steps.

    Args:
        off: its distance from the expected value, as a share of the way that it should have moved.
            Infinity means that the parameter is missing.
    """
    after = f"after {steps} steps" if steps > 1 else "after one step"
    if off == float("inf"):
        return f"{after}, {name} is missing"
    return f"{after}, {name} is off by {off:.0%} of the way that it goes with a right answer"
