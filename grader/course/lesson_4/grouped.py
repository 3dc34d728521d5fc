"""Exercise 4.12: `grouped_attention`, in which several heads share keys and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

import torch
from attention.grouped import grouped_attention
from torch import Tensor

from grader.course.lesson_4.modern_writings import grouped_by_repeating, grouped_in_loop
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import raised
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_grouped(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    heads: int,
    groups: int,
    queries: int,
    keys: int,
    d: int,
    d_v: int,
    mask: str = "none",
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw queries of all heads, keys and values of all groups, and a mask.

    Args:
        mask: "none"; "one for all" (T, S); "each" (..., T, S), with the axes of the batch; "padding" (..., 1, S). In
            each row of a mask there is a True.
    """
    inputs = {
        "query": sampler.normal(*batch_shape, heads, queries, d, scale=1.5, dtype=dtype),
        "key": sampler.normal(*batch_shape, groups, keys, d, scale=1.5, dtype=dtype),
        "value": sampler.normal(*batch_shape, groups, keys, d_v, dtype=dtype),
    }
    if mask == "none":
        return inputs
    shapes = {"one for all": (queries, keys), "padding": (*batch_shape, 1, keys)}
    return {**inputs, "mask": sampler.mask(*shapes.get(mask, (*batch_shape, queries, keys)))}


def draw_unequal(sampler: InputSampler, *, heads: int, groups: int) -> Inputs:
    """Draw heads that can be shared out to two groups, and not to `groups`."""
    return {
        "query": sampler.normal(heads, 3, 2),
        "unequal": sampler.normal(groups, 5, 2),
        "equal": sampler.normal(2, 5, 2),
    }


