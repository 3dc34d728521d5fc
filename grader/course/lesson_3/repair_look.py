"""Practice 3.P5: `look_at_image`, how the words of a model whose attention collapsed look at the image."""

import torch
from attention.repairs import look_at_image
from torch import Tensor

from grader.course.common.attention_words import AttentionExercise
from grader.course.common.look import draw_look, draw_look_and_direction, look_conduct, look_values
from grader.course.lesson_3.repaired_model import gate
from grader.declare.authoring import CONDUCT, Check, edits, further_check, trials


def _everywhere(words: Tensor, patches: Tensor) -> Tensor:
    """Make a mask (T, S) of True."""
    return torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)


LOOK_MISTAKES = edits(look_at_image, """
    still_causal: The first word sees the first patch alone: the mask is causal still. It hides words that come
        later, and no patch comes later.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).tril())
    causal_and_one_more: Each word sees one patch more than before, and not yet all. No patch has to be hidden from
        any word.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).tril(1))
    causal_backwards: The mask is the other way round now: later words do not see the first patches. No patch has to
        be hidden.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).triu())
    own_number_only: Each word sees the patch of its own number, and no other. No patch has to be hidden from any
        word.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).tril().triu())
    words_look_at_words: The words look at each other: without a second argument the layer does self-attention. Hand
        it the patches too.
        cross_attn(words, patches)  →  cross_attn(words)
    patches_ask: Here the patches ask and the words answer. The words ask: they come first.
        cross_attn(words, patches)  →  cross_attn(patches, words)
    average_patch: All patches are averaged first, so there is nothing left to choose from.
        + patches = patches.mean(-2, keepdim=True).expand_as(patches)
    adds_the_words: The words are in the result already. Return what is seen alone: the model adds it to the words
        itself.
        = words + result[0], result[1]
    patches_detached: No gradient gets back to the image: without it the aligner cannot learn. Leave out no_grad and
        detach.
        + patches = patches.detach()
""", everywhere=_everywhere)  # fmt: skip


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
LOOK_CONDUCT = further_check(
    name="conduct",
    title=CONDUCT,
    points=0,
    probe=look_conduct,
    examples=trials(draw_look_and_direction, dict(SMALL, dtype=torch.float64)),
    trials=trials(
        draw_look_and_direction, dict(batch_shape=(2,), words=3, patches=5, d_model=6, heads=3, dtype=torch.float64)
    ),
)
LOOK = AttentionExercise(
    id="3.P5",
    title="Repair a collapse",
    reference=(look_at_image,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(LOOK_VALUES, LOOK_CONDUCT, gate("mended_look", at="train-look")),
    mistakes=LOOK_MISTAKES,
    review="Repair three trainings",
)
