"""Two practice exercises: 2.P1 attention_entropy and 2.P3 ImageTextFusion."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.bidirectional_fusion import ImageTextFusion
from attention.patterns import attention_entropy
from torch import Tensor

from grader.course.common.model_state import list_parameters
from grader.course.lesson_2 import stand_ins
from grader.course.lesson_2.layers import draw_head_projections, draw_projection, gradients_and_size
from grader.declare.authoring import (
    CheckSpec,
    InputSampler,
    drawn,
    drawn_layer,
    given,
    normal,
    sizes,
    where_given,
    written_exercise,
)
from grader.declare.drawn import Sizes, mask
from grader.declare.probes import function_effects, load_alone, named

# ---------------------------------------------------------------- 2.P1 attention_entropy


def draw_sharp_map(sampler: InputSampler, sizes: Sizes) -> Tensor:
    """Draw a map in which some weights are exactly 0. The first query gives all its weight to the second key."""
    scores = normal("* queries keys", scale=3.0)(sampler, sizes)
    scores = scores.masked_fill(~mask("* queries keys")(sampler, sizes), -torch.inf)
    scores[..., 0, :] = -torch.inf
    scores[..., 0, 1] = 0.0
    return scores.softmax(-1)


ENTROPY = written_exercise("2.P1 How widely does a query look?", attention_entropy, (
    CheckSpec("values", 0, "0 for one key, 1 for all keys alike", examples=[sizes(queries=3, keys=5)],
        trials=[sizes(queries=5, keys=7), sizes(batch_shape=(2, 3), queries=7, keys=5, dtype=torch.float64),
            sizes(batch_shape=(1,), queries=1, keys=5)]),
    CheckSpec("conduct", 0, "the weights stay as they are, in any order in memory",
        examples=[sizes(queries=2, keys=3)], trials=[sizes(batch_shape=(2,), queries=5, keys=7)],
        probe=function_effects),
),
    draw=drawn(weights=draw_sharp_map), returns=("entropy",),
    difficulty=1, minutes=5, review="Reading a map", stand_in=stand_ins.attention_entropy,
    mistakes="""
    nan_at_zero: 0 · log 0 must count as 0, but torch returns NaN for it. Leave out the weights that are 0, or use
        torch.special.entr.
        torch.special.entr(weights)  →  -(weights * weights.log())
    not_normalised: The entropy is not normalised. Divide it by the entropy of a uniform row, log S, so that the largest
        value is 1.
        / log(weights.shape[-1])  →
    keys_without_weight_left_out: Your code divides by the log of the number of keys with a weight above 0. Divide
        by log S, where S is the number of all keys.
        / log(weights.shape[-1])  →  / (weights > 0).sum(-1).clamp(min=2).log()
    only_keys_with_weight: Your code divides by the log of the number of keys with a weight above 0. Divide by log
        S, where S is the number of all keys.
        / log(weights.shape[-1])  →  / (weights > 0).sum(-1).to(weights).log()
    minus_missing: The minus sign is missing: an entropy is never negative.
        = -result
    divided_by_the_keys: The entropy is divided by the number of keys, S. Divide by log S, so that a uniform row gives
        1.
        / log(weights.shape[-1])  →  / weights.shape[-1]
    keys_in_use: You return the exponential of the entropy, divided by the number of keys. Return the entropy
        itself, divided by log S.
        .sum(-1) / log(weights.shape[-1])  →  .sum(-1).exp() / weights.shape[-1]
    log_of_the_queries: Your code divides by the log of the number of queries. Divide by log S, where S is the
        number of keys.
        weights.shape[-1]  →  weights.shape[-2]
    log_of_the_first_axis: Your code divides by the log of the size of the first axis. Divide by log S, where S is
        the number of keys.
        weights.shape[-1]  →  len(weights)
    softmax_once_more: Your code takes a softmax of the weights, which are already probabilities. Leave the
        softmax out.
        + weights = weights.softmax(-1)
    large_number_in_the_log: 0.01 is added inside the logarithm, which changes the entropy. Leave out weights of 0.
        torch.special.entr(weights)  →  -(weights * (weights + 0.01).log())
    one_for_all: You return one number for the whole map. Return one number for each query.
        = result.mean()
    rows_lost: You return one sum for all queries, perhaps because a bool index joins all rows. Keep the rows
        apart, as torch.where does.
        = result.sum()
    over_the_queries: Your entropy is taken over the queries. Take it over the keys, the last axis.
        .sum(-1) / log(weights.shape[-1])  →  .sum(-2) / log(weights.shape[-2])
    clamps_in_place: The input weights are changed in place. Make a new tensor instead.
        torch.special.entr(weights)  →  -(weights.clamp_(min=1e-12) * weights.log())
