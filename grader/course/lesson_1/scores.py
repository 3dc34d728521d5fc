"""Exercises 1.1 and 1.2: dot-product scores, plain and scaled."""

from __future__ import annotations

from math import sqrt

import torch
from attention.dot_product import attention_scores, scaled_scores
from torch import Tensor

from grader.course.lesson_1.shared import draw_attention
from grader.declaration.exercise import Exercise, mistake, mistakes_in
from grader.declaration.standard_checks import StandardChecks

# ---------------------------------------------------------------- 1.1 attention_scores


@mistake("attention_scores", "The query and key axes are swapped: each row belongs to one query.")
def queries_in_columns(query: Tensor, key: Tensor) -> Tensor:
    return key @ query.transpose(-1, -2)


@mistake(
    "attention_scores",
    "These scores are divided already; 1.1 asks for the plain dot products. Scaling is 1.2.",
)
def scaled_too_early(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-1, -2) / sqrt(query.shape[-1])


@mistake(
    "attention_scores",
    ".T turns all axes around. With a batch in front, swap only the last two: .transpose(-2, -1).",
)
def transposes_the_batch(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.permute(*reversed(range(key.ndim)))


@mistake(
    "attention_scores",
    "A dot product multiplies and then sums over d_k. Here they are averaged, which divides by d_k.",
)
def mean_for_sum(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).mean(-1)


@mistake(
    "attention_scores",
    "These are cosine similarities: the vectors were normalised. Use the plain dot products.",
)
def cosine(query: Tensor, key: Tensor) -> Tensor:
    return torch.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)


@mistake("attention_scores", "These are weights already: 1.1 asks for the scores before any softmax.")
def softmax_too_early(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-1, -2), dim=-1)


SCORES_CHECKS = StandardChecks(reference=attention_scores, returns=("scores",), draw=draw_attention)

SCORES = Exercise(
    id="1.1",
    title="Dot-product scores",
    reference=(attention_scores,),
    points=5,
    difficulty=1,
    minutes=5,
    checks=(
        SCORES_CHECKS.values(
            "every query is compared with every key",
            3,
            examples=[dict(queries=2, keys=3, d_k=4)],
            trials=[dict(queries=5, keys=7, d_k=3), dict(queries=11, keys=2, d_k=5)],
        ),
        SCORES_CHECKS.batch(
            1,
            examples=[dict(batch_shape=(2,), queries=3, keys=4, d_k=5)],
            trials=[
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2),
                dict(batch_shape=(2, 3), queries=5, keys=4, d_k=7),
                dict(batch_shape=(1,), queries=1, keys=4, d_k=5),
            ],
        ),
        SCORES_CHECKS.conduct(1, trials=[dict(queries=5, keys=7, d_k=3, dtype=torch.float64)]),
    ),
    mistakes=mistakes_in(globals(), "attention_scores"),
    review="Scores",
)

# ---------------------------------------------------------------- 1.2 scaled_scores


@mistake("scaled_scores", "These are the plain dot products: √d_k is missing.")
def not_divided(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query, key)


@mistake("scaled_scores", "The scores are divided by d_k. Take its square root, and divide once.")
def divided_by_the_width(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query, key) / query.shape[-1]


@mistake("scaled_scores", "The scores are multiplied by √d_k, which makes them larger still. Divide.")
def multiplied(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query, key) * sqrt(query.shape[-1])


@mistake(
    "scaled_scores",
    "√d_k is the root of the width of one key. Here it is the number of keys: the wrong axis.",
)
def root_of_the_number_of_keys(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query, key) / sqrt(key.shape[-2])


@mistake(
    "scaled_scores", "√d_k is the root of the width of one query. Here it is their number: the wrong axis."
)
def root_of_the_number_of_queries(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query, key) / sqrt(query.shape[-2])


@mistake(
    "scaled_scores",
    "The vectors are scaled to length 1. Divide the scores by √d_k; leave the vectors as they are.",
)
def normalised_vectors(query: Tensor, key: Tensor) -> Tensor:
    return torch.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)


@mistake("scaled_scores", "The query and key axes are swapped: each row belongs to one query.")
def scaled_queries_in_columns(query: Tensor, key: Tensor) -> Tensor:
    return scaled_scores(key, query)


@mistake("scaled_scores", "These are weights already: 1.2 asks for the scores before any softmax.")
def scaled_softmax_too_early(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(scaled_scores(query, key), dim=-1)


SCALED_CHECKS = StandardChecks(reference=scaled_scores, returns=("scores",), draw=draw_attention)

SCALED = Exercise(
    id="1.2",
    title="Scaled scores",
    reference=(scaled_scores,),
    points=5,
    difficulty=1,
    minutes=5,
    builds_on=("1.1",),
    checks=(
        SCALED_CHECKS.values(
            "the scores are divided by √d_k",
            3,
            examples=[dict(queries=2, keys=3, d_k=4)],
            trials=[dict(queries=5, keys=7, d_k=3), dict(queries=2, keys=3, d_k=17)],
        ),
        SCALED_CHECKS.batch(
            1,
            examples=[dict(batch_shape=(2,), queries=3, keys=4, d_k=5)],
            trials=[
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2),
                dict(batch_shape=(2, 3), queries=5, keys=4, d_k=7),
                dict(batch_shape=(1,), queries=1, keys=4, d_k=5),
            ],
        ),
        SCALED_CHECKS.conduct(1, trials=[dict(queries=5, keys=7, d_k=3, dtype=torch.float64)]),
    ),
    mistakes=mistakes_in(globals(), "scaled_scores"),
    review="Why √d_k",
)
