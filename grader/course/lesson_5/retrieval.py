"""Exercises 5.7 and 5.8: the names that are nearest to a picture, and how often they include the right name."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.retrieval import rank_names, recall_at_k
from torch import Tensor

from grader.declare.authoring import (
    CheckSpec,
    InputSampler,
    drawn,
    edits,
    given,
    integers,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.drawn import Sizes
from grader.declare.probes import as_number, effects_of, function_effects, strided

draw_ranking = drawn(image=normal("* d", scale=2.0), names=normal("names d", scale=0.7), k=given("k"))

RANK = written_exercise("5.7 The nearest names", rank_names, (
    CheckSpec("values", 4, "the k highest cosines and whose they are",
        examples=[sizes(batch_shape=(2,), names=5, d=4, k=3)],
        trials=[sizes(batch_shape=(3,), names=11, d=5, k=4), sizes(batch_shape=(5,), names=7, d=3, k=7)]),
    CheckSpec("batch", 3, "one picture, or any leading dimensions",
        examples=[sizes(names=5, d=4, k=2), sizes(batch_shape=(2, 2), names=5, d=3, k=2)],
        trials=[sizes(names=11, d=5, k=3), sizes(batch_shape=(2, 3), names=13, d=5, k=2),
            sizes(batch_shape=(1,), names=7, d=5, k=1)]),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are",
        examples=[sizes(batch_shape=(2,), names=5, d=4, k=2)],
        trials=[sizes(batch_shape=(3,), names=7, d=5, k=2, dtype=torch.float64)], probe=function_effects),
),
    draw=draw_ranking, returns=("similarity", "indices"),
    difficulty=1, minutes=8, review="Names that it never saw",
    mistakes=edits(rank_names, """
    dot_products_ranked: Your code uses dot products, which put long vectors first. Divide pictures and names by
        their length first.
        F.normalize(image, dim=-1)  →  image
        F.normalize(names, dim=-1)  →  names
    long_names_win: Your code does not normalise the names, so a long vector is put before a nearer one. Cosine
        similarity needs both sides normalised.
        F.normalize(names, dim=-1)  →  names
    pictures_keep_their_length: Your order is right, but your numbers are not cosines, because the pictures are
        not normalised. Normalise them, too.
        F.normalize(image, dim=-1)  →  image
    farthest_names: You return the names with the lowest similarities. Take the k highest.
        topk(k, dim=-1)  →  topk(k, dim=-1, largest=False)
    indices_first: The two results are in the wrong order. Return the similarities first, then the indices, as topk
        does.
        return best.values, best.indices  →  return best.indices, best.values
    indices_alone: You return only the indices. Return two tensors: the similarities and the indices.
        return best.values, best.indices  →  return best.indices
    probabilities_of_names: You return probabilities. Return the cosines as they are.
        F.normalize(names, dim=-1).T  →  F.normalize(names, dim=-1).T; similarity = similarity.softmax(-1)
    first_names: You return the first k names. Take the k names with the highest similarities, wherever they are.
        best = similarity.topk(k, dim=-1)  →  best = similarity[..., :k].sort(-1, descending=True)
    nearest_last: The nearest name is last. Put it first.
        = result[0].flip(-1), result[1].flip(-1)
    in_the_order_of_the_names: The k names are in the order in which they were given. Put the nearest first.
        = result[0].gather(-1, result[1].argsort(-1)), result[1].sort(-1).values
    all_names: All names are returned. Return the k nearest.
        topk(k, dim=-1)  →  sort(-1, descending=True)
    rows_cut: [:k] cuts the first axis, which is the axis of the pictures. Cut the last axis: [..., :k].
        best = similarity.topk(k, dim=-1)  →  best = similarity.sort(-1, descending=True)
        return best.values, best.indices  →  return best.values[:k], best.indices[:k]
    pictures_of_each_name: Your topk runs over axis 0, the pictures. It must run over the last axis, the names:
        dim=-1.
        topk(k, dim=-1)  →  topk(k, dim=0)
    distances_of_names: Your order is right, but you return distances. Return the cosines.
        return best.values, best.indices  →  return (2 - 2 * best.values).clamp(min=0).sqrt(), best.indices
    sharp_probabilities: You return probabilities. Return the cosines as they are.
        F.normalize(names, dim=-1).T  →  F.normalize(names, dim=-1).T; similarity = (100 * similarity).softmax(-1)
    axes_of_one_dropped: Your squeeze() also removes the axis of k if k is 1, and the axis of the pictures if
        there is only one. Name the axis to remove, or leave squeeze() out.
        = result[0].squeeze(), result[1].squeeze()
    nearest_alone: Only the nearest name is returned. Return the k nearest.
        topk(k, dim=-1)  →  topk(1, dim=-1)
    nearest_by_distance: You return negative distances. Return cosines.
        F.normalize(image, dim=-1) @ F.normalize(names, dim=-1).T
            →  -(F.normalize(image, dim=-1).unsqueeze(-2) - F.normalize(names, dim=-1)).norm(dim=-1)
