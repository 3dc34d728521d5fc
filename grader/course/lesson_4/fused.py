"""Exercise 4.3: `fused_forward`, a layer's output through PyTorch's fused kernel."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.efficient import fused_forward
from attention.multi_head import MultiHeadAttention

from grader.course.common.tensor_sizes import watch_sizes
from grader.course.lesson_4.writings import fused_in_steps
from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    Value,
    and_more,
    drawn_layer,
    drawn_part,
    edits,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.probes import load, purity_and_gradients

draw_layer_and_tokens = drawn_layer(
    MultiHeadAttention,
    dict(d_model="d_model", num_heads="heads"),
    tokens=normal("* tokens d_model", scale=2.0),
    image_tokens=normal("* patches d_model", scale=2.0),
)


def draw_fused(
    sampler: InputSampler, *, cross: bool = True, mask: str = "none", dropout: float | None = None, **sizes
) -> Inputs:
    """Draw a layer's weights and tokens, image tokens if `cross` is True, and a mask.

    Args:
        mask: "none"; "random", a row for each token of the batch; "one for all", without batch
            dimensions; "padding", with an axis of length 1 instead of the tokens; "nowhere", random
            except that one token may attend nowhere.
        dropout: the dropout with which the layer is made; None to make it without this argument.
    """
    inputs = draw_layer_and_tokens(sampler, **sizes)
    if dropout is not None:
        inputs = {**inputs, "sizes": {**inputs["sizes"], "d_context": None, "dropout": dropout}}
    tokens, image_tokens = inputs["arguments"].values()
    columns = sizes["patches" if cross else "tokens"]
    *batch_shape, count = tokens.shape[:-1]
    shapes = {"one for all": (count, columns), "padding": (*batch_shape, 1, columns), "none": ()}
    allowed = sampler.mask(*shapes.get(mask, (*batch_shape, count, columns))) if mask != "none" else None
    if allowed is not None and mask == "nowhere":
        allowed[..., count // 2, :] = False
    arguments = {"tokens": tokens, "context": image_tokens if cross else None, "mask": allowed}
    return {**inputs, "arguments": arguments}


draw_fused_with_gradient = and_more(draw_fused, grad_outputs=drawn_part(output="* tokens d_model"))


def fused_values(fused_forward, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    """Return the output of `fused_forward` with a layer that has our weights."""
    layer = load(MultiHeadAttention(*sizes.values()), weights).eval()
    return {"output": fused_forward(layer, *arguments.values())}


def fused_weights(fused_forward, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    """Return the output of a call, and True if the call makes the weights.

    The weights are a tensor with a number for each pair of a token and a patch.
    """
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    tokens, context, mask = arguments.values()
    output, largest = watch_sizes(fused_forward, layer, tokens, context, mask)
    return {"makes a tensor of T × S numbers": largest >= tokens.shape[-2] * context.shape[-2], "output": output}


def fused_conduct(
    fused_forward, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping, grad_outputs: Mapping
) -> Mapping[str, Value]:
    """Return gradients and side effects, and whether the layer stays unchanged."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)

    def call(**given: Any) -> dict[str, Any]:
        return {"output": fused_forward(layer, **given)}

    report = purity_and_gradients(call, arguments, grad_outputs, dict(layer.named_parameters()))
    state = layer.state_dict()
    kept = state.keys() == weights.keys() and all(torch.equal(state[name], weights[name]) for name in weights)
    return {"the layer stays as it is": kept, **report}


