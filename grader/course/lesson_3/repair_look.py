"""Practice 3.P2: `look_at_image`, with which words look at the image in a model whose attention collapsed."""

import torch
from attention.repairs import look_at_image
from torch import Tensor

from grader.course.common.look import draw_look, draw_look_and_direction, look_conduct, look_values
from grader.declare.authoring import CheckSpec, edits, sizes, written_exercise


def _everywhere(words: Tensor, patches: Tensor) -> Tensor:
    """Return a mask (T, S) of True."""
    return torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)


LOOK = written_exercise("3.P2 Repair a collapse", look_at_image, (
    CheckSpec("values", 0, "every word may look at every patch",
        examples=[sizes(batch_shape=(2,), words=2, patches=3, d_model=2, heads=1),
            sizes(batch_shape=(2,), words=1, patches=4, d_model=2, heads=1, empty=1)],
        trials=[sizes(batch_shape=(3,), words=5, patches=7, d_model=6, heads=2),
            sizes(batch_shape=(2,), words=7, patches=3, d_model=9, heads=3),
            sizes(batch_shape=(5,), words=1, patches=9, d_model=4, heads=1),
            sizes(batch_shape=(2,), words=3, patches=5, d_model=4, heads=2, empty=2)],
        probe=look_values, map="weights"),
    CheckSpec("conduct", 0,
        examples=[sizes(batch_shape=(2,), words=2, patches=3, d_model=2, heads=1, dtype=torch.float64)],
        trials=[sizes(batch_shape=(2,), words=3, patches=5, d_model=6, heads=3, dtype=torch.float64)],
        draw=draw_look_and_direction, probe=look_conduct),
),
    draw=draw_look,
    difficulty=2, minutes=8, review="Repair three trainings",
    mistakes=edits(look_at_image, """
    still_causal: Your mask is still causal, so the first word sees only the first patch. Do not hide any patch
        from a word: no patch is a later word.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).tril())
    causal_and_one_more: Each word sees one patch more than before, but still not all. Do not hide any patch from a
        word.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).tril(1))
    causal_backwards: The mask is the other way round now: later words do not see the first patches. Do not hide any
        patch from a word.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).triu())
    causal_inverted: Your code inverts the causal mask, so it hides the patches that broken_look showed. Do not
        hide any patch from a word: leave the mask out.
        cross_attn(words, patches)  →  cross_attn(words, patches, ~everywhere(words, patches).tril())
    own_number_only: In your code word i sees only patch i. Do not hide any patch from a word.
        cross_attn(words, patches)  →  cross_attn(words, patches, everywhere(words, patches).tril().triu())
    words_among_the_patches: Here words look at words as well as patches. Give the layer only the patches.
        + seen, weights = cross_attn(words, torch.cat([words, patches], -2))
        + return seen, weights[..., words.shape[-2] :]
    causal_words_among_the_patches: Here words look at words as well as patches. Give the layer only the patches.
        + mask = torch.cat([everywhere(words, words).tril(), everywhere(words, patches)], -1)
        + seen, weights = cross_attn(words, torch.cat([words, patches], -2), mask)
        + return seen, weights[..., words.shape[-2] :]
    empty_patches_hidden: Your code hides a patch of zeros. Such a patch is empty paper, not padding, so every
        word may look at it.
        cross_attn(words, patches)
            →  cross_attn(words, patches, everywhere(words, patches) & patches.any(-1).unsqueeze(-2))
    words_look_at_words: The words look at each other: without a second argument the layer does self-attention.
        Pass the patches, too.
        cross_attn(words, patches)  →  cross_attn(words)
    patches_ask: Here the patches ask and the words answer. The words should ask: make them the first argument.
        cross_attn(words, patches)  →  cross_attn(patches, words)
    average_patch: Your code averages all patches first, so there is nothing left to choose from. Give the layer
        the patches as they are.
        + patches = patches.mean(-2, keepdim=True).expand_as(patches)
    adds_the_words: The words are added to what is seen here. Return only what is seen: the model adds the words itself.
        = words + result[0], result[1]
    patches_detached: No gradient gets back to the image, so the aligner cannot learn. Leave out no_grad and detach.
        + patches = patches.detach()
""", everywhere=_everywhere))  # fmt: skip
