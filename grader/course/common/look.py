"""Inputs and probes for a function that looks at the patches of an image, which students repair (3.P2 and 6.5).

A probe is a function that calls the student's code and returns the values to compare.
"""

from collections.abc import Mapping

from attention.multi_head import MultiHeadAttention
from torch import Tensor

from grader.declare.authoring import InputSampler, Sizes, Value, and_more, drawn_layer, normal
from grader.declare.probes import load, pair, purity_and_gradients


def draw_patches(sampler: InputSampler, sizes: Sizes) -> Tensor:
    """Draw patches (..., patches, d_model). In each scene, the first `empty` patches are all zeros."""
    patches = normal("* patches d_model", scale=2.0)(sampler, sizes)
    patches[..., : sizes.get("empty", 0), :] = 0
    return patches


draw_look = drawn_layer(
    MultiHeadAttention,
    dict(d_model="d_model", num_heads="heads"),
    words=normal("* words d_model", scale=2.0),
    patches=draw_patches,
)
draw_look_and_direction = and_more(draw_look, direction="* words d_model")  # for the gradient of what is seen


def look_values(look_at_image, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    """Return the tokens and the weights that the student's function returns, for a layer with our weights."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    seen, maps = pair(look_at_image(layer, *arguments.values()), ("what is seen", "weights"))
    return {"what is seen": seen, "weights": maps}


def look_conduct(
    look_at_image, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping, direction: Tensor
) -> Mapping[str, Value]:
    """Return side effects, and the gradients with respect to words, patches and the layer's weights."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)

    def call(**given: Tensor) -> Mapping[str, Tensor]:
        seen, _ = pair(look_at_image(cross_attn=layer, **given), ("what is seen", "weights"))
        return {"what is seen": seen}

    parameters = {name: layer.get_parameter(name) for name in weights}
    return purity_and_gradients(call, arguments, {"what is seen": direction}, parameters)
