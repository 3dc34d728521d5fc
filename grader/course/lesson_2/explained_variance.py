"""Exercise 2.2, explained_variance: the share of the tokens' variance that a linear fit recovers.

The linear fit, from aligned tokens to tokens, is called the readout.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from attention.alignment import explained_variance
from torch import Tensor

from grader.course.lesson_2 import stand_ins
from grader.course.lesson_2.writings import variance_by_ones, variance_by_pinv
from grader.declare.authoring import (
    Case,
    CheckSpec,
    Finding,
    Inputs,
    InputSampler,
    edits,
    failed,
    sizes,
    written_exercise,
)
from grader.declare.probes import as_number, effects_of, strided


def draw_readout(
    sampler: InputSampler, *, batch_shape: tuple[int, ...] = (), tokens: int, d_vision: int, d_text: int
) -> Inputs:
    """Draw tokens of unequal spread and mean. The aligned tokens are the tanh of a projection of them."""
    centred = sampler.normal(*batch_shape, tokens, d_vision)
    image = centred * (sampler.uniform(d_vision) * 2 + 0.3) + 2 * sampler.normal(d_vision)
    bent = torch.tanh(centred @ sampler.normal(d_vision, d_text) / sqrt(d_vision))
    return {"tokens": image, "aligned": bent * 3 + sampler.normal(d_text)}


def draw_batches(sampler: InputSampler, **sizes) -> Inputs:
    """Draw batches with different means.

    So a fit to each batch gives another share than one fit to all tokens.
    """
    inputs = draw_readout(sampler, **sizes)
    shift = sampler.normal(*sizes["batch_shape"], 1, sizes["d_vision"], scale=2.0)
    return {**inputs, "tokens": inputs["tokens"] + shift}


def draw_repeated(sampler: InputSampler, *, tokens: int, d_vision: int, d_text: int) -> Inputs:
    """Draw aligned tokens with each column twice, the double of one column, and three constant columns.

    The first two columns are zero, as for the dark border of a picture.
    """
    image = sampler.normal(tokens, d_vision) + sampler.normal(d_vision)
    # With two decimals, the five digits that the notebook keeps of each number hold a column and its double
    # exactly, so the columns there repeat one another exactly, too.
    rounded = sampler.normal(tokens, d_text).mul(100).round().div(100)
    columns = [column.contiguous() for column in rounded.unbind(-1)]
    dark, bright = torch.zeros_like(columns[0]), torch.full_like(columns[0], 3.0)
    repeated = [dark, dark, *columns, *columns, 2 * columns[0], bright]
    return {"tokens": image, "aligned": torch.stack(repeated, dim=-1)}


def readout(function, arguments: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the result of explained_variance for copies of its inputs, passed by keyword."""
    copies = {name: tensor.clone() for name, tensor in arguments.items()}
    return {"explained variance": as_number(function(**copies), "explained variance")}


