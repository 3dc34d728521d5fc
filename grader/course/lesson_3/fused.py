"""Practice 3.P3: `fused_forward`, a layer's output through PyTorch's fused kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from attention.efficient import fused_forward
from torch import nn
from torch.nn import functional as F

from grader.course.common.tensor_sizes import watch_sizes
from grader.course.lesson_3.value_weighted import draw_multi_head
from grader.course.lesson_3.writings import fused_in_steps
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import load, purity_and_gradients
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import CONDUCT
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_fused(sampler: InputSampler, *, cross: bool = True, mask: str = "none", **sizes) -> Inputs:
    """Draw a layer's weights and tokens, image tokens if `cross`, and a mask.

    Args:
        mask: "none"; "random", a row for each token of the batch; "one for all", without batch dimensions; "padding",
            with an axis of length 1 in the place of the tokens; "nowhere", random, and one token may attend nowhere.
    """
    inputs = draw_multi_head(sampler, **sizes)
    tokens, image_tokens = inputs["arguments"].values()
    columns = sizes["patches" if cross else "tokens"]
    *batch_shape, count = tokens.shape[:-1]
    shapes = {"one for all": (count, columns), "padding": (*batch_shape, 1, columns), "none": ()}
    allowed = sampler.mask(*shapes.get(mask, (*batch_shape, count, columns))) if mask != "none" else None
    if allowed is not None and mask == "nowhere":
        allowed[..., count // 2, :] = False
    arguments = {"tokens": tokens, "context": image_tokens if cross else None, "mask": allowed}
    return {**inputs, "arguments": arguments}


def draw_fused_with_gradient(sampler: InputSampler, **sizes) -> Inputs:
    """Draw what `draw_fused` does, and a direction for the gradient."""
    inputs = draw_fused(sampler, **sizes)
    tokens = inputs["arguments"]["tokens"]
    return {**inputs, "grad_outputs": {"output": sampler.normal(*tokens.shape, dtype=tokens.dtype)}}


def fused_values(fused_forward, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    return {"output": fused_forward(layer, *arguments.values())}


def fused_weights(fused_forward, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    """Report whether a call makes weights, as many numbers as pairs of a token and a patch; and the output."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    tokens, context, mask = arguments.values()
    output, largest = watch_sizes(fused_forward, layer, tokens, context, mask)
    return {
        "makes a tensor of T × S numbers": largest >= tokens.shape[-2] * context.shape[-2],
        "output": output,
    }


def fused_conduct(
    fused_forward,
    MultiHeadAttention,
    sizes: Mapping,
    weights: Mapping,
    arguments: Mapping,
    grad_outputs: Mapping,
) -> Mapping[str, Value]:
    """Report gradients and side effects, and whether the layer stays as it is."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)

    def call(**given: Any) -> dict[str, Any]:
        return {"output": fused_forward(layer, **given)}

    report = purity_and_gradients(call, arguments, grad_outputs, dict(layer.named_parameters()))
    state = layer.state_dict()
    kept = state.keys() == weights.keys() and all(torch.equal(state[name], weights[name]) for name in weights)
    return {"the layer stays as it is": kept, **report}


@mistake("fused_forward", "The heads are not split: one head of width d_model is another function.")
def one_wide_head(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    query, key, value = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    return layer.W_O(F.scaled_dot_product_attention(query, key, value, attn_mask=mask))


@mistake("fused_forward", "The mask is not handed on: attn_mask=mask.")
def fused_without_mask(layer, tokens, context=None, mask=None):
    return fused_forward(layer, tokens, context)


@mistake(
    "fused_forward",
    "The mask is turned around. Here too True = may attend; only nn.MultiheadAttention means the opposite.",
)
def fused_mask_inverted(layer, tokens, context=None, mask=None):
    return fused_forward(layer, tokens, context, None if mask is None else ~mask)


@mistake("fused_forward", "W_O is missing at the end.")
def fused_without_projection(layer, tokens, context=None, mask=None):
    projection, layer.W_O = layer.W_O, nn.Identity()
    try:
        return fused_forward(layer, tokens, context, mask)
    finally:
        layer.W_O = projection


@mistake(
    "fused_forward",
    "The weights are made all the same. F.scaled_dot_product_attention gives the output without them.",
)
def weights_by_hand(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    query, key, value = (
        project(source).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for project, source in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights * mask
    return layer.W_O((weights @ value).transpose(-3, -2).flatten(-2))


@mistake("fused_forward", "No gradient reaches the layer: leave out detach() and no_grad().")
def fused_detached(layer, tokens, context=None, mask=None):
    return fused_forward(layer, tokens, context, mask).detach()


@mistake("fused_forward", "A token that may attend nowhere gets the mean of all values; it should get zeros.")
def fused_uniform_rows(layer, tokens, context=None, mask=None):
    return fused_forward(layer, tokens, context, None if mask is None else mask | ~mask.any(-1, keepdim=True))


FUSED_VALUES = Check(
    name="values",
    title="the same output as MultiHeadAttention",
    points=0,
    probe=fused_values,
    examples=trials(draw_fused, dict(tokens=2, patches=3, d_model=4, heads=2)),
    trials=trials(
        draw_fused,
        dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2),
        dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, cross=False),
    ),
)
FUSED_MASK = Check(
    name="mask",
    title="and the same mask",
    points=0,
    needs=("values",),
    probe=fused_values,
    examples=trials(draw_fused, dict(tokens=2, patches=3, d_model=4, heads=2, mask="random")),
    trials=trials(
        draw_fused,
        dict(tokens=5, patches=7, d_model=6, heads=2, mask="random"),
        dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, cross=False, mask="random"),
        dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, mask="one for all"),
        dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, mask="padding"),
    ),
)
FUSED_NOWHERE = Check(
    name="nowhere",
    title="a token that may attend nowhere gets zeros",
    points=0,
    needs=("values",),
    probe=fused_values,
    examples=trials(draw_fused, dict(tokens=2, patches=3, d_model=4, heads=2, mask="nowhere")),
    trials=trials(
        draw_fused,
        dict(tokens=5, patches=7, d_model=6, heads=2, mask="nowhere"),
        dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, cross=False, mask="nowhere"),
    ),
)
FUSED_WEIGHTS = Check(
    name="memory",
    title="without any weights: no T × S numbers",
    points=0,
    needs=("values",),
    probe=fused_weights,
    examples=trials(draw_fused, dict(tokens=11, patches=13, d_model=4, heads=2)),
    trials=trials(draw_fused, dict(batch_shape=(2,), tokens=89, patches=97, d_model=6, heads=3)),
)
FUSED_CONDUCT = Check(
    name="conduct",
    title=CONDUCT,
    points=0,
    needs=("values",),
    probe=fused_conduct,
    examples=trials(draw_fused_with_gradient, dict(tokens=2, patches=3, d_model=4, heads=2)),
    trials=trials(
        draw_fused_with_gradient,
        dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=2, mask="random", dtype=torch.float64),
    ),
)
FUSED = Exercise(
    id="3.P3",
    title="The fused kernel",
    reference=(fused_forward,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(FUSED_VALUES, FUSED_MASK, FUSED_NOWHERE, FUSED_WEIGHTS, FUSED_CONDUCT),
    mistakes=mistakes_in(globals(), "fused_forward"),
    writings=(fused_in_steps,),
    review="What attention costs",
)
