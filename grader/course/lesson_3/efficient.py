"""Practice 3.P1 and 3.P2: a sliding window, and linear attention; neither makes an n × n matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from attention.efficient import linear_attention, sliding_window_attention
from torch import Tensor
from torch.nn import functional as F

from grader.course.common.tensor_sizes import watch_sizes
from grader.course.lesson_3.writings import linear_in_pairs, window_by_index, window_in_loop
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_without_window(
    sampler: InputSampler, *, batch_shape: tuple[int, ...] = (), n: int, d: int, d_v: int, dtype=torch.float32
) -> Inputs:
    """Draw n queries, keys and values."""
    return {
        "query": sampler.normal(*batch_shape, n, d, scale=1.5, dtype=dtype),
        "key": sampler.normal(*batch_shape, n, d, scale=1.5, dtype=dtype),
        "value": sampler.normal(*batch_shape, n, d_v, dtype=dtype),
    }


def draw_with_window(sampler: InputSampler, *, window: int, **sizes) -> Inputs:
    """Draw n queries, keys and values, and add the window."""
    return {**draw_without_window(sampler, **sizes), "window": window}


def draw_zero_keys(sampler: InputSampler, **sizes) -> Inputs:
    """Draw what `draw_with_window` does, and set every third key to zero: real ones, that look like padding."""
    inputs = draw_with_window(sampler, **sizes)
    zero = torch.arange(sizes["n"]).unsqueeze(-1) % 3 == 0
    return {**inputs, "key": inputs["key"].masked_fill(zero, 0.0)}


def window_memory(sliding_window_attention, query: Tensor, key: Tensor, value: Tensor, window: int):
    """Report whether a call makes a tensor of n × n numbers, and the output."""
    output, largest = watch_sizes(sliding_window_attention, query, key, value, window)
    return {"makes a tensor of n × n numbers": largest >= query.shape[-2] ** 2, "output": output}


def linear_memory(linear_attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Value]:
    """Report whether a call makes a tensor of n × n numbers, and the output."""
    output, largest = watch_sizes(linear_attention, query, key, value)
    return {"makes a tensor of n × n numbers": largest >= query.shape[-2] ** 2, "output": output}


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


def _neighbours(query: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """Return the places of each position's neighbours (n, 2 window + 1), and which of them lie outside."""
    n = query.shape[-2]
    place = torch.arange(n).unsqueeze(1) + torch.arange(-window, window + 1)
    return place, (place < 0) | (place >= n)


def _attend_padded(query: Tensor, key: Tensor, value: Tensor, window: int, weigh: Callable) -> Tensor:
    """Attend within windows of keys and values that are padded with zeros.

    Args:
        weigh: turns scores (..., n, 2 window + 1) and the keys of the windows (..., n, d, 2 window + 1) into weights.
    """
    span = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, span, 1)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, span, 1)  # (..., n, d_v, span)
    scores = (query.unsqueeze(-2) @ keys).squeeze(-2) / query.shape[-1] ** 0.5
    return (values @ weigh(scores, keys).unsqueeze(-1)).squeeze(-1)


