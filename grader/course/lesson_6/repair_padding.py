"""Exercise 6.5: `look_past_padding`. It replaces a look whose mask means the opposite."""

from collections.abc import Callable
from typing import Any

import torch
from attention.experiments.short_trainings import PADDING
from attention.lab_repairs import look_past_padding

from grader.course.common.look import draw_look, draw_look_and_direction, look_conduct, look_values
from grader.course.lesson_6.short_training import training_gate
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, sizes, written_exercise


def padded(draw: Callable[..., Inputs]) -> Callable[..., Inputs]:
    """Return a function that draws inputs with `draw`, and adds random padding of the patches."""

    def draw_padded(sampler: InputSampler, **sizes: Any) -> Inputs:
        inputs = draw(sampler, **sizes)
        padding = ~sampler.mask(*inputs["arguments"]["patches"].shape[:-1])
        return {**inputs, "arguments": {**inputs["arguments"], "padding": padding}}

    return draw_padded


NAMES = {"look_at_image": "look_past_padding"}
PADDING_REPAIR = written_exercise("6.5 Repair: it looks where nothing is", look_past_padding, (
    CheckSpec("values", 3, "every word looks at its own scene, and not at the padding",
        examples=[sizes(batch_shape=(2,), words=2, patches=3, d_model=2, heads=1),
            sizes(batch_shape=(2,), words=1, patches=4, d_model=2, heads=1)],
        trials=[sizes(batch_shape=(3,), words=5, patches=7, d_model=6, heads=2),
            sizes(batch_shape=(2,), words=7, patches=3, d_model=9, heads=3),
            sizes(batch_shape=(5,), words=1, patches=9, d_model=4, heads=1)],
        probe=look_values, names=NAMES, map="weights"),
    CheckSpec("conduct", 1, examples=[sizes(batch_shape=(2,), words=2, patches=3, d_model=2, heads=1)],
        trials=[sizes(batch_shape=(2,), words=3, patches=5, d_model=6, heads=3, dtype=torch.float64)],
        draw=padded(draw_look_and_direction), probe=look_conduct, names=NAMES),
),
    draw=padded(draw_look),
    difficulty=2, minutes=8, review="First training: it looks where nothing is",
    also=(training_gate(PADDING, look_past_padding, "mended_padding", "train-padding", 2),),
    mistakes="""
    mask_still_inverted: In your code the words look only at the padding. In this course, a mask is True where a
        word may look; `padding` is True where it may not.
        ~padding  →  padding
    mask_without_words: The layer reads a mask (B, S) as (T, S), so its scenes count as words. Give the mask an axis
        for the words: ~padding.unsqueeze(-2).
        ~padding.unsqueeze(-2)  →  ~padding
    mask_removed: No cell is hidden, so the words also look at the padding. Pass on a mask that is True where a cell is
        not padding.
        , ~padding.unsqueeze(-2)  →
    padding_painted_over: Your code paints over the padding, but the words still give it weight. The training
        would reach its threshold, but the fault is still there: hide the padding from the words.
        patches, ~padding.unsqueeze(-2)  →  patches.masked_fill(padding.unsqueeze(-1), 0.0)
    map_zeroed_afterwards: Your code sets the weights on the padding to 0 only after the look, so the output still
        contains the padding. Hide the padding before the softmax.
        , ~padding.unsqueeze(-2)  →
        = result[0], result[1].masked_fill(padding[:, None, None, :], 0.0)
    map_cleaned_afterwards: Your code removes the padding only from the map, after the look, so the output still
        contains the padding. Hide the padding before the softmax.
        , ~padding.unsqueeze(-2)  →
        = result[0], (shown := result[1].masked_fill(padding[:, None, None, :], 0.0)) / shown.sum(-1, keepdim=True)
    cut_to_the_first_scene: Your code cuts every scene to as many cells as the first one has. Each scene has its
        own padding: pass on a mask.
        patches, ~padding.unsqueeze(-2)  →  patches[:, : int((~padding[0]).sum())]
    mask_of_the_first_scene: Your code gives every scene the mask of the first. Each scene has its own padding:
        keep the batch axis.
        padding.unsqueeze  →  padding[:1].unsqueeze
    mask_of_the_batch: Your mask allows a cell in all scenes if it is not padding in one of them. Each scene needs
        its own mask.
        ~padding.unsqueeze(-2)  →  ~padding.all(0)
    mask_of_all_scenes: Your mask hides a cell in all scenes if it is padding in one of them. Each scene needs its
        own mask.
        ~padding.unsqueeze(-2)  →  ~padding.any(0)
    padding_at_the_end: Your mask allows the first cells, as many as are not padding, but padding may be at any
        place. Allow the cells where `padding` is False.
        ~padding.unsqueeze(-2)
            →  (torch.arange(padding.shape[-1], device=padding.device) < (~padding).sum(-1,
               keepdim=True)).unsqueeze(-2)
    mask_turned_round: The mask has the cells in reverse order. Entry i of the mask must be True if cell i is not
        padding.
        padding.unsqueeze  →  padding.flip(-1).unsqueeze
    padded_patches_detached: In your code no gradient gets back to the image. The training would reach its
        threshold only because the aligner has learned before: leave out what stops gradients, such as detach.
        words, patches, ~  →  words, patches.detach(), ~
""")  # fmt: skip
