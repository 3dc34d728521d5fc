"""Exercise 4.13: `tiled_attention`, exact attention whose memory grows with n and not with n²."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import torch
from attention.tiled import tiled_attention
from torch import Tensor

from grader.course.common.tensor_sizes import watch_peak, watch_sizes
from grader.course.lesson_4.modern_writings import tiled_on_both_sides
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import effects_of
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value

# A score in the hundreds is rounded at the fifth digit, in float32, and a weight changes by as much.
ROUNDED_SCORES = 30.0


def draw_tiled(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    queries: int,
    keys: int,
    d: int,
    d_v: int,
    tile: int,
    scores: str = "usual",
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw queries, keys and values.

    Args:
        scores: "usual"; "large", in the hundreds; "far below zero", because every key points away from every query.
    """
    scale = 12.0 if scores == "large" else 1.5
    query = sampler.normal(*batch_shape, queries, d, scale=scale, dtype=dtype)
    key = sampler.normal(*batch_shape, keys, d, scale=scale, dtype=dtype)
    if scores == "far below zero":
        query, key = query.abs() + 11.0, -key.abs() - 11.0
    return {"query": query, "key": key, "value": sampler.normal(*batch_shape, keys, d_v, dtype=dtype), "tile": tile}


def tiled_memory(tiled_attention, query: Tensor, key: Tensor, value: Tensor, tile: int) -> Mapping[str, Value]:
    """Report whether a call holds T × S numbers at one time, in one tensor or in several; and the output."""
    pairs = query.shape[-2] * key.shape[-2]
    output, most = watch_peak(tiled_attention, query, key, value, tile)
    _, largest = watch_sizes(tiled_attention, query, key, value, tile)
    return {
        "makes one tensor of T × S numbers": largest >= pairs,
        "holds T × S numbers at one time": most >= pairs,
        "output": output,
    }


def tiled_conduct(tiled_attention, query: Tensor, key: Tensor, value: Tensor, tile: int) -> Mapping[str, Value]:
    """Report side effects, and the output; gradients are not asked for."""
    inputs = {"query": query, "key": key, "value": value, "tile": tile}
    return {**effects_of(lambda **given: tiled_attention(**given), inputs), "output": tiled_attention(**inputs)}


def _divided_scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / sqrt(query.shape[-1])


def _tiles(query: Tensor, key: Tensor, value: Tensor, tile: int) -> list[tuple[Tensor, Tensor]]:
    """Return the scores of each tile, and its values."""
    pairs = zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True)
    return [(_divided_scores(query, keys), values) for keys, values in pairs]


def _online(query, key, value, tile, *, keep_total=False, keep_summed=False, highest_of_tile=False):
    """Do what the right answer does, except for what the keyword arguments leave out.

    Args:
        keep_total, keep_summed: whether this sum is not scaled down when a larger score comes.
        highest_of_tile: whether each tile's own largest score takes the place of the largest so far.
    """
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total, summed = 0.0, 0.0
    for scores, values in _tiles(query, key, value, tile):
        highest = scores.amax(-1, keepdim=True)
        before, largest = largest, highest if highest_of_tile else torch.maximum(largest, highest)
        shrink = torch.ones_like(largest) if highest_of_tile else torch.exp(before - largest)
        weights = torch.exp(scores - largest)
        total = total * (1.0 if keep_total else shrink) + weights.sum(-1, keepdim=True)
        summed = summed * (1.0 if keep_summed else shrink) + weights @ values
    return summed / total


@mistake("tiled_attention", "The answer is right, but all T × S scores stand in memory at once: nothing is saved.")
def dense_attention(query, key, value, tile):
    return _divided_scores(query, key).softmax(-1) @ value


@mistake(
    "tiled_attention",
    "The queries are cut into tiles, and each tile sees all keys at once. Cut the keys, so that a row of scores is never whole.",
)
def tiles_of_queries(query, key, value, tile):
    return torch.cat([_divided_scores(part, key).softmax(-1) @ value for part in query.split(tile, dim=-2)], dim=-2)


@mistake(
    "tiled_attention",
    "The tiles are kept in a list, so all T × S scores stand in memory at once. Add each tile up before the next.",
)
def tiles_kept_in_a_list(query, key, value, tile):
    parts = _tiles(query, key, value, tile)
    largest = torch.stack([scores.amax(-1, keepdim=True) for scores, _ in parts]).amax(0)
    weights = [torch.exp(scores - largest) for scores, _ in parts]
    total = torch.stack([part.sum(-1, keepdim=True) for part in weights]).sum(0)
    return torch.stack([part @ values for part, (_, values) in zip(weights, parts, strict=True)]).sum(0) / total


@mistake(
    "tiled_attention",
    "Each tile gets a softmax of its own, and the results are averaged. The exponentials of all tiles share one sum.",
)
def softmax_of_each_tile(query, key, value, tile):
    return torch.stack([scores.softmax(-1) @ values for scores, values in _tiles(query, key, value, tile)]).mean(0)


@mistake(
    "tiled_attention",
    "Neither sum is scaled down when a larger score comes: multiply both by exp(old largest − new largest).",
)
def nothing_scaled_down(query, key, value, tile):
    return _online(query, key, value, tile, keep_total=True, keep_summed=True)


@mistake(
    "tiled_attention",
    "The sum of the exponentials is scaled down when a larger score comes, the sum with the values is not.",
)
def values_not_scaled_down(query, key, value, tile):
    return _online(query, key, value, tile, keep_summed=True)


