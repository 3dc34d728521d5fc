"""Exercise 2.6, MultiHeadAttention.

The wrong answers are in `multi_head_mistakes`, the check of dropout in `dropout`, that of the trained reader
in `trained_reader`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from attention.multi_head import MultiHeadAttention

from grader.course.lesson_2 import multi_head_mistakes
from grader.course.lesson_2.dropout import DROPOUT
from grader.course.lesson_2.layers import EVERYTHING_LEARNS, draw_head_projections, gradients_and_size
from grader.course.lesson_2.verified_trainings import TRAINED_READER
from grader.course.lesson_2.writings import MultiHeadByHand
from grader.declaration.exercise import Exercise, mistakes_in
from grader.declaration.probes import load, named, pair, raised, zero_others
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.records import Inputs


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
        context: the number of context tokens; None: no context, so the layer is self-attention.
        d_context: the width of the context tokens; None: that of the tokens.
        masked: "" (no mask), "causal", "padding", "keys" (one row for all queries), "any" (a random mask), "nowhere" (a
            random mask by which the second query may attend nowhere), or "none" (nobody may attend anywhere).
    """
    d_model, keys, width = heads * d_head, context or tokens, d_context or heads * d_head
    mask = None
    if masked == "causal":
        mask = torch.ones(tokens, keys, dtype=torch.bool).tril()
    if masked == "padding":
        lengths = sampler.integers(1, keys, *batch_shape, 1, 1)
        mask = torch.arange(keys) < lengths
    if masked in ("any", "nowhere"):
        mask = sampler.mask(*batch_shape, tokens, keys)
        mask[..., 1, :] &= masked == "any"
    if masked == "keys":
        mask = sampler.mask(1, keys)
    if masked == "none":
        mask = torch.zeros(*batch_shape, 1, keys, dtype=torch.bool)
    return {
        "sizes": {"d_model": d_model, "num_heads": heads, "d_context": d_context},
        "weights": draw_head_projections(sampler, "", d_model, width, dtype),
        "arguments": {
            "tokens": sampler.normal(*batch_shape, tokens, d_model, dtype=dtype),
            "context": sampler.normal(*batch_shape, context, width, dtype=dtype) if context else None,
            "mask": mask,
        },
    }


def attend_without_options(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping
) -> dict[str, Any]:
    """Make a layer without options, and call it with tokens alone."""
    layer = load(zero_others(layer_class(sizes["d_model"], sizes["num_heads"]), weights), weights)
    output, _ = pair(layer(arguments["tokens"]))
    return {"output": output}


