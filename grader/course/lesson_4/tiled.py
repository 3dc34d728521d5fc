"""Exercise 4.4: `tiled_attention`, exact attention whose memory grows with n instead of n²."""

from collections.abc import Mapping

import torch
from attention.tiled import tiled_attention
from torch import Tensor

from grader.course.common.tensor_sizes import watch_peak, watch_sizes
from grader.course.lesson_4 import stand_ins
from grader.declare.authoring import (
    CheckSpec,
    Draw,
    InputSampler,
    Sizes,
    Value,
    drawn,
    given,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.probes import function_effects

# A score in the hundreds is rounded at the fifth digit, in float32, and a weight changes by as much.
ROUNDED_SCORES = 30.0
# Each of dozens of tiles rounds both sums once more. Their values are asked in another check, with few tiles.
MANY_TILES = 10.0


def draw_side(shape: str, sign: int) -> Draw:
    """Return a function that draws queries or keys.

    The trial's size "scores" may ask for scores in the hundreds, or far below zero.

    Args:
        sign: 1 for queries, −1 for keys.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> Tensor:
        kind = sizes.get("scores")
        side = normal(shape, scale=12.0 if kind == "large" else 1.5)(sampler, sizes)
        return sign * (side.abs() + 11.0) if kind == "far below zero" else side

    return draw


draw_tiled = drawn(
    query=draw_side("* queries d", 1), key=draw_side("* keys d", -1), value="* keys d_v", tile=given("tile")
)


def tiled_memory(tiled_attention, query: Tensor, key: Tensor, value: Tensor, tile: int) -> Mapping[str, Value]:
    """Return the output, and whether the call has T × S numbers at one time, in one tensor or in several tensors."""
    pairs = query.shape[-2] * key.shape[-2]
    output, most = watch_peak(tiled_attention, query, key, value, tile)
    _, largest = watch_sizes(tiled_attention, query, key, value, tile)
    return {
        "makes one tensor of T × S numbers": largest >= pairs,
        "holds T × S numbers at one time": most >= pairs,
        "output": output,
    }


TILED = written_exercise("4.4 Tiled attention", tiled_attention, (
    CheckSpec("values", 8, "the same as dense attention, whatever the tile",
        examples=[sizes(queries=3, keys=5, d=2, d_v=4, tile=2),
            sizes(batch_shape=(2,), queries=2, keys=4, d=2, d_v=3, tile=2)],
        trials=[sizes(queries=7, keys=13, d=3, d_v=5, tile=4),
            sizes(batch_shape=(2,), queries=11, keys=5, d=2, d_v=3, tile=1),
            sizes(batch_shape=(2, 3), queries=5, keys=7, d=3, d_v=2, tile=19),
            sizes(queries=31, keys=53, d=5, d_v=2, tile=8)]),
    CheckSpec("extreme", 2, "finite and right where scores are very large, or far below zero",
        examples=[sizes(queries=2, keys=5, d=2, d_v=3, tile=2, scores="large"),
            sizes(queries=2, keys=5, d=2, d_v=3, tile=2, scores="far below zero")],
        trials=[sizes(queries=5, keys=13, d=3, d_v=4, tile=3, scores="large"),
            sizes(batch_shape=(2,), queries=3, keys=7, d=5, d_v=2, tile=2, scores="far below zero")],
        rtol=ROUNDED_SCORES),
    CheckSpec("memory", 8, "never T × S numbers at one time",
        examples=[sizes(queries=67, keys=67, d=2, d_v=3, tile=3), sizes(queries=17, keys=211, d=2, d_v=1, tile=17)],
        # One tile of queries: who cuts those alone has all scores at once.
        trials=[sizes(queries=211, keys=211, d=3, d_v=5, tile=7), sizes(queries=23, keys=1009, d=2, d_v=3, tile=23)],
        probe=tiled_memory, rtol=MANY_TILES),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are",
        examples=[sizes(queries=2, keys=3, d=2, d_v=4, tile=2)],
        trials=[sizes(batch_shape=(2,), queries=5, keys=7, d=3, d_v=2, tile=3, dtype=torch.float64)],
        probe=function_effects),
),
    draw=draw_tiled, returns=("output",),
    bans={"fused attention"}, difficulty=3, minutes=20, review="A softmax while the keys go by",
    stand_in=stand_ins.tiled_attention,
    mistakes="""
    dense_attention: The answer is right, but T × S numbers are in memory at once, which saves nothing. Add each
        tile to the result before you compute the next.
        + return (query @ key.transpose(-2, -1) / sqrt(query.shape[-1])).softmax(-1) @ value
    tiles_of_queries: Your code cuts the queries into tiles, and each tile sees all keys at once. Cut the keys
        instead, so that no query has all its scores at once.
        + parts = [part @ key.transpose(-2, -1) / sqrt(part.shape[-1]) for part in query.split(tile, dim=-2)]
        + return torch.cat([part.softmax(-1) @ value for part in parts], dim=-2)
    tiles_kept_in_a_list: The tiles are all kept, so that T × S numbers are in memory at once. Add the scores of
        one tile to the result before you compute the next.
        + parts = [query @ part.transpose(-2, -1) / sqrt(query.shape[-1]) for part in key.split(tile, dim=-2)]
        + largest = torch.stack([part.amax(-1, keepdim=True) for part in parts]).amax(0)
        + weights = [torch.exp(part - largest) for part in parts]
        + total = torch.stack([part.sum(-1, keepdim=True) for part in weights]).sum(0)
        + return torch.stack([one @ part for one, part in zip(weights, value.split(tile, dim=-2))]).sum(0) / total
    softmax_of_each_tile: Your code gives each tile its own softmax, and averages the results. Divide by one sum
        instead: that of the exponentials of all tiles.
        + parts = [query @ part.transpose(-2, -1) / sqrt(query.shape[-1]) for part in key.split(tile, dim=-2)]
        + return torch.stack([one.softmax(-1) @ part for one, part in zip(parts, value.split(tile, dim=-2))]).mean(0)
    tiles_by_their_sizes: Your code gives each tile its own softmax, weighted by its number of keys. Divide by one sum
        instead: that of the exponentials of all tiles.
        + parts = [query @ part.transpose(-2, -1) / sqrt(query.shape[-1]) for part in key.split(tile, dim=-2)]
        + return torch.stack([one.softmax(-1) @ part * part.shape[-2] / key.shape[-2] for one, part in zip(parts,
          value.split(tile, dim=-2))]).sum(0)
    nothing_scaled_down: Your code scales down neither sum when there is a larger score. Multiply both sums by
        exp(old largest − new largest), before you overwrite the old largest.
        total * shrink  →  total
        summed * shrink  →  summed
    values_not_scaled_down: When there is a larger score, your code scales down the sum of the exponentials, but
        not the sum with the values. Scale down both.
        summed * shrink  →  summed
    total_not_scaled_down: When there is a larger score, your code scales down the sum with the values, but not
        the sum of the exponentials. Scale down both.
        total * shrink  →  total
    largest_of_each_tile: In your code each tile subtracts its own largest score, so the sums of the tiles do not
        fit together. Keep the largest score so far.
        torch.maximum(largest, scores.amax(-1, keepdim=True))  →  scores.amax(-1, keepdim=True)
        torch.exp(before - largest)  →  1.0
    nothing_subtracted: Your code does not subtract the largest score, so exp overflows if scores are large.
        Subtract the largest score so far.
        torch.exp(before - largest)  →  1.0
        torch.exp(scores - largest)  →  torch.exp(scores)
    largest_begins_at_zero: Your largest score begins too high. If all scores are far below that start, every
        exponential is 0: begin at −∞.
        query.new_full((*query.shape[:-1], 1), -torch.inf)  →  query.new_zeros((*query.shape[:-1], 1))
    largest_not_kept: The largest score so far is not kept: at the end of each round, the new largest must become
        the old one.
        before, largest = largest, torch.maximum(largest, scores.amax(-1, keepdim=True))
            →  before, new = largest, torch.maximum(largest, scores.amax(-1, keepdim=True))
        torch.exp(before - largest)  →  torch.exp(before - new)
        torch.exp(scores - largest)  →  torch.exp(scores - new)
    largest_of_the_last_tile: In your code the largest score of each tile replaces the largest so far. If the new
        one is far lower, exp(old − new) is infinite: keep the larger of the two.
        torch.maximum(largest, scores.amax(-1, keepdim=True))  →  scores.amax(-1, keepdim=True)
    last_tile_left_out: Your code leaves out the last keys if they do not fill a tile. Use them, too: the last
        tile may be smaller.
        + key, value = (one[..., : max(key.shape[-2] // tile, 1) * tile, :] for one in (key, value))
    tiled_without_scale: Your code does not divide the scores by √d. Divide them.
        query = query / sqrt(query.shape[-1])  →  pass
    never_divided: The output is never divided. Divide it by the sum of the exponentials at the end.
        summed / total  →  summed
    divided_in_every_round: The output is divided in every round, but it is not multiplied by the old sum first.
        Divide once, at the end.
        summed = summed * shrink + weights @ value[..., start : start + tile, :]
            →  summed = (summed * shrink + weights @ value[..., start : start + tile, :]) / total
        summed / total  →  summed
    tiled_query_scaled_in_place: The input query is changed. Scale a new tensor, not in place.
        query = query / sqrt  →  query /= sqrt
""")  # fmt: skip
