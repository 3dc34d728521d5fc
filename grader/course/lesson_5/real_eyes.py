"""Exercises 5.1 to 5.4: a vision transformer, from patches to the places that [CLS] looks at."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.vit import cls_map, patch_embedding, vit_attention, vit_block
from attention.vit_layer import ViTLayer
from torch import Tensor

from grader.course.lesson_5 import stand_ins
from grader.course.lesson_5.writings import attention_by_hand, embedding_by_hand
from grader.declare.authoring import (
    CheckSpec,
    Exercise,
    InputSampler,
    Value,
    drawn,
    edits,
    given,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.drawn import Sizes, chosen, weights_of
from grader.declare.probes import effects_of, function_effects, load, named, strided

# Images of rows × columns patches, and the weights of an embedding whose positions are side × side.
draw_photos = drawn(
    images="* 3 rows·patch columns·patch",
    weight=lambda sampler, sizes: normal("d 3 patch patch", scale=1 / sizes["patch"])(sampler, sizes),
    bias="d",
    cls="d",
    positions=lambda sampler, sizes: normal(f"{1 + sizes['side'] ** 2} d", scale=2.0)(sampler, sizes),
)

PATCH_EMBEDDING = written_exercise("5.1 Patches become tokens", patch_embedding, (
    CheckSpec("values", 7, "[CLS] first, then a token for each patch, all with their positions",
        examples=[sizes(rows=2, columns=2, side=2, patch=2, d=3),
            sizes(batch_shape=(2,), rows=2, columns=2, side=2, patch=3, d=2)],
        trials=[sizes(rows=3, columns=3, side=3, patch=2, d=5),
            sizes(batch_shape=(2,), rows=2, columns=2, side=2, patch=3, d=7)]),
    CheckSpec("grid", 4, "positions of another grid are interpolated",
        examples=[sizes(rows=2, columns=3, side=4, patch=2, d=3), sizes(rows=1, columns=4, side=2, patch=2, d=3)],
        trials=[sizes(rows=2, columns=5, side=3, patch=2, d=5),
            sizes(batch_shape=(2,), rows=5, columns=3, side=7, patch=3, d=2),
            sizes(rows=2, columns=8, side=4, patch=2, d=5)]),
    CheckSpec("conduct", 3, "float64 stays float64, inputs stay as they are",
        examples=[sizes(rows=2, columns=2, side=2, patch=2, d=3)],
        trials=[sizes(batch_shape=(2,), rows=3, columns=2, side=3, patch=2, d=5, dtype=torch.float64)],
        probe=function_effects),
),
    draw=draw_photos, returns=("tokens",),
    difficulty=2, minutes=15, review="Patches become tokens",
    mistakes=edits(embedding_by_hand, """
    without_embedding_bias: The bias is not added. Add it to each patch, but not to [CLS].
        + bias = torch.zeros_like(bias)
    bias_on_cls: The bias is also added to [CLS]. Add it only to the patches.
        cls + positions[0]  →  cls + bias + positions[0]
    cls_last: [CLS] is after the patches. Put it first.
        [first, patches + places]  →  [patches + places, first]
    cls_left_out: [CLS] is missing. You must return one token more than there are patches.
        [first, patches + places]  →  [patches + places]
    cls_without_position: [CLS] gets no position. Give it the first one.
        cls + positions[0]  →  cls + 0 * positions[0]
    without_patch_positions: The patches get no positions. Add them.
        patches + places  →  patches + 0 * places
    patches_by_columns: The patches are read column by column. Read them row by row.
        cut.permute(0, 2, 4, 1, 3, 5)  →  cut.permute(0, 4, 2, 1, 3, 5)
    patches_reshaped: In your result a token contains numbers of several patches, because you reshape instead of
        swapping axes. First move the axis of the width after those of the places.
        flat @ weight.reshape(d, -1).T + bias
            →  (flat @ weight.reshape(d, -1).T + bias).transpose(1, 2).reshape(len(batch), n, d)
    colours_last: The numbers of your patches are not in the order of the numbers of the weight. The order must be
        colour, row, column.
        cut.permute(0, 2, 4, 1, 3, 5)  →  cut.permute(0, 2, 4, 3, 5, 1)
    positions_cut_off: For another grid, your code uses the first positions unchanged. Interpolate the grid of
        positions to the new size.
        grid.reshape(d, n).T  →  positions[1 : n + 1]
    upper_left_places: For a smaller grid, your code uses the upper left places unchanged. The learned grid covers
        the whole picture: interpolate it.
        F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)  →  grid[..., :rows, :columns]
    same_number_of_places: Your code treats a grid with as many patches as the same grid. Compare rows and columns
        with the side: 2 × 8 patches are as many as 4 × 4, but at other places.
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
            →  grid = grid if n == side**2 else F.interpolate(grid, size=(rows, columns), mode="bicubic",
               align_corners=False)
    positions_linear: The grid of positions is interpolated by straight lines. Use mode="bicubic".
        "bicubic"  →  "bilinear"
    linear_between_the_corners: The grid of positions is interpolated by straight lines from corner to corner. Use
        mode="bicubic" and align_corners=False.
        mode="bicubic", align_corners=False  →  mode="bilinear", align_corners=True
    a_tenth_added: The grid is interpolated by a factor with 0.1 added, as in some programs. Use size=(rows, columns).
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
            →  grid = grid if (rows, columns) == (side, side) else F.interpolate(grid, scale_factor=((rows + 0.1) /
               side, (columns + 0.1) / side), mode="bicubic", align_corners=False)
    positions_nearest: Your code gives each patch one of the learned positions unchanged. Use F.interpolate with
        mode="bicubic".
        mode="bicubic", align_corners=False  →  mode="nearest"
    corners_aligned: The corners of both grids are placed on each other. Leave align_corners at False.
        align_corners=False  →  align_corners=True
    grid_turned: The grid is interpolated to columns × rows. Its size must be (rows, columns): how many patches fit into
        the height, then into the width.
        size=(rows, columns)  →  size=(columns, rows)
    positions_reshaped: The positions are reshaped while the axis of the places is still before the width, so numbers of
        several places are mixed. Take positions[1:].T first.
        positions[1:].T.reshape(1, d, side, side)  →  positions[1:].reshape(1, d, side, side)
    images_scaled_in_place: The input images are changed. Work on a new tensor.
        = (result, images.data.mul_(0.5))[0]
