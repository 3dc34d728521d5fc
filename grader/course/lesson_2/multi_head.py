"""Exercise 2.6, MultiHeadAttention.

The check of dropout is in `dropout`, and the checks of the trained reader are in
`verified_trainings`.
"""

from collections.abc import Mapping
from typing import Any

import torch
from attention.multi_head import MultiHeadAttention

from grader.course.lesson_2 import stand_ins
from grader.course.lesson_2.dropout import attend_with_dropout, draw_dropout, drops_weights, expected_moments
from grader.course.lesson_2.layers import draw_head_projections, draw_layer_mask, gradients_and_size
from grader.course.lesson_2.verified_trainings import READER_CHECKS
from grader.course.lesson_2.writings import MultiHeadByHand
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, edits, sizes, written_exercise
from grader.declare.probes import load_alone, named, pair, raised


def draw_multi_head_layer(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    heads: int,
    d_head: int,
    context: int | None = None,
    d_context: int | None = None,
    masked: str = "",
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw a layer's weights and its arguments.

    Args:
        context: the number of context tokens; None for self-attention, without a context.
        d_context: the width of the context tokens; None if it is that of the tokens.
        masked: the kind of mask to draw, the argument `kind` of `draw_layer_mask`.
    """
    d_model, keys, width = heads * d_head, context or tokens, d_context or heads * d_head
    mask = draw_layer_mask(sampler, masked, batch_shape, tokens, keys)
    return {
        "sizes": {"d_model": d_model, "num_heads": heads, "d_context": d_context},
        "weights": draw_head_projections(sampler, "", d_model, width, dtype),
        "arguments": {
            "tokens": sampler.normal(*batch_shape, tokens, d_model, dtype=dtype),
            "context": sampler.normal(*batch_shape, context, width, dtype=dtype) if context else None,
            "mask": mask,
        },
    }


def attend_without_options(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> dict[str, Any]:
    """Return the output of a layer that is made without options and called with tokens only."""
    layer = load_alone(layer_class(sizes["d_model"], sizes["num_heads"]), weights)
    output, _ = pair(layer(arguments["tokens"]))
    return {"output": output}


def attend_with_options(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Return the results of a layer, with d_context and mask passed by keyword.

    If there is a mask, the context is passed by keyword, too.
    """
    d_model, num_heads, d_context = sizes.values()
    tokens, context, mask = arguments.values()
    layer = load_alone(layer_class(d_model, num_heads, d_context=d_context), weights)
    seen = layer(tokens, context) if mask is None else layer(tokens, context=context, mask=mask)
    return named(seen, returns)


def multi_head_conduct(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Return gradients, side effects and parameters of a layer, and its error for 2 heads that cannot share a width."""
    return {
        **gradients_and_size(layer_class, sizes, weights, arguments, returns, grad_outputs),
        "num_heads": getattr(layer_class(**sizes), "num_heads", None),
        "error for d_model = 7 and 2 heads": raised(lambda: layer_class(7, 2)(torch.zeros(2, 3, 7))),
    }


MULTI_HEAD = written_exercise("2.6 Multi-head attention", MultiHeadAttention, (
    CheckSpec("self", 4, "the tokens look at themselves",
        examples=[sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3)],
        trials=[sizes(batch_shape=(2,), tokens=7, heads=3, d_head=5),
            sizes(batch_shape=(3,), tokens=11, heads=7, d_head=2)], probe=attend_without_options),
    CheckSpec("cross", 4, "the tokens look at a context of another width",
        examples=[sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3, context=4),
            sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3, context=7, d_context=4)],
        trials=[sizes(batch_shape=(2,), tokens=5, heads=3, d_head=7, context=11, d_context=13),
            sizes(batch_shape=(3,), tokens=7, heads=2, d_head=3, context=5, d_context=11),
            sizes(batch_shape=(2,), tokens=5, heads=3, d_head=7, context=5)], needs=("self",), only="output"),
    CheckSpec("mask", 3, "every head looks only where the mask allows",
        examples=[sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3, masked="causal"),
            sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3, masked="padding")],
        trials=[sizes(batch_shape=(2,), tokens=7, heads=3, d_head=5, masked="causal"),
            sizes(batch_shape=(3,), tokens=5, heads=3, d_head=2, context=7, masked="padding"),
            sizes(batch_shape=(5,), tokens=7, heads=3, d_head=2, context=11, d_context=13, masked="padding"),
            sizes(batch_shape=(2,), tokens=5, heads=3, d_head=7, masked="any"),
            sizes(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, masked="keys")],
        needs=("self",), only="output"),
    CheckSpec("batch", 2, "no batch, or several batch dimensions", examples=[sizes(tokens=3, heads=2, d_head=2)],
        trials=[sizes(tokens=7, heads=3, d_head=5, masked="causal"),
            sizes(tokens=5, heads=2, d_head=3, context=7, d_context=11),
            sizes(batch_shape=(2, 3), tokens=5, heads=7, d_head=2, masked="any"),
            sizes(batch_shape=(2, 5), tokens=7, heads=3, d_head=2, context=11, masked="padding"),
            sizes(batch_shape=(1,), tokens=1, heads=3, d_head=5)], needs=("self", "mask"), only="output"),
    CheckSpec("weights", 2, "one map for each head",
        examples=[sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3),
            sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3, context=4, masked="any")],
        trials=[sizes(batch_shape=(2,), tokens=7, heads=3, d_head=5),
            sizes(batch_shape=(3,), tokens=5, heads=2, d_head=7, context=11, d_context=13, masked="any"),
            sizes(batch_shape=(1,), tokens=1, heads=1, d_head=5, context=3)],
        needs=("self",), only="weights", map="weights"),
    CheckSpec("nowhere", 1, "a query that may attend nowhere gets zeros",
        examples=[sizes(batch_shape=(2,), tokens=5, heads=2, d_head=3, masked="nowhere")],
        trials=[sizes(batch_shape=(2,), tokens=7, heads=3, d_head=5, masked="nowhere"),
            sizes(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, masked="none")], needs=("self", "mask")),
    CheckSpec("dropout", 2, "dropout acts on the weights, in training only",
        trials=[sizes(tokens=3, heads=2, d_head=3, dropout=0.4)],
        needs=("self",), draw=draw_dropout, probe=attend_with_dropout, judge=drops_weights, expects=expected_moments),
    CheckSpec("conduct", 2, "everything learns, nothing else is there, float64 stays float64",
        trials=[sizes(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, d_context=11, masked="any",
                dtype=torch.float64)],
        needs=("self", "cross"), probe=multi_head_conduct),
),
    draw=draw_multi_head_layer, returns=("output", "weights"), probe=attend_with_options,
    builds_on=("2.4", "2.5"), bans={"fused attention"}, may_call=("attention.builtin",), difficulty=3, minutes=20,
    review="Many heads", stand_in=stand_ins.MultiHeadAttention, also=READER_CHECKS,
    mistakes=edits(MultiHeadByHand, """
    scaled_by_d_model: The scores are divided by the root of d_model. Each head works on d_head numbers: divide by
        √d_head.
        query.shape[-1]  →  self.W_Q.out_features
    unscaled: The scores are not scaled. Divide them by √d_head.
        / math.sqrt(query.shape[-1])  →
    no_output_projection: Your code joins the heads, but does not mix them. Apply W_O at the end.
        self.W_O(merge_heads(self.drop(weights) @ value))  →  merge_heads(self.drop(weights) @ value)
    keys_and_values_swapped: Keys and values are swapped. Make the keys with W_K, and the values with W_V.
        key = split_heads(self.W_K  →  key = split_heads(self.W_V
        value = split_heads(self.W_V  →  value = split_heads(self.W_K
    queries_and_keys_swapped: Queries and keys are swapped. Make the queries with W_Q from the tokens, and
        the keys with W_K from the context.
        self.W_Q(tokens)  →  self.W_K(tokens)
        self.W_K(context)  →  self.W_Q(context)
    context_asks: Your code makes the queries from the context. The tokens ask: W_Q must read the tokens, W_K and
        W_V the context.
        self.W_Q(tokens)  →  self.W_Q(context)
    tokens_added_inside: The tokens are added to the output. Return only the output of the attention: adding comes in
        lesson 3.
        = tokens + result[0], result[1]
    context_ignored: The context is not used. If there is a context, make keys and values from it.
        + context = None
    mask_before_context: Your layer takes its second argument as the mask. The order must be forward(tokens,
        context=None, mask=None).
        context: Tensor | None = None, mask: Tensor | None = None
            →  mask: Tensor | None = None, context: Tensor | None = None
    values_from_tokens: The values are made from the tokens that ask. Make them from the context, like the keys.
        self.W_V(context)  →  self.W_V(tokens)
    reshaped_into_heads: The heads mix the numbers of different tokens: a reshape alone is not a split. Use your
        split_heads.
        + split_heads = lambda tokens, heads: tokens.reshape(*tokens.shape[:-2], heads, tokens.shape[-2], -1)
    query_by_reshape: Your code cuts the queries into heads with a reshape, which mixes tokens. Use your
        split_heads for the queries, too.
        split_heads(self.W_Q(tokens), self.num_heads)
            →  self.W_Q(tokens).reshape(*tokens.shape[:-2], self.num_heads, tokens.shape[-2], -1)
    merged_without_transpose: Your code joins the numbers of the heads in the wrong order. Use your merge_heads.
        + merge_heads = lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)
    interleaved_heads: Each head gets every num_heads-th number here. Give it d_head numbers that are next to each
        other: use your split_heads.
        + split_heads = lambda tokens, heads: tokens.unflatten(-1, (-1, heads)).movedim(-1, -3)
        + merge_heads = lambda heads: heads.movedim(-3, -1).flatten(-2)
    one_big_head: There is one big head here: split queries, keys and values before you compare them.
        + split_heads = lambda tokens, heads: tokens.unsqueeze(-3)
    softmax_over_queries: Your softmax runs over the queries. Each query must spread its attention over the keys:
        use dim=-1.
        dim=-1  →  dim=-2
    softmax_over_heads: Your softmax runs over the heads. Each head must spread its own attention over the keys:
        use dim=-1.
        dim=-1  →  dim=-3
    averaged_weights: The weights of the heads were averaged. Return one map for each head.
        = result[0], result[1].mean(-3)
    mask_inverted: The mask is inverted. True must mean that a query may attend.
        ~mask  →  mask
    mask_ignored: Your layer ignores the mask. Pass the mask on to masked_attention, or set the scores to −∞ where
        the mask is False.
        + mask = None
    mask_after_softmax: Your code applies the mask after the softmax, so the weights no longer sum to 1. Set
        hidden scores to −∞ before the softmax.
        scores.masked_fill(~mask, -torch.inf)  →  scores
        .nan_to_num()  →  * (1 if mask is None else mask)
    mask_axis_from_the_front: Your code counts from the front to place the mask's head axis, which is wrong with
        more batch axes. Count from the end: mask.unsqueeze(-3).
        mask.unsqueeze(-3)  →  mask.unsqueeze(1)
    mask_without_head_axis: The batch axis of the mask lines up with the axis of the heads. Give the mask a head
        axis: mask.unsqueeze(-3).
        mask.unsqueeze(-3)  →  mask
    nan_rows: In your code a query that may attend nowhere gets NaN, from 0 divided by 0 or from the softmax of a
        row of −∞. Set its weights to 0.
        .nan_to_num()  →
    large_negative_scores: In your code a query that may attend nowhere still attends to all keys equally. Set its
        weights to 0.
        -torch.inf  →  -1e9
    dropped_weights_returned: The returned weights are those after dropout. Return the weights from before dropout.
        torch.softmax(scores, dim=-1).nan_to_num()  →  self.drop(torch.softmax(scores, dim=-1).nan_to_num())
        self.drop(weights) @  →  weights @
    no_dropout: Your layer drops nothing. In training mode it must drop some of the weights.
        self.drop(weights)  →  weights
    dropout_always: Your dropout also runs in evaluation mode. Use nn.Dropout, which is off in that mode, or pass
        self.training to F.dropout.
        self.drop(weights)  →  F.dropout(weights, self.drop.p)
    dropout_on_output: Dropout is applied to the output here. Apply it to the weights.
        self.W_O(merge_heads(self.drop(weights) @ value))  →  self.drop(self.W_O(merge_heads(weights @ value)))
    dropout_on_heads: Dropout is applied after the weights and values were multiplied. Apply it to the weights, before
        that.
        self.drop(weights) @ value  →  self.drop(weights @ value)
    dropout_on_scores: Dropout is applied to the scores here, before the softmax. Apply it to the weights.
        self.drop(weights)  →  weights
        query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            →  self.drop(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]))
    any_width: Your layer accepts a num_heads that does not divide d_model. Raise a ValueError with both sizes.
        + __init__: num_heads = num_heads if d_model % num_heads == 0 else 1
    asserts_the_width: Python ignores every assert if it is started with -O, and an assert does not explain what
        is wrong. Raise a ValueError instead.
        + __init__: assert d_model % num_heads == 0
""", defines="MultiHeadAttention"))  # fmt: skip
