"""Exercise 4.1: `attention_rollout`, attention followed through the layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from attention.explanations import attention_rollout
from torch import Tensor

from grader.course.lesson_4.explain_writings import rollout_in_one_product
from grader.course.lesson_4.own_model import OWN_ROLLOUT
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import purity_and_gradients
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import CONDUCT
from grader.declaration.trial import trials
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
    """Report side effects of `attention_rollout`, and gradients."""

    def call(self_maps: Tensor, cross_map: Tensor) -> dict[str, Any]:
        return {"map": attention_rollout(self_maps=list(self_maps), cross_map=cross_map)}

    return purity_and_gradients(call, {"self_maps": self_maps, "cross_map": cross_map}, {"map": grad_output})


# ---------------------------------------------------------------- mistakes


def _identity(weights: Tensor) -> Tensor:
    return torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)


def _rolled(self_maps, seen: Tensor, layer) -> Tensor:
    """Multiply `layer(map)` of each layer onto what was seen, the first layer first."""
    for weights in self_maps:
        seen = layer(weights) @ seen
    return seen


@mistake(
    "attention_rollout",
    "The layers are multiplied in the wrong order. What the first layer hands on is what the second one mixes: "
    "the last layer stands on the left.",
)
def last_layer_first(self_maps, cross_map):
    return attention_rollout(self_maps[::-1], cross_map)


@mistake("attention_rollout", "The residual connection is missing: half of each layer's map is the identity.")
def without_residual(self_maps, cross_map):
    return _rolled(self_maps, cross_map.mean(-3), lambda weights: weights.mean(-3))


@mistake("attention_rollout", "The identity is added and nothing is halved, so the rows sum to more than 1.")
def residual_without_half(self_maps, cross_map):
    return _rolled(self_maps, cross_map.mean(-3), lambda weights: weights.mean(-3) + _identity(weights))


@mistake(
    "attention_rollout",
    "Each head is followed on its own, and the mean comes last. Take the mean over the heads in each layer first.",
)
def heads_apart(self_maps, cross_map):
    return _rolled(self_maps, cross_map, lambda weights: (weights + _identity(weights)) / 2).mean(-3)


@mistake("attention_rollout", "The largest weight among the heads is taken. Take their mean.")
def largest_head(self_maps, cross_map):
    return _rolled(self_maps, cross_map.amax(-3), lambda weights: (weights.amax(-3) + _identity(weights)) / 2)


@mistake("attention_rollout", "The heads are added up. Take their mean, so that the rows sum to 1.")
def sum_of_heads(self_maps, cross_map):
    return _rolled(self_maps, cross_map.sum(-3), lambda weights: (weights.sum(-3) + _identity(weights)) / 2)


@mistake("attention_rollout", "Only the last layer is used. Multiply the maps of all layers.")
def last_layer_only(self_maps, cross_map):
    return attention_rollout(self_maps[-1:], cross_map)


@mistake("attention_rollout", "The self-attention is not used: this is the head average of the cross-attention.")
def head_average_only(self_maps, cross_map):
    return cross_map.mean(-3)


@mistake("attention_rollout", "The layers are averaged. Multiply their maps: what one hands on, the next one mixes.")
def layers_averaged(self_maps, cross_map):
    mixed = torch.stack([(weights.mean(-3) + _identity(weights)) / 2 for weights in self_maps]).mean(0)
    return mixed @ cross_map.mean(-3)


@mistake("attention_rollout", "The maps are transposed: rows are the tokens that ask, columns the tokens that answer.")
def transposed_maps(self_maps, cross_map):
    return attention_rollout([weights.transpose(-2, -1) for weights in self_maps], cross_map)


@mistake("attention_rollout", "The maps are multiplied number by number. Use the product of matrices, @.")
def number_by_number(self_maps, cross_map):
    mixed = _identity(self_maps[0])
    for weights in self_maps:
        mixed = (weights.mean(-3) + _identity(weights)) / 2 * mixed
    return mixed @ cross_map.mean(-3)


ROLLOUT_SIZES = dict(layers=2, heads=2, tokens=3, patches=5, batch_shape=(2,))
VALUES = Check(
    name="values",
    title="heads averaged, half identity, layer after layer, then the image",
    points=4,
    probe=rollout_values,
    map="map",
    examples=trials(draw_maps, dict(layers=2, heads=2, tokens=3, patches=4)),
    trials=trials(
        draw_maps,
        dict(layers=3, heads=2, tokens=5, patches=7),
        dict(layers=2, heads=3, tokens=7, patches=5, batch_shape=(2,)),
    ),
)
LAYERS = Check(
    name="layers",
    title="any number of layers, and any batch dimensions",
    points=2,
    needs=("values",),
    probe=rollout_values,
    examples=trials(draw_maps, dict(layers=1, heads=2, tokens=3, patches=2, batch_shape=(2,))),
    trials=trials(
        draw_maps,
        dict(layers=1, heads=3, tokens=5, patches=2, batch_shape=(2,)),
        dict(layers=4, heads=2, tokens=3, patches=5, batch_shape=(3, 2)),
    ),
)
CONDUCT_CHECK = Check(
    name="conduct",
    title=CONDUCT,
    points=1,
    needs=("values",),
    probe=rollout_gradients,
    trials=trials(draw_maps_and_direction, dict(ROLLOUT_SIZES, dtype=torch.float64)),
)
ROLLOUT = Exercise(
    id="4.1",
    title="Attention rollout",
    reference=(attention_rollout,),
    points=8,
    difficulty=2,
    minutes=10,
    checks=(VALUES, LAYERS, CONDUCT_CHECK, OWN_ROLLOUT),
    mistakes=mistakes_in(globals(), "attention_rollout"),
    writings=(rollout_in_one_product,),
    review="Rollout",
)
