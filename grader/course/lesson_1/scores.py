"""Exercises 1.1 and 1.2: dot-product scores, plain and scaled."""

import torch
from attention.dot_product import attention_scores, scaled_scores

from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.shared import draw_attention
from grader.declare.trial import sizes
from grader.declare.written_exercise import CheckSpec, written_exercise

# ---------------------------------------------------------------- 1.1 attention_scores

SCORES = written_exercise("1.1 Dot-product scores", attention_scores, (
    CheckSpec("values", 3, "every query is compared with every key", examples=[sizes(queries=2, keys=3, d_k=4)],
        trials=[sizes(queries=5, keys=7, d_k=3), sizes(queries=11, keys=2, d_k=5)]),
    CheckSpec("batch", 1, examples=[sizes(batch_shape=(2,), queries=3, keys=4, d_k=5)],
        trials=[sizes(batch_shape=(3,), queries=5, keys=7, d_k=2), sizes(batch_shape=(2, 3), queries=5, keys=4, d_k=7),
            sizes(batch_shape=(1,), queries=1, keys=4, d_k=5)]),
    CheckSpec("conduct", 1, trials=[sizes(queries=5, keys=7, d_k=3, dtype=torch.float64)]),
),
    draw=draw_attention, returns=("scores",),
    difficulty=1, minutes=5, review="Scores", stand_in=stand_ins.attention_scores,
    mistakes="""
    queries_in_columns: The query and key axes are swapped: each row must belong to one query.
        query @ key.transpose(-2, -1)  →  key @ query.transpose(-2, -1)
    scaled_too_early: Your scores are already divided by √d_k. 1.1 asks for the plain dot products; scaling comes
        in 1.2.
        = result / query.shape[-1] ** 0.5
    transposes_the_batch: If there is a batch in front, your code swaps the wrong axes, as .T does. Swap only the
        last two: .transpose(-2, -1).
        key.transpose(-2, -1)  →  key.permute(*reversed(range(key.ndim)))
    mean_for_sum: Your code divides the dot products by d_k, as in a mean. A dot product is a sum: do not divide
        it.
        = result / query.shape[-1]
    cosine: Your scores are cosine similarities, in which the lengths of the vectors are lost. Use the plain dot
        products.
        + query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    distances: Your code computes the distances between the vectors. Compute their dot products instead.
        = -torch.cdist(query, key)
    softmax_too_early: You return weights, after a softmax. 1.1 asks for the scores before any softmax.
        = result.softmax(-1)
""")  # fmt: skip

# ---------------------------------------------------------------- 1.2 scaled_scores

SCALED = written_exercise("1.2 Scaled scores", scaled_scores, (
    CheckSpec("values", 3, "the scores are divided by √d_k", examples=[sizes(queries=2, keys=3, d_k=4)],
        trials=[sizes(queries=5, keys=7, d_k=3), sizes(queries=2, keys=3, d_k=17)]),
    CheckSpec("batch", 1, examples=[sizes(batch_shape=(2,), queries=3, keys=4, d_k=5)],
        trials=[sizes(batch_shape=(3,), queries=5, keys=7, d_k=2), sizes(batch_shape=(2, 3), queries=5, keys=4, d_k=7),
            sizes(batch_shape=(1,), queries=1, keys=4, d_k=5)]),
    CheckSpec("conduct", 1, trials=[sizes(queries=5, keys=7, d_k=3, dtype=torch.float64)]),
),
    draw=draw_attention, returns=("scores",),
    builds_on=("1.1",), difficulty=1, minutes=5, review="Why √d_k", stand_in=stand_ins.scaled_scores,
    mistakes="""
    not_divided: You return the plain dot products. Divide them by √d_k.
        / sqrt(query.shape[-1])  →
    divided_by_the_width: The scores are divided by d_k. Divide them by its square root instead, and only once.
        sqrt(query.shape[-1])  →  query.shape[-1]
    multiplied: The scores are multiplied by √d_k, which makes them even larger. Divide them instead.
        / sqrt  →  * sqrt
    root_of_the_number_of_keys: Your code divides the scores by the root of the number of keys. Divide them by
        √d_k, the root of the width of one key.
        query.shape[-1]  →  key.shape[-2]
    root_of_the_number_of_queries: Your code divides the scores by the root of the number of queries. Divide them
        by √d_k, the root of the width of one query.
        query.shape[-1]  →  query.shape[-2]
    root_of_a_size_from_the_front: Your code takes d_k from axis 1 of query, but with a batch in front, axis 1 is
        not the width. Use the last axis.
        query.shape[-1]  →  query.shape[1]
    root_without_its_fraction: The root is rounded to a whole number, so √3 becomes 1. Divide by √d_k itself.
        sqrt(query.shape[-1])  →  int(sqrt(query.shape[-1]))
    root_of_the_root: The scores are divided by the root of √d_k. Take one root, not two: √d_k.
        sqrt(query.shape[-1])  →  query.shape[-1] ** 0.25
    divided_by_the_measured_spread: Your code divides the scores by the root of their own variance. Divide by
        √d_k, whatever the scores are.
        attention_scores(query, key) / sqrt(query.shape[-1])  →  (plain := attention_scores(query, key)) / plain.std()
    divided_by_the_length_of_each_key: Your code divides each score by the length of its key vector. Divide by
        √d_k, the root of the width of one key.
        / sqrt(query.shape[-1])  →  / key.norm(dim=-1).unsqueeze(-2)
    divided_by_the_norm_of_the_query: Your code divides the scores by query.norm(), the length of all queries
        together. Divide by √d_k, the root of the width of one query.
        / sqrt(query.shape[-1])  →  / query.norm()
    divided_by_the_length_of_each_query: Your code divides each score by the length of its query vector. Divide by
        √d_k, the root of the width of one query.
        / sqrt(query.shape[-1])  →  / query.norm(dim=-1, keepdim=True)
    root_of_the_scores: Your code takes the root of the scores. Take the root of d_k instead, and divide the
        scores by that root.
        attention_scores(query, key) / sqrt(query.shape[-1])  →  attention_scores(query, key) ** 0.5
    root_of_the_scaled_scores: Your code takes the root of the whole quotient, scores divided by d_k. Take only
        the root of d_k.
        attention_scores(query, key) / sqrt(query.shape[-1])  →  (attention_scores(query, key) / query.shape[-1]) ** 0.5
    normalised_vectors: Your scores are cosine similarities, in which the lengths of the vectors are lost. Divide
        the plain dot products by √d_k.
        + query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
        / sqrt(query.shape[-1])  →
    scaled_queries_in_columns: The query and key axes are swapped: each row must belong to one query.
        attention_scores(query, key)  →  attention_scores(key, query)
    scaled_softmax_too_early: You return weights, after a softmax. 1.2 asks for the scores before any softmax.
        = result.softmax(-1)
""")  # fmt: skip