def _attend_at(query: Tensor, key: Tensor, value: Tensor, places: Tensor, hidden: Tensor) -> Tensor:
    """Attend to the keys at these places (n, 2 window + 1), except to the hidden ones."""
    scores = (query.unsqueeze(-2) * key[..., places, :]).sum(-1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return (weights.unsqueeze(-1) * value[..., places, :]).sum(-2)


@mistake(
    "sliding_window_attention",
    "The padding is not masked: at both ends the zeros around the sequence get a share of the weight.",
)
def padding_attended(query, key, value, window):
    return _attend_padded(query, key, value, window, lambda scores, keys: scores.softmax(-1))


@mistake(
    "sliding_window_attention",
    "The mask comes after the softmax: at both ends the weights no longer sum to 1. Mask the scores.",
)
def masked_after_the_softmax(query, key, value, window):
    place, outside = _neighbours(query, window)
    places = place.clamp(0, query.shape[-2] - 1)
    scores = (query.unsqueeze(-2) * key[..., places, :]).sum(-1) / query.shape[-1] ** 0.5
    weights = scores.softmax(-1).masked_fill(outside, 0.0)
    return (weights.unsqueeze(-1) * value[..., places, :]).sum(-2)


@mistake(
    "sliding_window_attention",
    "What lies outside has score 0, and so a share of the weight. Give it the score −∞.",
)
def masked_with_zero(query, key, value, window):
    place, outside = _neighbours(query, window)
    places = place.clamp(0, query.shape[-2] - 1)
    scores = (query.unsqueeze(-2) * key[..., places, :]).sum(-1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(outside, 0.0).softmax(-1)
    return (weights.unsqueeze(-1) * value[..., places, :]).sum(-2)


@mistake(
    "sliding_window_attention",
    "At both ends the first or last token is seen several times: mask the places outside 0 … n − 1.",
)
def ends_repeated(query, key, value, window):
    place, outside = _neighbours(query, window)
    return _attend_at(query, key, value, place.clamp(0, query.shape[-2] - 1), torch.zeros_like(outside))


@mistake(
    "sliding_window_attention",
    "The first positions see the last ones: a place below 0 counts from the end. Mask it.",
)
def negative_places(query, key, value, window):
    n = query.shape[-2]
    place, _ = _neighbours(query, window)
    return _attend_at(query, key, value, place.clamp(max=n - 1), place >= n)


@mistake(
    "sliding_window_attention",
    "The sequence is cut into blocks that do not see each other. Each position has a window of its own around it.",
)
def separate_blocks(query, key, value, window):
    block = torch.arange(query.shape[-2]) // (2 * window + 1)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=block.unsqueeze(1) == block)


@mistake(
    "sliding_window_attention",
    "Keys that are all zero are taken for padding. Mask by position: what lies outside 0 … n − 1.",
)
def padding_guessed(query, key, value, window):
    return _attend_padded(
        query,
        key,
        value,
        window,
        lambda scores, keys: scores.masked_fill((keys == 0).all(-2), -torch.inf).softmax(-1),
    )


@mistake(
    "sliding_window_attention", "The query that was handed in is changed. Scale a new tensor, not in place."
)
def query_scaled_in_place(query, key, value, window):
    output = sliding_window_attention(query, key, value, window)
    query /= query.shape[-1] ** 0.5
    return output


WINDOW_CHECKS = StandardChecks(reference=sliding_window_attention, returns=("output",), draw=draw_with_window)
WINDOW_MEMORY = Check(
    name="memory",
    title="without any n × n matrix",
    points=0,
    needs=("values",),
    probe=window_memory,
    examples=trials(draw_with_window, dict(n=23, d=2, d_v=3, window=1)),
    trials=trials(draw_with_window, dict(n=211, d=3, d_v=5, window=2)),
)
ZERO_KEYS = WINDOW_CHECKS.further_values(
    "zero keys",
    "a key of zeros is a key like any other",
    0,
    draw=draw_zero_keys,
    examples=[dict(n=4, d=2, d_v=3, window=1)],
    trials=[dict(batch_shape=(2,), n=7, d=3, d_v=5, window=2), dict(n=5, d=2, d_v=3, window=0)],
)
WINDOWS: list[dict[str, Any]] = [
    dict(batch_shape=(2,), n=11, d=3, d_v=5, window=2),
    dict(batch_shape=(2, 3), n=7, d=5, d_v=2, window=3),
    dict(n=5, d=3, d_v=2, window=7),
    dict(n=5, d=3, d_v=2, window=0),
]

WINDOW = Exercise(
    id="3.P1",
    title="A sliding window",
    reference=(sliding_window_attention,),
    points=0,
    difficulty=3,
    minutes=15,
    checks=(
        WINDOW_CHECKS.values(
            "equal to dense attention under a band mask",
            0,
            examples=[dict(n=5, d=2, d_v=3, window=1)],
            trials=WINDOWS,
        ),
        ZERO_KEYS,
        WINDOW_MEMORY,
        WINDOW_CHECKS.conduct(
            0,
            examples=[dict(n=3, d=2, d_v=4, window=1)],
            trials=[dict(batch_shape=(2,), n=7, d=3, d_v=5, window=2, dtype=torch.float64)],
        ),
    ),
    mistakes=mistakes_in(globals(), "sliding_window_attention"),
    writings=(window_by_index, window_in_loop),
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


@mistake(
    "linear_attention",
    "φ is written over the query and key that were handed in. Work on new tensors, not in place.",
)
def features_in_place(query, key, value):
    output = linear_attention(query, key, value)
    with torch.no_grad():
        for tensor in (query, key):
            tensor.copy_(F.elu(tensor))
    return output


LINEAR_CHECKS = StandardChecks(reference=linear_attention, returns=("output",), draw=draw_without_window)
LINEAR_MEMORY = Check(
    name="memory",
    title="without any n × n matrix",
    points=0,
    needs=("values",),
    probe=linear_memory,
    examples=trials(draw_without_window, dict(n=23, d=2, d_v=3)),
    trials=trials(draw_without_window, dict(n=211, d=3, d_v=5)),
)
LINEAR = Exercise(
    id="3.P2",
    title="Linear attention",
    reference=(linear_attention,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(
        LINEAR_CHECKS.values(
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
        LINEAR_CHECKS.conduct(
            0,
            examples=[dict(n=3, d=2, d_v=4)],
            trials=[dict(batch_shape=(2,), n=7, d=3, d_v=5, dtype=torch.float64)],
        ),
    ),
    mistakes=mistakes_in(globals(), "linear_attention"),
    writings=(linear_in_pairs,),
    review="What attention costs",
)
