"""Exercise 2.7, AlignedCrossAttention: text tokens attend to image tokens that a TokenAligner has mapped."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.multi_head import AlignedCrossAttention

from grader.course.lesson_2.aligner import draw_aligner
from grader.course.lesson_2.layers import draw_head_projections, draw_layer_mask, gradients_and_size
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, sizes, written_exercise
from grader.declare.probes import load_alone, named


def draw_aligned_attention(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    text: int,
    image: int,
    heads: int,
    d_head: int,
    d_vision: int,
    method: str = "linear",
    masked: str = "",
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw a layer's weights and arguments.

    Args:
        masked: the kind of mask to draw, the argument `kind` of `draw_layer_mask`.
    """
    d_text = heads * d_head
    # `draw_aligner` also draws a token, which nothing uses. Without that draw the sampler would give all
    # later inputs other numbers, and each submission other hidden inputs than before.
    aligner = draw_aligner(sampler, tokens=1, d_vision=d_vision, d_text=d_text, method=method, dtype=dtype)
    weights = {f"aligner.{name}": value for name, value in aligner["weights"].items()}
    mask = draw_layer_mask(sampler, masked, batch_shape, text, image)
    return {
        "sizes": {"d_vision": d_vision, "d_text": d_text, "num_heads": heads, "align_method": method},
        "weights": weights | draw_head_projections(sampler, "cross_attn.", d_text, d_text, dtype),
        "arguments": {
            "text_tokens": sampler.normal(*batch_shape, text, d_text, dtype=dtype),
            # Two projections enlarge them. Longer ones give scores in the dozens, which float32 rounds too much.
            "image_tokens": sampler.normal(*batch_shape, image, d_vision, scale=0.5, dtype=dtype),
            "mask": mask,
        },
    }


def look_by_default(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Return the results of a layer that is made without a method and called without a mask."""
    layer = load_alone(layer_class(sizes["d_vision"], sizes["d_text"], sizes["num_heads"]), weights)
    return named(layer(arguments["text_tokens"], arguments["image_tokens"]), returns)


def look(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Return the results of a layer, with align_method and mask passed by keyword."""
    d_vision, d_text, num_heads, align_method = sizes.values()
    text_tokens, image_tokens, mask = arguments.values()
    layer = load_alone(layer_class(d_vision, d_text, num_heads, align_method=align_method), weights)
    return named(layer(text_tokens, image_tokens, mask=mask), returns)


ALIGNED = written_exercise("2.7 Align, then look", AlignedCrossAttention, (
    CheckSpec("values", 5, "the text looks at the aligned image",
        examples=[sizes(batch_shape=(2,), text=3, image=4, heads=2, d_head=2, d_vision=5)],
        trials=[sizes(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=11),
            sizes(batch_shape=(3,), text=7, image=5, heads=2, d_head=5, d_vision=13)],
        probe=look_by_default, map="weights"),
    CheckSpec("method", 2, "the aligner is of the kind that was asked for",
        examples=[sizes(text=3, image=4, heads=2, d_head=2, d_vision=5, method="mlp")],
        trials=[sizes(text=5, image=7, heads=3, d_head=2, d_vision=11, method="mlp"),
            sizes(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=6, method="identity"),
            # A linear aligner between equal widths: d_vision = 6.
            sizes(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=6)]),
    CheckSpec("mask", 2, "the mask is respected, with any batch dimensions",
        examples=[sizes(batch_shape=(2,), text=3, image=4, heads=2, d_head=2, d_vision=5, masked="padding")],
        trials=[sizes(batch_shape=(3,), text=5, image=7, heads=3, d_head=2, d_vision=11, masked="padding"),
            sizes(batch_shape=(2, 3), text=5, image=7, heads=2, d_head=3, d_vision=11, masked="any"),
            sizes(text=5, image=7, heads=2, d_head=3, d_vision=11, masked="keys"),
            sizes(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=11, masked="nowhere"),
            sizes(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=11, masked="none"),
            sizes(batch_shape=(1,), text=1, image=7, heads=1, d_head=5, d_vision=11)]),
    CheckSpec("conduct", 1, "everything learns, nothing else is there, float64 stays float64",
        trials=[sizes(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=11, masked="any",
                dtype=torch.float64)],
        probe=gradients_and_size),
),
    draw=draw_aligned_attention, returns=("output", "weights"), probe=look,
    builds_on=("2.1", "2.4", "2.5", "2.6"), bans={"fused attention"}, difficulty=2, minutes=8,
    review="Align, then look",
    mistakes="""
    cuts_the_image: The image tokens are cut to the width of the text. Put them through the aligner instead.
        self.aligner(image_tokens)  →  image_tokens[..., : text_tokens.shape[-1]]
    aligner_never_used: cross_attn is made for image tokens that are d_vision wide. Make it as
        MultiHeadAttention(d_text, num_heads), and give it the aligned tokens.
        (d_text, num_heads)  →  (d_text, num_heads, d_context=d_vision)
        self.aligner(image_tokens)  →  image_tokens
    aligned_at_other_widths_only: In your code the image skips the aligner if both widths are equal. Put the image
        through the aligner always.
        self.aligner(image_tokens)
            →  (self.aligner(image_tokens) if image_tokens.shape[-1] != text_tokens.shape[-1] else image_tokens)
    image_asks: Here the image asks and the text answers. Pass the text tokens first; the image is the context.
        + mask = None if mask is None else mask.transpose(-2, -1)
        text_tokens, self.aligner(image_tokens), mask  →  self.aligner(image_tokens), text_tokens, mask
    image_ignored: The text looks only at itself. Pass the aligned image tokens as the context.
        text_tokens, self.aligner(image_tokens), mask  →  text_tokens, None, None
    mask_forgotten: The mask changes nothing here: pass it on to the attention.
        self.aligner(image_tokens), mask  →  self.aligner(image_tokens)
    align_method_forgotten: Your code does not pass align_method on, so the aligner always uses its default. Pass
        it on to the aligner.
        d_text, align_method)  →  d_text)
    always_one_head: Your layer has only one head, because num_heads is not passed on. Pass it on to the
        attention.
        (d_text, num_heads)  →  (d_text, 1)
    residual_added: The text is added to the output here. Return only the attention's output: adding comes in lesson 3.
        = text_tokens + result[0], result[1]
    maps_averaged: The weights of the heads were averaged. Return one map for each head.
        = result[0], result[1].mean(-3)
    output_alone: You return only the output. Return two values: the output and the weights.
        = result[0]
""")  # fmt: skip
