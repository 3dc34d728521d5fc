"""Exercise 2.P2, classify_pattern: finds the word that describes an attention map."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.patterns import classify_pattern
from torch import Tensor

from grader.declare.authoring import CheckSpec, Inputs, InputSampler, edits, sizes, written_exercise
from grader.declare.probes import side_effects


def draw_patterns(sampler: InputSampler, *, n: int) -> Inputs:
    """Draw a map of each of the five patterns, in random order, with 15 % noise.

    Args:
        n: the number of queries and of keys.
    """
    position = torch.arange(n)
    near = torch.ones(n, n).tril(1).triu(-1)
    hub, far = torch.zeros(n, n), torch.zeros(n, n)
    hub[:, int(sampler.integers(1, n - 1))] = 1
    far[position, (position + n // 2) % n] = 1
    kinds = (torch.ones(n, n) / n, hub, torch.eye(n), near / near.sum(-1, keepdim=True), far)
    noise = sampler.uniform(len(kinds), n, n)
    noise = noise / noise.sum(-1, keepdim=True)
    order = sampler.permutation(len(kinds))
    return {"maps": (0.85 * torch.stack(kinds) + 0.15 * noise)[order]}


def draw_borders(sampler: InputSampler, *, n: int) -> Inputs:
    """Draw maps at the borders between two words, in random order.

    Args:
        n: the number of queries and of keys: 2 or 4 for a single map, 8 or 16 for all maps. It is a
            power of 2, and all shares are sums of powers of 2. So shares of exactly 1/2 or 3/4 of
            all weight are exact in floating point, even after a division by the total.
    """
    if n == 2:
        return {"maps": torch.full((1, 2, 2), 0.5)}  # every word fits
    if n == 4:
        one_key = torch.zeros(4, 4)
        one_key[:, int(sampler.integers(1, 3))] = 1
        return {"maps": one_key.unsqueeze(0)}  # a hub whose weight is near the diagonal
    maps = torch.stack([*around_half(sampler, n), *around_three_quarters(n), *around_uniform(sampler, n)])
    return {"maps": maps[sampler.permutation(len(maps))]}


def around_half(sampler: InputSampler, n: int) -> list[Tensor]:
    """Return maps for which the words "hub" and "diagonal" nearly fit, just fit, or both fit."""
    diagonal, hub, far = torch.eye(n), torch.zeros(n, n), torch.eye(n).roll(n // 2, dims=1)
    key = int(sampler.integers(0, n))
    hub[:, key] = 1
    beside = far.clone()  # as far, but nobody looks at the hub
    beside[(key - n // 2) % n] = torch.eye(n)[(key + 1) % n]
    rows = (torch.arange(n) < n // 2).unsqueeze(-1)
    first, last = hub.roll(-key, dims=1), hub.roll(-key - 1, dims=1)
    few = (torch.arange(n) < 3 * n // 8).unsqueeze(-1)
    return [
        0.5 * hub + 0.5 * beside,  # exactly half on one key
        0.4375 * hub + 0.28125 * beside + 0.28125 * beside.roll(1, dims=0),  # less, though all look there most
        torch.where(few, hub, 0.25 * hub + 0.75 * beside),  # more than half, though most look elsewhere
        0.875 * first + 0.125 * far,
        0.875 * last + 0.125 * far,
        0.5 * diagonal + 0.5 * hub,  # both: a hub
        0.5 * diagonal + 0.5 * far,  # exactly half on the diagonal
        torch.where(rows, diagonal, 0.25 * diagonal + 0.75 * far),  # more than half, though not in each row
    ]


def around_three_quarters(n: int) -> list[Tensor]:
    """Return maps for which the word "local" nearly fits or just fits."""
    diagonal, far, away = torch.eye(n), torch.eye(n).roll(n // 2, dims=1), torch.eye(n).roll(2, dims=1)
    away[-2:] = torch.eye(n)[-4:-2]  # two places back, where two places on is outside
    beside = torch.ones(n, n).tril(1).triu(-1) - diagonal
    beside = beside / beside.sum(-1, keepdim=True)
    rows = (torch.arange(n) < n // 2).unsqueeze(-1)
    near = 0.25 * diagonal + 0.5 * beside + 0.25 * far
    around = near.clone()
    around[0], around[-1] = diagonal[-1], diagonal[0]  # the first and the last token look at one another
    return [
        near,  # exactly 3/4
        0.25 * diagonal + 0.375 * beside + 0.125 * away + 0.25 * far,  # less, though not within two places
        torch.where(rows, beside, 0.5 * beside + 0.5 * far),  # 3/4, though not in each row
        around,
        # Three places on, or back: 0.4 is near, and for whoever forgets one side of the diagonal more than 3/4.
        *(0.4 * diagonal + 0.6 * diagonal.roll(step, dims=1) for step in (3, -3)),
    ]


def around_uniform(sampler: InputSampler, n: int) -> list[Tensor]:
    """Return maps with a mean entropy a little above and a little below 0.95."""
    even = torch.full((n, n), 1 / n)
    rank = torch.stack([sampler.permutation(n) for _ in range(n)])
    rows = torch.arange(n).unsqueeze(-1)
    half, quarter = (rank < n // 2) / (n // 2), (rank < n // 4) / (n // 4)
    return [
        (rank < n - 1) / (n - 1),
        torch.where(rows == 0, half, even),  # uniform on average, though not in each row
        torch.where(rows < 3 * n // 8, quarter, even),  # uniform in most rows, though not on average
    ]


def pattern_values(function, arguments: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the student's word for each map, and True if the calls leave the maps unchanged."""
    before = {"maps": arguments["maps"].clone()}
    return {"patterns": [function(weights) for weights in arguments["maps"]], **side_effects(before, arguments)}


