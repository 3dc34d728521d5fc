"""Exercises 1.5 and 1.6: the causal mask, the padding mask, and attention with a mask."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from attention.dot_product import attention, masked_attention, scaled_scores, stable_softmax
from attention.masks import causal_mask, padding_mask
from torch import Tensor

from grader.course.lesson_1.shared import attend, draw_attention, draw_mask
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import function_gradients, side_effects
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import CONDUCT, StandardChecks, draw_directions
from grader.declaration.trial import trials
from grader.records import Inputs, Value

# ---------------------------------------------------------------- 1.5 causal_mask, padding_mask


def draw_length(sampler: InputSampler, *, tokens: int) -> Inputs:
    """Return the number of tokens as {"n": …}; nothing is random."""
    return {"n": tokens}


def draw_lengths(
    sampler: InputSampler, *, sequences: int, tokens: int, dtype: torch.dtype = torch.int64
) -> Inputs:
    """Draw lengths of 0…n, n = `tokens`; one of them is n, and, of two or more, another is 0."""
    lengths = sampler.integers(1, tokens, sequences)
    lengths[:2] = torch.tensor([tokens, 0])[:sequences]
    return {"lengths": lengths[sampler.permutation(sequences)].to(dtype), "n": tokens}


def draw_short_lengths(
    sampler: InputSampler, *, sequences: int, tokens: int, dtype: torch.dtype = torch.int64
) -> Inputs:
    """Draw lengths of 0…n − 2, n = `tokens`: a mask only as wide as the longest length is too narrow."""
    return {"lengths": sampler.integers(0, tokens - 1, sequences).to(dtype), "n": tokens}


def call_masks_by_keyword(causal_mask, padding_mask, lengths: Tensor, n: int) -> Mapping[str, Value]:
    """Make both masks with keywords; report whether the lengths stay as they are, and on which device the mask is."""
    before = {"lengths": lengths.clone()}
    masks = {"causal": causal_mask(n=n), "padding": padding_mask(lengths=lengths, n=n)}
    effects = side_effects(before, {"lengths": lengths})
    return {**masks, **effects, "mask on the device of lengths": stays_on_device(padding_mask, lengths, n)}


def stays_on_device(padding_mask, lengths: Tensor, n: int) -> bool:
    """Tell whether the padding mask is made on the device of the lengths.

    Lengths on "meta" have no numbers, but mixing them with a tensor of the CPU raises as on a GPU. An answer that asks
    for their numbers raises something else, which says nothing.
    """
    there = torch.empty(lengths.shape, dtype=lengths.dtype, device="meta")
    try:
        return padding_mask(there, n).device == there.device
    except Exception as error:
        return not any(words in str(error) for words in ("expected device", "same device"))


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


@mistake(
    "padding_mask",
    "The mask is made on the CPU, and lengths may be on a GPU. Make it on the device of lengths: device=lengths.device.",
)
def padding_on_the_cpu(lengths: Tensor, n: int) -> Tensor:
    return torch.arange(n, device="cpu") < lengths.reshape(-1, 1, 1)


CAUSAL_CHECKS = StandardChecks(reference=causal_mask, returns=("mask",), draw=draw_length)
PADDING_CHECKS = StandardChecks(reference=padding_mask, returns=("mask",), draw=draw_lengths)

MASK_WIDTH = PADDING_CHECKS.further_values(
    "width",
    "the mask is n wide, whatever the lengths",
    2,
    needs=("padding",),
    draw=draw_short_lengths,
    examples=[dict(sequences=2, tokens=5)],
    trials=[dict(sequences=5, tokens=11), dict(sequences=3, tokens=7, dtype=torch.int32)],
)

MASKS_BY_KEYWORD = Check(
    name="conduct",
    title="calls by keyword work, inputs and the device stay as they are",
    points=1,
    needs=("causal", "padding"),
    probe=call_masks_by_keyword,
    examples=trials(draw_lengths, dict(sequences=2, tokens=3)),
    trials=trials(draw_lengths, dict(sequences=3, tokens=5, dtype=torch.int32)),
)

MASKS = Exercise(
    id="1.5",
    title="Masks: causal and padding",
    reference=(causal_mask, padding_mask),
    points=15,
    difficulty=2,
    minutes=10,
    checks=(
        CAUSAL_CHECKS.values(
            "causal_mask: each position sees itself and what came before",
            6,
            name="causal",
            map="mask",
            examples=[dict(tokens=4)],
            trials=[dict(tokens=7), dict(tokens=1), dict(tokens=13)],
        ),
        PADDING_CHECKS.values(
            "padding_mask: real tokens are seen, padding is not",
            6,
            name="padding",
            examples=[dict(sequences=3, tokens=4)],
            trials=[dict(sequences=5, tokens=7), dict(sequences=1, tokens=3), dict(sequences=3, tokens=11)],
        ),
        MASK_WIDTH,
        MASKS_BY_KEYWORD,
    ),
    mistakes=mistakes_in(globals(), "causal_mask", "padding_mask"),
    review="Masks",
)

# ---------------------------------------------------------------- 1.6 masked_attention


def draw_masked(sampler: InputSampler, *, mask: str, **sizes: Any) -> Inputs:
    """Draw queries, keys, values and a mask; `mask` is a kind of `draw_mask`."""
    inputs = draw_attention(sampler, **sizes)
    batch_shape = sizes.get("batch_shape", ())
    return {**inputs, "mask": draw_mask(sampler, mask, batch_shape, sizes["queries"], sizes["keys"])}


def draw_masked_gradients(sampler: InputSampler, *, mask: str, **sizes: Any) -> Inputs:
    """Draw queries, keys, values, the gradients' directions, and a mask; `mask` is a kind of `draw_mask`.

    It draws the mask last: another order of draws would give each submission other hidden inputs than before.
    """
    inputs = draw_attention(sampler, **sizes)
    outputs = dict(zip(("output", "weights"), attention(**inputs), strict=True))
    directions = draw_directions(sampler, outputs)
    made = draw_mask(sampler, mask, sizes.get("batch_shape", ()), sizes["queries"], sizes["keys"])
    return {"arguments": {**inputs, "mask": made}, "returns": list(outputs), "grad_outputs": directions}


def attend_masked(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, hide
) -> tuple[Tensor, Tensor]:
    """Compute attention from `hide(scores, mask)`, or, without a mask, from the scores."""
    scores = scaled_scores(query, key)
    return attend(scores if mask is None else hide(scores, mask), value)


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
    return attend_masked(query, key, value, mask, lambda scores, mask: scores * mask)


@mistake(
    "masked_attention",
    "The mask is added to the scores. That is for additive masks; this one is bool: masked_fill.",
)
def adds_the_mask(query, key, value, mask=None):
    return attend_masked(query, key, value, mask, lambda scores, mask: scores + mask)


@mistake(
    "masked_attention", "The mask changes nothing here. Hidden scores must become −∞ before the softmax."
)
def mask_unused(query, key, value, mask=None):
    return attention(query, key, value)


@mistake(
    "masked_attention",
    "A query that may look nowhere gets NaN: 0 divided by 0, or the softmax of a row of −inf. Your stable_softmax of 1.3 gives zeros there.",
)
def nan_for_blank_queries(query, key, value, mask=None):
    return attend_masked(query, key, value, mask, lambda scores, mask: scores.masked_fill(~mask, -torch.inf))


@mistake(
    "masked_attention",
    "A query that may look nowhere looks everywhere: hidden scores are a large negative number, all the same. "
    "Its weights and its output must be zero.",
)
def uniform_for_blank_queries(query, key, value, mask=None):
    return attend_masked(query, key, value, mask, lambda scores, mask: scores.masked_fill(~mask, -1e9))


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


MASKED_CHECKS = StandardChecks(reference=masked_attention, returns=("output", "weights"), draw=draw_masked)

WITHOUT_MASK = MASKED_CHECKS.further_values(
    "no mask",
    "without a mask, every query looks everywhere",
    1,
    draw=draw_attention,
    examples=[dict(queries=2, keys=3, d_k=4, d_v=1)],
    trials=[
        dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11),
        dict(queries=5, keys=7, d_k=3, d_v=2, scale=100.0),  # with large scores, too
    ],
)

MASK_FORMS = MASKED_CHECKS.further_values(
    "forms",
    "masks of every form: for each query, for the keys, causal, padding",
    2,
    examples=[dict(batch_shape=(2,), queries=3, keys=4, d_k=5, d_v=1, mask="padding")],
    trials=[
        dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="each"),
        dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="padding"),
        dict(batch_shape=(2, 3), queries=5, keys=7, d_k=11, d_v=1, mask="shared"),
        dict(batch_shape=(2, 3), queries=7, keys=5, d_k=11, d_v=13, mask="padding"),
        dict(queries=5, keys=7, d_k=3, d_v=2, mask="keys"),
        dict(batch_shape=(2,), queries=7, keys=7, d_k=3, d_v=5, mask="causal"),
        dict(batch_shape=(1,), queries=1, keys=5, d_k=3, d_v=2, mask="each"),
    ],
)

ATTENDING_NOWHERE = MASKED_CHECKS.further_values(
    "nowhere",
    "a query that may look nowhere gets zeros",
    2,
    examples=[dict(queries=3, keys=4, d_k=2, d_v=1, mask="blank")],
    trials=[
        dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="blank"),
        dict(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="queries"),
        dict(batch_shape=(2,), queries=5, keys=3, d_k=7, d_v=11, mask="empty"),
        dict(batch_shape=(1,), queries=3, keys=5, d_k=7, d_v=2, mask="empty"),  # no True in the whole mask
    ],
)

MASKED_GRADIENTS = Check(
    name="conduct",
    title=CONDUCT,
    points=1,
    needs=("values",),
    probe=function_gradients,
    names={"function": "masked_attention"},
    trials=trials(
        draw_masked_gradients,
        dict(batch_shape=(2,), queries=5, keys=7, d_k=3, d_v=11, mask="each", dtype=torch.float64),
    ),
)

MASKED = Exercise(
    id="1.6",
    title="Masked attention",
    reference=(masked_attention,),
    points=10,
    difficulty=2,
    minutes=8,
    builds_on=("1.1", "1.2", "1.3", "1.4"),
    bans=frozenset({"fused attention"}),
    checks=(
        MASKED_CHECKS.values(
            "weight goes only where the mask says True",
            4,
            map="weights",
            examples=[dict(queries=3, keys=4, d_k=5, d_v=2, mask="shared")],
            trials=[
                dict(queries=5, keys=7, d_k=3, d_v=2, mask="shared"),
                dict(queries=11, keys=5, d_k=7, d_v=3, mask="shared"),
            ],
        ),
        WITHOUT_MASK,
        MASK_FORMS,
        ATTENDING_NOWHERE,
        MASKED_GRADIENTS,
    ),
    mistakes=mistakes_in(globals(), "masked_attention"),
    review="Masked attention",
)
