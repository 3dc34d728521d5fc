"""Exercise 3.5: `shift_targets`, which returns the word that each position has to predict."""

from collections.abc import Mapping

import torch
from attention.data.tokens import EOS
from attention.training import shift_targets
from torch import Tensor

from grader.course.lesson_3 import stand_ins
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, sizes, written_exercise
from grader.declare.probes import function_effects


def draw_sequences(
    sampler: InputSampler, *, sequences: int, tokens: int, vocabulary: int = 51, pad_id: int = 0
) -> Inputs:
    """Draw sequences and the lengths of their prompts.

    Each sequence is a prompt, an answer of at least one word, the end of sequence, and padding. At
    least one row has no padding.
    """
    prompt_lengths = sampler.integers(1, tokens - 1, sequences)
    lengths = prompt_lengths + 1 + (sampler.uniform(sequences) * (tokens - prompt_lengths)).long()
    lengths[sampler.integers(0, sequences, 1)] = tokens
    token_ids = sampler.integers(1, vocabulary - 1, sequences, tokens)
    token_ids = torch.where(token_ids == pad_id, vocabulary - 1, token_ids)
    token_ids[torch.arange(sequences), lengths - 1] = EOS
    padded = torch.arange(tokens) >= lengths.unsqueeze(1)
    return {"token_ids": token_ids.masked_fill(padded, pad_id), "prompt_lengths": prompt_lengths}


def draw_sequences_and_options(sampler: InputSampler, *, pad_id: int, ignore_index: int, **sizes: int) -> Inputs:
    """Draw sequences that are padded with pad_id. Add pad_id and ignore_index as options of the call."""
    options = {"pad_id": pad_id, "ignore_index": ignore_index}
    return {**draw_sequences(sampler, pad_id=pad_id, **sizes), "options": options}


def targets_with_options(shift_targets, token_ids: Tensor, prompt_lengths: Tensor, options: Mapping):
    """Return the targets, with pad_id and ignore_index passed by keyword."""
    return {"targets": shift_targets(token_ids=token_ids, prompt_lengths=prompt_lengths, **options)}


TARGETS = written_exercise("3.5 What to learn: the next word of the answer", shift_targets, (
    CheckSpec("values", 7, "the answer and its end are targets, nothing else is",
        examples=[sizes(sequences=3, tokens=7)],
        trials=[sizes(sequences=5, tokens=11), sizes(sequences=7, tokens=5), sizes(sequences=1, tokens=3),
            sizes(sequences=11, tokens=9)]),
    CheckSpec("options", 2, "pad_id and ignore_index are used",
        examples=[sizes(sequences=3, tokens=5, pad_id=9, ignore_index=-1)],
        trials=[sizes(sequences=5, tokens=7, pad_id=3, ignore_index=-7),
            sizes(sequences=7, tokens=5, pad_id=-1, ignore_index=-5)],
        draw=draw_sequences_and_options, probe=targets_with_options),
    CheckSpec("conduct", 1, "token_ids stay as they are", trials=[sizes(sequences=5, tokens=11)],
        probe=function_effects),
),
    draw=draw_sequences, returns=("targets",),
    difficulty=2, minutes=8, review="What is learned", stand_in=stand_ins.shift_targets,
    mistakes="""
    pad_is_zero: The padding id is assumed to be 0 here. Use the argument pad_id.
        + pad_id = 0
    ignore_is_fixed: Your code assumes that ignore_index is −100. Use the argument ignore_index.
        + ignore_index = -100
    not_shifted: In your result the target of each position is the token at that position, which the model can
        see. The target must be the next token.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  token_ids
        prompt_lengths.unsqueeze(-1) - 1  →  prompt_lengths.unsqueeze(-1)
        answers & (position < token_ids.shape[-1] - 1)  →  answers
    not_shifted_at_all: In your result the target of each position is the token at that position, which the model
        can see. The target must be the next token.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  token_ids
        answers & (position < token_ids.shape[-1] - 1)  →  answers
    not_shifted_but_the_last: In your result the target of each position is the token at that position, which the
        model can see. The target must be the next token.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  token_ids
    shifted_backwards: Your code shifts the tokens in the wrong direction, so the target of each position is the
        previous token. The target must be the next token.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  F.pad(token_ids[..., :-1], (1, 0), value=pad_id)
    rolled_backwards: Your code rolls the tokens in the wrong direction, so the target of each position is the
        previous token. The target must be the next token.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  token_ids.roll(1, -1)
    shifted_twice: Your targets are two positions ahead. Position t must predict token t + 1.
        token_ids[..., 1:], (0, 1)  →  token_ids[..., 2:], (0, 2)
    prompt_not_ignored: In your result the prompt is a target, too. Only the answer should be learned: ignore
        targets within the prompt.
        prompt_lengths.unsqueeze(-1) - 1  →  0
    first_word_missed: In your result the first word of the answer is never a target. It must be the target of the
        last position of the prompt.
        prompt_lengths.unsqueeze(-1) - 1  →  prompt_lengths.unsqueeze(-1)
    one_too_early: In your result the last word of the prompt is a target, too. Counted from 0, targets must begin
        at position prompt_length − 1.
        prompt_lengths.unsqueeze(-1) - 1  →  prompt_lengths.unsqueeze(-1) - 2
    padding_not_ignored: Padding is a target here: ignore positions whose next token is padding.
        & (following != pad_id)  →
    one_padding_left: In your result one padding token after the end of sequence is still a target. Check the next
        token, not the token at this position.
        following != pad_id  →  token_ids != pad_id
    padding_after_the_end: In your result one padding token after the end of sequence is still a target. Check the
        next token, not the token at this position.
        following != pad_id  →  token_ids != pad_id
        & (position < token_ids.shape[-1] - 1)  →
    end_ignored: The end of sequence is never a target here. It should be one: the model has to learn when to
        stop.
        answers & (position < token_ids.shape[-1] - 1)
            →  answers & (position < (token_ids != pad_id).sum(1, keepdim=True) - 2)
    wraps_around: In your code the first token becomes the last target, as with torch.roll. The last column has no
        next token: ignore that column.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  token_ids.roll(-1, -1)
        answers & (position < token_ids.shape[-1] - 1)  →  answers
    full_rows_wrap_around: In a row without padding, your last target is the first token of the row. The last
        column has no next token: ignore that column.
        F.pad(token_ids[..., 1:], (0, 1), value=pad_id)  →  token_ids.roll(-1, -1)
        answers & (position < token_ids.shape[-1] - 1)  →  answers & (token_ids != pad_id)
    one_length_for_all: Your code uses one prompt length for the whole batch. Use the length of each row's own
        prompt.
        prompt_lengths.unsqueeze(-1)  →  prompt_lengths[:1].unsqueeze(-1)
    longest_prompt_for_all: Your code uses the length of the longest prompt for the whole batch. Use the length of
        each row's own prompt.
        prompt_lengths.unsqueeze(-1)  →  prompt_lengths.max()
""")  # fmt: skip
