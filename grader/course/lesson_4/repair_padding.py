"""Exercise 4.5: `look_past_padding`, in the place of a look whose mask means the opposite."""

from typing import Any

import torch
from attention.mended import look_past_padding
from attention.short_trainings import PADDING

from grader.course.common.attention_words import AttentionExercise
from grader.course.common.look import draw_look, draw_look_and_direction, look_conduct, look_values
from grader.course.lesson_4.short_training import training_gate
from grader.declare.authoring import CONDUCT, Check, InputSampler, edits, further_check, trials
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


PADDING_REPAIR_MISTAKES = edits(look_past_padding, """
    mask_still_inverted: The words look at the padding, and at nothing else. In this course a mask is True where one
        may look; `padding` is True where one may not.
        ~padding  →  padding
    mask_without_words: In the mask, the scenes of the batch stand where the words belong. Give it an axis for the
        words: ~padding.unsqueeze(-2).
        ~padding.unsqueeze(-2)  →  ~padding
    mask_removed: The words look at all cells, the padding too: no cell is hidden. Hand on a mask that is True where
        a cell is no padding.
        , ~padding.unsqueeze(-2)  →
    padding_painted_over: The padding is painted over, and the words look at it still: a row of zeros takes its
        share of the weight. The gate is passed, and not by mending the fault.
        patches, ~padding.unsqueeze(-2)  →  patches.masked_fill(padding.unsqueeze(-1), 0.0)
    map_zeroed_afterwards: The map is set to zero after the look: the padding is in what was seen already, and the
        weights no longer sum to 1. Hide it before the softmax.
        , ~padding.unsqueeze(-2)  →
        = result[0], result[1].masked_fill(padding[:, None, None, :], 0.0)
    map_cleaned_afterwards: The padding is taken out of the map after the look, and the rows are made to sum to 1 again. What
        was seen holds it still: hide it before the softmax.
        , ~padding.unsqueeze(-2)  →
        = result[0], (shown := result[1].masked_fill(padding[:, None, None, :], 0.0)) / shown.sum(-1, keepdim=True)
    cut_to_the_first_scene: Every scene is cut to as many cells as the first one has. Each scene has padding of its own: hand
        on a mask.
        patches, ~padding.unsqueeze(-2)  →  patches[:, : int((~padding[0]).sum())]
    mask_of_the_first_scene: Every scene gets the mask of the first. Each scene has padding of its own: keep the
        batch axis.
        padding.unsqueeze  →  padding[:1].unsqueeze
    mask_of_the_batch: A cell is open to all as soon as it is no padding in one scene of the batch. Each scene needs
        a mask of its own.
        ~padding.unsqueeze(-2)  →  ~padding.all(0)
    mask_turned_round: The order of the cells is turned round. The mask has to be true where a cell is no padding,
        cell by cell.
        padding.unsqueeze  →  padding.flip(-1).unsqueeze
    padded_patches_detached: No gradient gets back to the image, so the aligner cannot learn. The gate is passed all
        the same, because it was aligned before: leave out what stops gradients, such as torch.no_grad, detach or
        .data.
        words, patches, ~  →  words, patches.detach(), ~
""")  # fmt: skip


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
PADDED_CONDUCT = further_check(
    name="conduct",
    title=CONDUCT,
    points=0.5,
    probe=look_conduct,
    names=NAMES,
    examples=trials(draw_padded_and_direction, PADDING_SMALL),
    trials=trials(
        draw_padded_and_direction, dict(batch_shape=(2,), words=3, patches=5, d_model=6, heads=3, dtype=torch.float64)
    ),
)
PADDING_REPAIR = AttentionExercise(
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
    mistakes=PADDING_REPAIR_MISTAKES,
    review="First training: it looks where nothing is",
)
