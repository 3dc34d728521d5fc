"""Two exercises for practice: 2.P1 attention_entropy and 2.P3 ImageTextFusion."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.fusion import ImageTextFusion
from attention.patterns import attention_entropy
from torch import Tensor

from grader.course.common.attention_words import AttentionExercise
from grader.course.lesson_2.layers import (
    EVERYTHING_LEARNS,
    draw_head_projections,
    draw_projection,
    gradients_and_size,
    list_parameters,
)
from grader.course.lesson_2.writings import FusionInSteps, entropy_by_hand
from grader.declare.authoring import InputSampler, StandardChecks, edits
from grader.declare.probes import effects_of, load, named, strided, zero_others
from grader.records import Inputs

# ---------------------------------------------------------------- 2.P1 attention_entropy


def draw_sharp_maps(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    queries: int,
    keys: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw maps with some weights of exactly 0; the first query gives all its weight to the second key."""
    scores = sampler.normal(*batch_shape, queries, keys, scale=3.0, dtype=dtype)
    scores = scores.masked_fill(~sampler.mask(*batch_shape, queries, keys), -torch.inf)
    scores[..., 0, :] = -torch.inf
    scores[..., 0, 1] = 0.0
    return {"weights": scores.softmax(-1)}


def entropy_conduct(function, arguments: Mapping[str, Tensor]) -> dict[str, Any]:
    """Call attention_entropy with non-contiguous weights, and report side effects."""
    strided_arguments = {name: strided(tensor) for name, tensor in arguments.items()}
    return {"entropy": function(**strided_arguments), **effects_of(function, arguments)}


ENTROPY_MISTAKES = edits(attention_entropy, """
    nan_at_zero: 0 · log 0 counts as 0 here, but computes to NaN. Leave out the weights that are 0, or use
        torch.special.entr.
        torch.special.entr(weights)  →  -(weights * weights.log())
    not_normalised: Divide by the entropy of a uniform row, log S, so that 1 is the most there can be.
        / log(weights.shape[-1])  →
    one_for_all: Return one number for each query, not one for the whole map.
        = result.mean()
    over_the_queries: The entropy is taken over the queries. Each query spreads its attention over the keys: the
        last axis.
        .sum(-1) / log(weights.shape[-1])  →  .sum(-2) / log(weights.shape[-2])
    clamps_in_place: The weights that came in were changed in place. Make a new tensor instead.
        torch.special.entr(weights)  →  -(weights.clamp_(min=1e-12) * weights.log())
""")  # fmt: skip

ENTROPY_CHECKS = StandardChecks(reference=attention_entropy, returns=("entropy",), draw=draw_sharp_maps)

ENTROPY_CONDUCT = ENTROPY_CHECKS.further_values(
    "conduct",
    "the weights stay as they are, in any order in memory",
    0,
    probe=entropy_conduct,
    examples=[dict(queries=2, keys=3)],
    trials=[dict(batch_shape=(2,), queries=5, keys=7)],
)

ENTROPY = AttentionExercise(
    id="2.P1",
    title="How widely does a query look?",
    reference=(attention_entropy,),
    points=0,
    difficulty=1,
    minutes=5,
    checks=(
        ENTROPY_CHECKS.values(
            "0 for one key, 1 for all keys alike",
            0,
            examples=[dict(queries=3, keys=5)],
            trials=[
                dict(queries=5, keys=7),
                dict(batch_shape=(2, 3), queries=7, keys=5, dtype=torch.float64),
                dict(batch_shape=(1,), queries=1, keys=5),
            ],
        ),
        ENTROPY_CONDUCT,
    ),
    mistakes=ENTROPY_MISTAKES,
    writings=(entropy_by_hand,),
    review="Reading a map",
)

# ---------------------------------------------------------------- 2.P3 ImageTextFusion


