"""Exercise 1.3: a softmax that stays finite."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.dot_product import stable_softmax
from torch import Tensor

from grader.course.lesson_1 import stand_ins
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, drawn, given, normal, sizes, written_exercise

# Scores for which even exp without subtraction stays finite; and the axis along which the softmax must sum to 1.
ANY_SCORES = normal("shape", scale=2.0)
draw_scores, draw_scores_and_dim = drawn(scores=ANY_SCORES), drawn(scores=ANY_SCORES, dim=given("dim", -1))


def draw_extremes(
    sampler: InputSampler, *, rows: int, columns: int, spread: float, offset: float, dtype: torch.dtype = torch.float32
) -> Inputs:
    """Draw rows of scores around +offset, 0 and −offset in turn.

    So an answer that subtracts a single maximum from all rows fails. All numbers are float32
    numbers, so that an answer may compute in float32, whatever the dtype of the scores is.
    """
    base = offset * (1 - torch.arange(rows).remainder(3)).double().unsqueeze(-1)
    scores = base + sampler.normal(rows, columns, scale=spread, dtype=torch.float64)
    return {"scores": scores.float().to(dtype), "dim": -1}


def draw_forbidden(
    sampler: InputSampler,
    *,
    shape: tuple[int, ...],
    dim: int = -1,
    offset: float = 0.0,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw scores, some of them −inf as after a mask. Along `dim`, all scores of the first row are −inf.

    Before a conversion to `dtype`, all numbers are float32 numbers.
    """
    scores = (sampler.normal(*shape, scale=2.0) + offset).to(dtype).movedim(dim, -1)
    scores = scores.masked_fill(~sampler.mask(*scores.shape), -torch.inf)
    scores[(0,) * (scores.ndim - 1)] = -torch.inf
    return {"scores": scores.movedim(-1, dim).contiguous(), "dim": dim}


