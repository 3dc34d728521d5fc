"""Exercise 4.1: `attention_rollout`, attention followed through the layers."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.explanations import attention_rollout
from torch import Tensor

from grader.course.common.attention_words import AttentionExercise
from grader.course.lesson_4.explain_writings import rollout_in_one_product
from grader.course.lesson_4.own_model import OWN_ROLLOUT
from grader.declare.authoring import CONDUCT, Check, InputSampler, edits, further_check, trials
from grader.declare.probes import purity_and_gradients
from grader.records import Inputs, Value


def draw_maps(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    layers: int,
    heads: int,
    tokens: int,
    patches: int,
    dtype=torch.float32,
) -> Inputs:
    """Draw the maps of some layers, (layers, ..., H, T, T) in one tensor, and a map over the patches (..., H, T, S)."""

    def weights(*shape: int) -> Tensor:
        return sampler.normal(*shape, scale=2.0, dtype=dtype).softmax(-1)

    return {
        "self_maps": weights(layers, *batch_shape, heads, tokens, tokens),
        "cross_map": weights(*batch_shape, heads, tokens, patches),
    }


def draw_maps_and_direction(sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw what `draw_maps` does, and a direction for the gradient."""
    inputs = draw_maps(sampler, **sizes)
    cross_map = inputs["cross_map"]
    shape = (*cross_map.shape[:-3], *cross_map.shape[-2:])
    return {**inputs, "grad_output": sampler.normal(*shape, dtype=cross_map.dtype)}


def rollout_values(attention_rollout, self_maps: Tensor, cross_map: Tensor) -> Mapping[str, Value]:
    return {"map": attention_rollout(list(self_maps), cross_map)}


def rollout_gradients(
    attention_rollout, self_maps: Tensor, cross_map: Tensor, grad_output: Tensor
) -> Mapping[str, Value]:
    """Report side effects of `attention_rollout`, on its list, too, and gradients."""
    kept = []

    def call(self_maps: Tensor, cross_map: Tensor) -> dict[str, Any]:
        layers = list(self_maps)
        seen = {"map": attention_rollout(self_maps=layers, cross_map=cross_map)}
        kept.append(len(layers) == len(self_maps))
        return seen

    report = purity_and_gradients(call, {"self_maps": self_maps, "cross_map": cross_map}, {"map": grad_output})
    return {"the list of maps stays as it is": all(kept), **report}


# ---------------------------------------------------------------- mistakes


ROLLOUT_MISTAKES = edits(attention_rollout, """
    last_layer_first: The layers are multiplied in the wrong order. What the first layer hands on is what the second
        one mixes: the last layer must stand on the left.
        + self_maps = self_maps[::-1]
    without_residual: The residual connection is missing. Take half of each layer's map and half of the identity.
        (weights.mean(-3) + identity) / 2  →  weights.mean(-3)
    residual_without_half: The identity is added and nothing is halved, so the rows sum to more than 1.
        / 2 @ seen  →  @ seen
    heads_apart: Each head is followed on its own, and the mean comes last. Take the mean over the heads in each
        layer first.
        cross_map.mean(-3)  →  cross_map
        weights.mean(-3) + identity  →  weights + identity
        = result.mean(-3)
    largest_head: The largest weight among the heads is taken. Take their mean.
        cross_map.mean(-3)  →  cross_map.amax(-3)
        weights.mean(-3)  →  weights.amax(-3)
    sum_of_heads: The heads are added up. Take their mean, so that the rows sum to 1.
        cross_map.mean(-3)  →  cross_map.sum(-3)
        weights.mean(-3)  →  weights.sum(-3)
    last_layer_only: Only the last layer counts here. Multiply the maps of all layers.
        + self_maps = self_maps[-1:]
    head_average_only: This is the head average of the cross-attention alone: the self-attention does not count.
        Multiply the maps of the layers onto it, from the left.
        + self_maps = []
    layers_averaged: The layers are averaged. Multiply their maps: what one hands on, the next one mixes.
        + mixed = [(one.mean(-3) + torch.eye(one.shape[-1], dtype=one.dtype)) / 2 for one in self_maps]
        + return torch.stack(mixed).mean(0) @ cross_map.mean(-3)
    list_emptied: The caller's list is empty afterwards, as after pop. Go through it, and leave it as it is.
        + self_maps = [self_maps.pop(0) for _ in range(len(self_maps))]
    transposed_maps: The layers' maps are multiplied transposed. Leave them as they are: rows are the tokens that
        ask, columns the tokens that answer.
        weights.mean(-3)  →  weights.transpose(-2, -1).mean(-3)
    number_by_number: The maps are multiplied number by number. Use the product of matrices, @.
        seen = cross_map.mean(-3)  →  seen = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype)
        / 2 @ seen  →  / 2 * seen
        = result @ cross_map.mean(-3)
""")  # fmt: skip


ROLLOUT_SIZES = dict(layers=2, heads=2, tokens=3, patches=5, batch_shape=(2,))
VALUES = Check(
    name="values",
    title="heads averaged, half identity, layer after layer, then the image",
    points=3,
    probe=rollout_values,
    map="map",
    examples=trials(draw_maps, dict(layers=2, heads=2, tokens=3, patches=4)),
    trials=trials(
        draw_maps,
        dict(layers=3, heads=2, tokens=5, patches=7),
        dict(layers=2, heads=3, tokens=7, patches=5, batch_shape=(2,)),
    ),
)
LAYERS = further_check(
    name="layers",
    title="any number of layers, and any batch dimensions",
    points=1,
    probe=rollout_values,
    examples=trials(draw_maps, dict(layers=1, heads=2, tokens=3, patches=2, batch_shape=(2,))),
    trials=trials(
        draw_maps,
        dict(layers=1, heads=3, tokens=5, patches=2, batch_shape=(2,)),
        dict(layers=4, heads=2, tokens=3, patches=5, batch_shape=(3, 2)),
    ),
)
CONDUCT_CHECK = further_check(
    name="conduct",
    title=CONDUCT,
    points=1,
    probe=rollout_gradients,
    examples=trials(draw_maps_and_direction, dict(layers=1, heads=2, tokens=3, patches=2, dtype=torch.float64)),
    trials=trials(draw_maps_and_direction, dict(ROLLOUT_SIZES, dtype=torch.float64)),
)
ROLLOUT = AttentionExercise(
    id="4.1",
    title="Attention rollout",
    reference=(attention_rollout,),
    points=6,
    difficulty=2,
    minutes=10,
    checks=(VALUES, LAYERS, CONDUCT_CHECK, OWN_ROLLOUT),
    mistakes=ROLLOUT_MISTAKES,
    writings=(rollout_in_one_product,),
    review="Rollout",
)
