"""Exercise 1.4: attention."""

from __future__ import annotations

from math import sqrt

import torch
from attention.dot_product import attention, attention_scores, scaled_scores
from torch import Tensor

from grader.course.lesson_1.shared import attend, draw_attention
from grader.declaration.exercise import Exercise, mistake, mistakes_in
from grader.declaration.standard_checks import StandardChecks


@mistake("attention", "The scores are not divided by √d_k, so the softmax is too sharp.")
def unscaled(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return attend(attention_scores(query, key), value)


@mistake("attention", "The scores are divided by d_k, or by √d_k twice. Divide by √d_k, once.")
def scaled_twice(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return attend(attention_scores(query, key) / query.shape[-1], value)


@mistake(
    "attention", "The softmax runs over the queries. Each query shares its weight among the keys: dim=-1."
)
def softmax_over_queries(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return attend(scaled_scores(query, key), value, dim=-2)


@mistake(
    "attention",
    "The weights are divided by √d_k after the softmax, so they no longer sum to 1. Scale the scores.",
)
def scaled_after_softmax(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(attention_scores(query, key), -1) / sqrt(query.shape[-1])
    return weights @ value, weights


@mistake(
    "attention",
    "√d_k is the root of the width of one key. Here the scores are divided by the root of another size.",
)
def scaled_by_the_number_of_keys(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return attend(attention_scores(query, key) / sqrt(key.shape[-2]), value)


@mistake("attention", "What comes back as weights are the scores. Return them after the softmax.")
def scores_for_weights(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return attention(query, key, value)[0], scaled_scores(query, key)


@mistake("attention", "There is no softmax: the scores themselves weight the values.")
def no_softmax(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = scaled_scores(query, key)
    return scores @ value, scores


@mistake("attention", "The pair is turned around: return the output first, then the weights.")
def weights_first(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = attention(query, key, value)
    return weights, output


@mistake(
    "attention",
    "The weights average the keys. Keys are for comparing; the output is the average of the values.",
)
def averages_the_keys(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    weights = attention(query, key, value)[1]
    return weights @ key, weights


@mistake("attention", "The output alone came back. Return two things: the output and the weights.")
def output_alone(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return attention(query, key, value)[0]


ATTENTION_CHECKS = StandardChecks(reference=attention, returns=("output", "weights"), draw=draw_attention)

ATTENTION_OUTPUT = ATTENTION_CHECKS.values(
    "the output is the weighted mean of the values",
    4,
    name="output",
    only="output",
    examples=[dict(queries=3, keys=4, d_k=5, d_v=2)],
    trials=[dict(queries=5, keys=7, d_k=3, d_v=2), dict(queries=7, keys=2, d_k=5, d_v=11)],
)

ATTENTION_WEIGHTS = ATTENTION_CHECKS.values(
    "each query shares its weight among the keys",
    6,
    name="weights",
    only="weights",
    map="weights",
    examples=[dict(queries=3, keys=4, d_k=5, d_v=2)],
    trials=[dict(queries=5, keys=7, d_k=3, d_v=2), dict(queries=7, keys=2, d_k=5, d_v=11)],
)

ATTENTION_EXTREMES = ATTENTION_CHECKS.further_values(
    "extremes",
    "large scores give no NaN",
    1,
    needs=("output", "weights"),
    trials=[dict(queries=5, keys=7, d_k=3, d_v=2, scale=100.0, dtype=torch.float64)],
)

ATTENTION_GRADIENTS = ATTENTION_CHECKS.conduct(
    2,
    needs=("output", "weights"),
    trials=[
        dict(queries=5, keys=7, d_k=3, d_v=2, dtype=torch.float64),
        dict(batch_shape=(2,), queries=3, keys=5, d_k=7, d_v=11, dtype=torch.float64),
    ],
)

ATTENTION = Exercise(
    id="1.4",
    title="Attention",
    reference=(attention,),
    points=15,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3"),
    bans=frozenset({"fused attention"}),
    checks=(
        ATTENTION_OUTPUT,
        ATTENTION_WEIGHTS,
        ATTENTION_CHECKS.batch(
            2,
            needs=("output", "weights"),
            examples=[dict(batch_shape=(2,), queries=3, keys=4, d_k=5, d_v=1)],
            trials=[
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11),
                dict(batch_shape=(2, 3), queries=5, keys=4, d_k=7, d_v=1),
                dict(batch_shape=(1,), queries=1, keys=4, d_k=7, d_v=5),
            ],
        ),
        ATTENTION_EXTREMES,
        ATTENTION_GRADIENTS,
    ),
    mistakes=mistakes_in(globals(), "attention"),
    review="Attention",
)