def attend_with_options(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Make and call a layer; d_context, context and mask are given by keyword."""
    d_model, num_heads, d_context = sizes.values()
    tokens, context, mask = arguments.values()
    layer = load(zero_others(layer_class(d_model, num_heads, d_context=d_context), weights), weights)
    return named(layer(tokens, context=context, mask=mask), returns)


def multi_head_conduct(
    layer_class,
    sizes: Mapping,
    weights: Mapping,
    arguments: Mapping,
    returns: list[str | None],
    grad_outputs: Mapping,
) -> dict[str, Any]:
    """Report gradients, side effects and size, and the error for a width that two heads cannot share."""
    return {
        **gradients_and_size(layer_class, sizes, weights, arguments, returns, grad_outputs),
        "num_heads": getattr(layer_class(**sizes), "num_heads", None),
        "error for d_model = 7 and 2 heads": raised(lambda: layer_class(7, 2)(torch.zeros(2, 3, 7))),
    }


# √d_head, d_head and √d_model are three different numbers, so that a wrong scale can be told from another.
SMALL_LAYER = dict(batch_shape=(2,), tokens=5, heads=2, d_head=3)
NARROW_LAYER = dict(batch_shape=(2,), tokens=5, heads=3, d_head=2)
LARGE_LAYER = dict(batch_shape=(2,), tokens=7, heads=3, d_head=5)

MULTI_HEAD_CHECKS = StandardChecks(
    reference=MultiHeadAttention, returns=("output", "weights"), draw=draw_multi_head_layer
)

# Nine checks: most layers need three.
MULTI_HEAD_REQUIREMENTS = (
    MULTI_HEAD_CHECKS.values(
        "the tokens look at themselves",
        4,
        name="self",
        probe=attend_without_options,
        examples=[SMALL_LAYER],
        trials=[LARGE_LAYER, dict(batch_shape=(3,), tokens=11, heads=7, d_head=2)],
    ),
    MULTI_HEAD_CHECKS.values(
        "the tokens look at a context of another width",
        4,
        name="cross",
        needs=("self",),
        probe=attend_with_options,
        only="output",
        examples=[dict(SMALL_LAYER, context=4), dict(SMALL_LAYER, context=7, d_context=4)],
        trials=[
            dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, context=11, d_context=13),
            dict(batch_shape=(3,), tokens=7, heads=2, d_head=3, context=5, d_context=11),
            dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, context=5),
        ],
    ),
    MULTI_HEAD_CHECKS.values(
        "every head looks only where the mask allows",
        3,
        name="mask",
        needs=("self",),
        probe=attend_with_options,
        only="output",
        examples=[dict(SMALL_LAYER, masked="causal"), dict(SMALL_LAYER, masked="padding")],
        trials=[
            dict(LARGE_LAYER, masked="causal"),
            dict(batch_shape=(3,), tokens=5, heads=3, d_head=2, context=7, masked="padding"),
            dict(batch_shape=(5,), tokens=7, heads=3, d_head=2, context=11, d_context=13, masked="padding"),
            dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, masked="any"),
            dict(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, masked="keys"),
        ],
    ),
    MULTI_HEAD_CHECKS.batch(
        2,
        title="no batch, or several batch dimensions",
        needs=("self", "mask"),
        probe=attend_with_options,
        only="output",
        examples=[dict(tokens=3, heads=2, d_head=2)],
        trials=[
            dict(tokens=7, heads=3, d_head=5, masked="causal"),
            dict(tokens=5, heads=2, d_head=3, context=7, d_context=11),
            dict(batch_shape=(2, 3), tokens=5, heads=7, d_head=2, masked="any"),
            dict(batch_shape=(2, 5), tokens=7, heads=3, d_head=2, context=11, masked="padding"),
            dict(batch_shape=(1,), tokens=1, heads=3, d_head=5),
        ],
    ),
    MULTI_HEAD_CHECKS.values(
        "one map for each head",
        2,
        name="weights",
        needs=("self",),
        probe=attend_with_options,
        only="weights",
        map="weights",
        examples=[SMALL_LAYER, dict(SMALL_LAYER, context=4, masked="any")],
        trials=[
            LARGE_LAYER,
            dict(batch_shape=(3,), tokens=5, heads=2, d_head=7, context=11, d_context=13, masked="any"),
            dict(batch_shape=(1,), tokens=1, heads=1, d_head=5, context=3),
        ],
    ),
    MULTI_HEAD_CHECKS.values(
        "a query that may attend nowhere gets zeros",
        1,
        name="nowhere",
        needs=("self", "mask"),
        probe=attend_with_options,
        examples=[dict(SMALL_LAYER, masked="nowhere")],
        trials=[
            dict(LARGE_LAYER, masked="nowhere"),
            dict(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, masked="none"),
        ],
    ),
    DROPOUT,
    MULTI_HEAD_CHECKS.conduct(
        2,
        title=EVERYTHING_LEARNS,
        needs=("self", "cross"),
        probe=multi_head_conduct,
        trials=[dict(NARROW_LAYER, context=7, d_context=11, masked="any", dtype=torch.float64)],
    ),
    TRAINED_READER,
)

MULTI_HEAD = Exercise(
    id="2.6",
    title="Multi-head attention",
    reference=(MultiHeadAttention,),
    points=25,
    difficulty=3,
    minutes=20,
    bans=frozenset({"fused attention"}),
    may_call=("attention.builtin",),
    builds_on=("2.4", "2.5"),
    checks=MULTI_HEAD_REQUIREMENTS,
    mistakes=mistakes_in(vars(multi_head_mistakes), "MultiHeadAttention"),
    writings=(MultiHeadByHand,),
    review="Many heads",
)