PATTERN = written_exercise("2.P2 A word for a map", classify_pattern, (
    CheckSpec("values", 0, "uniform, hub, diagonal, local or other", examples=[sizes(n=7)],
        trials=[sizes(n=11), sizes(n=13), sizes(n=17)]),
    CheckSpec("borders", 0, "maps that two words nearly fit", examples=[sizes(n=8), sizes(n=4), sizes(n=2)],
        trials=[sizes(n=8), sizes(n=16), sizes(n=4), sizes(n=2)], draw=draw_borders),
),
    draw=draw_patterns, returns=("patterns",), probe=pattern_values,
    builds_on=("2.P1",), difficulty=2, minutes=8, review="Reading a map",
    mistakes=edits(classify_pattern, """
    hub_in_rows: Your code looks for the hub in the rows, which always sum to 1. Add up the weights that each key
        gets from all queries: a column of the map.
        = first_word(weights.T) if result == "hub" else result
    band_before_diagonal: Your code calls a diagonal map "local", because the diagonal is inside the band. Test
        for "diagonal" first: half of all weight on the diagonal is enough.
        = "local" if result == "diagonal" else result
    never_uniform: Your code never returns "uniform". Test for it first: a map that spreads evenly must be
        "uniform", even if another word also fits.
        = "other" if result == "uniform" else result
    every_row_uniform: Your code asks for an entropy above 0.95 in every row. The task only asks that the mean over
        the rows is above 0.95.
        attention_entropy(weights).mean()  →  attention_entropy(weights).min()
    hub_by_votes: In your code a key is a hub if it has the largest weight in half of the rows. A hub must get at
        least half of all weight.
        weights.sum(0).max() >= total / 2  →  torch.bincount(weights.argmax(-1)).max() >= len(weights) / 2
    diagonal_before_hub: Your code tests for the diagonal before the hub. Test for the hub first: if two words
        fit, the answer is the one that comes first in the list.
        = "diagonal" if result == "hub" and weights.diagonal().sum() >= weights.sum() / 2 else result
    more_than_half: "At least half" includes exactly half: use >= instead of >.
        weights.sum(0).max() >=  →  weights.sum(0).max() >
        weights.diagonal().sum() >=  →  weights.diagonal().sum() >
    more_than_everywhere: "At least half" includes exactly half, and "at least 3/4" includes exactly 3/4. Use >=
        instead of >.
        weights.sum(0).max() >=  →  weights.sum(0).max() >
        weights.diagonal().sum() >=  →  weights.diagonal().sum() >
        weights[near].sum() >=  →  weights[near].sum() >
    sums_taken_for_shares: Your code compares sums with ½ and ¾ as if all weights together summed to 1. They sum
        to the number of rows: divide by that number first.
        total = weights.sum()  →  total = 1.0
    entropy_of_the_mean: The rows are averaged first, but the mean row of a diagonal map is uniform. Take the entropy of
        each row, then the mean.
        attention_entropy(weights).mean()  →  attention_entropy(weights.mean(0))
    local_from_half: Your code returns "local" if half of all weight is near the diagonal. Half is not enough:
        "local" needs at least 3/4.
        0.75 * total  →  total / 2
    one_large_weight: Your code takes one large weight as a hub. Add up the weights that each key gets from all
        queries: a hub gets at least half of all weight.
        weights.sum(0).max() >= total / 2  →  weights.max() >= 0.5
    largest_entropy: Your code returns "uniform" if a single row spreads evenly. The mean entropy of the rows must
        be above 0.95.
        attention_entropy(weights).mean()  →  attention_entropy(weights).max()
    entropy_not_normalised: The entropy is not divided by the log of the number of keys. Use your attention_entropy.
        attention_entropy(weights).mean()  →  torch.special.entr(weights).sum(-1).mean()
    band_without_diagonal: Only a part of the band counts here. "local" asks for 3/4 of all weight on the diagonal and
        next to it, on both sides.
        (position[:, None] - position).abs() <= 1  →  (position[:, None] - position).abs() == 1
    one_side_is_near: Here, everything on one side of the diagonal counts as next to it. Take the absolute value of
        the distance: abs.
        (position[:, None] - position).abs() <= 1  →  position[:, None] - position <= 1
    other_side_is_near: Here, everything on one side of the diagonal counts as next to it. Take the absolute value of
        the distance: abs.
        (position[:, None] - position).abs() <= 1  →  position - position[:, None] <= 1
    band_goes_around: In your code the first and the last token count as neighbours, because a roll puts the last
        entry in front. Leave that entry out.
        weights[near].sum()  →  sum(weights.roll(-step, dims=1).diagonal().sum() for step in (-1, 0, 1))
""", first_word=classify_pattern))  # fmt: skip