""", defines="patch_embedding"))  # fmt: skip

# ---------------------------------------------------------------- 5.2 and 5.3: functions of a layer and of tokens

VIT_SIZES = dict(d_model="d_model", num_heads="heads")
draw_layer = drawn(sizes=chosen(VIT_SIZES), weights=weights_of(ViTLayer, VIT_SIZES), tokens="* tokens d_model")


def with_layer(function, ViTLayer, sizes: Mapping, weights: Mapping, tokens: Tensor) -> Mapping[str, Value]:
    """Return the output and weights of the student's function, for tokens and a layer with our weights."""
    return named(function(load(ViTLayer(*sizes.values()), weights), tokens), ["output", "weights"])


def with_layer_effects(function, ViTLayer, sizes: Mapping, weights: Mapping, tokens: Tensor) -> Mapping[str, Value]:
    """Return the results of the student's function for tokens that are not contiguous, and side effects.

    The side effects are changes of the tokens and of the layer.
    """
    layer = load(ViTLayer(*sizes.values()), weights)

    def call(tokens: Tensor) -> dict[str, Any]:
        return named(function(layer=layer, tokens=tokens), ["output", "weights"])

    report = effects_of(call, {"tokens": tokens})
    returned = call(tokens=strided(tokens.clone()))
    kept = all(torch.equal(value, weights[name]) for name, value in layer.state_dict().items())
    return {**report, **returned, "the layer stays as it is": kept}


def layer_checks(name: str, title: str) -> tuple[CheckSpec, ...]:
    """Return the checks of an exercise whose function takes a layer and tokens.

    Args:
        name: the function's name.
        title: the title of the check of the values.
    """
    names = {"function": name}
    return (
        CheckSpec("values", 8, title,
            examples=[sizes(tokens=3, d_model=4, heads=2), sizes(batch_shape=(2,), tokens=3, d_model=6, heads=2)],
            trials=[
                sizes(tokens=5, d_model=6, heads=3), sizes(batch_shape=(3,), tokens=7, d_model=6, heads=2),
                sizes(batch_shape=(2, 3), tokens=2, d_model=15, heads=5),
            ],
            probe=with_layer, names=names, map="weights"),
        CheckSpec("conduct", 4, "float64 stays float64, tokens and layer stay as they are",
            examples=[sizes(tokens=3, d_model=4, heads=2)],
            trials=[sizes(batch_shape=(2,), tokens=5, d_model=6, heads=3, dtype=torch.float64)],
            probe=with_layer_effects, names=names),
    )  # fmt: skip


