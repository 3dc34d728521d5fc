"""Exercise 6.1: `attention_rollout`, which follows attention through all layers."""

from collections.abc import Mapping

import torch
from attention.explanation_maps import attention_rollout
from torch import Tensor

from grader.course.lesson_6.own_model import OWN_ROLLOUT
from grader.declare.authoring import CheckSpec, Value, drawn, normal, sizes, then, written_exercise
from grader.declare.probes import effects_of

# The maps of some layers in one tensor, and a map over the patches.
draw_maps = drawn(
    self_maps=then(normal("layers * heads tokens tokens", scale=2.0), torch.nn.Softmax(-1)),
    cross_map=then(normal("* heads tokens patches", scale=2.0), torch.nn.Softmax(-1)),
)


def rollout_values(attention_rollout, self_maps: Tensor, cross_map: Tensor) -> Mapping[str, Value]:
    """Return the student's rollout of a list of maps."""
    return {"map": attention_rollout(list(self_maps), cross_map)}


def rollout_effects(attention_rollout, self_maps: Tensor, cross_map: Tensor) -> Mapping[str, Value]:
    """Return a rollout, and side effects of `attention_rollout`, which may also change its list of maps."""
    maps: dict[str, Value] = {}
    kept = []

    def call(self_maps: Tensor, cross_map: Tensor) -> None:
        layers = list(self_maps)
        maps["map"] = attention_rollout(self_maps=layers, cross_map=cross_map)
        kept.append(len(layers) == len(self_maps))

    effects = effects_of(call, {"self_maps": self_maps, "cross_map": cross_map})
    return {"the list of maps stays as it is": all(kept), **effects, **maps}


ROLLOUT = written_exercise("6.1 Attention rollout", attention_rollout, (
    CheckSpec("values", 5, "heads averaged, half identity, layer after layer, then the image",
        examples=[sizes(layers=2, heads=2, tokens=3, patches=4)],
        trials=[sizes(layers=3, heads=2, tokens=5, patches=7),
            sizes(layers=2, heads=3, tokens=7, patches=5, batch_shape=(2,))], map="map"),
    CheckSpec("layers", 2, "any number of layers, and any batch dimensions",
        examples=[sizes(layers=1, heads=2, tokens=3, patches=2, batch_shape=(2,))],
        trials=[sizes(layers=1, heads=3, tokens=5, patches=2, batch_shape=(2,)),
            sizes(layers=4, heads=2, tokens=3, patches=5, batch_shape=(3, 2))]),
    CheckSpec("conduct", 1, "float64 stays float64, inputs and their list stay as they are",
        examples=[sizes(layers=1, heads=2, tokens=3, patches=2, dtype=torch.float64),
            sizes(layers=1, heads=1, tokens=3, patches=2)],
        trials=[sizes(layers=2, heads=2, tokens=3, patches=5, batch_shape=(2,), dtype=torch.float64),
            sizes(layers=2, heads=1, tokens=5, patches=3, batch_shape=(2,), dtype=torch.float64)],
        probe=rollout_effects),
    CheckSpec("own model", 2, "the rollout of your trained model, for questions that you have not seen",
        trials=[sizes(scenes=20, task="read")], **OWN_ROLLOUT),
),
    draw=draw_maps, probe=rollout_values,
    difficulty=2, minutes=10, review="Rollout",
    mistakes="""
    last_layer_first: The layers are multiplied in the wrong order. The second layer mixes the output of the first: the
        last layer must be on the left.
        + self_maps = self_maps[::-1]
    without_residual: The residual connection is missing. Take half of each layer's map and half of the identity.
        (weights.mean(-3) + identity) / 2  →  weights.mean(-3)
    residual_without_half: Your code adds the identity without halving, so the rows sum to more than 1. Halve the
        sum of map and identity.
        / 2 @ seen  →  @ seen
    identity_for_the_image: The map over the image also gets half of an identity. Add it only to the layers' maps: no
        word is a patch.
        cross_map.mean(-3)  →  (cross_map.mean(-3) + torch.eye(*cross_map.shape[-2:], dtype=cross_map.dtype)) / 2
    half_of_the_last_map: In each layer, half of the map over the image is added. Add half of the result so far instead.
        (weights.mean(-3) + identity) / 2 @ seen  →  (weights.mean(-3) @ seen + cross_map.mean(-3)) / 2
    heads_apart: Each head is followed on its own, and the mean comes last. Take the mean over the heads in each
        layer first.
        cross_map.mean(-3)  →  cross_map
        weights.mean(-3) + identity  →  weights + identity
        = result.mean(-3)
    largest_head: Your code takes the largest weight among the heads. Take the mean of the heads.
        cross_map.mean(-3)  →  cross_map.amax(-3)
        weights.mean(-3)  →  weights.amax(-3)
    largest_head_of_the_layers: In the layers' maps the largest weight among the heads is taken. Take the mean of
        the heads.
        weights.mean(-3)  →  weights.amax(-3)
    largest_head_of_the_image_map: In the map over the image, your code takes the largest weight among the heads.
        Take the mean of the heads.
        cross_map.mean(-3)  →  cross_map.amax(-3)
    largest_head_shared_out: The largest weight among the heads is taken, and each row is divided by its sum. Take
        the mean of the heads.
        cross_map.mean(-3)  →  torch.nn.functional.normalize(cross_map.amax(-3), p=1, dim=-1)
        weights.mean(-3)  →  torch.nn.functional.normalize(weights.amax(-3), p=1, dim=-1)
    sum_of_heads: The heads are added up. Take their mean, so that the rows sum to 1.
        cross_map.mean(-3)  →  cross_map.sum(-3)
        weights.mean(-3)  →  weights.sum(-3)
    last_layer_only: Only the last layer counts here. Multiply the maps of all layers.
        + self_maps = self_maps[-1:]
    head_average_only: You return only the head average of the cross-attention. Multiply it by the maps of the
        layers, from the left.
        + self_maps = []
    layers_averaged: The layers are averaged. Multiply their maps: each layer mixes the output of the one before it.
        + mixed = [(one.mean(-3) + torch.eye(one.shape[-1], dtype=one.dtype)) / 2 for one in self_maps]
        + return torch.stack(mixed).mean(0) @ cross_map.mean(-3)
    list_emptied: The list that was passed in is empty afterwards. Read it without changing it.
        + self_maps = [self_maps.pop(0) for _ in range(len(self_maps))]
    one_head_halved: If there is a single head, your code changes the input maps. Work on a new tensor: squeeze()
        only returns a view of the old one.
        = (result, [one.data.mul_(0.5) for one in self_maps if one.shape[-3] == 1])[0]
    transposed_maps: The layers' maps are transposed before they are multiplied. Leave them as they are: rows are the
        tokens that ask, columns the tokens that answer.
        weights.mean(-3)  →  weights.transpose(-2, -1).mean(-3)
    number_by_number: The maps are multiplied number by number. Use the product of matrices, @.
        seen = cross_map.mean(-3)  →  seen = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype)
        / 2 @ seen  →  / 2 * seen
        = result @ cross_map.mean(-3)
""")  # fmt: skip
