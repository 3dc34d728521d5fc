"""Exercise 1.4: attention."""

import torch
from attention.dot_product import attention, attention_scores, scaled_scores
from torch import Tensor

from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.shared import draw_attention
from grader.declare.authoring import CheckSpec, edits, sizes, written_exercise


def written_out(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Return output and weights of attention, computed in single steps that mistakes can change."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores, -1)
    return weights @ value, weights


ATTENTION = written_exercise("1.4 Attention", attention, (
    CheckSpec("output", 4, "the output is the weighted mean of the values",
        examples=[sizes(queries=3, keys=4, d_k=5, d_v=2)],
        trials=[sizes(queries=5, keys=7, d_k=3, d_v=2), sizes(queries=7, keys=2, d_k=5, d_v=11)], only="output"),
    CheckSpec("weights", 6, "each query shares its weight among the keys",
        examples=[sizes(queries=3, keys=4, d_k=5, d_v=2)],
        trials=[sizes(queries=5, keys=7, d_k=3, d_v=2), sizes(queries=7, keys=2, d_k=5, d_v=11)],
        only="weights", map="weights"),
    CheckSpec("batch", 2, examples=[sizes(batch_shape=(2,), queries=3, keys=4, d_k=5, d_v=1)],
        trials=[sizes(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11),
            sizes(batch_shape=(2, 3), queries=5, keys=4, d_k=7, d_v=1),
            sizes(batch_shape=(1,), queries=1, keys=4, d_k=7, d_v=5)], needs=("output", "weights")),
    CheckSpec("extremes", 1, "large scores give no NaN",
        examples=[sizes(queries=2, keys=3, d_k=4, d_v=2, scale=100.0)],
        trials=[sizes(queries=5, keys=7, d_k=3, d_v=2, scale=100.0, dtype=torch.float64)],
        needs=("output", "weights")),
    CheckSpec("conduct", 2,
        trials=[sizes(queries=5, keys=7, d_k=3, d_v=2, dtype=torch.float64),
            sizes(batch_shape=(2,), queries=3, keys=5, d_k=7, d_v=11, dtype=torch.float64)],
        needs=("output", "weights")),
),
    draw=draw_attention, returns=("output", "weights"),
    builds_on=("1.1", "1.2", "1.3"), bans={"fused attention"},
    difficulty=2, minutes=10, review="Attention", stand_in=stand_ins.attention,
    mistakes=edits(written_out, """
    unscaled: Your code does not divide the scores by √d_k, so the softmax is too sharp. Divide them before the
        softmax.
        scaled_scores  →  attention_scores
    scaled_twice: The scores are divided by d_k, or by √d_k twice. Divide by √d_k, once.
        scaled_scores(query, key)  →  attention_scores(query, key) / query.shape[-1]
    softmax_over_queries: Your softmax runs over the queries. Each query must share its weight among the keys: use
        dim=-1.
        -1  →  -2
    softmax_without_dim: Without `dim`, your softmax runs over the wrong axis if there is a batch in front. Use
        dim=-1.
        torch.softmax(scores, -1)  →  torch.softmax(scores, 0 if scores.ndim == 3 else 1)
    scaled_after_softmax: The weights are divided by √d_k after the softmax, so they no longer sum to 1. Scale the
        scores.
        scaled_scores  →  attention_scores
        torch.softmax(scores, -1)  →  torch.softmax(scores, -1) / query.shape[-1] ** 0.5
    scaled_by_the_number_of_keys: Your code divides the scores by the root of a wrong size. Divide them by √d_k,
        the root of the width of one key.
        scaled_scores(query, key)  →  attention_scores(query, key) / key.shape[-2] ** 0.5
    scores_for_weights: You return the scores instead of the weights. Return the result of the softmax.
        value, weights  →  value, scores
    infinite_exponentials: The exponential of a large score is infinite, and ∞ / ∞ is NaN. Use your stable_softmax of
        1.3, which subtracts the largest score first.
        torch.softmax(scores, -1)  →  scores.exp() / scores.exp().sum(-1, keepdim=True)
    no_softmax: The scores are used as the weights of the values here. Take their softmax first.
        torch.softmax(scores, -1)  →  scores
    divided_by_their_sum: The scores are divided by their sum, without the exponential. Take their softmax.
        torch.softmax(scores, -1)  →  scores / scores.sum(-1, keepdim=True)
    sigmoid: Your code turns each score into a weight by itself, so a row does not sum to 1. Take the softmax of
        each row.
        torch.softmax(scores, -1)  →  torch.sigmoid(scores)
    best_value_alone: In your code each query gets only the value of its best key. Mix all values by their
        weights.
        weights @ value, weights  →  F.one_hot(scores.argmax(-1), key.shape[-2]).to(value) @ value, weights
    weights_first: The two results are swapped: return the output first, then the weights.
        = result[1], result[0]
    averages_the_keys: Your output averages the keys, which are only for comparing. It must be the weighted
        average of the values.
        weights @ value  →  weights @ key
    output_alone: Only one tensor is returned. Return two things: the output and the weights.
        = result[0]
""", defines="attention", attention_scores=attention_scores))  # fmt: skip