def grouped_unequal(grouped_attention, query: Tensor, unequal: Tensor, equal: Tensor) -> Mapping[str, Value]:
    return {
        "with heads that cannot be shared out it raises": raised(lambda: grouped_attention(query, unequal, unequal)),
        "with heads that can it raises": raised(lambda: grouped_attention(query, equal, equal)),
    }


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, scale: float | None = None) -> Tensor:
    """Attention of each head to keys and values of its own (..., H, S, d)."""
    scores = query @ key.transpose(-2, -1) / (sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        mask = mask if mask.ndim <= 2 else mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value


def _shared_out(query: Tensor, key: Tensor, value: Tensor, share: Callable[[Tensor, int], Tensor]) -> tuple:
    """Give every head keys and values, with share(keys or values, heads of a group)."""
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups:
        raise ValueError("the heads cannot be shared out")
    return query, share(key, heads // groups), share(value, heads // groups)


def _repeated(source: Tensor, times: int) -> Tensor:
    """Each group's keys or values, as often as it has heads: (..., G, S, d) → (..., H, S, d)."""
    return source.repeat_interleave(times, dim=-3)


def _in_turns(source: Tensor, times: int) -> Tensor:
    """All groups one after the other, and then again: 0, 1, …, 0, 1, …"""
    return torch.cat([source] * times, dim=-3)


@mistake("grouped_attention", "Head h looks at group h % G here. Neighbouring heads share a group: h // (H/G).")
def groups_in_turns(query, key, value, mask=None):
    return _attend(*_shared_out(query, key, value, _in_turns), mask)


@mistake("grouped_attention", "All heads look at the first group. Each group serves H/G heads.")
def first_group_for_all(query, key, value, mask=None):
    def first(source: Tensor, times: int) -> Tensor:
        return source[..., :1, :, :].expand(*source.shape[:-3], query.shape[-3], -1, -1)

    return _attend(*_shared_out(query, key, value, first), mask)


@mistake(
    "grouped_attention",
    "The keys and values are averaged over the groups. Each head looks at those of its group alone.",
)
def groups_averaged(query, key, value, mask=None):
    return _attend(*_shared_out(query, key, value, lambda source, _: source.mean(-3, keepdim=True)), mask)


@mistake(
    "grouped_attention", "The keys follow the groups and the values do not: share the values out as you share the keys."
)
def values_in_turns(query, key, value, mask=None):
    query, keys, _ = _shared_out(query, key, value, _repeated)
    return _attend(query, keys, _in_turns(value, query.shape[-3] // key.shape[-3]), mask)


@mistake("grouped_attention", "The scores are not divided by √d.")
def grouped_without_scale(query, key, value, mask=None):
    return _attend(*_shared_out(query, key, value, _repeated), mask, scale=1.0)


@mistake(
    "grouped_attention",
    "The scores are divided by the width of all heads together. Divide by √d, the width of one key.",
)
def scaled_by_all_heads(query, key, value, mask=None):
    wide = sqrt(query.shape[-1] * query.shape[-3])
    return _attend(*_shared_out(query, key, value, _repeated), mask, scale=wide)


@mistake("grouped_attention", "The mask is not used.")
def grouped_without_mask(query, key, value, mask=None):
    return grouped_attention(query, key, value)


@mistake("grouped_attention", "The mask is turned around: True = may attend.")
def grouped_mask_inverted(query, key, value, mask=None):
    return grouped_attention(query, key, value, None if mask is None else ~mask)


@mistake(
    "grouped_attention",
    "The mask comes after the softmax, so the weights no longer sum to 1. Mask the scores, with −∞.",
)
def grouped_masked_late(query, key, value, mask=None):
    query, keys, values = _shared_out(query, key, value, _repeated)
    weights = (query @ keys.transpose(-2, -1) / sqrt(query.shape[-1])).softmax(-1)
    if mask is not None:
        weights = weights * (mask if mask.ndim <= 2 else mask.unsqueeze(-3))
    return weights @ values


@mistake(
    "grouped_attention",
    "The heads come back in another order: those of one group stand beside each other, as they went in.",
)
def heads_reordered(query, key, value, mask=None):
    output = grouped_attention(query, key, value, mask)
    return output.unflatten(-3, (key.shape[-3], -1)).transpose(-4, -3).flatten(-4, -3)


@mistake("grouped_attention", "Heads that cannot be shared out to the groups raise no ValueError.")
def unequal_groups_accepted(query, key, value, mask=None):
    heads, groups = query.shape[-3], key.shape[-3]
    group = torch.arange(heads) * groups // heads
    return _attend(query, key[..., group, :, :], value[..., group, :, :], mask)


@mistake("grouped_attention", "The query that was handed in is changed. Scale a new tensor, not in place.")
def grouped_query_scaled_in_place(query, key, value, mask=None):
    output = grouped_attention(query, key, value, mask)
    with torch.no_grad():
        query /= query.shape[-1] ** 0.5
    return output


GROUPED_CHECKS = StandardChecks(reference=grouped_attention, returns=("output",), draw=draw_grouped)
GROUPED_VALUES = GROUPED_CHECKS.values(
    "each head looks at the keys and values of its group",
    3,
    examples=[
        dict(heads=4, groups=2, queries=2, keys=3, d=2, d_v=3),
        dict(batch_shape=(2,), heads=3, groups=1, queries=2, keys=3, d=2, d_v=3),
    ],
    trials=[
        dict(heads=6, groups=2, queries=5, keys=7, d=3, d_v=4),
        dict(heads=6, groups=3, queries=3, keys=5, d=2, d_v=7),
        dict(batch_shape=(2,), heads=5, groups=1, queries=3, keys=7, d=3, d_v=2),
        dict(batch_shape=(2, 3), heads=4, groups=4, queries=5, keys=3, d=2, d_v=7),
    ],
)
GROUPED_MASKED = GROUPED_CHECKS.further_values(
    "mask",
    "the mask holds for every head, with and without a batch",
    1,
    examples=[
        dict(heads=4, groups=2, queries=2, keys=3, d=2, d_v=3, mask="one for all"),
        dict(batch_shape=(2,), heads=2, groups=1, queries=2, keys=3, d=2, d_v=3, mask="each"),
    ],
    trials=[
        dict(heads=6, groups=3, queries=5, keys=7, d=2, d_v=3, mask="one for all"),
        dict(batch_shape=(3,), heads=4, groups=2, queries=5, keys=7, d=2, d_v=3, mask="each"),
        dict(batch_shape=(5, 2), heads=6, groups=2, queries=3, keys=7, d=2, d_v=5, mask="padding"),
    ],
)
UNEQUAL = Check(
    name="unequal",
    title="heads that cannot be shared out raise a ValueError",
    points=1,
    needs=("values",),
    probe=grouped_unequal,
    examples=trials(draw_unequal, dict(heads=4, groups=3)),
    trials=trials(draw_unequal, dict(heads=6, groups=5), dict(heads=2, groups=3)),
)
GROUPED_CONDUCT = GROUPED_CHECKS.conduct(
    1,
    examples=[dict(heads=4, groups=2, queries=2, keys=3, d=2, d_v=3)],
    trials=[dict(batch_shape=(2,), heads=6, groups=3, queries=5, keys=7, d=2, d_v=3, mask="each", dtype=torch.float64)],
)
GROUPED = Exercise(
    id="4.12",
    title="Grouped queries",
    reference=(grouped_attention,),
    points=6,
    difficulty=2,
    minutes=10,
    checks=(GROUPED_VALUES, GROUPED_MASKED, UNEQUAL, GROUPED_CONDUCT),
    mistakes=mistakes_in(globals(), "grouped_attention"),
    writings=(grouped_by_repeating, grouped_in_loop),
    bans=frozenset({"fused attention"}),
    review="Fewer keys than queries",
)
