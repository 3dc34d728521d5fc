"""Exercise 4.7: `grouped_attention`, in which several heads share keys and values."""

from collections.abc import Mapping

import torch
from attention.grouped import grouped_attention
from torch import Tensor

from grader.course.lesson_4 import stand_ins
from grader.course.lesson_4.writings import grouped_by_repeating
from grader.declare.authoring import CheckSpec, InputSampler, Value, edits, sizes, written_exercise
from grader.declare.drawn import Sizes, drawn, mask, normal, where_given
from grader.declare.probes import function_effects, raised


def draw_group_mask(sampler: InputSampler, sizes: Sizes) -> Tensor:
    """Draw a mask with at least one True in each row.

    The trial's size "mask" is its kind: "one for all" (T, S), "each" (..., T, S) or "padding" (...,
    1, S).
    """
    shapes = {"one for all": "queries keys", "padding": "* 1 keys"}
    return mask(shapes.get(sizes["mask"], "* queries keys"))(sampler, sizes)


# Queries of all heads, keys and values of all groups, and a mask where the trial gives one.
draw_grouped = drawn(
    query=normal("* heads queries d", scale=1.5),
    key=normal("* groups keys d", scale=1.5),
    value="* groups keys d_v",
    mask=where_given("mask", draw_group_mask),
)

# Heads that can be shared out to two groups, and not to `groups`.
draw_unequal = drawn(query="heads 3 2", unequal="groups 5 2", equal="2 5 2")


def grouped_unequal(grouped_attention, query: Tensor, unequal: Tensor, equal: Tensor) -> Mapping[str, Value]:
    """Return the errors for two numbers of groups.

    The heads can be shared out evenly to the groups of `equal`, but not to those of `unequal`.
    """
    return {
        "with heads that cannot be shared out it raises": raised(lambda: grouped_attention(query, unequal, unequal)),
        "with heads that can it raises": raised(lambda: grouped_attention(query, equal, equal)),
    }


