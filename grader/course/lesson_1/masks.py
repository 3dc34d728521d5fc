"""Exercises 1.5 and 1.6: the causal mask, the padding mask, and attention with a mask."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.dot_product import attention, masked_attention
from attention.masks import causal_mask, padding_mask
from torch import Tensor

from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.shared import ATTENTION_INPUTS, a_mask, draw_attention, draw_mask
from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    Value,
    draw_directions,
    drawn,
    edits,
    given,
    sizes,
    written_exercise,
)
from grader.declare.probes import function_gradients, side_effects

# ---------------------------------------------------------------- 1.5 causal_mask, padding_mask

draw_length = drawn(n=given("tokens"))


def draw_lengths(sampler: InputSampler, *, sequences: int, tokens: int, dtype: torch.dtype = torch.int64) -> Inputs:
    """Draw lengths from 0 to n = `tokens`. One length is n. If there are two or more, another one is 0."""
    lengths = sampler.integers(1, tokens, sequences)
    lengths[:2] = torch.tensor([tokens, 0])[:sequences]
    return {"lengths": lengths[sampler.permutation(sequences)].to(dtype), "n": tokens}


def draw_short_lengths(
    sampler: InputSampler, *, sequences: int, tokens: int, dtype: torch.dtype = torch.int64
) -> Inputs:
    """Draw lengths from 0 to n − 2, where n = `tokens`.

    So a mask that is only as wide as the longest length is too narrow.
    """
    return {"lengths": sampler.integers(0, tokens - 1, sequences).to(dtype), "n": tokens}


def call_masks_by_keyword(causal_mask, padding_mask, lengths: Tensor, n: int) -> Mapping[str, Value]:
    """Return both masks, made with keyword arguments, and their side effects.

    The side effects state if the lengths are unchanged, and if the padding mask is on their device.
    """
    before = {"lengths": lengths.clone()}
    masks = {"causal": causal_mask(n=n), "padding": padding_mask(lengths=lengths, n=n)}
    effects = side_effects(before, {"lengths": lengths})
    return {**masks, **effects, "mask on the device of lengths": stays_on_device(padding_mask, lengths, n)}


def stays_on_device(padding_mask, lengths: Tensor, n: int) -> bool:
    """Return True if the padding mask is made on the device of the lengths.

    The lengths are on the device "meta", where mixing them with a CPU tensor raises an error as on
    a GPU. Tensors on that device have no numbers. So answers that read them with `.cpu()`,
    `.tolist()` or `lengths[i]` get the numbers of `lengths`. An answer that reads them in another
    way is called again, with lengths that have numbers and claim to be on a GPU.
    """
    reads = {
        "cpu": lambda self: lengths.clone(),
        "tolist": lambda self: lengths.tolist(),
        "numpy": lambda self, **options: lengths.numpy().copy(),
        "__iter__": lambda self: iter(lengths.clone()),
        "__getitem__": lambda self, key: (lengths if isinstance(key, int) else self.as_subclass(Tensor))[key],
    }
    there = torch.empty(lengths.shape, dtype=lengths.dtype, device="meta")
    try:
        return padding_mask(there.as_subclass(type("There", (Tensor,), reads)), n).device == there.device
    except Exception as error:
        if any(words in str(error) for words in ("expected device", "same device")):
            return False
    claims = {"device": torch.device("cuda"), "is_cuda": True, "cpu": lambda self: lengths.clone()}
    try:
        return padding_mask(lengths.clone().as_subclass(type("There", (Tensor,), claims)), n).device.type == "cuda"
    except Exception as error:  # a right answer moves its mask to the GPU, and there may be none
        return any(word in str(error).lower() for word in ("cuda", "nvidia"))


CAUSAL_MISTAKES = edits(causal_mask, """
    causal_inverted: True marks what is forbidden here. In this course, True means that a query may attend: invert the
        mask.
        = ~result
    causal_without_diagonal: In your mask a token cannot see itself. The diagonal must be True: token i may see
        the positions 0 to i, i included.
        = result.tril(-1)
    sees_the_future: The triangle points the wrong way: each token sees the future instead of the past.
        = result.T.contiguous()
    one_place_ahead: In your mask each token also sees the next token. The last True of row i must be in column i.
        = torch.ones_like(result).tril(1)
    causal_in_numbers: The triangle is right, but it contains numbers. A mask must be bool: use torch.bool or a
        comparison.
        = result.float()
    causal_additive: This is an additive mask, with 0 and −inf. In this course a mask is bool: True means that a query
        may attend.
        = torch.zeros(n, n).masked_fill(~result, -torch.inf)
