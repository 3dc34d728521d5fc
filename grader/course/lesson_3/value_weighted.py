"""Exercise 3.8: `value_weighted_map`, and the model that the submission trained."""

from collections.abc import Mapping

import torch
from attention.grounding import value_weighted_map
from attention.multi_head import MultiHeadAttention

from grader.course.common.model_state import what_learns
from grader.course.lesson_3.verified_model import MODEL_CHECKS
from grader.course.lesson_3.writings import map_in_loop
from grader.declare.authoring import CheckSpec, drawn_layer, edits, normal, sizes, written_exercise
from grader.declare.probes import load, side_effects, strided

draw_multi_head = drawn_layer(
    MultiHeadAttention,
    dict(d_model="d_model", num_heads="heads"),
    tokens=normal("* tokens d_model", scale=2.0),
    image_tokens=normal("* patches d_model", scale=2.0),
)


def map_values(value_weighted_map, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    """Return the student's map for a layer with our weights."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    return {"map": value_weighted_map(layer, *arguments.values()).detach()}


def map_purity(value_weighted_map, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    """Return the map, and whether inputs, layer and gradient mode stay unchanged."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    layer.train()
    learns = what_learns(layer)
    given = {name: strided(tensor) for name, tensor in arguments.items()}
    computed = value_weighted_map(cross_attn=layer, **given)
    state = layer.state_dict()
    return {
        "map": computed.detach(),
        **side_effects(arguments, given),
        "the layer stays as it is": all(torch.equal(state[name], weights[name]) for name in weights),
        "the layer's mode stays as it is": layer.training,
        "what learns is as before": what_learns(layer) == learns,
        "gradients are on again afterwards": torch.is_grad_enabled(),
    }


GROUNDING = written_exercise("3.8 Where it really looks", value_weighted_map, (
    CheckSpec("values", 3, "how much each patch adds", examples=[sizes(tokens=2, patches=3, d_model=4, heads=2)],
        trials=[sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2),
            sizes(tokens=5, patches=11, d_model=9, heads=3),
            sizes(batch_shape=(2, 3), tokens=5, patches=7, d_model=6, heads=3)], probe=map_values, map="map"),
    CheckSpec("conduct", 1, "float64 stays float64; inputs, layer and mode stay as they are",
        trials=[sizes(batch_shape=(2,), tokens=3, patches=5, d_model=6, heads=2, dtype=torch.float64)],
        probe=map_purity),
),
    draw=draw_multi_head,
    also=MODEL_CHECKS,
    builds_on=("3.3", "3.4", "3.5", "3.6"), difficulty=3, minutes=12, review="Where it really looks",
    mistakes=edits(map_in_loop, """
    head_average: You return the average of the heads' weights, which ignores how long the values are. Use the
        vectors that the heads add, not only the weights.
        + return cross_attn(tokens, image_tokens)[1].mean(-3)
    image_asks: The image asks and the words answer here. The words ask: cross_attn(tokens, image_tokens).
        weights = cross_attn(tokens, image_tokens)[1]
            →  weights = cross_attn(image_tokens, tokens)[1].transpose(-2, -1)
    head_sum: You return the sum of the heads' weights. Use the values and W_O, too.
        + return cross_attn(tokens, image_tokens)[1].sum(-3)
    norm_before_the_sum: Your code takes the norm of each head's vector, and then adds up the norms. Heads may
        cancel each other: sum the vectors first.
        weights[..., head, :, :].unsqueeze(-1) * brought.unsqueeze(-3)
            →  (weights[..., head, :, :].unsqueeze(-1) * brought.unsqueeze(-3)).norm(dim=-1)
        total.norm(dim=-1)  →  total
    norm_before_the_mean: The norm is taken per head and then averaged. Sum the heads' vectors first.
        weights[..., head, :, :].unsqueeze(-1) * brought.unsqueeze(-3)
            →  (weights[..., head, :, :].unsqueeze(-1) * brought.unsqueeze(-3)).norm(dim=-1)
        total.norm(dim=-1)  →  total / cross_attn.num_heads
    without_output_projection: W_O is missing. The vector of a head is its value times its slice of W_O.
        + value = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))
        + brought = torch.einsum("...hts,...shk->...tshk", cross_attn(tokens, image_tokens)[1], value)
        + return brought.flatten(-2).norm(dim=-1)
    values_added_up: W_O is missing: the heads' values are added as they are. Multiply each by its slice of W_O.
        value[..., part] @ cross_attn.W_O.weight[:, part].transpose(-2, -1)  →  value[..., part]
    slices_of_rows: W_O is cut along the wrong axis: a head's slice is d_head of its columns, W_O.weight[:, …].
        cross_attn.W_O.weight[:, part].transpose(-2, -1)  →  cross_attn.W_O.weight[part]
    heads_by_reshape: A reshape cuts the values into heads without swapping axes, so a head gets numbers of other
        patches. Cut the features into heads, then swap the axes.
        value[..., part]  →  value.reshape(*value.shape[:-2], -1, value.shape[-2], width)[..., head, :, :]
    heads_interleaved: In your code each head gets every H-th feature. It must get d_head features that are next
        to each other: cut into (H, d_head).
        slice(head * width, (head + 1) * width)  →  slice(head, None, cross_attn.num_heads)
    values_interleaved: In your code a head gets every H-th feature of the values, but a block of columns of W_O.
        Cut both into (H, d_head).
        value[..., part]  →  value[..., head :: cross_attn.num_heads]
    first_head_only: Only the first head is used: sum the vectors of all heads.
        range(cross_attn.num_heads)  →  range(1)
    last_head_only: Only the last head is left: sum the vectors of all heads.
        total = total +  →  total =
    l1_norm: Your code adds up absolute values. Take the length of the vector, which is the L2 norm.
        total.norm(dim=-1)  →  total.abs().sum(-1)
    features_added_up: Your code adds up the numbers of each vector, which may cancel each other. Take the length
        of the vector, the L2 norm.
        total.norm(dim=-1)  →  total.sum(-1)
    squared_norm: You return the squared length. Take its square root.
        total.norm(dim=-1)  →  total.square().sum(-1)
    normalised_rows: The rows are normalised to sum to 1. Return the lengths as they are.
        = result / result.sum(-1, keepdim=True)
    mean_of_heads_first: The heads' weights are averaged before they are multiplied with the values. Multiply the
        values of each head with its own weights.
        + lengths = cross_attn.W_O(cross_attn.W_V(image_tokens)).norm(dim=-1)
        + return cross_attn(tokens, image_tokens)[1].mean(-3) * lengths.unsqueeze(-2)
    norm_of_the_output: Your code sums over the patches before the norm, so all patches get the same length. Take
        the length of the vector that each patch adds.
        + output, weights = cross_attn(tokens, image_tokens)
        + return output.norm(dim=-1, keepdim=True) * weights.mean(-3)
    length_of_the_output: In your code each patch gets the length of the whole output. Take the length of the
        vector that the patch itself adds.
        total.norm(dim=-1)  →  total.sum(-2, keepdim=True).norm(dim=-1).expand(total.shape[:-1])
    without_weights: Your code uses the values without the weights. A patch with weight 0 must add nothing:
        multiply the values with the weights.
        + lengths = cross_attn.W_O(cross_attn.W_V(image_tokens)).norm(dim=-1)
        + return lengths.unsqueeze(-2).expand(*tokens.shape[:-1], image_tokens.shape[-2])
""", defines="value_weighted_map"))  # fmt: skip
