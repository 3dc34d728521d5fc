"""Exercise 1.4: attention."""

import torch
from attention.dot_product import attention, attention_scores, scaled_scores
from torch import Tensor

from grader.course.common.attention_words import AttentionExercise
from grader.course.lesson_1.shared import draw_attention
from grader.declare.authoring import StandardChecks, edits


def written_out(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention with all its steps, which the mistakes change."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores, -1)
    return weights @ value, weights


ATTENTION_MISTAKES = edits(written_out, """
    unscaled: The scores are not divided by √d_k, so the softmax is too sharp.
        scaled_scores  →  attention_scores
    scaled_twice: The scores are divided by d_k, or by √d_k twice. Divide by √d_k, once.
        scaled_scores(query, key)  →  attention_scores(query, key) / query.shape[-1]
    softmax_over_queries: The softmax runs over the queries. Each query shares its weight among the keys: dim=-1.
        -1  →  -2
    scaled_after_softmax: The weights are divided by √d_k after the softmax, so they no longer sum to 1. Scale the scores.
        scaled_scores  →  attention_scores
        torch.softmax(scores, -1)  →  torch.softmax(scores, -1) / query.shape[-1] ** 0.5
    scaled_by_the_number_of_keys: √d_k is the root of the width of one key.
        Here the scores are divided by the root of another size.
        scaled_scores(query, key)  →  attention_scores(query, key) / key.shape[-2] ** 0.5
    scores_for_weights: What comes back as weights are the scores. Return them after the softmax.
        value, weights  →  value, scores
    no_softmax: The scores themselves weight the values here. Take the softmax of them first.
        torch.softmax(scores, -1)  →  scores
    weights_first: The pair is turned around: return the output first, then the weights.
        = result[1], result[0]
    averages_the_keys: The weights average the keys. Keys are for comparing; the output is the average of the values.
        weights @ value  →  weights @ key
    output_alone: One tensor alone came back. Return two things: the output and the weights.
        = result[0]
""", defines="attention", attention_scores=attention_scores)  # fmt: skip

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

ATTENTION = AttentionExercise(
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
    mistakes=ATTENTION_MISTAKES,
    review="Attention",
)