""")  # fmt: skip

PADDING_MISTAKES = edits(padding_mask, """
    padding_inverted: True marks the padding here. In this course, True means that a query may attend: invert the mask.
        = ~result
    one_key_too_many: The mask allows one key too many: a sequence of length 3 has the positions 0, 1 and 2.
        + lengths = lengths + 1
    without_middle_axis: The middle axis is missing. Make the shape (B, 1, n), so that the mask broadcasts over the
        queries.
        = result.squeeze(-2)
    hides_queries: The mask hides queries instead of keys. n must be the last axis: (B, 1, n).
        = result.transpose(-1, -2)
    padding_written_out: The middle axis of your mask is as long as the number of queries. Give it length 1, (B,
        1, n): the mask then broadcasts over the queries.
        = result.expand(-1, n, -1).contiguous()
    padding_at_the_front: Your mask hides the first positions, as if the padding came first. The real tokens come
        first: positions 0…length − 1.
        = result.flip(-1)
    padding_in_numbers: The mask contains numbers, and they are right. But a mask must be bool: use a comparison such as
        <.
        = result.float()
    as_wide_as_the_longest: The mask is only as wide as the longest sequence. It must always be n wide, whatever the
        lengths are.
        + n = int(lengths.max())
    padding_on_the_cpu: Your code makes a tensor on the CPU, but lengths may be on a GPU. Make every tensor on the
        device of lengths: device=lengths.device.
        + return torch.arange(n, device="cpu") < lengths.reshape(-1, 1, 1)
