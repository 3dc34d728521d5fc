"""Practice 3.P5: `look_at_image`, how the words of a model whose attention collapsed look at the image."""

from __future__ import annotations

import torch
from attention.repairs import look_at_image
from torch import Tensor

from grader.course.common.look import (
    draw_look,
    draw_look_and_direction,
    look_conduct,
    look_values,
)
from grader.course.lesson_3.repaired_model import gate
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.standard_checks import CONDUCT
from grader.declaration.trial import trials


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
