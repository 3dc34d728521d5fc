"""Exercise 3.5: `shift_targets`, which returns the word that each position has to predict."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.training import shift_targets
from torch import Tensor

from grader.course.lesson_3.writings import targets_in_loops
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import effects_of, strided
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_sequences(
    sampler: InputSampler, *, sequences: int, tokens: int, vocabulary: int = 51, pad_id: int = 0
) -> Inputs:
    """Draw prompts, each with an answer of one word or more and padding; some row has no padding."""
    prompt_lengths = sampler.integers(1, tokens - 1, sequences)
    lengths = prompt_lengths + 1 + (sampler.uniform(sequences) * (tokens - prompt_lengths)).long()
    lengths[sampler.integers(0, sequences, 1)] = tokens
    token_ids = sampler.integers(1, vocabulary - 1, sequences, tokens)
    token_ids = torch.where(token_ids == pad_id, vocabulary - 1, token_ids)
    padded = torch.arange(tokens) >= lengths.unsqueeze(1)
    return {"token_ids": token_ids.masked_fill(padded, pad_id), "prompt_lengths": prompt_lengths}


def draw_sequences_and_options(
    sampler: InputSampler, *, pad_id: int, ignore_index: int, **sizes: int
) -> Inputs:
    """Draw sequences padded with pad_id, and add pad_id and ignore_index as options of the call."""
    options = {"pad_id": pad_id, "ignore_index": ignore_index}
    return {**draw_sequences(sampler, pad_id=pad_id, **sizes), "options": options}


def targets_with_options(shift_targets, token_ids: Tensor, prompt_lengths: Tensor, options: Mapping):
    return {"targets": shift_targets(token_ids=token_ids, prompt_lengths=prompt_lengths, **options)}


def targets_purity(shift_targets, token_ids: Tensor, prompt_lengths: Tensor) -> Mapping[str, Value]:
    """Return the targets, and whether `shift_targets` leaves its inputs alone."""
    inputs = {"token_ids": token_ids, "prompt_lengths": prompt_lengths}
    effects = effects_of(shift_targets, inputs)
    return {"targets": shift_targets(strided(token_ids), prompt_lengths.clone()), **effects}


def _changed_targets(
    token_ids, prompt_lengths, pad_id, ignore_index, *, first=-1, shift=1, keep_pad=False, last_column=None
):
    """Do what `shift_targets` does, except for what the keyword arguments change.

    Args:
        first: the first position with a target, minus the length of the prompt.
        shift: a position's target is the token this many places later.
        keep_pad: whether padding counts as a target, and is not ignored.
        last_column: the target of the last position (B, 1); None: it has no target.
    """
    count = token_ids.shape[-1]
    wrapped = token_ids[:, :shift] if last_column is None else last_column
    following = torch.cat([token_ids[:, shift:], wrapped], 1)
    position = torch.arange(count)
    keep = position >= prompt_lengths[:, None] + first
    keep = keep & (position < (count - shift if last_column is None else count))
    keep = keep if keep_pad else keep & (following != pad_id)
    return torch.where(keep, following, ignore_index)


@mistake("shift_targets", "pad_id is taken for 0. Use the argument.")
def pad_is_zero(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, 0, ignore_index)


@mistake("shift_targets", "ignore_index is taken for −100. Use the argument.")
def ignore_is_fixed(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, pad_id, -100)


@mistake(
    "shift_targets",
    "Each position is asked for its own token, which it can see. The target is the next token.",
)
def not_shifted(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    keep = (torch.arange(token_ids.shape[-1]) >= prompt_lengths[:, None]) & (token_ids != pad_id)
    return torch.where(keep, token_ids, ignore_index)


@mistake("shift_targets", "The target is two places on. Position t predicts token t + 1.")
def shifted_twice(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, pad_id, ignore_index, shift=2)


@mistake(
    "shift_targets",
    "The prompt counts too. Only the answer is to be learned: ignore targets within the prompt.",
)
def prompt_not_ignored(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, 0 * prompt_lengths, pad_id, ignore_index, first=0)


@mistake(
    "shift_targets",
    "The first word of the answer is never asked for: the last position of the prompt predicts it.",
)
def first_word_missed(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, pad_id, ignore_index, first=0)


@mistake(
    "shift_targets",
    "The last word of the prompt is asked for as well. Targets begin at position prompt_length − 1.",
)
def one_too_early(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, pad_id, ignore_index, first=-2)


@mistake("shift_targets", "Padding is a target here: ignore positions whose next token is padding.")
def padding_not_ignored(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, pad_id, ignore_index, keep_pad=True)


@mistake(
    "shift_targets",
    "After the end of sequence one padding is still asked for: look at the next token, not at this one.",
)
def one_padding_left(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = padding_not_ignored(token_ids, prompt_lengths, pad_id, ignore_index)
    return torch.where(token_ids == pad_id, ignore_index, targets)


@mistake("shift_targets", "The end of sequence is a target too: the model has to learn when to stop.")
def end_ignored(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = _changed_targets(token_ids, prompt_lengths, pad_id, ignore_index)
    last = (token_ids != pad_id).sum(1, keepdim=True) - 2
    return torch.where(torch.arange(token_ids.shape[-1]) >= last, ignore_index, targets)


@mistake(
    "shift_targets",
    "torch.roll brings the first token to the end. The last column has no next token: ignore it.",
)
def wraps_around(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths, pad_id, ignore_index, last_column=token_ids[:, :1])


@mistake("shift_targets", "One prompt length is used for the whole batch; each row has its own.")
def one_length_for_all(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _changed_targets(token_ids, prompt_lengths[:1].expand_as(prompt_lengths), pad_id, ignore_index)


OPTIONS_ARE_USED = Check(
    name="options",
    title="pad_id and ignore_index are used",
    points=2,
    needs=("values",),
    probe=targets_with_options,
    examples=trials(draw_sequences_and_options, dict(sequences=3, tokens=5, pad_id=9, ignore_index=-1)),
    trials=trials(
        draw_sequences_and_options,
        dict(sequences=5, tokens=7, pad_id=3, ignore_index=-7),
        dict(sequences=7, tokens=5, pad_id=-1, ignore_index=-5),
    ),
)
TARGETS_CONDUCT = Check(
    name="conduct",
    title="token_ids stay as they are",
    points=1,
    needs=("values",),
    probe=targets_purity,
    trials=trials(draw_sequences, dict(sequences=5, tokens=11)),
)
TARGETS = Exercise(
    id="3.5",
    title="What to learn: the next word of the answer",
    reference=(shift_targets,),
    points=10,
    difficulty=2,
    minutes=8,
    checks=(
        StandardChecks(reference=shift_targets, returns=("targets",), draw=draw_sequences).values(
            "the answer and its end are targets, nothing else is",
            7,
            examples=[dict(sequences=3, tokens=7)],
            trials=[
                dict(sequences=5, tokens=11),
                dict(sequences=7, tokens=5),
                dict(sequences=1, tokens=3),
                dict(sequences=11, tokens=9),
            ],
        ),
        OPTIONS_ARE_USED,
        TARGETS_CONDUCT,
    ),
    mistakes=mistakes_in(globals(), "shift_targets"),
    writings=(targets_in_loops,),
    stand_in="""
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    following = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], 1)
    place = torch.arange(token_ids.shape[1], device=token_ids.device)
    answers = (following != pad_id) & (place >= prompt_lengths[:, None] - 1)
    answers[:, -1] = False
    return torch.where(answers, following, ignore_index)
""",
    review="What is learned",
)