VIT_ATTENTION = written_exercise("5.2 Attention with a real layer", vit_attention,
    layer_checks("vit_attention", "every head attends, with weights and biases"),
    draw=draw_layer,
    difficulty=2, minutes=10, review="One layer", stand_in=stand_ins.vit_attention,
    mistakes=edits(attention_by_hand, """
    vit_without_biases: Your code leaves out the biases. Call the linear layers, W_Q and the others, as they are.
        layer.W_Q(tokens)  →  tokens @ layer.W_Q.weight.T
        layer.W_K(tokens)  →  tokens @ layer.W_K.weight.T
        layer.W_V(tokens)  →  tokens @ layer.W_V.weight.T
        layer.W_O(joined)  →  joined @ layer.W_O.weight.T
    three_without_biases: Queries, keys and values have no biases here. Call W_Q, W_K and W_V as they are.
        layer.W_Q(tokens)  →  tokens @ layer.W_Q.weight.T
        layer.W_K(tokens)  →  tokens @ layer.W_K.weight.T
        layer.W_V(tokens)  →  tokens @ layer.W_V.weight.T
    vit_projects_values: Your code applies W_O to the values, before the attention. Apply it only once, to the
        joined heads.
        layer.W_V(tokens)  →  layer.W_O(layer.W_V(tokens))
        layer.W_O(joined)  →  joined
    vit_without_root: Your code does not divide the scores by √d_head. Divide them.
        / width**0.5  →
    vit_scaled_by_d_model: Your code divides the scores by √d_model. Divide by √d_head, the root of the width of
        one head.
        / width**0.5  →  / tokens.shape[-1] ** 0.5
    vit_one_head: Your code has one head, as wide as the tokens. Split queries, keys and values into
        layer.num_heads heads.
        heads = layer.num_heads  →  heads = 1
    heads_take_turns: In your code each head gets every H-th number. A head must get d_head numbers that are next
        to each other.
        unflatten(-1, (heads, width)).transpose(-3, -2)  →  unflatten(-1, (width, heads)).movedim(-1, -3)
        seen.transpose(-3, -2).flatten(-2)  →  seen.movedim(-3, -1).flatten(-2)
    vit_split_as_they_lie: The heads are split without swapping axes, so a head gets numbers of several tokens. Cut
        d_model into H × d_head, and move the axis of the heads in front of that of the tokens.
        unflatten(-1, (heads, width)).transpose(-3, -2)  →  reshape(*tokens.shape[:-2], heads, -1, width)
        seen.transpose(-3, -2).flatten(-2)  →  seen.reshape(tokens.shape)
    vit_joined_as_they_lie: The heads are joined without swapping axes, so a token gets numbers of other tokens. First
        move the axis of the heads after that of the tokens.
        seen.transpose(-3, -2).flatten(-2)  →  seen.reshape(tokens.shape)
    vit_without_projection: Your code joins the heads, but leaves out W_O. Apply it at the end.
        layer.W_O(joined)  →  joined
    keys_ask: The rows of your weights belong to the keys. They must belong to the queries, and W_Q makes the
        queries.
        query @ key.transpose(-2, -1)  →  key @ query.transpose(-2, -1)
    softmax_over_queries: In your weights the columns sum to 1. The rows must sum to 1: each query shares its
        weight among the keys.
        softmax(-1)  →  softmax(-2)
    queries_as_keys: W_Q also makes the keys here. Make them with W_K.
        layer.W_K(tokens)  →  layer.W_Q(tokens)
    keys_as_values: The keys are mixed instead of the values. Make the values with W_V, and mix them.
        layer.W_V(tokens)  →  layer.W_K(tokens)
    normed_already: Your vit_attention applies the norm. Leave it out: the tokens are ready, because the block
        applies the norm.
        + tokens = layer.norm_1(tokens)
    scale_already: Your vit_attention multiplies by scale_1, which is the block's work. Return the output of
        attention as it is.
        = result[0] * layer.scale_1, result[1]
    vit_residual_already: Your vit_attention adds the tokens, which is the block's work. Return only the output of
        attention.
        = result[0] + tokens, result[1]
    vit_heads_averaged: The weights are averaged over the heads. Return the weights of every head.
        = result[0], result[1].mean(-3)
""", defines="vit_attention"))  # fmt: skip

