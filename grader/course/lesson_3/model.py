"""Exercise 3.4: `MiniVLM`, the whole model."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.vlm import MiniVLM

from grader.declare.authoring import (
    CheckSpec,
    Draw,
    Inputs,
    InputSampler,
    Value,
    drawn_layer,
    given,
    sizes,
    written_exercise,
)
from grader.declare.probes import load, pair, purity_and_gradients


def next_size(name: str, more: int) -> Draw:
    """Return a function that returns one of the trial's sizes, plus `more`."""
    return lambda sampler, sizes: sizes[name] + more


draw_model = drawn_layer(
    MiniVLM,
    dict(
        d_vision="d_vision",
        d_model="d_model",
        num_heads="heads",
        d_ff=next_size("d_model", 1),
        num_layers="layers",
        vocab_size=given("vocabulary", 11),
        max_tokens=next_size("tokens", 2),
        num_patches="patches",
        cross_layers=given("cross_layers", None),
    ),
    token_ids=lambda sampler, sizes: sampler.integers(
        0, sizes.get("vocabulary", 11), *sizes.get("batch_shape", ()), sizes["tokens"]
    ),
    image_patches="* patches d_vision",
)


def call_model(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> Mapping[str, Value]:
    """Return logits and maps of a model that has our weights.

    The maps may be a tuple or a list. A tensor of maps is not accepted, because it cannot be empty.
    """
    model = load(layer_class(**sizes), weights)
    logits, maps = pair(model(*arguments.values()))
    return {"logits": logits, "cross weights": list(maps) if isinstance(maps, tuple) else maps}


def draw_model_and_direction(sampler: InputSampler, *, returned: str, **sizes: Any) -> Inputs:
    """Draw a model as `draw_model` does, and a direction for the gradient of one result.

    Args:
        returned: the result, "logits" or "cross weights".
    """
    inputs = draw_model(sampler, **sizes)
    patches = inputs["arguments"]["image_patches"]
    shapes = {
        "logits": (sizes["tokens"], sizes.get("vocabulary", 11)),
        "cross weights": (sizes["heads"], sizes["tokens"], sizes["patches"]),
    }
    direction = sampler.normal(*patches.shape[:-2], *shapes[returned], dtype=patches.dtype)
    return {**inputs, "grad_outputs": {returned: direction}}


def model_gradients(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, grad_outputs: Mapping
) -> Mapping[str, Value]:
    """Return side effects, and gradients with respect to the image and our weights, for logits or map.

    By default, the model has one map. Only two gradients of the map are compared, because
    others are 0 except for rounding. An example is image_norm.bias, which shifts all scores of a
    row by the same number.
    """
    model = load(layer_class(**sizes), weights)

    def call(**given: Any) -> dict[str, Any]:
        logits, maps = pair(model(**given))
        return {"logits": logits, "cross weights": maps[0]}

    names = weights if "logits" in grad_outputs else ("aligner.0.weight", "embedding.weight")
    parameters = {name: model.get_parameter(name) for name in names}
    return purity_and_gradients(call, arguments, grad_outputs, parameters)


def compare_prefix(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> Mapping[str, Value]:
    """Return the logits of a prefix, and True if they are the same within the whole text."""
    model = load(layer_class(**sizes), weights)
    token_ids, image_patches = arguments.values()
    whole, _ = pair(model(token_ids, image_patches))
    half = token_ids.shape[-1] // 2
    start, _ = pair(model(token_ids[..., :half], image_patches))
    return {"later words change nothing": torch.allclose(whole[..., :half, :], start, atol=1e-4), "logits": start}


MINI_VLM = written_exercise("3.4 The whole model", MiniVLM, (
    CheckSpec("values", 9, "image and text meet, and every position predicts its next word",
        examples=[sizes(batch_shape=(1,), tokens=3, patches=2, d_vision=3, d_model=4, heads=2, layers=2, vocabulary=5)],
        trials=[sizes(batch_shape=(3,), tokens=5, patches=4, d_vision=7, d_model=6, heads=2, layers=2),
            sizes(batch_shape=(2,), tokens=7, patches=5, d_vision=3, d_model=9, heads=3, layers=3)]),
    CheckSpec("causal", 2, "what comes later changes nothing before",
        trials=[sizes(batch_shape=(2,), tokens=7, patches=3, d_vision=5, d_model=6, heads=3, layers=2, vocabulary=13)],
        probe=compare_prefix),
    CheckSpec("layers", 2, "any blocks may look, and each has its map",
        examples=[sizes(tokens=3, patches=2, d_vision=3, d_model=4, heads=2, layers=2, vocabulary=5,
                cross_layers=[0, 1])],
        trials=[sizes(batch_shape=(2,), tokens=5, patches=3, d_vision=5, d_model=6, heads=2, layers=3,
                cross_layers=[0, 2]),
            sizes(batch_shape=(2,), tokens=3, patches=5, d_vision=2, d_model=6, heads=3, layers=2, cross_layers=[])]),
    CheckSpec("batch", 1, "with and without batch dimensions",
        trials=[sizes(tokens=5, patches=3, d_vision=7, d_model=6, heads=2, layers=2),
            sizes(batch_shape=(2, 3), tokens=4, patches=5, d_vision=3, d_model=6, heads=3, layers=2),
            sizes(batch_shape=(1,), tokens=1, patches=1, d_vision=3, d_model=4, heads=2, layers=2)]),
    CheckSpec("conduct", 1,
        examples=[sizes(tokens=3, patches=2, d_vision=3, d_model=4, heads=2, layers=2, vocabulary=5,
                returned="cross weights")],
        trials=[sizes(batch_shape=(2,), tokens=5, patches=3, d_vision=7, d_model=6, heads=2, layers=2,
                returned="logits", dtype=torch.float64),
            sizes(batch_shape=(2,), tokens=5, patches=3, d_vision=7, d_model=6, heads=2, layers=2,
                    returned="cross weights", dtype=torch.float64)],
        draw=draw_model_and_direction, probe=model_gradients, names={"layer_class": "MiniVLM"}),
),
    draw=draw_model, returns=("logits", None),  # None leaves the maps out; `call_model` returns them
    probe=call_model,
    builds_on=("3.2", "3.3"), difficulty=2, minutes=12, review="The whole model",
    mistakes="""
    last_map_only: Only the last map is returned. Return a list with one map for each block that cross-attends.
        = result[0], result[1][-1:]
    no_causal_mask: In your model a word sees the words after it. Give the blocks causal_mask(T, device).
        causal_mask(token_ids.shape[-1], token_ids.device)  →  None
    causal_mask_inverted: The causal mask is inverted. True must mean that a token may attend: do not use ~ on it.
        mask = causal_mask  →  mask = ~causal_mask
    causal_mask_strict: In your model a word cannot see itself. Use a causal mask that includes the diagonal.
        token_ids.device)  →  token_ids.device).tril(-1)
    mask_of_the_longest_text: Your mask is made for max_tokens tokens. Make it for as many tokens as this text
        has.
        causal_mask(token_ids.shape[-1], token_ids.device)
            →  causal_mask(len(self.text_positions.embedding), token_ids.device)
    text_without_positions: Your words have no positions, because text_positions is not used. Use it on the
        embedded words.
        self.text_positions(self.embedding(token_ids))  →  self.embedding(token_ids)
    image_without_positions: Your patches have no positions, so the model cannot know where a patch is. Use
        image_positions.
        self.image_positions(self.aligner(image_patches))  →  self.aligner(image_patches)
    image_with_places_of_words: The patches get text_positions, which are for the words. Use image_positions for the
        patches.
        self.image_positions(self.aligner  →  self.text_positions(self.aligner
    image_without_norm: The image tokens are not normalised. Use image_norm last, after the positions.
        self.image_norm(self.image_positions(self.aligner(image_patches)))
            →  self.image_positions(self.aligner(image_patches))
    image_norm_too_early: Norm and positions are in the wrong order. Take image_norm(image_positions(aligner(patches))).
        self.image_norm(self.image_positions(self.aligner(image_patches)))
            →  self.image_positions(self.image_norm(self.aligner(image_patches)))
    image_not_aligned: The patches are not aligned: they still have the width of the image. Use the aligner first.
        self.aligner(image_patches)  →  image_patches
    last_norm_missing: The last norm is missing: logits = head(norm(tokens)).
        self.norm(tokens)  →  tokens
    norm_after_every_block: The last norm is applied after every block. Use it once, after all of them:
        head(norm(tokens)).
        block(tokens, image_tokens, mask)  →  block(tokens, image_tokens, mask); tokens = self.norm(tokens)
        self.head(self.norm(tokens))  →  self.head(tokens)
    blocks_side_by_side: In your code every block reads the original words. Give each block what the one before it
        returned.
        tokens = self.text_positions  →  text = self.text_positions
        block(tokens,  →  block(text,
    first_block_alone: Only the first block is used. Send the tokens through every block.
        in self.blocks  →  in self.blocks[:1]
    none_among_the_maps (slip): Your list contains a None for each block without cross-attention. Leave these out
        of the list.
        if weights is not None:  →  if True:
    stacked_maps (slip): The maps are put together into one tensor. Return them as a list, which may also be empty.
        = result[0], torch.stack(result[1]) if result[1] else torch.empty(0)
    detached_maps: The maps are cut off from the gradient: return them as the blocks give them, without detach().
        maps.append(weights)  →  maps.append(weights.detach())
    softmax_on_top: You return probabilities. Return the logits: the loss takes the softmax itself.
        = result[0].softmax(-1), result[1]
    last_position_only: You return logits only for the last position. Every position must predict its next word.
        = result[0][..., -1, :], result[1]
""")  # fmt: skip