""")  # fmt: skip

MASKS = written_exercise("1.5 Masks: causal and padding", (causal_mask, padding_mask), (
    CheckSpec("causal", 6, "causal_mask: each position sees itself and what came before", examples=[sizes(tokens=4)],
        trials=[sizes(tokens=7), sizes(tokens=1), sizes(tokens=13)],
        reference=causal_mask, draw=draw_length, map="mask"),
    CheckSpec("padding", 6, "padding_mask: real tokens are seen, padding is not",
        examples=[sizes(sequences=3, tokens=4)],
        trials=[sizes(sequences=5, tokens=7), sizes(sequences=1, tokens=3), sizes(sequences=3, tokens=11)],
        reference=padding_mask),
    CheckSpec("width", 2, "the mask is n wide, whatever the lengths", examples=[sizes(sequences=2, tokens=5)],
        trials=[sizes(sequences=5, tokens=11), sizes(sequences=3, tokens=7, dtype=torch.int32)],
        needs=("padding",), reference=padding_mask, draw=draw_short_lengths),
    CheckSpec("conduct", 1, "calls by keyword work, inputs and the device stay as they are",
        examples=[sizes(sequences=2, tokens=3)], trials=[sizes(sequences=3, tokens=5, dtype=torch.int32)],
        needs=("causal", "padding"), probe=call_masks_by_keyword),
),
    draw=draw_lengths, returns=("mask",),
    difficulty=2, minutes=10, review="Masks",
    mistakes=CAUSAL_MISTAKES + PADDING_MISTAKES,
)  # fmt: skip

# ---------------------------------------------------------------- 1.6 masked_attention

draw_masked = drawn(**ATTENTION_INPUTS, mask=a_mask("queries", "keys"))


def draw_masked_gradients(sampler: InputSampler, *, mask: str, **sizes: Any) -> Inputs:
    """Draw queries, keys, values, directions of gradients, and a mask.

    The mask is drawn last. Another order would give each submission other hidden inputs than
    before.

    Args:
        mask: a kind of `draw_mask`.
    """
    inputs = draw_attention(sampler, **sizes)
    outputs = dict(zip(("output", "weights"), attention(**inputs), strict=True))
    directions = draw_directions(sampler, outputs)
    made = draw_mask(sampler, mask, sizes.get("batch_shape", ()), sizes["queries"], sizes["keys"])
    return {"arguments": {**inputs, "mask": made}, "returns": list(outputs), "grad_outputs": directions}


MASKED = written_exercise("1.6 Masked attention", masked_attention, (
    CheckSpec("values", 3, "weight goes only where the mask says True",
        examples=[sizes(queries=3, keys=4, d_k=5, d_v=2, mask="shared")],
        trials=[sizes(queries=5, keys=7, d_k=3, d_v=2, mask="shared"),
            sizes(queries=11, keys=5, d_k=7, d_v=3, mask="shared")], map="weights"),
    CheckSpec("no mask", 1, "without a mask, every query looks everywhere",
        examples=[sizes(queries=2, keys=3, d_k=4, d_v=1)],
        trials=[sizes(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11),
            sizes(queries=5, keys=7, d_k=3, d_v=2, scale=100.0, dtype=torch.float64)], draw=draw_attention),
    CheckSpec("forms", 2, "masks of every form: for each query, for the keys, causal, padding",
        examples=[sizes(batch_shape=(2,), queries=3, keys=4, d_k=5, d_v=1, mask="padding")],
        trials=[sizes(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="each"),
            sizes(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="padding"),
            sizes(batch_shape=(2, 3), queries=5, keys=7, d_k=11, d_v=1, mask="shared"),
            sizes(batch_shape=(2, 3), queries=7, keys=5, d_k=11, d_v=13, mask="padding"),
            sizes(queries=5, keys=7, d_k=3, d_v=2, mask="keys"),
            sizes(batch_shape=(2,), queries=7, keys=7, d_k=3, d_v=5, mask="causal"),
            sizes(batch_shape=(1,), queries=1, keys=5, d_k=3, d_v=2, mask="each"),
            sizes(queries=5, keys=7, d_k=3, d_v=2, mask="shared", scale=0.0)]),
    CheckSpec("nowhere", 2, "a query that may look nowhere gets zeros",
        examples=[sizes(queries=3, keys=4, d_k=2, d_v=1, mask="blank")],
        trials=[sizes(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="blank"),
            sizes(batch_shape=(3,), queries=5, keys=7, d_k=2, d_v=11, mask="queries"),
            sizes(batch_shape=(2,), queries=5, keys=3, d_k=7, d_v=11, mask="empty"),
            # An empty mask has no True at all.
            sizes(batch_shape=(1,), queries=3, keys=5, d_k=7, d_v=2, mask="empty")]),
    CheckSpec("far", 1, "a hidden score far above the others takes nothing from them",
        examples=[sizes(batch_shape=(2,), queries=5, keys=6, d_k=3, d_v=2, mask="each", scale=100.0,
                dtype=torch.float64)],
        trials=[sizes(batch_shape=(5,), queries=11, keys=7, d_k=3, d_v=2, mask="each", scale=100.0,
                dtype=torch.float64)]),
    CheckSpec("conduct", 1,
        trials=[sizes(batch_shape=(2,), queries=5, keys=7, d_k=3, d_v=11, mask="each", dtype=torch.float64)],
        draw=draw_masked_gradients, probe=function_gradients, names={"function": "masked_attention"}),
),
    draw=draw_masked, returns=("output", "weights"),
    builds_on=("1.1", "1.2", "1.3", "1.4"), bans={"fused attention"},
    difficulty=2, minutes=8, review="Masked attention", stand_in=stand_ins.masked_attention,
    mistakes="""
    mask_inverted: Your code hides the keys where the mask is True. True must mean that a query may attend.
        ~mask  →  mask
    mask_after_softmax: The mask is applied after the softmax, so the weights no longer sum to 1. Set hidden scores to
        −∞ first, then take your stable_softmax.
        scores.masked_fill(~mask, -torch.inf)  →  scores
        stable_softmax(scores)  →  stable_softmax(scores) * (1 if mask is None else mask)
    shared_out_anew: Your softmax includes hidden keys. You share out their weight afterwards, but a hidden score
        far above the others leaves nothing to share: set hidden scores to −∞ before your stable_softmax.
        scores.masked_fill(~mask, -torch.inf)  →  scores
        stable_softmax(scores)
            →  (rest := stable_softmax(scores) * (1 if mask is None else mask)).div(rest.sum(-1,
               keepdim=True)).nan_to_num()
    shared_out_with_a_least_sum: Your softmax includes hidden keys. You share out their weight afterwards, but a
        hidden score far above the others leaves nothing to share: set hidden scores to −∞ before your
        stable_softmax.
        scores.masked_fill(~mask, -torch.inf)  →  scores
        stable_softmax(scores)
            →  (rest := stable_softmax(scores) * (1 if mask is None else mask)).div(rest.sum(-1,
               keepdim=True).clamp(min=1e-9))
    nothing_left_to_share: Your code applies the mask after the softmax and divides each row by its new sum, which
        may be 0. Set hidden scores to −∞ first, then take your stable_softmax.
        scores.masked_fill(~mask, -torch.inf)  →  scores
        stable_softmax(scores)
            →  (rest := stable_softmax(scores) * (1 if mask is None else mask)).div(rest.sum(-1, keepdim=True))
    zero_scores_hidden: Your code hides every score of 0, but an allowed key can also have the score 0. Use only
        the mask to decide which scores to hide.
        scores.masked_fill(~mask, -torch.inf)  →  (scores * mask).masked_fill(scores * mask == 0, -torch.inf)
    hidden_scores_are_zero: A hidden score becomes 0 here, and exp(0) = 1 still gets weight. It must become −inf.
        scores.masked_fill(~mask, -torch.inf)  →  scores * mask
    adds_the_mask: Your code adds the mask to the scores, but this mask is bool, not additive. Use masked_fill.
        scores.masked_fill(~mask, -torch.inf)  →  scores + mask
    draws_all_weight: Your code sets a hidden score to +∞, so it gets all the weight, or the softmax gives NaN.
        Set it to −∞.
        -torch.inf  →  torch.inf
    zero_times_infinity: The scores of allowed keys are NaN here, because 0 · (−∞) is NaN. Set hidden scores to −∞
        with masked_fill instead.
        scores.masked_fill(~mask, -torch.inf)  →  scores + (1 - mask.to(scores.dtype)) * -torch.inf
    mask_unused: The mask changes nothing here. Hidden scores must become −∞ before the softmax.
        + mask = None
    nan_for_blank_queries: In your code a query that may look nowhere gets NaN, from 0 divided by 0 or from the
        softmax of a row of −∞. Use your stable_softmax of 1.3, which gives zeros there.
        stable_softmax(scores)  →  scores.softmax(-1)
    zeros_only_where_all_is_hidden: Your code gives zeros only if the whole mask is False. Each query that may
        look nowhere needs zeros: your stable_softmax of 1.3 gives them row by row.
        stable_softmax(scores)
            →  torch.zeros_like(scores) if mask is not None and not mask.any() else scores.softmax(-1)
    nan_in_the_weights: For a query that may look nowhere, your code fixes the output, but its weights are still
        NaN. Use your stable_softmax of 1.3, which gives zeros there.
        stable_softmax(scores)  →  scores.softmax(-1)
        weights @ value, weights  →  (weights @ value).nan_to_num(), weights
    uniform_for_blank_queries: In your code a query that may look nowhere looks at all keys, because all its
        scores become the same large negative number. Its weights and its output must be zero.
        -torch.inf  →  -1e9
    same_for_blank_queries: In your code a query that may look nowhere still gets weights: all its scores are
        lowered by the same number, so the softmax does not change. Its weights and its output must be zero.
        scores.masked_fill(~mask, -torch.inf)  →  scores + (1 - mask.to(scores.dtype)) * -1e4
    hidden_scores_are_lowered: Your code lowers a hidden score only by a fixed number, so a large hidden score
        still gets weight. Set it to −∞.
        scores.masked_fill(~mask, -torch.inf)
            →  (scores + (1 - mask.to(scores.dtype)) * -10).masked_fill(~mask.any(-1, keepdim=True), -torch.inf)
    masked_unscaled: Your code does not divide the scores by √d_k. Divide them, as in 1.2.
        scaled_scores  →  attention_scores
    output_unmasked: You return masked weights, but your output is made from the weights before the mask. Make the
        output from the masked weights.
        weights @ value, weights  →  attention(query, key, value)[0], weights
    map_from_before_the_mask: The output is right, but the returned map is from before the mask. Return the
        weights that mixed the values.
        weights @ value, weights  →  weights @ value, attention(query, key, value)[1]
    needs_a_mask: Your function fails without a mask. mask=None means that every query may look everywhere.
        + ~mask
""")  # fmt: skip
