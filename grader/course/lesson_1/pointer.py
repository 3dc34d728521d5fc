"""Exercise 1.9: `pointer_loss`, and the attention maps of the pointer that is trained with it."""

from typing import Any

import torch
from attention.pointer_loss import pointer_loss

from grader.course.common.loss_gradients import gradients_through_softmax
from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.verified_pointer import VERIFIED_POINTER
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, drawn, integers, sizes, written_exercise


def draw_pointer_maps(
    sampler: InputSampler, *, batch_shape: tuple[int, ...] = (), patches: int, dtype: torch.dtype = torch.float32
) -> Inputs:
    """Draw maps (..., patches) and a target patch for each map.

    A map is a distribution over the patches, with no weight near 0.
    """
    shares = 0.1 + sampler.uniform(*batch_shape, patches, dtype=torch.float64)
    return {
        "weights": (shares / shares.sum(-1, keepdim=True)).to(dtype),
        "target": sampler.integers(0, patches, *batch_shape),
    }


def draw_any_pointer_maps(sampler: InputSampler, *, zeros: bool = False, **sizes: Any) -> Inputs:
    """Draw maps and targets as `draw_pointer_maps` does, or maps that contain zeros.

    Args:
        zeros: let two patches share all weight, one of which is the target.
    """
    inputs = draw_pointer_maps(sampler, **sizes)
    if not zeros:
        return inputs
    places = torch.stack([inputs["target"], (inputs["target"] + 1) % sizes["patches"]], -1)
    shares = inputs["weights"].gather(-1, places)
    shares = shares / shares.sum(-1, keepdim=True)
    return {**inputs, "weights": torch.zeros_like(inputs["weights"]).scatter(-1, places, shares)}


# A row of scores over the patches for each map, and a target patch for each row.
draw_pointer_scores = drawn(scores="* patches", target=integers(0, "patches", "*"))


POINTER = written_exercise("1.9 A pointer that learns to look", pointer_loss, (
    CheckSpec("values", 3, "the mean negative log weight on the target",
        examples=[sizes(batch_shape=(2,), patches=3)],
        trials=[sizes(batch_shape=(5,), patches=7), sizes(batch_shape=(3,), patches=11)]),
    CheckSpec("batch", 1, "one map, or any batch of maps, some weights 0",
        examples=[sizes(batch_shape=(2, 3), patches=4), sizes(batch_shape=(2,), patches=4, zeros=True)],
        trials=[sizes(patches=7), sizes(batch_shape=(3, 5), patches=2), sizes(batch_shape=(2, 3, 5), patches=7),
            sizes(batch_shape=(3,), patches=7, zeros=True)], draw=draw_any_pointer_maps),
    CheckSpec("conduct", 1, trials=[sizes(batch_shape=(5,), patches=7, dtype=torch.float64)],
        draw=draw_pointer_scores, probe=gradients_through_softmax),
),
    draw=draw_pointer_maps, returns=("loss",),
    also=VERIFIED_POINTER,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6", "1.8"), difficulty=2, minutes=10,
    review="A pointer that learns to look", stand_in=stand_ins.pointer_loss,
    mistakes="""
    sign_missing: The minus sign is missing. The log of a weight is negative, so training would push the weight down.
        = -result
    log_missing: The log is missing: you return minus the mean weight on the target. Take the log of each weight
        first.
        .log()  →
    one_minus_the_weight: You return 1 minus the weight on the target. Take minus the logarithm of that weight.
        .log()  →
        = 1 + result
    log_of_the_mean: Your code takes the log of the mean weight. Take the log of each weight first, then the mean.
        .log().mean()  →  .mean().log()
    sum_for_mean: The losses are added up. Take their mean, so that the loss does not grow with the batch.
        .mean()  →  .sum()
    softmax_twice: F.cross_entropy takes a softmax, so your weights go through a second one. Take the log of the
        weights as they are.
        + return F.cross_entropy(weights.reshape(-1, weights.shape[-1]), target.reshape(-1))
    columns_of_all_targets: From every map your code takes the weights on the targets of all maps, as weights[...,
        target] does. Take from each map only the weight on its own target: use gather.
        weights.gather(-1, target.unsqueeze(-1))  →  weights[..., target]
    largest_weight: The loss uses the largest weight of each map. Use the weight at the target.
        weights.gather(-1, target.unsqueeze(-1))  →  weights.amax(-1)
    binary_cross_entropy: The weights on the other patches change this loss, too. Take minus the logarithm of only the
        weight on the target.
        return -weights.gather(-1, target.unsqueeze(-1)).log().mean()
            →  return F.binary_cross_entropy(weights, F.one_hot(target, weights.shape[-1]).to(weights))
    squared_error: Your loss adds up squared differences instead of logarithms. Take minus the logarithm of the
        weight on the target.
        return -weights.gather(-1, target.unsqueeze(-1)).log().mean()
            →  return (weights - F.one_hot(target, weights.shape[-1])).square().sum(-1).mean()
    mean_squared_error: Your loss averages squared differences instead of logarithms. Take minus the logarithm of
        the weight on the target.
        return -weights.gather(-1, target.unsqueeze(-1)).log().mean()
            →  return (weights - F.one_hot(target, weights.shape[-1])).square().mean()
    mean_over_all_patches: The mean runs over all patches. Only the weight on the target belongs in the loss: pick
        it, then average.
        = result / weights.shape[-1]
    all_patches_count: The weights of all patches are in this loss. Use only the target's weight: pick it with gather.
        .gather(-1, target.unsqueeze(-1))  →
    no_mean: You return one loss for each map. Return one number: their mean.
        .log().mean()  →  .squeeze(-1).log()
    zero_times_log_zero: A weight of 0 on another patch gives NaN: its log is −inf, and 0 · −inf is NaN. Pick the
        target's weight, then take its log.
        + chosen = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
        + return -(chosen * weights.log()).sum(-1).mean()
""")  # fmt: skip
