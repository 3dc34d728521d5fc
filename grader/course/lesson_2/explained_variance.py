"""Exercise 2.2, explained_variance: the share of the tokens' variance that a linear fit recovers.

The linear fit, from aligned tokens to tokens, is called the readout.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from attention.alignment import explained_variance
from torch import Tensor

from grader.course.lesson_2.writings import variance_by_ones, variance_by_pinv
from grader.declaration.exercise import Exercise, mistake, mistakes_in
from grader.declaration.probes import as_number, effects_of, strided
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.records import Case, Finding, Inputs


def draw_readout(
    sampler: InputSampler, *, batch_shape: tuple[int, ...] = (), tokens: int, d_vision: int, d_text: int
) -> Inputs:
    """Draw tokens of unequal spread and mean, and, as aligned, the tanh of a projection of them."""
    centred = sampler.normal(*batch_shape, tokens, d_vision)
    image = centred * (sampler.uniform(d_vision) * 2 + 0.3) + 2 * sampler.normal(d_vision)
    bent = torch.tanh(centred @ sampler.normal(d_vision, d_text) / sqrt(d_vision))
    return {"tokens": image, "aligned": bent * 3 + sampler.normal(d_text)}


def draw_batches(sampler: InputSampler, **sizes) -> Inputs:
    """Draw batches with different means: a fit to each gives another share than one fit to all tokens."""
    inputs = draw_readout(sampler, **sizes)
    shift = sampler.normal(*sizes["batch_shape"], 1, sizes["d_vision"], scale=2.0)
    return {**inputs, "tokens": inputs["tokens"] + shift}


def draw_repeated(sampler: InputSampler, *, tokens: int, d_vision: int, d_text: int) -> Inputs:
    """Draw aligned tokens with each column twice, the double of a column, and columns that never change.

    Two of them are zero and stand in front, as the dark border of a picture does.
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
    """Call explained_variance with copies of its inputs, by keyword."""
    copies = {name: tensor.clone() for name, tensor in arguments.items()}
    return {"explained variance": as_number(function(**copies), "explained variance")}


def readout_conduct(function, arguments: Mapping[str, Tensor]) -> dict[str, Any]:
    """Call explained_variance with non-contiguous inputs, and report side effects."""
    share = as_number(function(*(strided(tensor) for tensor in arguments.values())), "explained variance")
    return {"explained variance": share, **effects_of(function, arguments)}


def close_share(case: Case) -> Finding:
    """Compare the shares to 1e-3, as the syllabus promises, and require unchanged inputs.

    The usual tolerance is too small: a least-squares fit in float32 has larger rounding errors than a
    product.
    """
    got, want = case.got.get("explained variance"), case.expected()["explained variance"]
    if not isinstance(got, float):
        return Finding(passed=False, message=f"explained variance is {got!r}, expected a number")
    if not abs(got - want) <= 1e-3:  # a NaN is not close
        return Finding(
            passed=False,
            message=f"explained variance: {got:.4f}, off by {abs(got - want):.2g}, allowed 0.001",
        )
    if case.got.get("inputs unchanged", True) is not True:
        return Finding(passed=False, message="the inputs were changed: work on new tensors, not in place")
    return Finding(passed=True)


def close_share_of_repeated(case: Case) -> Finding:
    """Judge as `close_share` does; where it fails, add to its message how to cope with repeated columns."""
    finding = close_share(case)
    hint = "Columns that repeat one another or never change lead lstsq and inverses astray; torch.linalg.pinv copes with them"
    return finding if finding.passed else Finding(passed=False, message=f"{finding.message}. {hint}")


def share_of(tokens: Tensor, features: Tensor, *, total: Tensor | None = None) -> Tensor:
    """Compute 1 − residual / total, within 0…1, for a least-squares fit without intercept.

    Args:
        total: the sum of squares to divide by; None: that of the tokens around their mean.
    """
    residual = tokens - features @ (torch.linalg.pinv(features) @ tokens)
    total = (tokens - tokens.mean(0)).square().sum() if total is None else total
    return (1 - residual.square().sum() / total).clamp(0, 1)


def with_ones(features: Tensor) -> Tensor:
    """Append a column of ones, for the intercept."""
    return torch.cat([features, torch.ones_like(features[:, :1])], dim=-1)


@mistake(
    "explained_variance", "The readout needs an intercept: subtract the means first, or add a column of ones."
)
def no_intercept(tokens: Tensor, aligned: Tensor) -> Tensor:
    return share_of(tokens.flatten(0, -2), aligned.flatten(0, -2))