""")  # fmt: skip

# ---------------------------------------------------------------- 2.P3 ImageTextFusion


def draw_fusion_weights(sampler: InputSampler, sizes: Sizes) -> dict[str, Tensor]:
    """Draw every parameter of an ImageTextFusion, by name."""
    d_model, dtype = model_width(sampler, sizes), sizes.get("dtype", torch.float32)
    weights: dict[str, Tensor] = {}
    for side in ("text", "image"):
        width = sizes[f"d_{side}"]
        # Below 1: three projections enlarge what comes out, and float32 would round scores in the dozens too much.
        weights[f"{side}_norm.weight"] = (sampler.uniform(width, dtype=dtype) + 0.5) / 2
        weights[f"{side}_norm.bias"] = sampler.normal(width, scale=0.5, dtype=dtype)
        weights |= draw_projection(sampler, f"{side}_in", width, d_model, dtype=dtype)
        weights |= draw_projection(sampler, f"{side}_out", d_model, width, dtype=dtype)
    for prefix in ("text_from_image.", "image_from_text."):
        weights |= draw_head_projections(sampler, prefix, d_model, d_model, dtype)
    return weights


def model_width(sampler: InputSampler, sizes: Sizes) -> int:
    """Return the width of all heads together. Without a number of heads, a layer has 4 heads."""
    return sizes.get("heads", 4) * sizes["d_head"]


draw_fusion = drawn_layer(
    draw_fusion_weights,
    dict(d_text="d_text", d_image="d_image", d_model=model_width, num_heads=where_given("heads", given("heads"))),
    text_tokens="* text d_text",
    image_tokens="* image d_image",
)


def fusion_values(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Return the results and the parameters of a layer. Pass num_heads by keyword if it is not the default."""
    d_text, d_image, d_model, *_ = sizes.values()
    options = {name: value for name, value in sizes.items() if name == "num_heads"}
    fusion = load_alone(layer_class(d_text, d_image, d_model, **options), weights)
    return {**named(fusion(*arguments.values()), returns), "parameters": list_parameters(fusion)}


FUSION = written_exercise("2.P3 Both directions at once", ImageTextFusion, (
    CheckSpec("values", 0, "the text looks at the image and the image at the text",
        examples=[sizes(batch_shape=(2,), text=3, image=4, d_text=3, d_image=5, heads=2, d_head=2)],
        trials=[sizes(batch_shape=(2,), text=5, image=7, d_text=11, d_image=13, heads=3, d_head=2),
            sizes(text=7, image=3, d_text=5, d_image=11, heads=2, d_head=3),
            sizes(text=3, image=5, d_text=7, d_image=11, d_head=2),
            sizes(batch_shape=(1,), text=1, image=3, d_text=6, d_image=6, heads=3, d_head=2)], probe=fusion_values),
    CheckSpec("conduct", 0, "everything learns, nothing else is there, float64 stays float64",
        examples=[sizes(text=3, image=2, d_text=3, d_image=5, heads=2, d_head=2, dtype=torch.float64)],
        trials=[sizes(batch_shape=(2,), text=5, image=7, d_text=11, d_image=13, heads=3, d_head=2,
                dtype=torch.float64)],
        probe=gradients_and_size),
),
    draw=draw_fusion, returns=("text update", "image update"),
    builds_on=("2.4", "2.5", "2.6"), difficulty=3, minutes=10, review="Both directions",
    mistakes="""
    image_sees_the_changed_text: The image looks at the updated text here. Both sides must look at the input.
        self.text_out(self.text_from_image(text, image)[0])
            →  self.text_out(text := self.text_from_image(text, image)[0])
    no_context: In your code neither side gets the other as its context, so each looks at itself. Give each side
        the other one as its context.
        self.text_from_image(text, image)  →  self.text_from_image(text)
        self.image_from_text(image, text)  →  self.image_from_text(image)
    only_text_sees: The image gets no context, so it looks at itself. Give it the text.
        self.image_from_text(image, text)  →  self.image_from_text(image)
    only_image_sees: The text gets no context, so it looks at itself. Give it the image.
        self.text_from_image(text, image)  →  self.text_from_image(text)
    context_without_norm: The context is not normalised. Both sides must go through their norm, also when they are the
        context.
        (text, image)[0]  →  (text, self.image_in(image_tokens))[0]
        (image, text)[0]  →  (image, self.text_in(text_tokens))[0]
    residual_inside: Your layer adds the residual itself. Leave it out: the caller already adds it.
        = text_tokens + result[0], image_tokens + result[1]
    residual_at_d_model: Each side is added to what it sees, at the width d_model. Return only the output of the
        attention.
        self.text_out(self.text_from_image(text, image)[0])
            →  self.text_out(text + self.text_from_image(text, image)[0])
        self.image_out(self.image_from_text(image, text)[0])
            →  self.image_out(image + self.image_from_text(image, text)[0])
    one_after_the_other: The image looks at the text after the text was changed. Both sides must look at the input.
        (image, text)[0]  →  (image, text + self.text_from_image(text, image)[0])[0]
    directions_swapped: The two layers are swapped. The text should ask in text_from_image, the image in
        image_from_text.
        self.text_from_image(text, image)  →  self.image_from_text(text, image)
        self.image_from_text(image, text)  →  self.text_from_image(image, text)
    one_layer_for_both: Both directions go through text_from_image. The image should ask in image_from_text.
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
