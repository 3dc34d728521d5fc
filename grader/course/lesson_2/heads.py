"""Exercises 2.4 and 2.5: split_heads, and merge_heads, which undoes it."""

import torch
from attention.heads import merge_heads, split_heads

from grader.course.lesson_2 import stand_ins
from grader.declare.authoring import CheckSpec, drawn, given, sizes, written_exercise

# ---------------------------------------------------------------- 2.4 split_heads

draw_tokens = drawn(tokens="* tokens heads·d_head", num_heads=given("heads"))

SPLIT = written_exercise("2.4 Splitting into heads", split_heads, (
    CheckSpec("values", 7, "each head gets its own features of every token",
        examples=[sizes(batch_shape=(2,), tokens=4, heads=2, d_head=3)],
        trials=[sizes(batch_shape=(2,), tokens=7, heads=3, d_head=5),
            sizes(batch_shape=(3,), tokens=10, heads=5, d_head=2)]),
    CheckSpec("batch", 2, "no batch, or several batch dimensions", examples=[sizes(tokens=4, heads=2, d_head=3)],
        trials=[sizes(tokens=7, heads=5, d_head=3), sizes(batch_shape=(2, 3), tokens=5, heads=7, d_head=11),
            sizes(batch_shape=(1,), tokens=1, heads=3, d_head=5), sizes(tokens=5, heads=1, d_head=7)]),
    CheckSpec("conduct", 1, trials=[sizes(batch_shape=(2,), tokens=5, heads=3, d_head=7, dtype=torch.float64)]),
),
    draw=draw_tokens, returns=("heads",),
    difficulty=2, minutes=8, review="Splitting and joining", stand_in=stand_ins.split_heads,
    mistakes="""
    reshape_without_transpose: The shape is right, but the numbers of different tokens are mixed. First give the
        heads their own axis, then swap axes.
        tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)
            →  tokens.reshape(*tokens.shape[:-2], num_heads, tokens.shape[-2], -1)
    tokens_before_heads: The heads have their own axis, but it is after the axis of the tokens. Swap the two axes.
        .transpose(-3, -2)  →
    every_other_feature: Here head 0 gets every num_heads-th number. Each head must get d_head numbers that are next to
        each other.
        (num_heads, -1)).transpose(-3, -2)  →  (-1, num_heads)).movedim(-1, -3)
    heads_for_width: num_heads is used as the width of a head here. It is the number of heads.
        (num_heads, -1)  →  (-1, num_heads)
    features_before_tokens: The last two axes of your result are swapped. Each head must have the shape (n,
        d_head).
        .transpose(-3, -2)  →  .movedim(-3, -1)
    tokens_shared_out: Your code splits the tokens among the heads. Every head must see every token: split the
        features instead.
        + return torch.stack(tokens.tensor_split(num_heads, dim=-2)[:1] * num_heads, dim=-3)
    one_batch_axis: Your code works only with exactly one batch axis. Count the axes from the end, so that it also
        works with none or two.
        + batch, n, d_model = tokens.shape
""")  # fmt: skip

# ---------------------------------------------------------------- 2.5 merge_heads

draw_heads = drawn(heads="* heads tokens d_head")

MERGE = written_exercise("2.5 Joining the heads", merge_heads, (
    CheckSpec("values", 7, "the heads' numbers are side by side, token by token",
        examples=[sizes(batch_shape=(2,), heads=2, tokens=4, d_head=3)],
        trials=[sizes(batch_shape=(2,), heads=3, tokens=7, d_head=5),
            sizes(batch_shape=(3,), heads=5, tokens=11, d_head=2)]),
    CheckSpec("batch", 2, "no batch, or several batch dimensions", examples=[sizes(heads=2, tokens=4, d_head=3)],
        trials=[sizes(heads=5, tokens=7, d_head=3), sizes(batch_shape=(2, 1), heads=7, tokens=1, d_head=11)]),
    CheckSpec("conduct", 1, trials=[sizes(batch_shape=(2,), heads=3, tokens=5, d_head=7, dtype=torch.float64)]),
),
    draw=draw_heads, returns=("tokens",),
    difficulty=2, minutes=6, review="Splitting and joining", stand_in=stand_ins.merge_heads,
    mistakes="""
    flatten_without_transpose: The shape is right, but the numbers of different tokens are mixed. First swap heads
        and tokens, then flatten.
        heads.transpose(-3, -2).flatten(-2)  →  heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)
    interleaved: The numbers of the heads are mixed here. Put all numbers of head 0 first, then all of head 1.
        .transpose(-3, -2)  →  .movedim(-3, -1)
    last_head_first: The heads are in the opposite order, the last head first. Put head 0 first.
        heads.transpose(-3, -2)  →  heads.flip(-3).transpose(-3, -2)
    averaged: The heads are averaged here. Put them side by side.
        + return heads.mean(-3)
    mean_repeated: The heads are averaged here, and the mean is repeated. Put the numbers of all heads side by side.
        + return heads.mean(-3).repeat_interleave(heads.shape[-3], -1)
    added_up: The heads are added up here. Put them side by side.
        + return heads.sum(-3)
    heads_as_tokens: The heads are stacked below one another. Put them side by side, in the features of each token.
        + return heads.flatten(-3, -2)
    first_axis_joined: Your code joins the first axis, which is the batch axis if there is a batch. Count from the
        end: the heads are axis −3.
        + return torch.cat(list(heads), -1)
    view_after_transpose: After a transpose, the numbers are no longer in order in memory, so view fails. Use flatten or
        reshape.
        .flatten(-2)  →  .view(*heads.shape[:-3], heads.shape[-2], -1)
    joins_without_swapping: Your code joins two axes without swapping first. Before you join them, the axis of the
        heads must be after that of the tokens.
        .transpose(-3, -2)  →
    one_batch_axis_here: Your code works only with exactly one batch axis. Count the axes from the end, so that it
        also works with none or two.
        + batch, count, n, d_head = heads.shape
""")  # fmt: skip