"""))  # fmt: skip

# ---------------------------------------------------------------- 5.8


def draw_logits_with_ties(sampler: InputSampler, sizes: Sizes) -> Tensor:
    """Draw logits that are whole numbers from 0 to 2, so that many logits of a row are equal."""
    dtype = sizes.get("dtype", torch.float32)
    return integers(0, 3, "* names")(sampler, sizes).to(dtype)


draw_recall = drawn(logits=normal("* names", scale=200.0), target=integers(0, "names", "*"), k=given("k"))
draw_tied = drawn(logits=draw_logits_with_ties, target=integers(0, "names", "*"), k=given("k"))


def recall_of(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recall as a number."""
    return {"recall": as_number(function(*arguments.values()), "recall")}


def recall_effects(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return side effects, and the recall for logits that are not contiguous."""
    given = {name: strided(value.clone()) if isinstance(value, Tensor) else value for name, value in arguments.items()}
    return {**effects_of(function, arguments), "recall": as_number(function(**given), "recall")}


RECALL = written_exercise("5.8 How often among the first k", recall_at_k, (
    CheckSpec("values", 3, "the share of rows whose right column is among the k highest",
        examples=[sizes(batch_shape=(5,), names=4, k=2), sizes(batch_shape=(7,), names=5, k=1)],
        trials=[sizes(batch_shape=(23,), names=11, k=4), sizes(batch_shape=(29,), names=7, k=1),
            sizes(batch_shape=(31,), names=13, k=6)]),
    CheckSpec("ties", 2, "a column that is as high as the right one counts as higher",
        examples=[sizes(batch_shape=(11,), names=4, k=2)],
        trials=[sizes(batch_shape=(23,), names=5, k=2), sizes(batch_shape=(29,), names=7, k=3)], draw=draw_tied),
    CheckSpec("batch", 2, "one share for all rows of all batches",
        examples=[sizes(batch_shape=(2, 4), names=5, k=2)],
        trials=[sizes(batch_shape=(3, 7), names=11, k=4), sizes(batch_shape=(2, 3, 5), names=7, k=2)]),
    CheckSpec("conduct", 1, "inputs stay as they are",
        examples=[sizes(batch_shape=(5,), names=4, k=2)],
        trials=[sizes(batch_shape=(3, 7), names=11, k=3, dtype=torch.float64)], probe=recall_effects),
),
    draw=draw_recall, returns=("recall",), probe=recall_of,
    difficulty=1, minutes=8, review="Names that it never saw",
    mistakes=edits(recall_at_k, """
    ties_in_favour: In your code a tie counts for the model, but it must count against the model. Treat a column
        that is as high as the right one as if it were higher.
        logits >= right  →  logits > right
        .sum(-1) - 1  →  .sum(-1)
    ties_by_place: If numbers are equal, argsort orders them by their places. A tie must count against the model:
        count the columns that are at least as high as the right one.
        = (logits.argsort(dim=-1, descending=True, stable=True)[..., :k] ==
          target.unsqueeze(-1)).any(-1).to(logits.dtype).mean()
    ties_by_chance: If numbers are equal, topk takes any of them. A tie must count against the model: count the columns
        that are as high as the right one.
        = (logits.topk(k, dim=-1).indices == target.unsqueeze(-1)).any(-1).to(logits.dtype).mean()
    ties_of_probabilities: The softmax rounds small probabilities to 0, and makes ties that the logits do not have.
        Compare the logits.
        + logits = logits.softmax(-1)
    one_too_many: Here a row still counts if the right column is at place k + 1. It must count only if fewer than k
        other columns are as high or higher.
        rivals < k  →  rivals <= k
    itself_among_the_rivals: Your code also counts the right column itself as one that is as high. Subtract 1 for
        it.
        .sum(-1) - 1  →  .sum(-1)
    lowest_count: Your code asks whether the right column is among the k lowest. Ask for the k highest.
        logits >= right  →  logits <= right
    first_place_alone: Your code does not use k: only the first place counts. All places from 1 to k must count.
        rivals < k  →  rivals < 1
    exactly_place_k: Only place k counts here. All places from 1 to k must count.
        rivals < k  →  rivals == k - 1
    rows_counted (slip): You return a number of rows. Divide it by the number of all rows.
        = result * target.numel()
    in_percent (slip): Your result is 100 times too large. Return a share, from 0 to 1.
        = 100 * result
    wrong_ones_counted: You return the share of the rows that fail. Return the share of the rows that count.
        = 1 - result
    mean_rank: You return the mean place of the right columns. Return the share of the rows whose place is among
        the first k.
        (rivals < k).to(logits.dtype).mean()  →  (rivals + 1).to(logits.dtype).mean()
    share_of_the_first_batch: Your code uses only the first batch. Take all rows of all batches.
        = recall_at_k(logits[0], target[0], k) if target.ndim > 1 else result
"""))  # fmt: skip
