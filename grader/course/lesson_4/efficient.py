"""Exercises 4.1 and 4.2: a sliding window, and linear attention. Neither of them makes an n × n matrix."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.efficient import linear_attention, sliding_window_attention

from grader.course.common.tensor_sizes import watch_sizes
from grader.course.lesson_4.writings import window_by_index
from grader.declare.authoring import (
    CheckSpec,
    Draw,
    Inputs,
    InputSampler,
    Value,
    drawn,
    edits,
    given,
    normal,
    sizes,
    written_exercise,
)

UNMASKED: dict[str, str | Draw] = dict(
    query=normal("* n d", scale=1.5), key=normal("* n d", scale=1.5), value="* n d_v"
)
draw_without_window, draw_with_window = drawn(**UNMASKED), drawn(**UNMASKED, window=given("window"))


def draw_zero_keys(sampler: InputSampler, **sizes) -> Inputs:
    """Draw inputs as `draw_with_window` does, and set every third key to zero.

    The zero keys are real keys, although they look like padding.
    """
    inputs = draw_with_window(sampler, **sizes)
    zero = torch.arange(sizes["n"]).unsqueeze(-1) % 3 == 0
    return {**inputs, "key": inputs["key"].masked_fill(zero, 0.0)}


def largest_tensor(function, arguments: Mapping[str, Any]) -> Mapping[str, Value]:
    """Return the output of a call, and True if the call makes a tensor of n × n numbers."""
    output, largest = watch_sizes(function, *arguments.values())
    return {"makes a tensor of n × n numbers": largest >= arguments["query"].shape[-2] ** 2, "output": output}


WINDOW = written_exercise("4.1 A sliding window", sliding_window_attention, (
    CheckSpec("values", 4, "equal to dense attention under a band mask", examples=[sizes(n=5, d=2, d_v=3, window=1)],
        trials=[sizes(n=11, d=3, d_v=5, window=2), sizes(n=5, d=3, d_v=2, window=7),
            sizes(n=5, d=3, d_v=2, window=0)]),
    CheckSpec("batch", 2, examples=[sizes(batch_shape=(2,), n=4, d=2, d_v=3, window=1)],
        trials=[sizes(batch_shape=(2,), n=11, d=3, d_v=5, window=2),
            sizes(batch_shape=(2, 3), n=7, d=5, d_v=2, window=3),
            sizes(batch_shape=(1,), n=5, d=3, d_v=1, window=1)]),
    CheckSpec("zero keys", 1, "a key of zeros is a key like any other", examples=[sizes(n=4, d=2, d_v=3, window=1)],
        trials=[sizes(batch_shape=(2,), n=7, d=3, d_v=5, window=2), sizes(n=5, d=2, d_v=3, window=0)],
        draw=draw_zero_keys),
    CheckSpec("memory", 5, "without any n × n matrix", examples=[sizes(n=23, d=2, d_v=3, window=1)],
        trials=[sizes(n=211, d=3, d_v=5, window=2)], probe=largest_tensor),
    CheckSpec("conduct", 2, examples=[sizes(n=3, d=2, d_v=4, window=1)],
        trials=[sizes(batch_shape=(2, 3), n=7, d=3, d_v=5, window=2, dtype=torch.float64)]),
),
    draw=draw_with_window, returns=("output",),
    difficulty=3, minutes=15, review="What attention costs",
    mistakes=edits(window_by_index, """
    no_window: In your code every position sees all others. Hide the positions that are more than `window` places
        away.
        + return F.scaled_dot_product_attention(query, key, value)
    window_too_narrow: Your window is one place too narrow at each end. Position i must see all positions j with
        |i − j| ≤ window.
        + window = max(window - 1, 0)
    window_too_wide: Your window is one place too wide at each end. Position i must see only positions j with |i −
        j| ≤ window.
        + window = window + 1
    window_unscaled: Your code does not divide the scores by √d, so the weights are too sharp. Divide them.
        .sum(-1) / math.sqrt(query.shape[-1])  →  .sum(-1)
    looks_back_only: This window only looks back. It must reach `window` places to both sides.
        window + 1, device  →  1, device
    window_of_keys_looking_back: This window only looks back, and it contains `window` keys in total. It must reach
        `window` places to both sides.
        + window = max(window - 1, 0)
        window + 1, device  →  1, device
    half_the_window: The window reaches only window // 2 places to each side. It must reach `window` places to each
        side.
        + window = window // 2
    dense_window: Your output is right, but your code builds the whole n × n matrix, which saves no memory.
        Compute only the scores inside the window.
        + band = torch.ones(query.shape[-2], query.shape[-2]).tril(window).triu(-window).bool()
        + scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        + return scores.masked_fill(~band, -torch.inf).softmax(-1) @ value
    padding_attended: At both ends your code gives weight to the zeros around the sequence. Set their scores to
        −∞.
        key[..., place, :], value[..., place, :]
            →  (one[..., place, :].masked_fill(beyond.unsqueeze(-1), 0.0) for one in (key, value))
        scores.masked_fill(beyond, -torch.inf)  →  scores
    softmax_over_positions: Your softmax runs over the positions. It must run over the neighbours of each
        position: dim=-1.
        -torch.inf), dim=-1)  →  -1e30), dim=-2)
    masked_after_the_softmax: Your code masks after the softmax, so at both ends the weights no longer sum to 1.
        Mask the scores, before the softmax.
        torch.softmax(scores.masked_fill(beyond, -torch.inf), dim=-1)
            →  torch.softmax(scores, dim=-1).masked_fill(beyond, 0.0)
    masked_with_zero: Your code gives the places outside 0 … n − 1 the score 0, so they still get weight. Give
        them the score −∞.
        -torch.inf  →  0.0
    ends_repeated: At both ends the first or last token is seen several times: mask the places outside 0 … n − 1.
        scores.masked_fill(beyond, -torch.inf)  →  scores
    negative_places: In your code the first positions see the last ones, because an index below 0 counts from the
        end. Mask the places below 0.
        (place < 0) | (place >= n)  →  place >= n
        place.clamp(0, n - 1)  →  place.clamp(max=n - 1)
    ends_meet: The first positions see the last ones, and the last ones see the first. Mask the places outside 0 … n −
        1.
        place.clamp(0, n - 1)  →  place % n
        scores.masked_fill(beyond, -torch.inf)  →  scores
    separate_blocks: The sequence is cut into blocks that do not see each other. Each position must have its own window
        around it.
        + block = torch.arange(query.shape[-2]) // (2 * window + 1)
        + return F.scaled_dot_product_attention(query, key, value, attn_mask=block.unsqueeze(1) == block)
    window_behind_the_width: Your reshape mixes up the numbers, because unfold puts the window after the width, as
        the last axis. Swap these two axes instead.
        key[..., place, :], value[..., place, :]
            →  (F.pad(one, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1).reshape(*one.shape[:-1], 2 * window +
               1, one.shape[-1]) for one in (key, value))
    padding_guessed: Keys that are all zero are treated as padding. Mask by position: hide the places outside 0 … n − 1.
        masked_fill(beyond,  →  masked_fill(beyond | (near_keys == 0).all(-1),
    query_scaled_in_place: An input tensor is changed. Make a new tensor instead of working in place.
        (query.unsqueeze(-2) * near_keys).sum(-1) / math.sqrt(query.shape[-1])
            →  (query.div_(query.shape[-1] ** 0.5).unsqueeze(-2) * near_keys).sum(-1)
""", defines="sliding_window_attention"))  # fmt: skip

LINEAR = written_exercise("4.2 Linear attention", linear_attention, (
    CheckSpec("values", 4, "equal to its quadratic form", examples=[sizes(n=3, d=2, d_v=4)],
        trials=[sizes(n=11, d=3, d_v=5), sizes(n=5, d=7, d_v=2)]),
    CheckSpec("batch", 2, examples=[sizes(batch_shape=(2,), n=3, d=2, d_v=4)],
        trials=[sizes(batch_shape=(2,), n=11, d=3, d_v=5), sizes(batch_shape=(2, 3), n=7, d=2, d_v=5),
            sizes(batch_shape=(1,), n=5, d=3, d_v=1)]),
    CheckSpec("memory", 3, "without any n × n matrix", examples=[sizes(n=23, d=2, d_v=3)],
        trials=[sizes(n=211, d=3, d_v=5)], probe=largest_tensor),
    CheckSpec("conduct", 1, examples=[sizes(n=3, d=2, d_v=4)],
        trials=[sizes(batch_shape=(2,), n=7, d=3, d_v=5, dtype=torch.float64)]),
),
    draw=draw_without_window, returns=("output",),
    difficulty=2, minutes=8, review="What attention costs",
    mistakes="""
    mixes_nothing: The values are returned as they were: no tokens are mixed. Sum over all keys first.
        return query @ summary / total  →  alike = (query * key).sum(-1, keepdim=True); return alike * value / alike
    not_normalised: The output is not normalised: divide by φ(q) · Σ φ(k).
        / total  →
    divided_by_its_own_sum: Your code divides the output by the sum of its own numbers. Divide by φ(q) · Σ φ(k).
        return query @ summary / total  →  output = query @ summary; return output / output.sum(-1, keepdim=True)
    keys_normalised: Each φ(k) is divided by the sum of its own numbers here. Instead, divide the output of each query
        by φ(q) · Σ φ(k).
        return query @ summary / total  →  return query @ ((key / key.sum(-1, keepdim=True)).transpose(-2, -1) @ value)
    without_the_one: Your feature map lacks the 1, so the similarities may be negative.
        It must be elu(x) + 1.
        F.elu(query) + 1, F.elu(key) + 1  →  F.elu(query), F.elu(key)
    one_inside_the_elu: The 1 is added inside the elu. The feature map is elu(x) + 1: add it to what elu returns.
        F.elu(query) + 1, F.elu(key) + 1  →  F.elu(query + 1), F.elu(key + 1)
    relu_features: Your feature map uses a relu instead of the elu.
        It must be elu(x) + 1.
        F.elu(query) + 1, F.elu(key) + 1  →  F.relu(query) + 1, F.relu(key) + 1
    leaky_relu_features: Your feature map is a leaky ReLU, so the similarities may be negative.
        It must be elu(x) + 1.
        F.elu(query) + 1, F.elu(key) + 1  →  F.leaky_relu(query), F.leaky_relu(key)
    raw_query: Your code does not use the feature map on the queries. Use elu(x) + 1 on queries and keys.
        F.elu(query) + 1, F.elu(key) + 1  →  query, F.elu(key) + 1
    raw_key: Your code does not use the feature map on the keys. Use elu(x) + 1 on queries and keys.
        F.elu(query) + 1, F.elu(key) + 1  →  F.elu(query) + 1, key
    raw_keys_below: The denominator sums the keys without the feature map. Divide by φ(q) · Σ φ(k).
        F.elu(key) + 1  →  F.elu(raw := key) + 1
        key.sum(-2)  →  raw.sum(-2)
    value_features: The values go through φ, too. Use it only on queries and keys.
        @ value  →  @ (F.elu(value) + 1)
    causal_sums: The sums for each query end at its own position: this is the causal form. Here every query must see all
        keys.
        return query @ summary / total  →  w = (query @ key.mT).tril(); return w @ value / w.sum(-1, keepdim=True)
    causal_sums_above: The sums in the numerator end at each query's own position, but those in the denominator do not.
        Every query must see all keys: take the whole sum, not a cumsum.
        return query @ summary / total  →  return (query @ key.mT).tril() @ value / total
    divided_by_the_count: The result is divided by the number of keys. Divide by φ(q) · Σ φ(k), so that the
        weights sum to 1.
        / total  →  / key.shape[-2]
    divided_by_features: The result is divided by sums over the features. Sum φ(k) over all keys, axis −2, and
        divide by φ(q) times that sum.
        query @ key.sum(-2).unsqueeze(-1)  →  query.sum(-1, keepdim=True) * key.sum(-1, keepdim=True)
    divided_by_two_sums: The result is divided by the product of two sums. φ(q) · Σ φ(k) is a dot product:
        multiply number by number, then add.
        query @ key.sum(-2).unsqueeze(-1)  →  query.sum(-1, keepdim=True) * key.sum((-2, -1), keepdim=True)
    softmax_features: There are softmaxes in place of elu(x) + 1. Use elu(x) + 1, and then divide by φ(q) · Σ
        φ(k).
        F.elu(query) + 1, F.elu(key) + 1  →  query.softmax(-1), key.softmax(-2)
        / total  →
    softmax_in_the_features: There are softmaxes in place of the feature map.
        It must be elu(x) + 1.
        F.elu(query) + 1, F.elu(key) + 1  →  query.softmax(-1), key.softmax(-1)
    one_sum_for_all: All rows are divided by the same number, a sum over all queries. Divide each row by its own sum:
        φ(q) · Σ φ(k).
        query @ key.sum(-2).unsqueeze(-1)  →  (query @ key.sum(-2).unsqueeze(-1)).sum(-2, keepdim=True)
    exponential_features: Your feature map is an exponential.
        It must be elu(x) + 1.
        F.elu(query) + 1, F.elu(key) + 1  →  torch.exp(query), torch.exp(key)
    softmax_attention: Your code is softmax attention. Linear attention must use φ(q)·φ(k) instead of exp(q·k).
        + return F.scaled_dot_product_attention(query, key, value)
    quadratic_order: The answer is right, but φ(Q)φ(K)ᵀ is n × n, which saves nothing. Multiply φ(K)ᵀ with V first.
        return query @ summary / total
            →  weights = query @ key.transpose(-2, -1); return weights / weights.sum(-1, keepdim=True) @ value
    features_in_place: An input tensor is changed. Make a new tensor instead of working in place.
        + given = query, key
        = (result, [one.data.copy_(F.elu(one.data)) for one in given])[0]
""")  # fmt: skip