VIT_BLOCK = written_exercise("5.3 A block with layer scale", vit_block,
    layer_checks("vit_block", "norm, attention, scale, add; norm, feed-forward, scale, add"),
    draw=draw_layer,
    builds_on=("5.2",), difficulty=2, minutes=10, review="One layer",
    mistakes=edits(vit_block, """
    vit_norm_last: The norms are applied after the additions. Apply each one first, before attention and before expand,
        and add to the tokens from before the norm.
        vit_attention(layer, layer.norm_1(tokens))  →  vit_attention(layer, tokens)
        tokens = tokens + layer.scale_1 * seen  →  tokens = layer.norm_1(tokens + layer.scale_1 * seen)
        layer.norm_2(tokens)  →  tokens
        return tokens + layer.scale_2 * worked, weights
            →  return layer.norm_2(tokens + layer.scale_2 * worked), weights
    residual_of_the_norm (slip): The first residual starts from the normalised tokens. Start it from the tokens before
        norm_1.
        tokens = tokens + layer.scale_1  →  tokens = layer.norm_1(tokens) + layer.scale_1
    second_residual_of_the_norm (slip): The second residual starts from the normalised tokens. Start it from the
        tokens before norm_2.
        return tokens + layer.scale_2  →  return layer.norm_2(tokens) + layer.scale_2
    residuals_of_both_norms: Both of your residuals start from the normalised tokens. Start each one from the
        tokens before its norm.
        tokens = tokens + layer.scale_1  →  tokens = layer.norm_1(tokens) + layer.scale_1
        return tokens + layer.scale_2  →  return layer.norm_2(tokens) + layer.scale_2
    attention_without_norm: Your attention reads the tokens without a norm. Give it norm_1(tokens).
        layer.norm_1(tokens)  →  tokens
    second_norm_missing: Your feed-forward step reads the tokens without a norm. Give it norm_2(tokens).
        layer.norm_2(tokens)  →  tokens
    one_norm_for_both: Your code uses norm_1 twice. Use norm_2 for the feed-forward step.
        layer.norm_2  →  layer.norm_1
    norms_swapped: Your code swaps the two norms. Use norm_1 for attention, and norm_2 for the feed-forward step.
        (layer, layer.norm_1(tokens))  →  (layer, layer.norm_2(tokens))
        expand(layer.norm_2(tokens))  →  expand(layer.norm_1(tokens))
    without_layer_scale: The outputs of attention and of the feed-forward step are added without a scale. Multiply
        the first by scale_1, the second by scale_2.
        layer.scale_1 * seen  →  seen
        layer.scale_2 * worked  →  worked
    tanh_of_the_scales: The scales go through a tanh. Multiply by them as they are.
        layer.scale_1 * seen  →  layer.scale_1.tanh() * seen
        layer.scale_2 * worked  →  layer.scale_2.tanh() * worked
    scales_swapped: Your code swaps the two scales. Use scale_1 for attention, and scale_2 for the feed-forward
        step.
        layer.scale_1 * seen  →  layer.scale_2 * seen
        layer.scale_2 * worked  →  layer.scale_1 * worked
    first_scale_twice: scale_1 is used twice. Multiply the output of the feed-forward step by scale_2.
        layer.scale_2  →  layer.scale_1
    second_scale_twice: scale_2 is used twice. Multiply the output of attention by scale_1.
        layer.scale_1  →  layer.scale_2
    scales_inside: The inputs are multiplied by the scales. Multiply the outputs: that of attention by scale_1, that of
        the feed-forward step by scale_2.
        vit_attention(layer, layer.norm_1(tokens))  →  vit_attention(layer, layer.scale_1 * layer.norm_1(tokens))
        layer.scale_1 * seen  →  seen
        layer.expand(layer.norm_2(tokens))  →  layer.expand(layer.scale_2 * layer.norm_2(tokens))
        layer.scale_2 * worked  →  worked
    scale_on_the_sum: The residual is also scaled. Scale only the output that is added to it.
        tokens + layer.scale_1 * seen  →  layer.scale_1 * (tokens + seen)
        tokens + layer.scale_2 * worked  →  layer.scale_2 * (tokens + worked)
    vit_without_residual (slip): Your code replaces the tokens by the output of attention. Add this output to the
        tokens.
        tokens = tokens + layer.scale_1 * seen  →  tokens = layer.scale_1 * seen
    second_residual_missing (slip): Your code replaces the tokens by the output of the feed-forward step. Add this
        output to the tokens.
        return tokens + layer.scale_2  →  return layer.scale_2
    side_by_side: Your feed-forward step reads the tokens from before attention. Give it the sum of these tokens
        and the scaled output of attention.
        + before = tokens
        layer.norm_2(tokens)  →  layer.norm_2(before)
    relu_in_the_middle (slip): There is a ReLU between expand and contract. DINOv2's layers have a GELU: F.gelu.
        F.gelu  →  F.relu
    gelu_from_a_sigmoid (slip): Between expand and contract is x · sigmoid(1.702 x), which only approximates GELU. Use
        F.gelu.
        F.gelu(layer.expand(layer.norm_2(tokens)))
            →  (made := layer.expand(layer.norm_2(tokens))) * torch.sigmoid(1.702 * made)
    nothing_in_the_middle: The step between expand and contract is missing: F.gelu.
        F.gelu(layer.expand(layer.norm_2(tokens)))  →  layer.expand(layer.norm_2(tokens))
"""))  # fmt: skip

