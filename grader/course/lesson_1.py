"""Lesson 1, declared: attention from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import torch
from torch import Tensor, nn

from attention.digits import draw_scenes
from attention.dot_product import (
    attention,
    attention_scores,
    masked_attention,
    scaled_scores,
    stable_softmax,
)
from attention.masks import causal_mask, padding_mask
from attention.pointer import pointer_loss
from attention.single_head import CrossAttention, SelfAttention
from grader.course.probes import conduct, load, pair, strided
from grader.exercise import Case, Check, Draw, Exercise, Finding, Inputs, Lesson, Mistake, mistake, trials

FUSED = frozenset({"fused attention"})  # what 1.4 and its successors may not call; see grader.checks.policy

# ---------------------------------------------------------------- 1.1 attention_scores


def draw_pair(draw: Draw, *, lead: tuple[int, ...] = (), queries: int, keys: int, d_k: int, dtype=torch.float32):
    return {"query": draw.normal(*lead, queries, d_k, dtype=dtype), "key": draw.normal(*lead, keys, d_k, dtype=dtype)}


def draw_pair_along(draw: Draw, **sizes) -> Inputs:
    inputs = draw_pair(draw, **sizes)
    lead, dtype = sizes.get("lead", ()), sizes.get("dtype", torch.float32)
    return {**inputs, "along": draw.normal(*lead, sizes["queries"], sizes["keys"], dtype=dtype)}


def scores_values(attention_scores, query: Tensor, key: Tensor) -> Mapping[str, Tensor]:
    return {"scores": attention_scores(query, key)}


def scores_conduct(attention_scores, query: Tensor, key: Tensor, along: Tensor) -> Mapping[str, Tensor]:
    def call(query: Tensor, key: Tensor) -> dict[str, Tensor]:
        return {"scores": attention_scores(query=strided(query), key=strided(key))}

    return conduct(call, {"query": query, "key": key}, {"scores": along})


@mistake("attention_scores", "The query and key axes are swapped: each row belongs to one query.")
def queries_in_columns(query: Tensor, key: Tensor) -> Tensor:
    return key @ query.transpose(-1, -2)


@mistake("attention_scores", "These scores are divided already; 1.1 asks for the plain dot products. Scaling is 1.2.")
def scaled_too_early(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-1, -2) / sqrt(query.shape[-1])


@mistake("attention_scores", ".T turns all axes around. With a batch in front, swap only the last two: .transpose(-2, -1).")
def transposes_the_batch(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.permute(*reversed(range(key.ndim)))


@mistake("attention_scores", "A dot product multiplies and then sums over d_k. Here the products are averaged.")
def mean_for_sum(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).mean(-1)


@mistake("attention_scores", "These are cosine similarities: the vectors were normalised. Use the plain dot products.")
def cosine(query: Tensor, key: Tensor) -> Tensor:
    return torch.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)


@mistake("attention_scores", "These are weights already: 1.1 asks for the scores before any softmax.")
def softmax_too_early(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-1, -2), dim=-1)


SCORES = Exercise(
    id="1.1",
    title="Dot-product scores",
    defines=("attention_scores",),
    points=5,
    difficulty=1,
    minutes=5,
    checks=(
        Check(
            name="values",
            title="every query is compared with every key",
            points=3,
            probe=scores_values,
            examples=trials(draw_pair, dict(queries=2, keys=3, d_k=4)),
            trials=trials(draw_pair, dict(queries=5, keys=7, d_k=3), dict(queries=11, keys=2, d_k=5)),
        ),
        Check(
            name="batch",
            title="leading batch dimensions are kept",
            points=1,
            needs=("values",),
            probe=scores_values,
            examples=trials(draw_pair, dict(lead=(2,), queries=3, keys=4, d_k=5)),
            trials=trials(
                draw_pair,
                dict(lead=(3,), queries=5, keys=7, d_k=2),
                dict(lead=(2, 3), queries=5, keys=4, d_k=7),
            ),
        ),
        Check(
            name="conduct",
            title="gradients flow, float64 stays float64, inputs stay as they are",
            points=1,
            needs=("values",),
            probe=scores_conduct,
            trials=trials(draw_pair_along, dict(queries=5, keys=7, d_k=3, dtype=torch.float64)),
        ),
    ),
    mistakes=(
        queries_in_columns,
        scaled_too_early,
        transposes_the_batch,
        mean_for_sum,
        cosine,
        softmax_too_early,
    ),
    review="Scores",
)

LESSON = Lesson(
    assignment="1-attention",
    title="Attention from scratch",
    exercises=(SCORES,),
    reference={
        "attention_scores": attention_scores,
        "scaled_scores": scaled_scores,
        "stable_softmax": stable_softmax,
        "attention": attention,
        "causal_mask": causal_mask,
        "padding_mask": padding_mask,
        "masked_attention": masked_attention,
        "SelfAttention": SelfAttention,
        "CrossAttention": CrossAttention,
        "pointer_loss": pointer_loss,
    },
)