def draw_fusion(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    text: int,
    image: int,
    d_text: int,
    d_image: int,
    heads: int | None = None,
    d_head: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw a layer's weights and arguments; with heads=None the layer uses its default of 4 heads."""
    d_model = (heads or 4) * d_head
    sizes = {"d_text": d_text, "d_image": d_image, "d_model": d_model}
    weights: dict[str, Tensor] = {}
    for side, width in (("text", d_text), ("image", d_image)):
        weights[f"{side}_norm.weight"] = sampler.uniform(width, dtype=dtype) + 0.5
        weights[f"{side}_norm.bias"] = sampler.normal(width, dtype=dtype)
        weights |= draw_projection(sampler, f"{side}_in", width, d_model, dtype=dtype)
        weights |= draw_projection(sampler, f"{side}_out", d_model, width, dtype=dtype)
    for prefix in ("text_from_image.", "image_from_text."):
        weights |= draw_head_projections(sampler, prefix, d_model, d_model, dtype)
    return {
        "sizes": sizes if heads is None else {**sizes, "num_heads": heads},
        "weights": weights,
        "arguments": {
            "text_tokens": sampler.normal(*batch_shape, text, d_text, dtype=dtype),
            "image_tokens": sampler.normal(*batch_shape, image, d_image, dtype=dtype),
        },
    }


def fusion_values(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Make and call a layer, num_heads by keyword where it is not the default; list its parameters."""
    d_text, d_image, d_model, *_ = sizes.values()
    options = {name: value for name, value in sizes.items() if name == "num_heads"}
    fusion = layer_class(d_text, d_image, d_model, **options)
    load(zero_others(fusion, weights), weights)
    return {**named(fusion(*arguments.values()), returns), "parameters": list_parameters(fusion)}


FUSION_MISTAKES = edits(ImageTextFusion, """
    image_sees_the_changed_text: The image looks at the update of the text here. Let both sides look at what came
        in.
        self.text_out(self.text_from_image(text, image)[0])  →  self.text_out(text := self.text_from_image(text, image)[0])
    no_context: Neither side is handed the other as its context, so each looks at itself.
        self.text_from_image(text, image)  →  self.text_from_image(text)
        self.image_from_text(image, text)  →  self.image_from_text(image)
    only_text_sees: The image is handed no context, so it looks at itself. Hand it the text.
        self.image_from_text(image, text)  →  self.image_from_text(image)
    only_image_sees: The text is handed no context, so it looks at itself. Hand it the image.
        self.text_from_image(text, image)  →  self.text_from_image(text)
    context_without_norm: What is looked at is not normalised. Both sides go through their norm, whoever asks.
        (text, image)[0]  →  (text, self.image_in(image_tokens))[0]
        (image, text)[0]  →  (image, self.text_in(text_tokens))[0]
    residual_inside: The residual is added inside the layer. The caller adds it, once; twice makes the tokens grow
        layer by layer.
        = text_tokens + result[0], image_tokens + result[1]
    one_after_the_other: The image looks at a text that has just been changed. Both sides look at what came in.
        (image, text)[0]  →  (image, text + self.text_from_image(text, image)[0])[0]
    directions_swapped: The two layers have changed places. The text should ask in text_from_image, and the image in
        image_from_text.
        self.text_from_image(text, image)  →  self.image_from_text(text, image)
        self.image_from_text(image, text)  →  self.text_from_image(image, text)
    no_norm: The tokens are not normalised. Put them through text_norm and image_norm first.
        self.text_norm(text_tokens)  →  text_tokens
        self.image_norm(image_tokens)  →  image_tokens
    norms_behind_the_layers: The norms are d_model wide here. They should come before text_in and image_in, each
        as wide as its tokens.
        nn.LayerNorm(d_text), nn.LayerNorm(d_image)  →  nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.text_in(self.text_norm(text_tokens))  →  self.text_norm(self.text_in(text_tokens))
        self.image_in(self.image_norm(image_tokens))  →  self.image_norm(self.image_in(image_tokens))
    each_side_detached: No gradient flows from one side to the other, as after .detach(). Both sides should learn
        from each other.
        (text, image)[0]  →  (text, image.detach())[0]
        (image, text)[0]  →  (image, text.detach())[0]
""")  # fmt: skip

FUSION_CHECKS = StandardChecks(reference=ImageTextFusion, returns=("text update", "image update"), draw=draw_fusion)

FUSION_CONDUCT = FUSION_CHECKS.conduct(
    0,
    title=EVERYTHING_LEARNS,
    probe=gradients_and_size,
    examples=[dict(text=3, image=2, d_text=3, d_image=5, heads=2, d_head=2, dtype=torch.float64)],
    trials=[dict(batch_shape=(2,), text=5, image=7, d_text=11, d_image=13, heads=3, d_head=2, dtype=torch.float64)],
)

FUSION = AttentionExercise(
    id="2.P3",
    title="Both directions at once",
    reference=(ImageTextFusion,),
    points=0,
    difficulty=3,
    minutes=10,
    builds_on=("2.4", "2.5", "2.6"),
    checks=(
        FUSION_CHECKS.values(
            "the text looks at the image and the image at the text",
            0,
            probe=fusion_values,
            examples=[dict(batch_shape=(2,), text=3, image=4, d_text=3, d_image=5, heads=2, d_head=2)],
            trials=[
                dict(batch_shape=(2,), text=5, image=7, d_text=11, d_image=13, heads=3, d_head=2),
                dict(text=7, image=3, d_text=5, d_image=11, heads=2, d_head=3),
                dict(text=3, image=5, d_text=7, d_image=11, d_head=2),
                dict(batch_shape=(1,), text=1, image=3, d_text=6, d_image=6, heads=3, d_head=2),
            ],
        ),
        FUSION_CONDUCT,
    ),
    mistakes=FUSION_MISTAKES,
    writings=(FusionInSteps,),
    review="Both directions",
)