@mistake(
    "explained_variance",
    "No mean is subtracted here. Subtract the mean of each column from both sides first: the readout then needs no intercept, and the total is taken around the mean.",
)
def not_centred(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens = tokens.flatten(0, -2)
    return share_of(tokens, aligned.flatten(0, -2), total=tokens.square().sum())


@mistake(
    "explained_variance",
    "The tokens are centred, the aligned ones are not, so the readout has no intercept. Subtract the mean of each column on both sides.",
)
def only_tokens_centred(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens = tokens.flatten(0, -2)
    return share_of(tokens - tokens.mean(0), aligned.flatten(0, -2))


@mistake(
    "explained_variance",
    "The aligned tokens are centred, the tokens are not, so no readout can give back their mean. Subtract the mean of each column on both sides.",
)
def only_aligned_centred(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens, features = tokens.flatten(0, -2), aligned.flatten(0, -2)
    return share_of(tokens, features - features.mean(0), total=tokens.square().sum())


@mistake(
    "explained_variance",
    "The spread of the aligned tokens is not information: doubling them would change it. Fit a readout back to the tokens.",
)
def compares_spreads(tokens: Tensor, aligned: Tensor) -> Tensor:
    spread = aligned.flatten(0, -2).var(0).sum() / tokens.flatten(0, -2).var(0).sum()
    return spread.clamp(0, 1)


@mistake(
    "explained_variance",
    "This predicts the aligned tokens from the image tokens. Turn it around: read the image tokens back.",
)
def wrong_direction(tokens: Tensor, aligned: Tensor) -> Tensor:
    return share_of(aligned.flatten(0, -2), with_ones(tokens.flatten(0, -2)))


@mistake(
    "explained_variance",
    "Every dimension counts alike here. Sum the squares over all dimensions before you divide, and do not divide the tokens by their spread.",
)
def mean_over_dimensions(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens, features = tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2))
    residual = (tokens - features @ (torch.linalg.pinv(features) @ tokens)).square().sum(0)
    return (1 - residual / (tokens - tokens.mean(0)).square().sum(0)).mean().clamp(0, 1)


@mistake(
    "explained_variance",
    "The total sum of squares is taken around the mean. Subtract the mean of each dimension.",
)
def total_around_zero(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens = tokens.flatten(0, -2)
    return share_of(tokens, with_ones(aligned.flatten(0, -2)), total=tokens.square().sum())


@mistake("explained_variance", "That is the share that is lost. The explained share is 1 minus it.")
def share_that_is_lost(tokens: Tensor, aligned: Tensor) -> Tensor:
    return 1 - share_of(tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2)))


@mistake(
    "explained_variance",
    "What is left over was measured by its length. Sum its squares instead.",
)
def lengths_for_squares(tokens: Tensor, aligned: Tensor) -> Tensor:
    return 1 - (1 - share_of(tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2)))).sqrt()


@mistake(
    "explained_variance",
    "Each batch was fitted by itself. Pool all leading dimensions into one long list of tokens first.",
)
def batch_by_batch(tokens: Tensor, aligned: Tensor) -> Tensor:
    if tokens.ndim == 2:
        return share_of(tokens, with_ones(aligned))
    pairs = zip(tokens.flatten(0, -3), aligned.flatten(0, -3), strict=True)
    return torch.stack(
        [share_of(token_batch, with_ones(aligned_batch)) for token_batch, aligned_batch in pairs]
    ).mean()


@mistake(
    "explained_variance",
    "Columns that repeat one another make this readout go wrong. Use torch.linalg.pinv, which copes with them.",
)
def inverts_the_square(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens, features = tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2))
    readout = torch.linalg.inv(features.T @ features) @ features.T @ tokens
    residual = (tokens - features @ readout).square().sum()
    return (1 - residual / (tokens - tokens.mean(0)).square().sum()).clamp(0, 1)


VARIANCE_CHECKS = StandardChecks(
    reference=explained_variance, returns=("explained variance",), draw=draw_readout
)

POOLED_BATCHES = VARIANCE_CHECKS.batch(
    2,
    title="all leading dimensions are pooled, and the inputs stay as they are",
    draw=draw_batches,
    probe=readout_conduct,
    judge=close_share,
    examples=[dict(batch_shape=(2,), tokens=5, d_vision=3, d_text=2)],
    trials=[
        dict(batch_shape=(3,), tokens=19, d_vision=7, d_text=2),
        dict(batch_shape=(2, 3), tokens=11, d_vision=5, d_text=3),
    ],
)

REPEATED_COLUMNS = VARIANCE_CHECKS.further_values(
    "repeated",
    "aligned tokens whose columns repeat one another, or never change",
    2,
    draw=draw_repeated,
    probe=readout,
    judge=close_share_of_repeated,
    examples=[dict(tokens=11, d_vision=3, d_text=2)],
    trials=[
        dict(tokens=53, d_vision=7, d_text=2),
        dict(tokens=31, d_vision=5, d_text=3),
        dict(tokens=47, d_vision=11, d_text=5),
    ],
)

VARIANCE = Exercise(
    id="2.2",
    title="What survives the exchange",
    reference=(explained_variance,),
    points=10,
    difficulty=3,
    minutes=12,
    checks=(
        VARIANCE_CHECKS.values(
            "the share of the sum of squares that a linear readout gets back",
            6,
            probe=readout,
            judge=close_share,
            examples=[dict(tokens=9, d_vision=3, d_text=2)],
            trials=[
                dict(tokens=53, d_vision=7, d_text=3),
                dict(tokens=41, d_vision=5, d_text=2),
                dict(tokens=61, d_vision=11, d_text=5),
            ],
        ),
        POOLED_BATCHES,
        REPEATED_COLUMNS,
    ),
    mistakes=mistakes_in(globals(), "explained_variance"),
    writings=(
        variance_by_pinv,
        variance_by_ones,
    ),
    review="What survives the exchange",
)