GROUPED = written_exercise("4.7 Grouped queries", grouped_attention, (
    CheckSpec("values", 6, "each head looks at the keys and values of its group",
        examples=[sizes(heads=4, groups=2, queries=2, keys=3, d=2, d_v=3),
            sizes(batch_shape=(2,), heads=3, groups=1, queries=2, keys=3, d=2, d_v=3)],
        trials=[sizes(heads=6, groups=2, queries=5, keys=7, d=3, d_v=4),
            sizes(heads=6, groups=3, queries=3, keys=5, d=2, d_v=7),
            sizes(batch_shape=(2,), heads=5, groups=1, queries=3, keys=7, d=3, d_v=2),
            sizes(batch_shape=(2, 3), heads=4, groups=4, queries=5, keys=3, d=2, d_v=7)]),
    CheckSpec("mask", 2, "the mask holds for every head, with and without a batch",
        examples=[sizes(heads=4, groups=2, queries=2, keys=3, d=2, d_v=3, mask="one for all"),
            sizes(batch_shape=(3,), heads=4, groups=2, queries=3, keys=5, d=2, d_v=1, mask="each"),
            sizes(batch_shape=(2, 2), heads=4, groups=2, queries=2, keys=3, d=2, d_v=1, mask="padding")],
        trials=[sizes(heads=6, groups=3, queries=5, keys=7, d=2, d_v=3, mask="one for all"),
            sizes(batch_shape=(3,), heads=4, groups=2, queries=5, keys=7, d=2, d_v=3, mask="each"),
            sizes(batch_shape=(5, 2), heads=6, groups=2, queries=3, keys=7, d=2, d_v=5, mask="padding")]),
    CheckSpec("unequal", 2, "heads that cannot be shared out raise a ValueError",
        examples=[sizes(heads=4, groups=3)], trials=[sizes(heads=6, groups=5), sizes(heads=2, groups=3)],
        draw=draw_unequal, probe=grouped_unequal),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are",
        examples=[sizes(heads=6, groups=2, queries=2, keys=3, d=2, d_v=3)],
        trials=[sizes(batch_shape=(2,), heads=6, groups=3, queries=5, keys=7, d=2, d_v=3, mask="each",
                dtype=torch.float64)],
        probe=function_effects),
),
    draw=draw_grouped, returns=("output",), 
    bans={"fused attention"}, difficulty=2, minutes=10, review="Fewer keys than queries",
    stand_in=stand_ins.grouped_attention,
    mistakes=edits(grouped_by_repeating, """
    groups_in_turns: In your code head h looks at group h % G. Neighbouring heads must share a group: h // (H/G).
        key.repeat_interleave(heads // groups, dim=-3)  →  torch.cat([key] * (heads // groups), dim=-3)
        value.repeat_interleave(heads // groups, dim=-3)  →  torch.cat([value] * (heads // groups), dim=-3)
    head_over_groups: In your code head h looks at group h // G. Each group serves H/G heads, so head h must look
        at group h // (H/G).
        key.repeat_interleave(heads // groups, dim=-3)  →  key[..., torch.arange(heads) // groups, :, :]
        value.repeat_interleave(heads // groups, dim=-3)  →  value[..., torch.arange(heads) // groups, :, :]
    first_group_for_all: In your code all heads look at the first group. Each group must serve H/G heads.
        key.repeat_interleave(heads // groups, dim=-3)  →  key[..., :1, :, :].expand(*key.shape[:-3], heads, -1, -1)
        value.repeat_interleave(heads // groups, dim=-3)
            →  value[..., :1, :, :].expand(*value.shape[:-3], heads, -1, -1)
    groups_averaged: Your code averages the keys and values over the groups. Each head must look only at those of
        its own group.
        key.repeat_interleave(heads // groups, dim=-3)  →  key.mean(-3, keepdim=True)
        value.repeat_interleave(heads // groups, dim=-3)  →  value.mean(-3, keepdim=True)
    heads_averaged_in_groups: The heads of a group are averaged, so G heads are returned. Return all H heads.
        key = key.repeat_interleave(heads // groups, dim=-3)  →  query = query.unflatten(-3, (groups, -1)).mean(-3)
        value = value.repeat_interleave(heads // groups, dim=-3)  →
    queries_averaged: Your code averages the queries of a group, so all heads of the group get the same result.
        Share only keys and values.
        key = key.repeat_interleave(heads // groups, dim=-3)
            →  query = query.unflatten(-3, (groups, -1)).mean(-3, keepdim=True).expand(*query.shape[:-3], groups,
               heads // groups, -1, -1).flatten(-4, -3); key = key.repeat_interleave(heads // groups, dim=-3)
    values_of_one_group: The keys follow the groups, but the values are those of group 0 for every head. Share the
        values out as you share the keys.
        value.repeat_interleave(heads // groups, dim=-3)
            →  value[..., :1, :, :].expand(*value.shape[:-3], heads, -1, -1)
    values_in_turns: The keys follow the groups, but the values do not. Share the values out as you share the keys.
        value.repeat_interleave(heads // groups, dim=-3)  →  torch.cat([value] * (heads // groups), dim=-3)
    repeated_g_times: Your code repeats each key and value G times. Each group serves H/G heads: repeat them H/G
        times.
        key.repeat_interleave(heads // groups  →  key.repeat_interleave(groups
        value.repeat_interleave(heads // groups  →  value.repeat_interleave(groups
    grouped_without_scale: Your code does not divide the scores by √d. Divide them.
        / math.sqrt(query.shape[-1])  →
    scaled_by_all_heads: The scores are divided by the root of the width of all heads together. Divide by √d: d is
        the width of one key.
        query.shape[-1])  →  query.shape[-1] * heads)
    grouped_over_queries: Your softmax runs over the queries, axis −2. It must run over the keys, so that the
        weights of each query sum to 1.
        dim=-1)  →  dim=-2)
    grouped_without_mask: The mask hides nothing. Set the scores to −∞ where the mask is False.
        + mask = None
    grouped_mask_inverted: The mask is inverted. True must mean that a query may attend.
        ~mask  →  mask
    mask_without_head_axis: The batch axes of the mask line up with the heads. Give the mask an axis for the
        heads: unsqueeze(-3).
        mask.unsqueeze(-3) if mask.dim() > 2 else mask  →  mask
    grouped_masked_late: The mask is applied after the softmax, so the weights no longer sum to 1. Mask the scores, with
        −∞.
        scores.masked_fill(~mask, float("-inf"))  →  scores
        torch.softmax(scores, dim=-1)  →  torch.softmax(scores, dim=-1) * (1 if mask is None else mask)
    heads_reordered: You return the heads in a different order from the queries. The heads of one group must be
        next to each other.
        = result.unflatten(-3, (groups, -1)).transpose(-4, -3).flatten(-4, -3)
    unequal_groups_accepted: Your code accepts H heads that cannot be shared out evenly among G groups. Raise a
        ValueError if G does not divide H.
        heads % groups != 0  →  False
        key.repeat_interleave(heads // groups, dim=-3)  →  key[..., torch.arange(heads) * groups // heads, :, :]
        value.repeat_interleave(heads // groups, dim=-3)  →  value[..., torch.arange(heads) * groups // heads, :, :]
    grouped_query_scaled_in_place: The input query is changed. Scale a new tensor, not in place.
        = (result, query.data.div_(query.shape[-1] ** 0.5))[0]
""", defines="grouped_attention"))  # fmt: skip