FUSED = written_exercise("4.3 The fused kernel", fused_forward, (
    CheckSpec("values", 2, "the same output as MultiHeadAttention",
        examples=[sizes(tokens=2, patches=3, d_model=4, heads=2)],
        trials=[sizes(tokens=5, patches=7, d_model=6, heads=2),
            sizes(tokens=5, patches=7, d_model=6, heads=3, cross=False)]),
    CheckSpec("batch", 1, examples=[sizes(batch_shape=(2,), tokens=2, patches=3, d_model=4, heads=2)],
        trials=[sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2),
            sizes(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, cross=False)]),
    CheckSpec("dropout", 1, "in evaluation mode nothing is dropped",
        examples=[sizes(tokens=2, patches=3, d_model=4, heads=2, dropout=0.5)],
        trials=[sizes(tokens=5, patches=7, d_model=6, heads=2, dropout=0.5)]),
    CheckSpec("mask", 2, "and the same mask",
        examples=[sizes(tokens=2, patches=3, d_model=4, heads=2, mask="random")],
        trials=[sizes(tokens=5, patches=7, d_model=6, heads=2, mask="random"),
            sizes(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, cross=False, mask="random"),
            sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, mask="one for all"),
            sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, mask="padding")]),
    CheckSpec("nowhere", 1, "a token that may attend nowhere gets zeros",
        examples=[sizes(tokens=2, patches=3, d_model=4, heads=2, mask="nowhere")],
        trials=[sizes(tokens=5, patches=7, d_model=6, heads=2, mask="nowhere"),
            sizes(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, cross=False, mask="nowhere")]),
    CheckSpec("memory", 2, "without any weights: no T × S numbers",
        examples=[sizes(tokens=11, patches=13, d_model=4, heads=2)],
        trials=[sizes(batch_shape=(2,), tokens=89, patches=97, d_model=6, heads=3)], probe=fused_weights),
    CheckSpec("conduct", 1, examples=[sizes(tokens=2, patches=3, d_model=4, heads=2)],
        trials=[sizes(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=2, mask="random", dtype=torch.float64)],
        draw=draw_fused_with_gradient, probe=fused_conduct),
),
    draw=draw_fused, probe=fused_values,
    difficulty=2, minutes=8, review="What attention costs",
    mistakes=edits(fused_in_steps, """
    one_wide_head: Your code does not split into heads: one head of width d_model gives another result. Split into
        layer.num_heads heads.
        heads = layer.num_heads  →  heads = 1
    context_ignored: The context changes nothing here. If there is a context, make keys and values from it.
        + context = None
    values_of_the_tokens: Your values are made from the tokens even if there is a context. Make both keys and values
        from it.
        layer.W_V(context)  →  layer.W_V(tokens)
    fused_values_from_w_k: Your code makes the values with W_K. Make them with their own projection, W_V.
        layer.W_V(context)  →  layer.W_K(context)
    fused_without_mask: The mask changes nothing here. Pass it on: attn_mask=mask.
        + mask = None
    fused_mask_inverted: The mask is inverted. Here, too, True means that a token may attend: only nn.MultiheadAttention
        uses the opposite.
        attn_mask=mask  →  attn_mask=None if mask is None else ~mask
    fused_without_projection: Your code leaves out W_O. Apply it at the end.
        layer.W_O(output)  →  output
    joined_as_they_lie: Your code joins the heads with only a reshape, which mixes numbers of different tokens.
        Swap heads and tokens back first.
        output.transpose(-3, -2).flatten(-2)  →  output.reshape(tokens.shape)
    split_as_they_lie: Your code makes the heads with only a reshape, so a head gets numbers of different tokens.
        Cut the width into heads, then swap the axes.
        (query, key, value,  →  (*(x.transpose(-3, -2).reshape(x.shape) for x in (query, key, value)),
    only_reshaped: Your code only reshapes, which mixes tokens at the cut and at the join. Swap heads and tokens
        after the cut, and swap them back before the join.
        (query, key, value,  →  (*(x.transpose(-3, -2).reshape(x.shape) for x in (query, key, value)),
        output.transpose(-3, -2).flatten(-2)  →  output.reshape(tokens.shape)
    heads_not_swapped: The heads of a token look at each other: the kernel attends over the last axis but one. Put the
        heads before the tokens.
        (query, key, value,  →  (*(x.transpose(-3, -2) for x in (query, key, value)),
        output.transpose(-3, -2).flatten  →  output.flatten
    causal_for_any_mask: Every mask is treated as the causal mask. Pass on the mask itself: attn_mask=mask.
        attn_mask=mask  →  is_causal=mask is not None
    causal_unasked: In your code each token sees only the keys up to its own position, which the task does not ask
        for. Without a mask, it must see all keys.
        attn_mask=mask  →  attn_mask=mask, is_causal=mask is None
    weights_by_hand: Your code still computes the weights. Use F.scaled_dot_product_attention, which gives the
        output without them.
        output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            →  scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5; hidden =
               torch.zeros_like(scores).bool() if mask is None else ~mask; output = scores.masked_fill(hidden,
               -1e30).softmax(-1).masked_fill(hidden, 0.0) @ value
    fused_detached: No gradient reaches the layer: leave out detach() and no_grad().
        = result.detach()
    dropout_in_evaluation: Your code also drops numbers in evaluation mode, because F.scaled_dot_product_attention
        does not know the mode. Pass on layer.dropout only if layer.training is True.
        attn_mask=mask  →  attn_mask=mask, dropout_p=layer.dropout
    fused_uniform_rows: A token that may attend nowhere attends everywhere here. Its output should be zeros.
        + mask = None if mask is None else mask | ~mask.any(-1, keepdim=True)
""", defines="fused_forward"))  # fmt: skip
