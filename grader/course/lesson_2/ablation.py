"""Exercise 2.8, ablate_head: computes the output of a layer without one of its heads."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.ablation import ablate_head
from attention.multi_head import MultiHeadAttention
from torch import Tensor

from grader.course.lesson_2.multi_head import draw_multi_head_layer
from grader.declare.probes import effects_of, load_alone, pair, strided
from grader.declare.trial import sizes
from grader.declare.written_exercise import CheckSpec, written_exercise


def ablated(layer_class, ablate_head, sizes: Mapping, weights: Mapping, arguments: Mapping) -> dict[str, Any]:
    """Return the outputs of a new layer in which one head is removed, for each head."""
    d_model, num_heads, d_context = sizes.values()
    outputs = {}
    with torch.no_grad():
        for head in range(num_heads):
            layer = load_alone(layer_class(d_model, num_heads, d_context=d_context), weights).eval()
            outputs[f"without head {head}"] = ablate_head(attention_layer=layer, head=head, **arguments)
    return outputs


def ablated_conduct(layer_class, ablate_head, sizes: Mapping, weights: Mapping, arguments: Mapping) -> dict[str, Any]:
    """Remove head 1, and return the output, the side effects, and the layer's own output afterwards.

    Side effects are changes of the arguments and of the layer.
    """
    layer = load_alone(layer_class(**sizes), weights).eval()

    def call(**given: Any) -> Tensor:
        return ablate_head(layer, 1, **given)

    tensors = {name: strided(value) for name, value in arguments.items() if value is not None}
    with torch.no_grad():
        output = call(**tensors)
        effects = effects_of(call, arguments)
        after, _ = pair(layer(*arguments.values()))
    same = all(torch.equal(layer.get_parameter(name), value) for name, value in weights.items())
    # The check "context" compares the output with a context, so that a forgotten mask costs
    # only the points of that check.
    values = {"without head 1": output} if arguments["context"] is None else {}
    return {
        **values,
        **effects,
        "layer's weights unchanged": same,
        "layer still in evaluation mode": not any(part.training for part in layer.modules()),
        "layer can still learn": all(parameter.requires_grad for parameter in layer.parameters()),
        "no hook left on the layer": not any(
            part._forward_hooks or part._forward_pre_hooks for part in layer.modules()
        ),
        "layer's output afterwards": after,
    }


ABLATION = written_exercise("2.8 Taking a head away", ablate_head, (
    CheckSpec("values", 5, "the output without what one head contributes",
        examples=[sizes(tokens=3, heads=2, d_head=2)],
        trials=[sizes(batch_shape=(2,), tokens=7, heads=3, d_head=5), sizes(tokens=5, heads=5, d_head=2)],
        reference=MultiHeadAttention),
    CheckSpec("context", 3, "with a context and a mask",
        examples=[sizes(batch_shape=(2,), tokens=3, heads=2, d_head=2, context=4, d_context=3),
            sizes(batch_shape=(2,), tokens=3, heads=2, d_head=2, masked="causal")],
        trials=[sizes(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, d_context=11, masked="any"),
            sizes(batch_shape=(2, 3), tokens=5, heads=2, d_head=3, context=7, d_context=11),
            sizes(tokens=7, heads=3, d_head=2, masked="causal"),
            sizes(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, masked="nowhere"),
            sizes(batch_shape=(1,), tokens=1, heads=2, d_head=5, context=3)], reference=MultiHeadAttention),
    CheckSpec("conduct", 2, "the layer stays as it is", examples=[sizes(tokens=3, heads=2, d_head=2)],
        trials=[sizes(batch_shape=(2,), tokens=5, heads=3, d_head=7, dtype=torch.float64),
            sizes(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, d_context=11, masked="any")],
        reference=MultiHeadAttention, probe=ablated_conduct),
),
    draw=draw_multi_head_layer, returns=("output", "weights"),
    # Each probe makes the student's own MultiHeadAttention, and calls `ablate_head` on it.
    probe=ablated,
    builds_on=("2.4", "2.5", "2.6"), difficulty=2, minutes=8, review="Taking a head away",
    mistakes="""
    nothing_removed: You return the output of all heads. Remove what this head contributes.
        + return attention_layer(tokens, context, mask)[0]
    keeps_only_it: You return only what this head adds to the output. The task asks for the output without that
        part.
        = attention_layer(tokens, context, mask)[0] - result
    heads_not_mixed: Your code joins the heads, but leaves out W_O. Apply it at the end.
        return attention_layer.W_O(merge_heads  →  return (merge_heads
    after_the_mixing: Your code removes a part of the output, but W_O has already mixed the heads there. Remove
        the head before W_O, or its columns of W_O: rows belong to outputs.
        + output = attention_layer(tokens, context, mask)[0].clone()
        + output.unflatten(-1, (attention_layer.num_heads, -1))[..., head, :] = 0
        + return output
    mean_for_zero: Your code replaces the head's output by its mean over the tokens. Replace it by zeros instead.
        heads * kept.to(heads.dtype)[:, None, None]
            →  torch.where(kept[:, None, None], heads, heads.mean(-2, keepdim=True))
    query_removed: Your code removes the head's query, but then the head attends to all keys equally and still
        adds something. Remove its values, or its columns of W_O.
        kept = torch
            →  even = (weights > 0).to(weights); even = even / even.sum(-1, keepdim=True).clamp_min(1); kept = torch
        heads * kept.to(heads.dtype)[:, None, None]
            →  torch.where(kept[:, None, None], heads, even @ split_heads(value, len(kept)))
    others_made_larger: The other heads are made larger to make up for the missing one. Leave them as they are.
        = result * len(kept) / max(len(kept) - 1, 1)
    counts_from_one: The wrong head is removed: heads are counted from 0.
        + head = (head - 1) % attention_layer.num_heads
    none_before_the_first: The wrong head is removed, or none: heads are counted from 0.
        + head = head - 1
    every_other_column: Your code removes every num_heads-th column. The columns of a head are next to each other:
        those of head h begin at h · d_head.
        return attention_layer.W_O(merge_heads(heads * kept.to(heads.dtype)[:, None, None]))
            →  merged = merge_heads(heads).clone(); merged[..., head :: len(kept)] = 0; return
               attention_layer.W_O(merged)
    others_move_up: The heads after the removed one move up by one place, so they are multiplied by the wrong columns
        of W_O. Put zeros in the place of the head.
        attention_layer.W_O(merge_heads(heads * kept.to(heads.dtype)[:, None, None]))
            →  merge_heads(heads[..., kept, :, :]) @ attention_layer.W_O.weight[:, : heads.shape[-1] * (len(kept) -
               1)].T
    rows_for_columns: Your code takes rows of W_O.weight. nn.Linear stores its weight as (outputs, inputs), so a
        head has columns: W_O.weight[:, …].
        = attention_layer(tokens, context, mask)[0] - heads[..., head, :, :] @ attention_layer.W_O.weight[head *
          heads.shape[-1] : (head + 1) * heads.shape[-1]]
    context_forgotten: The context changes nothing here. Pass it on to the layer: keys and values are made from it.
        + context = None
    head_without_the_mask: Your code computes what the head adds without the mask, but subtracts it from an output
        with the mask. Use the mask for both.
        _, weights = attention_layer(tokens, context, mask)  →  _, weights = attention_layer(tokens, context)
        = attention_layer(tokens, context, mask)[0] - attention_layer(tokens, context)[0] + result
    mask_forgotten: The mask changes nothing here: pass it on to the layer.
        + mask = None
    layer_left_changed: Your function removes the head from the layer for good. Work on a copy, or save the
        weights with .clone() and restore them afterwards.
        = (result, attention_layer.W_O.weight.data[:, head * heads.shape[-1] : (head + 1) * heads.shape[-1]].zero_())[0]
    mode_left_changed: The layer is in training mode afterwards. Leave its mode as it was.
        = (result, attention_layer.train())[0]
""")  # fmt: skip
