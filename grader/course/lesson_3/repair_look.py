"""Practice 3.P5: `look_at_image`, how the words of a model whose attention collapsed look at the image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from attention.multi_head import MultiHeadAttention
from attention.repairs import look_at_image
from torch import Tensor

from grader.course.lesson_3.layer_weights import build_quietly, draw_layer_weights
from grader.course.lesson_3.repaired_model import gate
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import load, pair, purity_and_gradients
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import CONDUCT
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_look(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...],
    words: int,
    patches: int,
    d_model: int,
    heads: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw weights of a MultiHeadAttention, and words and patches for it."""
    layer = build_quietly(MultiHeadAttention, d_model, heads)
    return {
        "sizes": {"d_model": d_model, "num_heads": heads},
        "weights": draw_layer_weights(sampler, layer, dtype),
        "arguments": {
            "words": sampler.normal(*batch_shape, words, d_model, scale=2.0, dtype=dtype),
            "patches": sampler.normal(*batch_shape, patches, d_model, scale=2.0, dtype=dtype),
        },
    }


def draw_look_and_direction(sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw what `draw_look` does, and a direction for the gradient of what is seen."""
    inputs = draw_look(sampler, **sizes)
    words = inputs["arguments"]["words"]
    return {**inputs, "direction": sampler.normal(*words.shape, dtype=words.dtype)}


def look_values(look_at_image, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping):
    layer = load(MultiHeadAttention(*sizes.values()), weights)
    seen, maps = pair(look_at_image(layer, *arguments.values()), ("what is seen", "weights"))
    return {"what is seen": seen, "weights": maps}


def look_conduct(
    look_at_image, MultiHeadAttention, sizes: Mapping, weights: Mapping, arguments: Mapping, direction: Tensor
) -> Mapping[str, Value]:
    """Report side effects, and the gradients of words, patches and the layer's weights."""
    layer = load(MultiHeadAttention(*sizes.values()), weights)

    def call(**given: Tensor) -> Mapping[str, Tensor]:
        seen, _ = pair(look_at_image(cross_attn=layer, **given), ("what is seen", "weights"))
        return {"what is seen": seen}

    parameters = {name: layer.get_parameter(name) for name in weights}
    return purity_and_gradients(call, arguments, {"what is seen": direction}, parameters)


def _mask(words: Tensor, patches: Tensor) -> Tensor:
    """Make a mask (T, S) of True."""
    return torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)


@mistake(
    "look_at_image",
    "The first word sees the first patch alone: the mask is causal still. It hides words that come later, and no patch comes later.",
)
def still_causal(cross_attn, words, patches):
    return cross_attn(words, patches, _mask(words, patches).tril())


@mistake(
    "look_at_image",
    "Each word sees one patch more than before, and not yet all. No patch has to be hidden from any word.",
)
def causal_and_one_more(cross_attn, words, patches):
    return cross_attn(words, patches, _mask(words, patches).tril(1))


@mistake(
    "look_at_image",
    "The mask is the other way round now: later words do not see the first patches. No patch has to be hidden.",
)
def causal_backwards(cross_attn, words, patches):
    return cross_attn(words, patches, _mask(words, patches).triu())


@mistake("look_at_image", "Each word sees the patch of its own number, and no other.")
def own_number_only(cross_attn, words, patches):
    mask = torch.eye(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    return cross_attn(words, patches, mask)


@mistake(
    "look_at_image",
    "The words look at each other: without a second argument the layer does self-attention. Hand it the patches too.",
)
def words_look_at_words(cross_attn, words, patches):
    return cross_attn(words)


@mistake("look_at_image", "Here the patches ask and the words answer. The words ask: they come first.")
def patches_ask(cross_attn, words, patches):
    return cross_attn(patches, words)


@mistake(
    "look_at_image",
    "All patches are averaged first, so there is nothing left to choose from.",
)
def average_patch(cross_attn, words, patches):
    return cross_attn(words, patches.mean(-2, keepdim=True).expand_as(patches))


@mistake(
    "look_at_image",
    "The words are in the result already. Return what is seen alone: the model adds it to the words itself.",
)
def adds_the_words(cross_attn, words, patches):
    seen, weights = cross_attn(words, patches)
    return words + seen, weights


@mistake(
    "look_at_image",
    "No gradient gets back to the image: without it the aligner cannot learn. Leave out no_grad and detach.",
)
def patches_detached(cross_attn, words, patches):
    return cross_attn(words, patches.detach())


SMALL = dict(batch_shape=(2,), words=2, patches=3, d_model=2, heads=1)
LOOK_VALUES = Check(
    name="values",
    title="every word may look at every patch",
    points=0,
    probe=look_values,
    map="weights",
    examples=trials(draw_look, SMALL, dict(SMALL, words=1, patches=4)),
    trials=trials(
        draw_look,
        dict(batch_shape=(3,), words=5, patches=7, d_model=6, heads=2),
        dict(batch_shape=(2,), words=7, patches=3, d_model=9, heads=3),
        dict(batch_shape=(5,), words=1, patches=9, d_model=4, heads=1),
    ),
)
LOOK_CONDUCT = Check(
    name="conduct",
    title=CONDUCT,
    points=0,
    needs=("values",),
    probe=look_conduct,
    examples=trials(draw_look_and_direction, SMALL),
    trials=trials(
        draw_look_and_direction,
        dict(batch_shape=(2,), words=3, patches=5, d_model=6, heads=3, dtype=torch.float64),
    ),
)
LOOK = Exercise(
    id="3.P5",
    title="Repair a collapse",
    reference=(look_at_image,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(LOOK_VALUES, LOOK_CONDUCT, gate("mended_look", at="train-look")),
    mistakes=mistakes_in(globals(), "look_at_image"),
    review="Repair three trainings",
)