# ---------------------------------------------------------------- 5.4


def draw_layer_map(sampler: InputSampler, sizes: Sizes) -> Tensor:
    """Draw the attention weights of one layer (..., heads, tokens, tokens). The tokens are [CLS] and the patches."""
    tokens = 1 + sizes["rows"] * sizes["columns"]
    return normal(f"* heads {tokens} {tokens}", scale=2.0)(sampler, sizes).softmax(-1)


draw_map_and_grid = drawn(weights=draw_layer_map, rows=given("rows"), columns=given("columns"))


CLS_MAP = written_exercise("5.4 What [CLS] looks at", cls_map, (
    CheckSpec("values", 4, "the row of [CLS], its patches, on their grid",
        examples=[sizes(heads=2, rows=3, columns=4)],
        trials=[sizes(heads=2, rows=3, columns=5), sizes(heads=3, rows=7, columns=2)], map="map"),
    CheckSpec("batch", 2, examples=[sizes(batch_shape=(2,), heads=3, rows=2, columns=4)],
        trials=[sizes(batch_shape=(5,), heads=3, rows=2, columns=7),
            sizes(batch_shape=(2, 3), heads=2, rows=5, columns=3)]),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are",
        examples=[sizes(heads=2, rows=3, columns=4)],
        trials=[sizes(batch_shape=(2,), heads=3, rows=5, columns=2, dtype=torch.float64)], probe=function_effects),
),
    draw=draw_map_and_grid, returns=("map",),
    difficulty=1, minutes=5, review="What [CLS] looks at",
    mistakes="""
    looked_at_cls: You take the column of [CLS], which contains how much each token looks at [CLS]. Take the row
        of [CLS], which contains where [CLS] looks.
        weights[..., 0, 1:]  →  weights[..., 1:, 0]
    last_patch_asks: You take the row of the last token. Take the row of [CLS], the first token.
        weights[..., 0, 1:]  →  weights[..., -1, 1:]
    cls_taken_for_last: You take the row of the last token, without its weight on itself. Take the row of [CLS],
        the first token.
        weights[..., 0, 1:]  →  weights[..., -1, :-1]
    itself_kept: The weight of [CLS] on itself is returned as a patch, and the last patch is missing. Leave out
        the first number of the row.
        weights[..., 0, 1:]  →  weights[..., 0, :-1]
    every_query_averaged: All queries are averaged. Take only the row of [CLS].
        weights[..., 0, 1:]  →  weights[..., 1:].mean(-2)
    sizes_exchanged: Your code exchanges the numbers of rows and columns, which shows only if they differ. Give
        the number of rows first.
        unflatten(-1, (rows, columns))  →  unflatten(-1, (columns, rows))
    first_head_alone: Your code takes only the first entry of a leading axis: one head, or one image. Count the
        axes from the end: weights[..., 0, 1:].
        weights[..., 0, 1:]  →  weights[0, ..., 1:]
    map_turned: The row of [CLS] is cut column by column. Patches are numbered row by row: unflatten(-1, (rows,
        columns)).
        unflatten(-1, (rows, columns))  →  unflatten(-1, (columns, rows)).transpose(-2, -1)
    cls_heads_averaged: The heads are averaged. Return a map for every head.
        = result.mean(-3)
    made_to_sum_to_one: The maps are divided by their sums. Leave the weights as they are.
        = result / result.sum((-2, -1), keepdim=True)
    brightest_is_one: The maps are divided by their largest weight. Leave the weights as they are.
        = result / result.amax((-2, -1), keepdim=True)
""")  # fmt: skip

REAL_EYES: tuple[Exercise, ...] = (PATCH_EMBEDDING, VIT_ATTENTION, VIT_BLOCK, CLS_MAP)
