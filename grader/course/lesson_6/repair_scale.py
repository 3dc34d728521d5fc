"""Exercise 6.6: `look_once`. It replaces an attention without its scale."""

import torch
from attention.experiments.short_trainings import SCALE
from attention.lab_repairs import look_once
from torch import Tensor

from grader.course.lesson_6.short_training import training_gate
from grader.declare.authoring import CheckSpec, Draw, InputSampler, Sizes, drawn, normal, sizes, written_exercise


def draw_side_of_look(shape: str, sign: int) -> Draw:
    """Return a function that draws queries or keys.

    They are normal. If the trial's size "scores" is "below zero", they all have one sign, which
    gives negative scores. Scores so low that their exp is 0 are drawn in float64, in which the
    order of a sum matters less.

    Args:
        sign: 1 for queries, −1 for keys.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> Tensor:
        side = normal(shape, scale="scale")(sampler, sizes)
        return sign * side.abs() if sizes.get("scores") == "below zero" else side

    return draw


draw_one_look = drawn(
    query=draw_side_of_look("* words d_k", 1), key=draw_side_of_look("* patches d_k", -1), value="* patches d_v"
)


SCALE_REPAIR = written_exercise("6.6 Repair: it is sure from the first step", look_once, (
    CheckSpec("values", 3, "softmax(QKᵀ / √d_k) V, for every width",
        examples=[sizes(words=2, patches=3, d_k=4, d_v=2), sizes(words=3, patches=5, d_k=9, d_v=3, scale=20.0)],
        trials=[sizes(batch_shape=(3,), words=5, patches=7, d_k=11, d_v=2),
            sizes(batch_shape=(2, 5), words=3, patches=2, d_k=7, d_v=13), sizes(words=1, patches=9, d_k=32, d_v=5),
            sizes(words=7, patches=3, d_k=5, d_v=2, scale=20.0, dtype=torch.float64),
            sizes(words=5, patches=3, d_k=7, d_v=2, scale=40.0, scores="below zero", dtype=torch.float64)],
        map="weights"),
    CheckSpec("conduct", 1,
        trials=[sizes(batch_shape=(2,), words=3, patches=5, d_k=7, d_v=2, dtype=torch.float64)]),
),
    draw=draw_one_look, returns=("what is seen", "weights"),
    difficulty=2, minutes=8, review="Second training: it is sure from the first step",
    also=(training_gate(SCALE, look_once, "mended_scale", "train-scale", 2),),
    mistakes="""
    scale_still_missing: Your scores are as large as before. A score is a sum of d_k products, which grows with
        √d_k: divide the scores as in lesson 1.
        / query.shape[-1] ** 0.5  →
    divided_by_the_width: Your code divides the scores by d_k in all, so they begin too small. The training would
        reach its threshold, but this is a new fault: divide by √d_k, only once.
        ** 0.5  →
    multiplied_by_the_root: Your code multiplies the scores by √d_k, so they are larger than before. Divide them
        instead.
        / query.shape  →  * query.shape
    scale_of_this_model_alone: √128 is right only for this model. The training would reach its threshold, but another
        width would have the fault again: take d_k from the query.
        query.shape[-1] ** 0.5  →  128**0.5
    root_of_the_patches: Your code divides the scores by the root of the number of patches. But the scores are
        large because each is a sum of d_k products: use the root of d_k.
        query.shape[-1]  →  key.shape[-2]
    divided_by_the_spread: The scores of each query are divided by their own standard deviation, so their size no
        longer matters. The training would reach its threshold, but the task asks for something else: divide by √d_k.
        query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
            →  (scores := query @ key.transpose(-2, -1)) / scores.std(-1, keepdim=True)
    divided_by_one_spread: Your code divides by the standard deviation of all scores, so each depends on all
        others. The training would reach its threshold, but this is another attention: divide by √d_k.
        query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  →  (scores := query @ key.mT) / scores.std()
    softmax_over_queries: Your softmax runs over the queries, axis −2. It must run over the keys, so that the
        weights of each query sum to 1.
        dim=-1  →  dim=-2
    weights_divided: The weights are divided after the softmax: they no longer sum to 1, and are as sharp as before.
        Divide the scores.
        / query.shape[-1] ** 0.5, dim=-1)  →  , dim=-1) / query.shape[-1] ** 0.5
    scores_capped: Your code sets a fixed limit for the scores, which only hides the symptom. Find out why the
        scores are large.
        query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  →  (query @ key.transpose(-2, -1)).clamp(-5, 5)
    lengths_cut: Your code uses only the directions of query and key, not their lengths, so this is another
        attention. Divide their plain product by √d_k.
        + query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
        / query.shape[-1] ** 0.5  →
    one_maximum_for_all: The largest score of all rows is subtracted. In a row of much smaller scores, every exp is 0,
        and 0 divided by 0 is NaN: subtract the largest score of each row.
        torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
            →  (scores := query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).sub(scores.max()).exp(); weights =
               weights / weights.sum(-1, keepdim=True)
    softmax_by_hand: In your code exp of a large score is infinite, so the weights become NaN. Use torch.softmax,
        which avoids this.
        torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
            →  (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).exp(); weights = weights / weights.sum(-1,
               keepdim=True)
""")  # fmt: skip
