"""Exercise 4.5: `look_past_padding`, in the place of a look whose mask means the opposite."""

from __future__ import annotations

from typing import Any

import torch
from attention.mended import look_past_padding
from attention.short_trainings import PADDING

from grader.course.common.look import draw_look, draw_look_and_direction, look_conduct, look_values
from grader.course.lesson_4.short_training import training_gate
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import CONDUCT
from grader.declaration.trial import trials
from grader.records import Inputs


def with_padding(sampler: InputSampler, inputs: Inputs) -> Inputs:
    """Add padding to words and patches: in each scene at least one cell is padding, and one is not."""
    patches = inputs["arguments"]["patches"]
    padding = ~sampler.mask(*patches.shape[:-1])
    return {**inputs, "arguments": {**inputs["arguments"], "padding": padding}}


def draw_padded(sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw weights of a MultiHeadAttention, words, patches, and which patches are padding."""
    return with_padding(sampler, draw_look(sampler, **sizes))


def draw_padded_and_direction(sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw the same, and a direction for the gradient of what is seen."""
    return with_padding(sampler, draw_look_and_direction(sampler, **sizes))


@mistake(
    "look_past_padding",
    "The words look at the padding, and at nothing else. In this course a mask is True where one may look; `padding` is True where one may not.",
)
def mask_still_inverted(cross_attn, words, patches, padding):
    return cross_attn(words, patches, padding.unsqueeze(-2))


@mistake(
    "look_past_padding",
    "The mask is gone: the words look at the padding, too. A mask is needed here, and it has to mean the opposite.",
)
def mask_removed(cross_attn, words, patches, padding):
    return cross_attn(words, patches)


@mistake(
    "look_past_padding",
    "The padding is painted over, and the words look at it still: a row of zeros takes its share of the weight. The gate is passed, and not by mending the fault.",
)
def padding_painted_over(cross_attn, words, patches, padding):
    return cross_attn(words, patches.masked_fill(padding.unsqueeze(-1), 0.0))


@mistake(
    "look_past_padding",
    "The map is set to zero after the look: the padding is in what was seen already, and the weights no longer sum to 1. Hide it before the softmax.",
)
def map_zeroed_afterwards(cross_attn, words, patches, padding):
    seen, weights = cross_attn(words, patches)
    return seen, weights.masked_fill(padding[:, None, None, :], 0.0)


@mistake(
    "look_past_padding",
    "Every scene gets the mask of the first. Each scene has padding of its own: keep the batch axis.",
)
def mask_of_the_first_scene(cross_attn, words, patches, padding):
    return cross_attn(words, patches, ~padding[:1].unsqueeze(-2))


@mistake(
    "look_past_padding",
    "A cell is open to all as soon as it is no padding in one scene of the batch. Each scene needs a mask of its own.",
)
def mask_of_the_batch(cross_attn, words, patches, padding):
    return cross_attn(words, patches, ~padding.all(0))


@mistake(
    "look_past_padding",
    "The order of the cells is turned round. The mask has to be true where a cell is no padding, cell by cell.",
)
def mask_turned_round(cross_attn, words, patches, padding):
    return cross_attn(words, patches, ~padding.flip(-1).unsqueeze(-2))


@mistake(
    "look_past_padding",
    "No gradient gets back to the image, so the aligner cannot learn. The gate is passed all the same, because it was aligned before: leave out no_grad and detach.",
)
def padded_patches_detached(cross_attn, words, patches, padding):
    return cross_attn(words, patches.detach(), ~padding.unsqueeze(-2))


PADDING_SMALL = dict(batch_shape=(2,), words=2, patches=3, d_model=2, heads=1)
NAMES = {"look_at_image": "look_past_padding"}
PADDED_VALUES = Check(
    name="values",
    title="every word looks at its own scene, and not at the padding",
    points=1.5,
    probe=look_values,
    names=NAMES,
    map="weights",
    examples=trials(draw_padded, PADDING_SMALL, dict(PADDING_SMALL, words=1, patches=4)),
    trials=trials(
        draw_padded,
        dict(batch_shape=(3,), words=5, patches=7, d_model=6, heads=2),
        dict(batch_shape=(2,), words=7, patches=3, d_model=9, heads=3),
        dict(batch_shape=(5,), words=1, patches=9, d_model=4, heads=1),
    ),
)
PADDED_CONDUCT = Check(
    name="conduct",
    title=CONDUCT,
    points=0.5,
    needs=("values",),
    probe=look_conduct,
    names=NAMES,
    examples=trials(draw_padded_and_direction, PADDING_SMALL),
    trials=trials(
        draw_padded_and_direction, dict(batch_shape=(2,), words=3, patches=5, d_model=6, heads=3, dtype=torch.float64)
    ),
)
PADDING_REPAIR = Exercise(
    id="4.5",
    title="Repair: it looks where nothing is",
    reference=(look_past_padding,),
    points=3,
    difficulty=2,
    minutes=8,
    checks=(
        PADDED_VALUES,
        PADDED_CONDUCT,
        training_gate(PADDING, look_past_padding, "mended_padding", "train-padding", 1),
    ),
    mistakes=mistakes_in(globals(), "look_past_padding"),
    review="First training: it looks where nothing is",
)