@mistake(
    "tiled_attention",
    "The sum with the values is scaled down when a larger score comes, the sum of the exponentials is not.",
)
def total_not_scaled_down(query, key, value, tile):
    return _online(query, key, value, tile, keep_total=True)


@mistake(
    "tiled_attention",
    "Each tile is measured against its own largest score, so the tiles do not fit together. Keep the largest so far.",
)
def largest_of_each_tile(query, key, value, tile):
    return _online(query, key, value, tile, highest_of_tile=True)


@mistake(
    "tiled_attention",
    "No largest score is subtracted, so exp overflows where scores are large. Subtract the largest so far.",
)
def nothing_subtracted(query, key, value, tile):
    total, summed = 0.0, 0.0
    for scores, values in _tiles(query, key, value, tile):
        total = total + scores.exp().sum(-1, keepdim=True)
        summed = summed + scores.exp() @ values
    return summed / total


@mistake(
    "tiled_attention",
    "The largest score begins at 0. Where all scores are far below, every exponential is 0: begin at −∞.",
)
def largest_begins_at_zero(query, key, value, tile):
    total, summed = 0.0, 0.0
    largest = query.new_zeros((*query.shape[:-1], 1))
    for scores, values in _tiles(query, key, value, tile):
        before, largest = largest, torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights, shrink = torch.exp(scores - largest), torch.exp(before - largest)
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
    return summed / total


@mistake("tiled_attention", "The keys that fill no whole tile are left out. The last tile may be smaller.")
def last_tile_left_out(query, key, value, tile):
    whole = max(key.shape[-2] // tile, 1) * tile
    return tiled_attention(query, key[..., :whole, :], value[..., :whole, :], tile)


@mistake("tiled_attention", "The scores are not divided by √d.")
def tiled_without_scale(query, key, value, tile):
    return tiled_attention(query * sqrt(query.shape[-1]), key, value, tile)


@mistake("tiled_attention", "Divide by the sum of the exponentials at the end.")
def never_divided(query, key, value, tile):
    largest = _divided_scores(query, key).amax(-1, keepdim=True)
    parts = [torch.exp(scores - largest) @ values for scores, values in _tiles(query, key, value, tile)]
    return torch.stack(parts).sum(0)


@mistake("tiled_attention", "The query that was handed in is changed. Scale a new tensor, not in place.")
def tiled_query_scaled_in_place(query, key, value, tile):
    output = tiled_attention(query, key, value, tile)
    query /= query.shape[-1] ** 0.5
    return output


TILED_CHECKS = StandardChecks(reference=tiled_attention, returns=("output",), draw=draw_tiled)
EXTREME = TILED_CHECKS.further_values(
    "extreme",
    "finite and right where scores are very large, or far below zero",
    1,
    examples=[
        dict(queries=2, keys=5, d=2, d_v=3, tile=2, scores="large"),
        dict(queries=2, keys=5, d=2, d_v=3, tile=2, scores="far below zero"),
    ],
    trials=[
        dict(queries=5, keys=13, d=3, d_v=4, tile=3, scores="large"),
        dict(batch_shape=(2,), queries=3, keys=7, d=5, d_v=2, tile=2, scores="far below zero"),
    ],
    rtol=ROUNDED_SCORES,
)
MEMORY = Check(
    name="memory",
    title="never T × S numbers at one time",
    points=3,
    needs=("values",),
    probe=tiled_memory,
    examples=trials(
        draw_tiled, dict(queries=67, keys=67, d=2, d_v=3, tile=3), dict(queries=17, keys=211, d=2, d_v=1, tile=17)
    ),
    trials=trials(
        draw_tiled,
        dict(queries=211, keys=211, d=3, d_v=5, tile=7),
        # As many queries as a tile: whoever cuts the queries alone has all scores in one piece.
        dict(queries=23, keys=1009, d=2, d_v=3, tile=23),
    ),
)
TILED_CONDUCT = Check(
    name="conduct",
    title="float64 stays float64, inputs stay as they are",
    points=1,
    needs=("values",),
    probe=tiled_conduct,
    examples=trials(draw_tiled, dict(queries=2, keys=3, d=2, d_v=4, tile=2)),
    trials=trials(draw_tiled, dict(batch_shape=(2,), queries=5, keys=7, d=3, d_v=2, tile=3, dtype=torch.float64)),
)
TILED = Exercise(
    id="4.13",
    title="Tiled attention",
    reference=(tiled_attention,),
    points=8,
    difficulty=3,
    minutes=20,
    checks=(
        TILED_CHECKS.values(
            "the same as dense attention, whatever the tile",
            3,
            examples=[
                dict(queries=3, keys=5, d=2, d_v=4, tile=2),
                dict(batch_shape=(2,), queries=2, keys=4, d=2, d_v=3, tile=2),
            ],
            trials=[
                dict(queries=7, keys=13, d=3, d_v=5, tile=4),
                dict(batch_shape=(2,), queries=11, keys=5, d=2, d_v=3, tile=1),
                dict(batch_shape=(2, 3), queries=5, keys=7, d=3, d_v=2, tile=19),
                dict(queries=31, keys=53, d=5, d_v=2, tile=8),
            ],
        ),
        EXTREME,
        MEMORY,
        TILED_CONDUCT,
    ),
    mistakes=mistakes_in(globals(), "tiled_attention"),
    writings=(tiled_on_both_sides,),
    bans=frozenset({"fused attention"}),
    review="A softmax while the keys go by",
)