def readout_conduct(function, arguments: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the result of explained_variance for non-contiguous inputs, and side effects."""
    share = as_number(function(*(strided(tensor) for tensor in arguments.values())), "explained variance")
    return {"explained variance": share, **effects_of(function, arguments)}


def close_share(case: Case) -> Finding:
    """Pass if the shares differ by at most 1e-3, as the syllabus promises, and the inputs are unchanged.

    The usual tolerance is too small, because a least-squares fit in float32 has larger rounding
    errors than a product.
    """
    got, want = case.got.get("explained variance"), case.expected()["explained variance"]
    if not isinstance(got, float):
        return failed(f"explained variance is {got!r}, expected a number")
    if not abs(got - want) <= 1e-3:  # a NaN is not close
        return failed(f"explained variance: {got:.4f}, off by {abs(got - want):.2g}, allowed 0.001")
    if case.got.get("inputs unchanged", True) is not True:
        return failed("the inputs were changed: work on new tensors, not in place")
    return Finding(passed=True)


def close_share_of_repeated(case: Case) -> Finding:
    """Judge as `close_share` does. After a failure, add advice about repeated columns to its message."""
    finding = close_share(case)
    hint = (
        "If columns repeat one another or never change, lstsq and inverses go wrong. "
        "Use torch.linalg.pinv, which also works then"
    )
    return finding if finding.passed else failed(f"{finding.message}. {hint}")


VARIANCE_MISTAKES = edits(variance_by_ones, """
    no_intercept: Your readout has no intercept. Subtract the means first, or add a column of ones.
        design = torch.cat([aligned, torch.ones_like(aligned[:, :1])], -1)  →  design = aligned
    not_centred: No mean is subtracted here. Subtract the mean of each column on both sides first: then the readout
        needs no intercept, and the total is measured around the mean.
        design = torch.cat([aligned, torch.ones_like(aligned[:, :1])], -1)  →  design = aligned
        tokens - tokens.mean(0)  →  tokens
    compares_spreads: Your code compares how far the numbers spread, but doubling the aligned tokens would change
        that result. Fit a readout from the aligned tokens back to the tokens.
        + return (aligned.flatten(0, -2).var(0).sum() / tokens.flatten(0, -2).var(0).sum()).clamp(0, 1)
    wrong_direction: Your code predicts the aligned tokens from the image tokens. Turn it around: predict the
        image tokens from the aligned tokens.
        + tokens, aligned = aligned, tokens
    total_around_zero: The total sum of squares is measured around zero here. Measure it around the mean: subtract the
        mean of each dimension of the tokens.
        tokens - tokens.mean(0)  →  tokens
    total_around_one_mean: Your code measures the total around one mean of all numbers. Use a separate mean for
        each column: tokens.mean(0).
        tokens - tokens.mean(0)  →  tokens - tokens.mean()
    share_that_is_lost: You return the share that is lost. Return the explained share, which is 1 minus the lost
        one.
        = 1 - result
    lengths_for_squares: Your code divides the length of the lost part by the length of the tokens. Divide their
        sums of squares instead.
        = 1 - (1 - result).sqrt()
    batch_by_batch: Each batch is fitted by itself here. First pool all leading dimensions into one long list of tokens.
        + each = zip(tokens.flatten(0, -3), aligned.flatten(0, -3)) if tokens.ndim > 2 else ()
        + if tokens.ndim > 2: return torch.stack([variance_by_ones(*one) for one in each]).mean()
    inverts_the_square: Your code inverts a square matrix, which goes wrong if some columns repeat others. Use
        torch.linalg.pinv, which also works then.
        torch.linalg.pinv(design)  →  torch.linalg.inv(design.T @ design) @ design.T
""", defines="explained_variance")  # fmt: skip
CENTRING_MISTAKES = edits(variance_by_pinv, """
    only_tokens_centred: The tokens are centred, but the aligned tokens are not, so the readout has no intercept.
        Subtract the mean of each column on both sides.
        aligned - aligned.mean(0)  →  aligned
    only_aligned_centred: Your code centres the aligned tokens, but not the tokens, so no readout can give back
        the mean of the tokens. Subtract the mean of each column on both sides.
        tokens - tokens.mean(0)  →  tokens
    one_mean_for_all: Your code subtracts one mean of all numbers. Subtract from each column its own mean.
        - tokens.mean(0)  →  - tokens.mean()
        - aligned.mean(0)  →  - aligned.mean()
    scene_by_scene: Each batch is fitted by itself here. First pool all leading dimensions into one long list of tokens.
        + x, z = (side - side.mean(-2, keepdim=True) for side in (tokens, aligned))
        + return (1 - (x - z @ torch.linalg.pinv(z) @ x).square().sum() / x.square().sum()).clamp(0, 1)
    token_by_token: Your code divides by the sum of squares of each token separately. Add up over all tokens
        first, then divide.
        (tokens - aligned @ readout).square().sum()  →  (tokens - aligned @ readout).square().sum(-1)
        lost / tokens.square().sum()  →  (lost / tokens.square().sum(-1)).mean()
    lengths_added: The lengths of the tokens are added up here. The formula adds up their squares.
        (tokens - aligned @ readout).square().sum()  →  (tokens - aligned @ readout).norm(dim=-1).sum()
        lost / tokens.square().sum()  →  lost / tokens.norm(dim=-1).sum()
    ridge: Your code adds 1 along the diagonal before the fit, so this is not the best fit. Leave out that 1.
        torch.linalg.pinv(aligned)
            →  torch.linalg.inv(aligned.T @ aligned + torch.eye(aligned.shape[1]).to(aligned)) @ aligned.T
    mean_over_dimensions: In your result every dimension counts equally. Sum the squares over all dimensions
        before you divide, and do not divide the tokens by their spread.
        (tokens - aligned @ readout).square().sum()  →  (tokens - aligned @ readout).square().sum(0)
        (1 - lost / tokens.square().sum()).clamp(0, 1)  →  (1 - lost / tokens.square().sum(0)).mean().clamp(0, 1)
""", defines="explained_variance")  # fmt: skip

VARIANCE = written_exercise("2.2 What survives the exchange", explained_variance, (
    CheckSpec("values", 6, "the share of the sum of squares that a linear readout gets back",
        examples=[sizes(tokens=9, d_vision=3, d_text=2)],
        trials=[sizes(tokens=53, d_vision=7, d_text=3), sizes(tokens=41, d_vision=5, d_text=2),
            sizes(tokens=61, d_vision=11, d_text=5)], judge=close_share),
    CheckSpec("batch", 2, "all leading dimensions are pooled, and the inputs stay as they are",
        examples=[sizes(batch_shape=(2,), tokens=5, d_vision=3, d_text=2)],
        trials=[sizes(batch_shape=(3,), tokens=19, d_vision=7, d_text=2),
            sizes(batch_shape=(2, 3), tokens=11, d_vision=5, d_text=3)],
        draw=draw_batches, probe=readout_conduct, judge=close_share),
    CheckSpec("repeated", 2, "aligned tokens whose columns repeat one another, or never change",
        examples=[sizes(tokens=11, d_vision=3, d_text=2)],
        trials=[sizes(tokens=53, d_vision=7, d_text=2), sizes(tokens=31, d_vision=5, d_text=3),
            sizes(tokens=47, d_vision=11, d_text=5)], draw=draw_repeated, judge=close_share_of_repeated),
),
    draw=draw_readout, returns=("explained variance",), probe=readout,
    difficulty=3, minutes=12, review="What survives the exchange", stand_in=stand_ins.explained_variance,
    mistakes=VARIANCE_MISTAKES + CENTRING_MISTAKES,
)  # fmt: skip
