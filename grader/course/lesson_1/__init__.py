"""Lesson 1, declared: attention from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import torch
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
from torch import Tensor, nn

from grader.course.lesson_1.trained_pointer import draw_unseen, judge_pointer
from grader.declaration.exercise import Check, Exercise, mistake
from grader.declaration.lesson import Lesson
from grader.declaration.probes import load, pair, purity_and_gradients
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials
from grader.records import Inputs, Limits, Value

FUSED = frozenset(
    {"fused attention"}
)  # what 1.4 and its successors may not call; see grader.checks.from_scratch
CONDUCT = "gradients flow, float64 stays float64, inputs stay as they are"

# ---------------------------------------------------------------- 1.1 attention_scores


def draw_pair(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    queries: int,
    keys: int,
    d_k: int,
    dtype=torch.float32,
):
    return {
        "query": draw.normal(*batch_shape, queries, d_k, dtype=dtype),
        "key": draw.normal(*batch_shape, keys, d_k, dtype=dtype),
    }


def draw_pair_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_pair(draw, **sizes)
    batch_shape, dtype = sizes.get("batch_shape", ()), sizes.get("dtype", torch.float32)
    return {**inputs, "along": draw.normal(*batch_shape, sizes["queries"], sizes["keys"], dtype=dtype)}


def scores_values(attention_scores, query: Tensor, key: Tensor) -> Mapping[str, Tensor]:
    return {"scores": attention_scores(query, key)}


def scores_conduct(attention_scores, query: Tensor, key: Tensor, along: Tensor) -> Mapping[str, Tensor]:
    def call(query: Tensor, key: Tensor) -> dict[str, Tensor]:
        return {"scores": attention_scores(query=query, key=key)}

    return purity_and_gradients(call, {"query": query, "key": key}, {"scores": along})


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
    "attention_scores", "A dot product multiplies and then sums over d_k. Here the products are averaged."
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


SCORES = Exercise(
    id="1.1",
    title="Dot-product scores",
    reference=(attention_scores,),
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
            examples=trials(draw_pair, dict(batch_shape=(2,), queries=3, keys=4, d_k=5)),
            trials=trials(
                draw_pair,
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2),
                dict(batch_shape=(2, 3), queries=5, keys=4, d_k=7),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=scores_conduct,
            trials=trials(draw_pair_along, dict(queries=5, keys=7, d_k=3, dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            queries_in_columns,
            scaled_too_early,
            transposes_the_batch,
            mean_for_sum,
            cosine,
            softmax_too_early,
        )
    ),
    review="Scores",
)

# ---------------------------------------------------------------- 1.2 scaled_scores


def scaled_values(scaled_scores, query: Tensor, key: Tensor) -> Mapping[str, Tensor]:
    return {"scores": scaled_scores(query, key)}


def scaled_conduct(scaled_scores, query: Tensor, key: Tensor, along: Tensor) -> Mapping[str, Tensor]:
    def call(query: Tensor, key: Tensor) -> dict[str, Tensor]:
        return {"scores": scaled_scores(query=query, key=key)}

    return purity_and_gradients(call, {"query": query, "key": key}, {"scores": along})


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


SCALED = Exercise(
    id="1.2",
    title="Scaled scores",
    reference=(scaled_scores,),
    points=5,
    difficulty=1,
    minutes=5,
    builds_on=("1.1",),
    checks=(
        Check(
            name="values",
            title="the scores are divided by √d_k",
            points=3,
            probe=scaled_values,
            examples=trials(draw_pair, dict(queries=2, keys=3, d_k=4)),
            trials=trials(draw_pair, dict(queries=5, keys=7, d_k=3), dict(queries=2, keys=3, d_k=17)),
        ),
        Check(
            name="batch",
            title="leading batch dimensions are kept",
            points=1,
            needs=("values",),
            probe=scaled_values,
            examples=trials(draw_pair, dict(batch_shape=(2,), queries=3, keys=4, d_k=5)),
            trials=trials(
                draw_pair,
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2),
                dict(batch_shape=(2, 3), queries=5, keys=4, d_k=7),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=scaled_conduct,
            trials=trials(draw_pair_along, dict(queries=5, keys=7, d_k=3, dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            not_divided,
            divided_by_the_width,
            multiplied,
            root_of_the_number_of_keys,
            root_of_the_number_of_queries,
            normalised_vectors,
            scaled_queries_in_columns,
            scaled_softmax_too_early,
        )
    ),
    review="Why √d_k",
)

# ---------------------------------------------------------------- 1.3 stable_softmax


def draw_scores(draw: InputSampler, *, shape: tuple[int, ...], dim: int = -1, dtype=torch.float32) -> Inputs:
    return {"scores": draw.normal(*shape, scale=2.0, dtype=dtype), "dim": dim}


def draw_extremes(
    draw: InputSampler, *, rows: int, columns: int, spread: float, offset: float, dtype=torch.float32
) -> Inputs:
    """Rows of scores around +offset, 0 and −offset in turn: no row's largest score is any other row's."""
    base = offset * (1 - torch.arange(rows).remainder(3)).double().unsqueeze(-1)
    return {
        "scores": (base + draw.normal(rows, columns, scale=spread, dtype=torch.float64)).to(dtype),
        "dim": -1,
    }


def draw_forbidden(
    draw: InputSampler, *, shape: tuple[int, ...], dim: int = -1, dtype=torch.float32
) -> Inputs:
    """Scores of which some are −inf, and along `dim` one row in all of its places."""
    scores = draw.normal(*shape, scale=2.0, dtype=dtype).movedim(dim, -1)
    scores = scores.masked_fill(~draw.mask(*scores.shape), -torch.inf)
    scores[(0,) * (scores.ndim - 1)] = -torch.inf
    return {"scores": scores.movedim(-1, dim).contiguous(), "dim": dim}


def draw_scores_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_scores(draw, **sizes)
    return {**inputs, "along": draw.normal(*sizes["shape"], dtype=sizes.get("dtype", torch.float32))}


def softmax_values(stable_softmax, scores: Tensor) -> Mapping[str, Tensor]:
    return {"weights": stable_softmax(scores)}


def softmax_along(stable_softmax, scores: Tensor, dim: int) -> Mapping[str, Tensor]:
    return {"weights": stable_softmax(scores, dim=dim)}


def softmax_conduct(stable_softmax, scores: Tensor, dim: int, along: Tensor) -> Mapping[str, Tensor]:
    def call(scores: Tensor) -> dict[str, Tensor]:
        return {"weights": stable_softmax(scores=scores, dim=dim)}

    return purity_and_gradients(call, {"scores": scores}, {"weights": along})


def _softmax(scores: Tensor, dim: int, largest: Tensor | float) -> Tensor:
    """The textbook form, with what is subtracted from the scores left open."""
    exps = torch.exp(scores - largest)
    return exps / exps.sum(dim, keepdim=True)


@mistake(
    "stable_softmax",
    "exp of a large score is infinite, and ∞/∞ is NaN. Subtract the row's largest score first.",
)
def overflows(scores: Tensor, dim: int = -1) -> Tensor:
    return _softmax(scores, dim, 0.0)


@mistake(
    "stable_softmax",
    "In a row of −inf the largest score is −inf too, and −inf − (−inf) is NaN. Such a row must become zeros.",
)
def nan_in_empty_rows(scores: Tensor, dim: int = -1) -> Tensor:
    return _softmax(scores, dim, scores.amax(dim, keepdim=True))


@mistake(
    "stable_softmax", "A row of −inf came out uniform. There is nothing to look at there: zeros, not 1/n."
)
def uniform_in_empty_rows(scores: Tensor, dim: int = -1) -> Tensor:
    return torch.softmax(scores.clamp_min(-1e9), dim)


@mistake(
    "stable_softmax",
    "The largest score of all rows is subtracted. A row far below it becomes all zeros: take each row's own.",
)
def one_maximum_for_all(scores: Tensor, dim: int = -1) -> Tensor:
    return _softmax(scores, dim, scores.max())


@mistake("stable_softmax", "`dim` is not used: the sum always runs over the last axis.")
def ignores_dim(scores: Tensor, dim: int = -1) -> Tensor:
    return stable_softmax(scores, -1)


@mistake(
    "stable_softmax", "The sum runs over the wrong axis: with dim=-1 each row sums to 1, not each column."
)
def sums_over_the_other_axis(scores: Tensor, dim: int = -1) -> Tensor:
    return stable_softmax(scores, -2 if dim in (-1, scores.ndim - 1) else -1)


@mistake(
    "stable_softmax",
    "The whole tensor sums to 1. Each row sums to 1 by itself: sum along `dim` only.",
)
def one_sum_for_all(scores: Tensor, dim: int = -1) -> Tensor:
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum()


@mistake(
    "stable_softmax", "The sum has lost its axis and lines up with the wrong one. Keep it: keepdim=True."
)
def forgets_keepdim(scores: Tensor, dim: int = -1) -> Tensor:
    exps = torch.exp(scores - scores.amax(dim, keepdim=True))
    return exps / exps.sum(dim)


@mistake("stable_softmax", "The exponential is missing: the scores are divided by their sum.")
def no_exponential(scores: Tensor, dim: int = -1) -> Tensor:
    return scores / scores.sum(dim, keepdim=True)


@mistake(
    "stable_softmax",
    "Clamping keeps exp finite, but it makes different scores equal. Subtract the row's largest.",
)
def clamps_the_scores(scores: Tensor, dim: int = -1) -> Tensor:
    return _softmax(scores.clamp(-50, 50), dim, 0.0)


@mistake(
    "stable_softmax",
    "The scores that came in were changed. `-=` and `.sub_()` work in place: make a new tensor.",
)
def works_in_place(scores: Tensor, dim: int = -1) -> Tensor:
    largest = scores.amax(dim, keepdim=True)
    scores -= largest.masked_fill(largest == -torch.inf, 0.0)
    return stable_softmax(scores, dim)


SOFTMAX = Exercise(
    id="1.3",
    title="A softmax that stays finite",
    reference=(stable_softmax,),
    points=10,
    difficulty=2,
    minutes=10,
    bans=frozenset({"softmax"}),
    checks=(
        Check(
            name="values",
            title="each row becomes a distribution",
            points=3,
            probe=softmax_values,
            map="weights",
            examples=trials(draw_scores, dict(shape=(2, 3))),
            trials=trials(draw_scores, dict(shape=(5, 7)), dict(shape=(2, 3, 11))),
        ),
        Check(
            name="dims",
            title="along any axis, counted from either end",
            points=2,
            needs=("values",),
            probe=softmax_along,
            examples=trials(draw_scores, dict(shape=(2, 3), dim=0)),
            trials=trials(
                draw_scores,
                dict(shape=(3, 5, 7), dim=1),
                dict(shape=(3, 5, 7), dim=-3),
                dict(shape=(5, 7), dim=-2),
                dict(shape=(7,), dim=0),
            ),
        ),
        Check(
            name="extremes",
            title="finite for scores of any size",
            points=2,
            needs=("values",),
            probe=softmax_along,
            examples=trials(draw_extremes, dict(rows=3, columns=4, spread=1e4, offset=0.0)),
            trials=trials(
                draw_extremes,
                dict(rows=5, columns=7, spread=2.0, offset=1e4, dtype=torch.float64),
                dict(rows=5, columns=7, spread=1e4, offset=0.0),
            ),
        ),
        Check(
            name="empty rows",
            title="a row of −inf becomes zeros",
            points=2,
            needs=("values",),
            probe=softmax_along,
            examples=trials(draw_forbidden, dict(shape=(2, 3))),
            trials=trials(draw_forbidden, dict(shape=(5, 7)), dict(shape=(3, 5, 2), dim=1)),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=softmax_conduct,
            examples=trials(draw_scores_along, dict(shape=(2, 3))),
            trials=trials(draw_scores_along, dict(shape=(5, 7), dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            nan_in_empty_rows,
            overflows,
            uniform_in_empty_rows,
            one_maximum_for_all,
            ignores_dim,
            sums_over_the_other_axis,
            one_sum_for_all,
            forgets_keepdim,
            no_exponential,
            clamps_the_scores,
            works_in_place,
        )
    ),
    review="Softmax",
)

# ---------------------------------------------------------------- 1.4 attention


def draw_attention(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    queries: int,
    keys: int,
    d_k: int,
    d_v: int,
    scale: float = 1.0,
    dtype=torch.float32,
) -> Inputs:
    return {
        "query": draw.normal(*batch_shape, queries, d_k, scale=scale, dtype=dtype),
        "key": draw.normal(*batch_shape, keys, d_k, scale=scale, dtype=dtype),
        "value": draw.normal(*batch_shape, keys, d_v, dtype=dtype),
    }


def draw_attention_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_attention(draw, **sizes)
    batch_shape, dtype = sizes.get("batch_shape", ()), sizes.get("dtype", torch.float32)
    return {
        **inputs,
        "along_output": draw.normal(*batch_shape, sizes["queries"], sizes["d_v"], dtype=dtype),
        "along_weights": draw.normal(*batch_shape, sizes["queries"], sizes["keys"], dtype=dtype),
    }


def attention_weights(attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Tensor]:
    return {"weights": pair(attention(query, key, value))[1]}


def attention_output(attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Tensor]:
    return {"output": pair(attention(query, key, value))[0]}


def attention_both(attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Tensor]:
    output, weights = pair(attention(query, key, value))
    return {"output": output, "weights": weights}


def attention_conduct(
    attention, query: Tensor, key: Tensor, value: Tensor, along_output: Tensor, along_weights: Tensor
) -> Mapping[str, Tensor]:
    def call(query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
        output, weights = pair(attention(query=query, key=key, value=value))
        return {"output": output, "weights": weights}

    inputs = {"query": query, "key": key, "value": value}
    return purity_and_gradients(call, inputs, {"output": along_output, "weights": along_weights})


def _attend(scores: Tensor, value: Tensor, dim: int = -1) -> tuple[Tensor, Tensor]:
    """Attention from scores on: where mistakes differ is how the scores come about."""
    weights = torch.softmax(scores, dim)
    return weights @ value, weights


@mistake("attention", "The scores are not divided by √d_k, so the softmax is too sharp.")
def unscaled(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return _attend(attention_scores(query, key), value)


@mistake("attention", "The scores are divided by d_k, or by √d_k twice. Divide by √d_k, once.")
def scaled_twice(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return _attend(attention_scores(query, key) / query.shape[-1], value)


@mistake(
    "attention", "The softmax runs over the queries. Each query shares its weight among the keys: dim=-1."
)
def softmax_over_queries(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return _attend(scaled_scores(query, key), value, dim=-2)


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
    return _attend(attention_scores(query, key) / sqrt(key.shape[-2]), value)


@mistake("attention", "There is no softmax: the scores themselves weight the values.")
def no_softmax(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = scaled_scores(query, key)
    return scores @ value, scores


@mistake("attention", "What comes back as weights are the scores. Return them after the softmax.")
def scores_for_weights(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return attention(query, key, value)[0], scaled_scores(query, key)


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


ATTENTION = Exercise(
    id="1.4",
    title="Attention",
    reference=(attention,),
    points=15,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3"),
    bans=FUSED,
    checks=(
        Check(
            name="output",
            title="the output is the weighted mean of the values",
            points=4,
            probe=attention_output,
            examples=trials(draw_attention, dict(queries=3, keys=4, d_k=5, d_v=2)),
            trials=trials(
                draw_attention,
                dict(queries=5, keys=7, d_k=3, d_v=2),
                dict(queries=7, keys=2, d_k=5, d_v=11),
            ),
        ),
        Check(
            name="weights",
            title="each query shares its weight among the keys",
            points=6,
            probe=attention_weights,
            map="weights",
            examples=trials(draw_attention, dict(queries=3, keys=4, d_k=5, d_v=2)),
            trials=trials(
                draw_attention,
                dict(queries=5, keys=7, d_k=3, d_v=2),
                dict(queries=7, keys=2, d_k=5, d_v=11),
            ),
        ),
        Check(
            name="batch",
            title="leading batch dimensions are kept",
            points=2,
            needs=("output", "weights"),
            probe=attention_both,
            examples=trials(draw_attention, dict(batch_shape=(2,), queries=3, keys=4, d_k=5, d_v=1)),
            trials=trials(
                draw_attention,
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11),
                dict(batch_shape=(2, 3), queries=5, keys=4, d_k=7, d_v=1),
            ),
        ),
        Check(
            name="extremes",
            title="large scores give no NaN",
            points=1,
            needs=("output", "weights"),
            probe=attention_both,
            trials=trials(
                draw_attention, dict(queries=5, keys=7, d_k=3, d_v=2, scale=100.0, dtype=torch.float64)
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=2,
            needs=("output", "weights"),
            probe=attention_conduct,
            trials=trials(
                draw_attention_along,
                dict(queries=5, keys=7, d_k=3, d_v=2, dtype=torch.float64),
                dict(batch_shape=(2,), queries=3, keys=5, d_k=7, d_v=11, dtype=torch.float64),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            unscaled,
            scaled_twice,
            softmax_over_queries,
            scaled_after_softmax,
            scaled_by_the_number_of_keys,
            scores_for_weights,
            no_softmax,
            weights_first,
            averages_the_keys,
            output_alone,
        )
    ),
    review="Attention",
)

# ---------------------------------------------------------------- 1.5 causal_mask, padding_mask


def draw_length(draw: InputSampler, *, tokens: int) -> Inputs:
    return {"n": tokens}


def draw_lengths(draw: InputSampler, *, sequences: int, tokens: int, dtype=torch.int64) -> Inputs:
    """Lengths of 0…n, both ends included where there is room for them."""
    lengths = draw.integers(1, tokens, sequences)
    lengths[:2] = torch.tensor([tokens, 0])[:sequences]
    return {"lengths": lengths[draw.permutation(sequences)].to(dtype), "n": tokens}


def draw_short_lengths(draw: InputSampler, *, sequences: int, tokens: int, dtype=torch.int64) -> Inputs:
    """Lengths that all stay below n: how wide the mask is cannot be read off them."""
    return {"lengths": draw.integers(0, tokens - 1, sequences).to(dtype), "n": tokens}


def causal_values(causal_mask, n: int) -> Mapping[str, Tensor]:
    return {"mask": causal_mask(n)}


def padding_values(padding_mask, lengths: Tensor, n: int) -> Mapping[str, Tensor]:
    return {"mask": padding_mask(lengths, n)}


def masks_conduct(causal_mask, padding_mask, lengths: Tensor, n: int) -> Mapping[str, Value]:
    before = lengths.clone()
    padding = padding_mask(lengths=lengths, n=n)
    return {"causal": causal_mask(n=n), "padding": padding, "inputs unchanged": torch.equal(lengths, before)}


@mistake(
    "causal_mask",
    "True marks what is forbidden here. In this course True = may attend: turn the mask around.",
)
def causal_inverted(n: int) -> Tensor:
    return ~causal_mask(n)


@mistake(
    "causal_mask",
    "A token may not see itself here. The diagonal belongs to the mask: positions 0…i, i included.",
)
def causal_without_diagonal(n: int) -> Tensor:
    return causal_mask(n).tril(-1)


@mistake("causal_mask", "The triangle lies the wrong way: each token sees the future and not the past.")
def sees_the_future(n: int) -> Tensor:
    return causal_mask(n).T.contiguous()


@mistake("causal_mask", "Each token sees one place ahead: row i must end at column i.")
def one_place_ahead(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril(1)


@mistake("causal_mask", "The triangle is right, but in numbers. A mask is bool: torch.bool, or a comparison.")
def causal_in_numbers(n: int) -> Tensor:
    return causal_mask(n).float()


@mistake("causal_mask", "This is an additive mask, 0 and −inf. Here a mask is bool, True = may attend.")
def causal_additive(n: int) -> Tensor:
    return torch.zeros(n, n).masked_fill(~causal_mask(n), -torch.inf)


@mistake(
    "padding_mask", "True marks the padding here. In this course True = may attend: turn the mask around."
)
def padding_inverted(lengths: Tensor, n: int) -> Tensor:
    return ~padding_mask(lengths, n)


@mistake("padding_mask", "One key too many: a sequence of length 3 has the positions 0, 1 and 2.")
def one_key_too_many(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths + 1, n)


@mistake(
    "padding_mask", "The middle axis is missing: (B, 1, n), so that the mask broadcasts over the queries."
)
def without_middle_axis(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths, n).squeeze(-2)


@mistake("padding_mask", "The mask hides queries, not keys: n belongs to the last axis, (B, 1, n).")
def hides_queries(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths, n).transpose(-1, -2)


@mistake(
    "padding_mask", "One axis too many is written out. (B, 1, n) is enough: it broadcasts over the queries."
)
def padding_written_out(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths, n).expand(-1, n, -1).contiguous()


@mistake("padding_mask", "Padding is masked at the front. Real tokens come first: positions 0…length − 1.")
def padding_at_the_front(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths, n).flip(-1)


@mistake("padding_mask", "The numbers are right, but a mask is bool: use a comparison such as <.")
def padding_in_numbers(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths, n).float()


@mistake(
    "padding_mask", "The longest sequence sets the width here. The mask is n wide, whatever the lengths."
)
def as_wide_as_the_longest(lengths: Tensor, n: int) -> Tensor:
    return padding_mask(lengths, int(lengths.max()))


MASKS = Exercise(
    id="1.5",
    title="Masks: causal and padding",
    reference=(
        causal_mask,
        padding_mask,
    ),
    points=15,
    difficulty=2,
    minutes=10,
    checks=(
        Check(
            name="causal",
            title="causal_mask: each position sees itself and what came before",
            points=6,
            probe=causal_values,
            map="mask",
            examples=trials(draw_length, dict(tokens=4)),
            trials=trials(draw_length, dict(tokens=7), dict(tokens=1), dict(tokens=13)),
        ),
        Check(
            name="padding",
            title="padding_mask: real tokens are seen, padding is not",
            points=6,
            probe=padding_values,
            examples=trials(draw_lengths, dict(sequences=3, tokens=4)),
            trials=trials(
                draw_lengths,
                dict(sequences=5, tokens=7),
                dict(sequences=1, tokens=3),
                dict(sequences=3, tokens=11),
            ),
        ),
        Check(
            name="width",
            title="the mask is n wide, whatever the lengths",
            points=2,
            needs=("padding",),
            probe=padding_values,
            examples=trials(draw_short_lengths, dict(sequences=2, tokens=5)),
            trials=trials(
                draw_short_lengths,
                dict(sequences=5, tokens=11),
                dict(sequences=3, tokens=7, dtype=torch.int32),
            ),
        ),
        Check(
            name="conduct",
            title="calls by keyword work, inputs stay as they are",
            points=1,
            needs=("causal", "padding"),
            probe=masks_conduct,
            trials=trials(draw_lengths, dict(sequences=3, tokens=5, dtype=torch.int32)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            causal_inverted,
            causal_without_diagonal,
            sees_the_future,
            one_place_ahead,
            causal_in_numbers,
            causal_additive,
            padding_inverted,
            one_key_too_many,
            without_middle_axis,
            hides_queries,
            padding_written_out,
            padding_at_the_front,
            padding_in_numbers,
            as_wide_as_the_longest,
        )
    ),
    review="Masks",
)

# ---------------------------------------------------------------- 1.6 masked_attention


def draw_mask(draw: InputSampler, mask: str, batch_shape: tuple[int, ...], queries: int, keys: int) -> Tensor:
    """A mask of one of the forms that broadcast to (..., Q, K).

    "each" has a row for every query and scene, "shared" one for every query, "keys" (K,), "padding" (..., 1, K) and
    "causal" are what their names say; "blank" is "each" with one query in each scene that may attend nowhere,
    "queries" (..., Q, 1) lets a query look everywhere or nowhere, "empty" (..., 1, K) hides a whole scene.
    """
    if mask == "causal":
        return causal_mask(keys)[-queries:]
    if mask == "queries":
        return draw.mask(*batch_shape, queries).unsqueeze(-1)
    if mask == "empty":
        return draw.mask(*batch_shape, 1, keys) & (torch.arange(batch_shape[0]) > 0).reshape(
            -1, *(1,) * (len(batch_shape) + 1)
        )
    shape = {"shared": (queries, keys), "keys": (keys,), "padding": (*batch_shape, 1, keys)}.get(
        mask, (*batch_shape, queries, keys)
    )
    drawn = draw.mask(*shape)
    if mask == "blank":
        blank = draw.integers(0, queries, *batch_shape, 1)
        drawn = drawn & (torch.arange(queries) != blank).unsqueeze(-1)
    return drawn


def draw_masked(draw: InputSampler, *, mask: str, **sizes) -> Inputs:
    return {
        **draw_attention(draw, **sizes),
        "mask": draw_mask(draw, mask, sizes.get("batch_shape", ()), sizes["queries"], sizes["keys"]),
    }


def draw_masked_along(draw: InputSampler, *, mask: str, **sizes) -> Inputs:
    return {
        **draw_attention_along(draw, **sizes),
        "mask": draw_mask(draw, mask, sizes.get("batch_shape", ()), sizes["queries"], sizes["keys"]),
    }


def masked_values(
    masked_attention, query: Tensor, key: Tensor, value: Tensor, mask: Tensor
) -> Mapping[str, Tensor]:
    output, weights = pair(masked_attention(query, key, value, mask))
    return {"output": output, "weights": weights}


def unmasked_values(masked_attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Tensor]:
    output, weights = pair(masked_attention(query, key, value))
    return {"output": output, "weights": weights}


def masked_conduct(
    masked_attention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    along_output: Tensor,
    along_weights: Tensor,
) -> Mapping[str, Tensor]:
    def call(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> dict[str, Tensor]:
        output, weights = pair(masked_attention(query=query, key=key, value=value, mask=mask))
        return {"output": output, "weights": weights}

    inputs = {"query": query, "key": key, "value": value, "mask": mask}
    return purity_and_gradients(call, inputs, {"output": along_output, "weights": along_weights})


def _masked(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, hide) -> tuple[Tensor, Tensor]:
    """Masked attention whose way of hiding scores is left open."""
    scores = scaled_scores(query, key)
    return _attend(scores if mask is None else hide(scores, mask), value)


@mistake("masked_attention", "The mask is turned around: it hides where it says True. True = may attend.")
def mask_inverted(query, key, value, mask=None):
    return masked_attention(query, key, value, None if mask is None else ~mask)


@mistake(
    "masked_attention",
    "The mask comes after the softmax, so the weights no longer sum to 1. Hide the scores before it.",
)
def mask_after_softmax(query, key, value, mask=None):
    weights = attention(query, key, value)[1]
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


@mistake(
    "masked_attention",
    "A hidden score becomes 0 here, and exp(0) = 1 still gets weight. It must become −inf.",
)
def hidden_scores_are_zero(query, key, value, mask=None):
    return _masked(query, key, value, mask, lambda scores, mask: scores * mask)


@mistake(
    "masked_attention",
    "The mask is added to the scores. That is for additive masks; this one is bool: masked_fill.",
)
def adds_the_mask(query, key, value, mask=None):
    return _masked(query, key, value, mask, lambda scores, mask: scores + mask)


@mistake("masked_attention", "The mask changes nothing here: it is never used.")
def mask_unused(query, key, value, mask=None):
    return attention(query, key, value)


@mistake(
    "masked_attention",
    "A query that may look nowhere gets NaN: softmax of a row of −inf. Your stable_softmax of 1.3 gives zeros there.",
)
def nan_for_blank_queries(query, key, value, mask=None):
    return _masked(query, key, value, mask, lambda scores, mask: scores.masked_fill(~mask, -torch.inf))


@mistake(
    "masked_attention",
    "A query that may look nowhere looks everywhere: hidden scores are a large negative number, all the same. "
    "Its weights and its output must be zero.",
)
def uniform_for_blank_queries(query, key, value, mask=None):
    return _masked(query, key, value, mask, lambda scores, mask: scores.masked_fill(~mask, -1e9))


@mistake("masked_attention", "The scores are not divided by √d_k.")
def masked_unscaled(query, key, value, mask=None):
    return masked_attention(query * sqrt(query.shape[-1]), key, value, mask)


@mistake(
    "masked_attention",
    "The weights are masked and the output is not: it was made from the weights before the mask.",
)
def output_unmasked(query, key, value, mask=None):
    return attention(query, key, value)[0], masked_attention(query, key, value, mask)[1]


@mistake("masked_attention", "Without a mask it fails: mask=None means that every query may look everywhere.")
def needs_a_mask(query, key, value, mask=None):
    scores = scaled_scores(query, key).masked_fill(~mask, -torch.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights


MASKED = Exercise(
    id="1.6",
    title="Masked attention",
    reference=(masked_attention,),
    points=10,
    difficulty=2,
    minutes=8,
    builds_on=("1.1", "1.2", "1.3", "1.4"),
    bans=FUSED,
    checks=(
        Check(
            name="values",
            title="weight goes only where the mask says True",
            points=4,
            probe=masked_values,
            map="weights",
            examples=trials(draw_masked, dict(queries=3, keys=4, d_k=5, d_v=2, mask="shared")),
            trials=trials(
                draw_masked,
                dict(queries=5, keys=7, d_k=3, d_v=2, mask="shared"),
                dict(queries=11, keys=5, d_k=7, d_v=3, mask="shared"),
            ),
        ),
        Check(
            name="no mask",
            title="without a mask, every query looks everywhere",
            points=1,
            needs=("values",),
            probe=unmasked_values,
            examples=trials(draw_attention, dict(queries=2, keys=3, d_k=4, d_v=1)),
            trials=trials(draw_attention, dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11)),
        ),
        Check(
            name="forms",
            title="masks of every form: for each query, for the keys, causal, padding",
            points=2,
            needs=("values",),
            probe=masked_values,
            examples=trials(
                draw_masked, dict(batch_shape=(2,), queries=3, keys=4, d_k=5, d_v=1, mask="padding")
            ),
            trials=trials(
                draw_masked,
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="each"),
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="padding"),
                dict(batch_shape=(2, 3), queries=5, keys=7, d_k=11, d_v=1, mask="shared"),
                dict(batch_shape=(2, 3), queries=7, keys=5, d_k=11, d_v=13, mask="padding"),
                dict(queries=5, keys=7, d_k=3, d_v=2, mask="keys"),
                dict(batch_shape=(2,), queries=7, keys=7, d_k=3, d_v=5, mask="causal"),
            ),
        ),
        Check(
            name="nowhere",
            title="a query that may look nowhere gets zeros",
            points=2,
            needs=("values",),
            probe=masked_values,
            examples=trials(draw_masked, dict(queries=3, keys=4, d_k=2, d_v=1, mask="blank")),
            trials=trials(
                draw_masked,
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="blank"),
                dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="queries"),
                dict(batch_shape=(2,), queries=5, keys=3, d_k=7, d_v=11, mask="empty"),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=masked_conduct,
            trials=trials(
                draw_masked_along,
                dict(batch_shape=(2,), queries=5, keys=7, d_k=3, d_v=11, mask="each", dtype=torch.float64),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            mask_inverted,
            mask_after_softmax,
            hidden_scores_are_zero,
            adds_the_mask,
            mask_unused,
            nan_for_blank_queries,
            uniform_for_blank_queries,
            masked_unscaled,
            output_unmasked,
            needs_a_mask,
        )
    ),
    review="Masked attention",
)

# ---------------------------------------------------------------- 1.7 SelfAttention


def draw_projections(draw: InputSampler, d_k: int, dtype: torch.dtype, **widths: int) -> dict[str, Tensor]:
    """Weights of W_Q, W_K, W_V by parameter name, for the widths of what each one reads."""
    return {
        f"{name}.weight": draw.normal(d_k, width, scale=1.5 / sqrt(width), dtype=dtype)
        for name, width in widths.items()
    }


def draw_self(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    d_model: int,
    d_k: int,
    dtype=torch.float32,
) -> Inputs:
    return {
        "sizes": {"d_model": d_model, "d_k": d_k},
        "weights": draw_projections(draw, d_k, dtype, W_Q=d_model, W_K=d_model, W_V=d_model),
        "tokens": draw.normal(*batch_shape, tokens, d_model, dtype=dtype),
    }


def draw_self_masked(draw: InputSampler, *, mask: str, **sizes) -> Inputs:
    made = draw_mask(draw, mask, sizes.get("batch_shape", ()), sizes["tokens"], sizes["tokens"])
    return {**draw_self(draw, **sizes), "mask": made}


def draw_self_along(draw: InputSampler, **sizes) -> Inputs:
    batch_shape, tokens, dtype = sizes.get("batch_shape", ()), sizes["tokens"], sizes["dtype"]
    return {
        **draw_self_masked(draw, **sizes),
        "along_output": draw.normal(*batch_shape, tokens, sizes["d_k"], dtype=dtype),
        "along_weights": draw.normal(*batch_shape, tokens, tokens, dtype=dtype),
    }


def draw_sizes(draw: InputSampler, **sizes: int) -> Inputs:
    return {"sizes": sizes}


def with_weights(layer: nn.Module, weights: Mapping[str, Tensor]) -> nn.Module:
    """A layer with our weights. Parameters that it should not have, such as biases, are put to zero: whether they are
    there is asked by a check of its own."""
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name not in weights:
                parameter.zero_()
    return load(layer, weights)


def parameters_of(layer: nn.Module) -> list[str]:
    """Names and shapes of all parameters: ["W_K.weight (3, 7)", …]."""
    return [f"{name} {tuple(parameter.shape)}" for name, parameter in sorted(layer.named_parameters())]


def self_values(SelfAttention, sizes: Mapping, weights: Mapping, tokens: Tensor) -> Mapping[str, Tensor]:
    output, attended = pair(with_weights(SelfAttention(sizes["d_model"], sizes["d_k"]), weights)(tokens))
    return {"output": output, "weights": attended}


def self_masked(
    SelfAttention, sizes: Mapping, weights: Mapping, tokens: Tensor, mask: Tensor
) -> Mapping[str, Tensor]:
    layer = with_weights(SelfAttention(sizes["d_model"], sizes["d_k"]), weights)
    output, attended = pair(layer(tokens, mask))
    return {"output": output, "weights": attended}


def self_parameters(SelfAttention, sizes: Mapping) -> Mapping[str, Value]:
    return {"parameters": parameters_of(SelfAttention(**sizes))}


def self_conduct(
    SelfAttention,
    sizes: Mapping,
    weights: Mapping,
    tokens: Tensor,
    mask: Tensor,
    along_output: Tensor,
    along_weights: Tensor,
) -> Mapping[str, Value]:
    layer = with_weights(SelfAttention(**sizes), weights)

    def call(tokens: Tensor, mask: Tensor) -> dict[str, Tensor]:
        output, attended = pair(layer(tokens=tokens, mask=mask))
        return {"output": output, "weights": attended}

    along = {"output": along_output, "weights": along_weights}
    asked = {name: dict(layer.named_parameters())[name] for name in weights}
    return purity_and_gradients(call, {"tokens": tokens, "mask": mask}, along, asked)


@mistake("SelfAttention", "Keys and queries come from one projection. Each has its own: W_K makes the keys.")
class KeysFromWQ(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_Q(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The values come from W_K. They have a projection of their own: W_V.")
class ValuesFromWK(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_K(tokens), mask)


@mistake(
    "SelfAttention", "Queries and keys have changed places: W_Q makes what asks, W_K what is compared with."
)
class RolesSwapped(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_K(tokens), self.W_Q(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The output averages the tokens as they came in. The values are W_V(tokens).")
class ValuesNotProjected(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), tokens, mask)


@mistake(
    "SelfAttention", "Tokens are compared as they came in. Project them first: W_Q for queries, W_K for keys."
)
class NothingProjected(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(tokens, tokens, self.W_V(tokens), mask)


@mistake("SelfAttention", "The scores are not divided by √d_k. Your masked_attention of 1.6 does it for you.")
class SelfUnscaled(SelfAttention):
    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens) * sqrt(self.W_Q.out_features)
        return masked_attention(query, self.W_K(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The scores are divided by √d_model. d_k is the width after the projection.")
class ScaledByDModel(SelfAttention):
    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens) * sqrt(self.W_Q.out_features / self.W_Q.in_features)
        return masked_attention(query, self.W_K(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The mask never arrives: hand it on to masked_attention.")
class SelfMaskDropped(SelfAttention):
    def forward(self, tokens, mask=None):
        return super().forward(tokens)


@mistake(
    "SelfAttention", "The projections have a bias. They are asked for without: nn.Linear(…, bias=False)."
)
class SelfWithBias(SelfAttention):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k) for _ in range(3))


@mistake(
    "SelfAttention",
    "The weights come back cut off by .detach(). Without it, training can learn from them.",
)
class SelfWeightsDetached(SelfAttention):
    def forward(self, tokens, mask=None):
        output, weights = super().forward(tokens, mask)
        return output, weights.detach()


SELF_ATTENTION = Exercise(
    id="1.7",
    title="Self-attention",
    reference=(SelfAttention,),
    points=15,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"),
    bans=FUSED,
    checks=(
        Check(
            name="values",
            title="tokens ask, and the same tokens answer",
            points=6,
            probe=self_values,
            map="weights",
            examples=trials(draw_self, dict(tokens=3, d_model=4, d_k=2)),
            trials=trials(draw_self, dict(tokens=5, d_model=7, d_k=3), dict(tokens=7, d_model=3, d_k=11)),
        ),
        Check(
            name="mask",
            title="the mask is obeyed",
            points=4,
            needs=("values",),
            probe=self_masked,
            map="weights",
            examples=trials(draw_self_masked, dict(tokens=3, d_model=4, d_k=2, mask="causal")),
            trials=trials(
                draw_self_masked,
                dict(tokens=7, d_model=5, d_k=3, mask="causal"),
                dict(batch_shape=(3,), tokens=5, d_model=7, d_k=2, mask="padding"),
                dict(batch_shape=(2,), tokens=5, d_model=3, d_k=7, mask="each"),
            ),
        ),
        Check(
            name="batch",
            title="leading batch dimensions are kept",
            points=1,
            needs=("values",),
            probe=self_values,
            trials=trials(
                draw_self,
                dict(batch_shape=(3,), tokens=5, d_model=7, d_k=2),
                dict(batch_shape=(2, 3), tokens=5, d_model=11, d_k=7),
            ),
        ),
        Check(
            name="parameters",
            title="W_Q, W_K and W_V without bias are the only parameters",
            points=2,
            needs=("values",),
            probe=self_parameters,
            examples=trials(draw_sizes, dict(d_model=4, d_k=2)),
            trials=trials(draw_sizes, dict(d_model=7, d_k=3)),
        ),
        Check(
            name="conduct",
            title="gradients reach every parameter, float64 stays float64, inputs stay as they are",
            points=2,
            needs=("values",),
            probe=self_conduct,
            examples=trials(
                draw_self_along, dict(tokens=3, d_model=4, d_k=2, mask="causal", dtype=torch.float32)
            ),
            trials=trials(
                draw_self_along,
                dict(batch_shape=(2,), tokens=5, d_model=7, d_k=3, mask="causal", dtype=torch.float64),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            KeysFromWQ,
            ValuesFromWK,
            RolesSwapped,
            ValuesNotProjected,
            NothingProjected,
            SelfUnscaled,
            ScaledByDModel,
            SelfMaskDropped,
            SelfWithBias,
            SelfWeightsDetached,
        )
    ),
    review="Self-attention",
)

# ---------------------------------------------------------------- 1.8 CrossAttention


def draw_cross(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    words: int,
    patches: int,
    d_text: int,
    d_image: int,
    d_k: int,
    dtype=torch.float32,
) -> Inputs:
    return {
        "sizes": {"d_text": d_text, "d_image": d_image, "d_k": d_k},
        "weights": draw_projections(draw, d_k, dtype, W_Q=d_text, W_K=d_image, W_V=d_image),
        "text_tokens": draw.normal(*batch_shape, words, d_text, dtype=dtype),
        "image_tokens": draw.normal(*batch_shape, patches, d_image, dtype=dtype),
    }


def draw_cross_masked(draw: InputSampler, *, mask: str, **sizes) -> Inputs:
    made = draw_mask(draw, mask, sizes.get("batch_shape", ()), sizes["words"], sizes["patches"])
    return {**draw_cross(draw, **sizes), "mask": made}


def draw_cross_along(draw: InputSampler, **sizes) -> Inputs:
    batch_shape, words, dtype = sizes.get("batch_shape", ()), sizes["words"], sizes["dtype"]
    return {
        **draw_cross_masked(draw, **sizes),
        "along_output": draw.normal(*batch_shape, words, sizes["d_k"], dtype=dtype),
        "along_weights": draw.normal(*batch_shape, words, sizes["patches"], dtype=dtype),
    }


def cross_values(
    CrossAttention, sizes: Mapping, weights: Mapping, text_tokens: Tensor, image_tokens: Tensor
) -> Mapping[str, Tensor]:
    layer = with_weights(CrossAttention(sizes["d_text"], sizes["d_image"], sizes["d_k"]), weights)
    output, attended = pair(layer(text_tokens, image_tokens))
    return {"output": output, "weights": attended}


def cross_masked(
    CrossAttention, sizes: Mapping, weights: Mapping, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor
) -> Mapping[str, Tensor]:
    layer = with_weights(CrossAttention(sizes["d_text"], sizes["d_image"], sizes["d_k"]), weights)
    output, attended = pair(layer(text_tokens, image_tokens, mask))
    return {"output": output, "weights": attended}


def cross_parameters(CrossAttention, sizes: Mapping) -> Mapping[str, Value]:
    return {"parameters": parameters_of(CrossAttention(**sizes))}


def cross_conduct(
    CrossAttention,
    sizes: Mapping,
    weights: Mapping,
    text_tokens: Tensor,
    image_tokens: Tensor,
    mask: Tensor,
    along_output: Tensor,
    along_weights: Tensor,
) -> Mapping[str, Value]:
    layer = with_weights(CrossAttention(**sizes), weights)

    def call(text_tokens: Tensor, image_tokens: Tensor, mask: Tensor) -> dict[str, Tensor]:
        output, attended = pair(layer(text_tokens=text_tokens, image_tokens=image_tokens, mask=mask))
        return {"output": output, "weights": attended}

    inputs = {"text_tokens": text_tokens, "image_tokens": image_tokens, "mask": mask}
    along = {"output": along_output, "weights": along_weights}
    asked = {name: dict(layer.named_parameters())[name] for name in weights}
    return purity_and_gradients(call, inputs, along, asked)


@mistake(
    "CrossAttention",
    "The keys come from the text, so the image is never compared with. W_K reads image_tokens.",
)
class KeysFromText(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(text_tokens), self.W_V(image_tokens), mask)


@mistake(
    "CrossAttention",
    "The values come from the text: the answer holds nothing of the image. W_V reads image_tokens.",
)
class ValuesFromText(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(text_tokens), mask)


@mistake(
    "CrossAttention",
    "The image asks and the text answers. Turn it around: queries from the text, the rest from the image.",
)
class ImageAsks(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)


@mistake(
    "CrossAttention",
    "The text looks at itself: the image is not used. Keys and values come from image_tokens.",
)
class TextLooksAtItself(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)


@mistake(
    "CrossAttention",
    "The widths are the wrong way round: W_Q reads d_text numbers, W_K and W_V read d_image.",
)
class WidthsSwapped(CrossAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_text, d_k)


@mistake("CrossAttention", "The values come from W_K. They have a projection of their own: W_V.")
class CrossValuesFromWK(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_K(image_tokens), mask)


@mistake(
    "CrossAttention", "The scores are not divided by √d_k. Your masked_attention of 1.6 does it for you."
)
class CrossUnscaled(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens) * sqrt(self.W_Q.out_features)
        return masked_attention(query, self.W_K(image_tokens), self.W_V(image_tokens), mask)


@mistake("CrossAttention", "The mask never arrives: hand it on to masked_attention.")
class CrossMaskDropped(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens)


@mistake(
    "CrossAttention", "The projections have a bias. They are asked for without: nn.Linear(…, bias=False)."
)
class CrossWithBias(CrossAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_image, d_k)
        self.W_Q, self.W_K, self.W_V = (nn.Linear(width, d_k) for width in (d_text, d_image, d_image))


@mistake(
    "CrossAttention",
    "The weights come back cut off by .detach(). Without it, training can learn from them.",
)
class CrossWeightsDetached(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = super().forward(text_tokens, image_tokens, mask)
        return output, weights.detach()


CROSS_ATTENTION = Exercise(
    id="1.8",
    title="Cross-attention: text asks, the image answers",
    reference=(CrossAttention,),
    points=15,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"),
    bans=FUSED,
    checks=(
        Check(
            name="values",
            title="text asks, the image answers",
            points=6,
            probe=cross_values,
            map="weights",
            examples=trials(
                draw_cross,
                dict(words=2, patches=3, d_text=4, d_image=4, d_k=5),
                dict(words=2, patches=3, d_text=4, d_image=5, d_k=6),
            ),
            trials=trials(
                draw_cross,
                dict(words=5, patches=7, d_text=11, d_image=3, d_k=2),
                dict(words=3, patches=5, d_text=2, d_image=7, d_k=11),
            ),
        ),
        Check(
            name="mask",
            title="the mask is obeyed",
            points=4,
            needs=("values",),
            probe=cross_masked,
            map="weights",
            examples=trials(
                draw_cross_masked, dict(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="shared")
            ),
            trials=trials(
                draw_cross_masked,
                dict(words=5, patches=7, d_text=11, d_image=3, d_k=2, mask="shared"),
                dict(batch_shape=(3,), words=5, patches=7, d_text=2, d_image=11, d_k=13, mask="padding"),
                dict(batch_shape=(2,), words=7, patches=5, d_text=3, d_image=11, d_k=13, mask="each"),
            ),
        ),
        Check(
            name="batch",
            title="leading batch dimensions are kept",
            points=1,
            needs=("values",),
            probe=cross_values,
            trials=trials(
                draw_cross,
                dict(batch_shape=(3,), words=5, patches=7, d_text=11, d_image=2, d_k=13),
                dict(batch_shape=(2, 3), words=7, patches=5, d_text=11, d_image=13, d_k=17),
            ),
        ),
        Check(
            name="parameters",
            title="W_Q, W_K and W_V without bias are the only parameters",
            points=2,
            needs=("values",),
            probe=cross_parameters,
            examples=trials(draw_sizes, dict(d_text=4, d_image=5, d_k=6)),
            trials=trials(draw_sizes, dict(d_text=7, d_image=5, d_k=3)),
        ),
        Check(
            name="conduct",
            title="gradients reach every parameter, float64 stays float64, inputs stay as they are",
            points=2,
            needs=("values",),
            probe=cross_conduct,
            examples=trials(
                draw_cross_along,
                dict(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="shared", dtype=torch.float32),
            ),
            trials=trials(
                draw_cross_along,
                dict(
                    batch_shape=(2,),
                    words=5,
                    patches=7,
                    d_text=11,
                    d_image=3,
                    d_k=13,
                    mask="padding",
                    dtype=torch.float64,
                ),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            KeysFromText,
            ValuesFromText,
            ImageAsks,
            TextLooksAtItself,
            WidthsSwapped,
            CrossValuesFromWK,
            CrossUnscaled,
            CrossMaskDropped,
            CrossWithBias,
            CrossWeightsDetached,
        )
    ),
    review="Cross-attention",
)

# ---------------------------------------------------------------- 1.9 pointer_loss, and the maps of the trained pointer


def draw_maps(
    draw: InputSampler, *, batch_shape: tuple[int, ...] = (), patches: int, dtype=torch.float32
) -> Inputs:
    """Distributions over the patches, none of them near 0, and a target patch for each."""
    shares = 0.1 + draw.uniform(*batch_shape, patches, dtype=torch.float64)
    return {
        "weights": (shares / shares.sum(-1, keepdim=True)).to(dtype),
        "target": draw.integers(0, patches, *batch_shape),
    }


def draw_map_scores(
    draw: InputSampler, *, batch_shape: tuple[int, ...] = (), patches: int, dtype=torch.float32
) -> Inputs:
    scores = draw.normal(*batch_shape, patches, dtype=dtype)
    return {"scores": scores, "target": draw.integers(0, patches, *batch_shape)}


def loss_values(pointer_loss, weights: Tensor, target: Tensor) -> Mapping[str, Tensor]:
    return {"loss": pointer_loss(weights, target)}


def loss_conduct(pointer_loss, scores: Tensor, target: Tensor) -> Mapping[str, Value]:
    """Gradients are taken through the softmax that makes the weights: only there do all right answers agree."""
    weights = torch.softmax(scores, -1)
    given = weights.clone()
    pointer_loss(weights=given, target=target)
    if not torch.equal(given, weights):
        return {"inputs unchanged": False}

    def call(scores: Tensor, target: Tensor) -> dict[str, Tensor]:
        return {"loss": pointer_loss(weights=torch.softmax(scores, -1), target=target)}

    along = torch.ones((), dtype=scores.dtype)
    return purity_and_gradients(call, {"scores": scores, "target": target}, {"loss": along})


def pointer_maps(pointer, seed: int, words: Tensor, patches: Tensor) -> Mapping[str, Value]:
    """The maps of the pointer that the notebook trained, on scenes that it has never seen, and its weights."""
    device = next(pointer.parameters()).device
    with torch.no_grad():
        maps = pointer(words.to(device), patches.to(device))
    state = {name: value.detach().cpu() for name, value in pointer.named_parameters()}
    return {"maps": maps.cpu(), "state": state, "seed": seed}


def _target_weights(weights: Tensor, target: Tensor) -> Tensor:
    return weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)


@mistake(
    "pointer_loss",
    "The sign is missing: log of a weight is negative, and training would push the weight down.",
)
def sign_missing(weights: Tensor, target: Tensor) -> Tensor:
    return -pointer_loss(weights, target)


@mistake("pointer_loss", "The log is missing: this is minus the mean weight on the target.")
def log_missing(weights: Tensor, target: Tensor) -> Tensor:
    return -_target_weights(weights, target).mean()


@mistake("pointer_loss", "This is 1 minus the weight on the target. Take minus its logarithm.")
def one_minus_the_weight(weights: Tensor, target: Tensor) -> Tensor:
    return (1 - _target_weights(weights, target)).mean()


@mistake("pointer_loss", "The log comes after the mean. Take the log of each weight first, then the mean.")
def log_of_the_mean(weights: Tensor, target: Tensor) -> Tensor:
    return -_target_weights(weights, target).mean().log()


@mistake(
    "pointer_loss", "The losses are added up. Take their mean, so that the loss does not grow with the batch."
)
def sum_for_mean(weights: Tensor, target: Tensor) -> Tensor:
    return -_target_weights(weights, target).log().sum()


@mistake(
    "pointer_loss",
    "cross_entropy makes a softmax of its own; the weights have been through one. Use their log.",
)
def softmax_twice(weights: Tensor, target: Tensor) -> Tensor:
    return nn.functional.cross_entropy(weights.reshape(-1, weights.shape[-1]), target.reshape(-1))


@mistake(
    "pointer_loss",
    "The mean runs over all patches. Only the weight on the target counts: pick it, then average.",
)
def mean_over_all_patches(weights: Tensor, target: Tensor) -> Tensor:
    return pointer_loss(weights, target) / weights.shape[-1]


@mistake(
    "pointer_loss", "Every patch is pulled at, not only the target. Pick the target's weight with gather."
)
def all_patches_count(weights: Tensor, target: Tensor) -> Tensor:
    return -weights.log().mean()


@mistake("pointer_loss", "One loss for each map came back. Take the mean: one number.")
def no_mean(weights: Tensor, target: Tensor) -> Tensor:
    return -_target_weights(weights, target).log()


POINTER = Exercise(
    id="1.9",
    title="A pointer that learns to look",
    reference=(pointer_loss,),
    points=10,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6", "1.8"),
    checks=(
        Check(
            name="values",
            title="the mean negative log weight on the target",
            points=3,
            probe=loss_values,
            examples=trials(draw_maps, dict(batch_shape=(2,), patches=3)),
            trials=trials(draw_maps, dict(batch_shape=(5,), patches=7), dict(batch_shape=(3,), patches=11)),
        ),
        Check(
            name="batch",
            title="one map, or any batch of maps",
            points=1,
            needs=("values",),
            probe=loss_values,
            examples=trials(draw_maps, dict(batch_shape=(2, 3), patches=4)),
            trials=trials(
                draw_maps,
                dict(patches=7),
                dict(batch_shape=(3, 5), patches=2),
                dict(batch_shape=(2, 3, 5), patches=7),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=loss_conduct,
            trials=trials(draw_map_scores, dict(batch_shape=(5,), patches=7, dtype=torch.float64)),
            rtol=30,  # a tiny number inside the log, against log 0, is good practice
        ),
        Check(
            name="maps",
            title="the pointer that you trained looks at the right patch of scenes it has never seen",
            points=5,
            needs=("values",),
            probe=pointer_maps,
            trials=trials(draw_unseen, dict(scenes=500)),
            judge=judge_pointer,
            at="train-pointer",
            seconds=30,
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            sign_missing,
            log_missing,
            one_minus_the_weight,
            log_of_the_mean,
            sum_for_mean,
            softmax_twice,
            mean_over_all_patches,
            all_patches_count,
            no_mean,
        )
    ),
    review="A pointer that learns to look",
)

LESSON = Lesson(
    assignment="1-attention",
    title="Attention from scratch",
    limits=Limits(given_seconds=10.0),
    cell_seconds={"train-pointer": 60.0},
    exercises=(
        SCORES,
        SCALED,
        SOFTMAX,
        ATTENTION,
        MASKS,
        MASKED,
        SELF_ATTENTION,
        CROSS_ATTENTION,
        POINTER,
    ),
    given={"pointer": None, "seed": 0},
)