def softmax_along_dim(function, arguments: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Return the weights of the softmax, with `dim` passed by keyword.

    So a signature with a bare * before `dim` is right, too.
    """
    return {"weights": function(arguments["scores"], dim=arguments["dim"])}


SOFTMAX = written_exercise("1.3 A softmax that stays finite", stable_softmax, (
    CheckSpec("values", 3, "each row becomes a distribution", examples=[sizes(shape=(2, 3))],
        trials=[sizes(shape=(5, 7)), sizes(shape=(2, 3, 11))], map="weights", draw=draw_scores),
    CheckSpec("dims", 2, "along any axis, counted from either end", examples=[sizes(shape=(2, 3), dim=0)],
        trials=[sizes(shape=(3, 5, 7), dim=1), sizes(shape=(3, 5, 7), dim=-3), sizes(shape=(5, 7), dim=-2),
            sizes(shape=(7,), dim=0), sizes(shape=(5, 1, 7), dim=0)], probe=softmax_along_dim),
    CheckSpec("extremes", 2, "finite for scores of any size",
        examples=[sizes(rows=3, columns=4, spread=10000.0, offset=0.0)],
        trials=[sizes(rows=5, columns=7, spread=2.0, offset=10000.0, dtype=torch.float64),
            sizes(rows=5, columns=7, spread=10000.0, offset=0.0)], probe=softmax_along_dim, draw=draw_extremes),
    CheckSpec("empty rows", 2, "a row of −inf becomes zeros", examples=[sizes(shape=(2, 3))],
        trials=[sizes(shape=(5, 7)), sizes(shape=(3, 5, 2), dim=1),
            sizes(shape=(3, 4), offset=-1000000.0, dtype=torch.float64)],
        probe=softmax_along_dim, draw=draw_forbidden),
    CheckSpec("conduct", 1, examples=[sizes(shape=(2, 3))], trials=[sizes(shape=(5, 7), dtype=torch.float64)]),
),
    draw=draw_scores_and_dim, returns=("weights",),
    bans={"softmax"}, difficulty=2, minutes=10, review="Softmax", stand_in=stand_ins.stable_softmax,
    mistakes="""
    nan_in_empty_rows: Your code gives NaN for a row of −inf: −inf − (−inf) is NaN, and 0 divided by 0 is NaN,
        too. Such a row must become zeros.
        largest.masked_fill(largest == -torch.inf, 0.0)  →  largest
        total.masked_fill(total == 0, 1.0)  →  total
    overflows: exp of a large score is infinite, and ∞/∞ is NaN. Subtract the row's largest score first.
        - largest.masked_fill(largest == -torch.inf, 0.0)  →
        total.masked_fill(total == 0, 1.0)  →  total
    overflows_elsewhere: exp of a large score is infinite, and ∞/∞ is NaN. Subtract the row's largest score first.
        - largest.masked_fill(largest == -torch.inf, 0.0)  →
    largest_magnitude: Your code subtracts the largest absolute value. If the scores are far below 0, every
        exponential becomes 0: subtract the row's largest score.
        scores.amax(  →  scores.abs().amax(
    first_axis_by_default: If no `dim` is given, your function works along axis 0. The default must be −1, the
        last axis.
        dim: int = -1  →  dim: int = 0
    maximum_along_the_last_axis: Your code always takes the largest score along the last axis. Take it along
        `dim`, as you do for the sum.
        scores.amax(dim  →  scores.amax(-1
    overflow_hidden: exp of a large score is infinite, and a row with such a score becomes zeros here. Subtract the
        row's largest score first.
        - largest.masked_fill(largest == -torch.inf, 0.0)  →
        = result.nan_to_num(0.0)
    uniform_in_empty_rows: In your code a row of −inf becomes uniform. Nothing in such a row may be looked at, so
        each weight must be 0, not 1/n.
        + scores = scores.clamp_min(-1e9)
    large_number_for_minus_infinity: Your code replaces −inf by a finite number. If all other scores of the row
        are even lower, that number gets weight: leave −inf as it is.
        + scores = scores.masked_fill((scores == -torch.inf) & (scores > -torch.inf).any(dim, keepdim=True), -1e4)
    minus_infinity_becomes_zero: Your code turns a score of −inf into 0, which still gets weight because exp(0) =
        1. Leave −inf as it is.
        + scores = scores.masked_fill(scores == -torch.inf, 0.0)
    emptied_by_one: A row becomes zeros if one of its scores is −inf. Only a row in which all scores are −inf must
        become zeros: all, not any.
        = result.masked_fill((scores == -torch.inf).any(dim, keepdim=True), 0.0)
    one_maximum_for_all: Your code subtracts the largest score of the whole tensor. In a row of much smaller
        scores every exp is then 0: subtract each row's own largest score.
        scores.amax(dim, keepdim=True)  →  scores.max()
        total.masked_fill(total == 0, 1.0)  →  total
    zeros_by_one_maximum: Your code subtracts the largest score of the whole tensor. In a row of much smaller
        scores every exp is then 0: subtract each row's own largest score.
        scores.amax(dim, keepdim=True)  →  scores.max()
    ignores_dim: Your function does not use `dim`: its sum always runs over the last axis. Use `dim` instead.
        + dim = -1
    sum_ignores_dim: Your sum always runs over the last axis. It must run along `dim`, as the largest score does.
        exps.sum(dim  →  exps.sum(-1
    sums_over_the_other_axis: The sum runs over the wrong axis: with dim=-1 each row must sum to 1, not each column.
        + dim = -2 if dim in (-1, scores.ndim - 1) else -1
    one_sum_for_all: Here the whole tensor sums to 1. Each row must sum to 1: sum along `dim` only.
        scores.amax(dim, keepdim=True)  →  scores.max()
        exps.sum(dim, keepdim=True)  →  exps.sum()
        total.masked_fill(total == 0, 1.0)  →  total
    divided_by_one_sum: Here the whole tensor sums to 1. Each row must sum to 1: sum along `dim` only.
        exps.sum(dim, keepdim=True)  →  exps.sum()
    forgets_keepdim: A sum or a largest score has lost its axis, so it lines up with the wrong axis. Keep the axis:
        keepdim=True.
        - largest.masked_fill(largest == -torch.inf, 0.0)  →  - largest
        total.masked_fill(total == 0, 1.0)  →  exps.sum(dim)
    no_exponential: The exponential is missing: your code divides the scores by their sum. Take the exponential of
        the scores first.
        + return scores / scores.sum(dim, keepdim=True)
    clamps_the_scores: Your clamp keeps exp finite, but it makes different scores equal. Subtract the row's
        largest score instead.
        scores - largest.masked_fill(largest == -torch.inf, 0.0)  →  scores.clamp(-50, 50)
        total.masked_fill(total == 0, 1.0)  →  total
    clamps_from_above: Your clamp keeps exp finite, but it makes all large scores equal. Subtract the row's
        largest score instead.
        scores - largest.masked_fill(largest == -torch.inf, 0.0)  →  scores.clamp_max(50)
    subtracts_the_mean: Your code subtracts the mean, so scores far above the mean overflow. Subtract the row's
        largest score instead.
        largest.masked_fill(largest == -torch.inf, 0.0)  →  scores.mean(dim, keepdim=True).nan_to_num(neginf=0.0)
    powers_of_two: These are powers of 2. Use powers of e: torch.exp.
        torch.exp(  →  torch.exp2(
    axis_put_back_at_the_end: In your code the axis of the sum or the maximum becomes the last axis, whatever
        `dim` is. Use keepdim=True, which leaves the axis in its place.
        scores.amax(dim, keepdim=True)  →  scores.amax(dim).unsqueeze(-1)
        exps.sum(dim, keepdim=True)  →  exps.sum(dim).unsqueeze(-1)
    logarithm_returned: You return the logarithms of the weights. Apply torch.exp to them at the end.
        = result.log()
    largest_at_least_zero: If the largest score is below 0, 0 is subtracted instead. In a row far below 0, every
        exponential then becomes 0: use the largest score itself.
        scores.amax(dim, keepdim=True)  →  scores.amax(dim, keepdim=True).clamp_min(0)
    works_in_place: The input scores are changed. `-=` and `.sub_()` work in place: make a new tensor instead.
        torch.exp(scores - largest.masked_fill(largest == -torch.inf, 0.0))
            →  scores.sub_(largest.masked_fill(largest == -torch.inf, 0.0)).exp()
""")  # fmt: skip
