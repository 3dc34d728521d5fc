"""Practice 3.P1 to 3.P3: a sliding window, linear attention, and the fused kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import torch
from attention.efficient import fused_forward, linear_attention, sliding_window_attention
from torch import Tensor, nn
from torch.nn import functional as F

from grader.course.lesson_3.value_weighted import draw_multi_head
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import load
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value

# ---------------------------------------------------------------- 3.P1 and 3.P2: without an n × n matrix


def draw_without_window(
    sampler: InputSampler, *, batch_shape: tuple[int, ...] = (), n: int, d: int, d_v: int
) -> Inputs:
    """Draw n queries, keys and values."""
    return {
        "query": sampler.normal(*batch_shape, n, d, scale=1.5),
        "key": sampler.normal(*batch_shape, n, d, scale=1.5),
        "value": sampler.normal(*batch_shape, n, d_v),
    }


def draw_with_window(sampler: InputSampler, *, window: int, **sizes) -> Inputs:
    """Draw n queries, keys and values, and add the window."""
    return {**draw_without_window(sampler, **sizes), "window": window}


def largest_tensor(call: Callable, *tensors: Tensor) -> int:
    """Count the numbers in the largest tensor that a call makes from these."""
    sizes = [0]

    class Watched(Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            made = super().__torch_function__(function, types, args, kwargs or {})
            values = made if isinstance(made, (tuple, list)) else [made]
            sizes.extend(value.numel() for value in values if isinstance(value, Tensor))
            return made

    call(*(tensor.as_subclass(Watched) for tensor in tensors))
    return max(sizes)


def window_memory(sliding_window_attention, query: Tensor, key: Tensor, value: Tensor, window: int):
    """Report whether a call makes a tensor of n × n numbers."""
    largest = largest_tensor(lambda q, k, v: sliding_window_attention(q, k, v, window), query, key, value)
    return {"makes a tensor of n × n numbers": largest >= query.shape[-2] ** 2}


def linear_memory(linear_attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Value]:
    """Report whether a call makes a tensor of n × n numbers."""
    largest = largest_tensor(linear_attention, query, key, value)
    return {"makes a tensor of n × n numbers": largest >= query.shape[-2] ** 2}


@mistake("sliding_window_attention", "Nothing is masked: every position sees all others.")
def no_window(query, key, value, window):
    return F.scaled_dot_product_attention(query, key, value)


@mistake(
    "sliding_window_attention", "The window is one place too narrow: |i − j| ≤ window, the end included."
)
def window_too_narrow(query, key, value, window):
    return sliding_window_attention(query, key, value, max(window - 1, 0))


@mistake("sliding_window_attention", "The window is one place too wide: |i − j| ≤ window.")
def window_too_wide(query, key, value, window):
    return sliding_window_attention(query, key, value, window + 1)


@mistake("sliding_window_attention", "This window looks back only. It reaches `window` places to both sides.")
def looks_back_only(query, key, value, window):
    n = query.shape[-2]
    mask = torch.ones(n, n).tril().triu(-window).bool()
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@mistake(
    "sliding_window_attention", "The answer is right, but it builds the whole n × n matrix: nothing is saved."
)
def dense_window(query, key, value, window):
    n = query.shape[-2]
    mask = torch.ones(n, n).tril(window).triu(-window).bool()
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ value


WINDOW_CHECKS = StandardChecks(reference=sliding_window_attention, returns=("output",), draw=draw_with_window)
WINDOW_MEMORY = Check(
    name="memory",
    title="without any n × n matrix",
    points=0,
    needs=("values",),
    probe=window_memory,
    examples=trials(draw_with_window, dict(n=64, d=2, d_v=3, window=1)),
    trials=trials(draw_with_window, dict(n=211, d=3, d_v=5, window=2)),
)
WINDOW = Exercise(
    id="3.P1",
    title="Practice: a sliding window",
    reference=(sliding_window_attention,),
    points=0,
    difficulty=3,
    minutes=15,
    checks=(
        WINDOW_CHECKS.values(
            "equal to dense attention under a band mask",
            0,
            examples=[dict(n=5, d=2, d_v=3, window=1)],
            trials=[
                dict(batch_shape=(2,), n=11, d=3, d_v=5, window=2),
                dict(batch_shape=(2, 3), n=7, d=5, d_v=2, window=3),
                dict(n=5, d=3, d_v=2, window=7),
                dict(n=5, d=3, d_v=2, window=0),
            ],
        ),
        WINDOW_MEMORY,
    ),
    mistakes=mistakes_in(globals(), "sliding_window_attention"),
    review="What attention costs",
)


@mistake(
    "linear_attention",
    "The sums run over each position's own key, so no tokens are mixed. Sum over all keys first.",
)
def mixes_nothing(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    similarity = (query * key).sum(-1, keepdim=True)
    return similarity * value / similarity


@mistake("linear_attention", "The output is not normalised: divide by φ(q) · Σ φ(k).", name="not_normalised")
def linear_not_normalised(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    return query @ (key.transpose(-2, -1) @ value)


@mistake("linear_attention", "The feature map is elu(x) + 1; without the 1 the similarities may be negative.")
def without_the_one(query, key, value):
    query, key = F.elu(query), F.elu(key)
    return query @ (key.transpose(-2, -1) @ value) / (query @ key.sum(-2).unsqueeze(-1))


@mistake("linear_attention", "This is softmax attention. Linear attention replaces exp(q·k) by φ(q)·φ(k).")
def softmax_attention(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


@mistake("linear_attention", "The answer is right, but φ(Q)φ(K)ᵀ is n × n. Multiply φ(K)ᵀ with V first.")
def quadratic_order(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    weights = query @ key.transpose(-2, -1)
    return weights / weights.sum(-1, keepdim=True) @ value


LINEAR_MEMORY = Check(
    name="memory",
    title="without any n × n matrix",
    points=0,
    needs=("values",),
    probe=linear_memory,
    examples=trials(draw_without_window, dict(n=64, d=2, d_v=3)),
    trials=trials(draw_without_window, dict(n=211, d=3, d_v=5)),
)
LINEAR = Exercise(
    id="3.P2",
    title="Practice: linear attention",
    reference=(linear_attention,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(
        StandardChecks(reference=linear_attention, returns=("output",), draw=draw_without_window).values(
            "equal to its quadratic form",
            0,
            examples=[dict(n=3, d=2, d_v=4)],
            trials=[
                dict(batch_shape=(2,), n=11, d=3, d_v=5),
                dict(n=5, d=7, d_v=2),
                dict(batch_shape=(2, 3), n=7, d=2, d_v=5),
            ],
        ),
        LINEAR_MEMORY,
    ),
    mistakes=mistakes_in(globals(), "linear_attention"),
    review="What attention costs",
)

# ---------------------------------------------------------------- 3.P3 fused_forward


def draw_fused(sampler: InputSampler, *, cross: bool = True, masked: bool = False, **sizes) -> Inputs:
    """Draw a layer's weights and tokens, image tokens if `cross`, and a random mask if `masked`."""
    inputs = draw_multi_head(sampler, **sizes)
    tokens, image_tokens = inputs["arguments"].values()
    columns = sizes["patches" if cross else "tokens"]
    mask = sampler.mask(*tokens.shape[:-1], columns) if masked else None
    arguments = {"tokens": tokens, "context": image_tokens if cross else None, "mask": mask}
    return {**inputs, "arguments": arguments}


def fused_values(fused_forward, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    return {"output": fused_forward(layer, *arguments.values()).detach()}


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


FUSED_VALUES = Check(
    name="values",
    title="the same output as MultiHeadAttention",
    points=0,
    probe=fused_values,
    examples=trials(draw_fused, dict(tokens=2, patches=3, d_model=4, heads=2)),
    trials=(
        *trials(draw_fused, dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2)),
        *trials(
            partial(draw_fused, cross=False), dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3)
        ),
    ),
)
FUSED_MASK = Check(
    name="mask",
    title="and the same mask",
    points=0,
    needs=("values",),
    probe=fused_values,
    examples=trials(partial(draw_fused, masked=True), dict(tokens=2, patches=3, d_model=4, heads=2)),
    trials=(
        *trials(partial(draw_fused, masked=True), dict(tokens=5, patches=7, d_model=6, heads=2)),
        *trials(
            partial(draw_fused, cross=False, masked=True),
            dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3),
        ),
    ),
)
FUSED = Exercise(
    id="3.P3",
    title="Practice: the fused kernel",
    reference=(fused_forward,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(FUSED_VALUES, FUSED_MASK),
    mistakes=mistakes_in(globals(), "fused_forward"),
    review="What attention costs",
)
