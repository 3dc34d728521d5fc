# %% [wrong] first_word_missed | Off by one: targets are kept from position prompt_length on, not from prompt_length − 1, so the first word of the answer is never learned.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    B, T = token_ids.shape
    shifted = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], dim=1)
    position = torch.arange(T, device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1)) & (shifted != pad_id)
    return torch.where(keep, shifted, ignore_index)
# %% [wrong] not_shifted | The tokens are not shifted: each position's target is its own token and not the next one.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    targets = token_ids.clone()
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    targets[position < (prompt_lengths - 1)[:, None]] = ignore_index
    targets[token_ids == pad_id] = ignore_index
    return targets
# %% [wrong] shifted_backwards | The tokens are shifted in the wrong direction (roll by +1): each position gets the token before it.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    T = token_ids.shape[1]
    shifted = token_ids.roll(1, dims=1)
    pos = torch.arange(T, device=token_ids.device).unsqueeze(0)
    keep = (pos >= prompt_lengths.unsqueeze(1) - 1) & (shifted != pad_id)
    return shifted.masked_fill(~keep, ignore_index)
# %% [wrong] roll_wraps_around | roll(-1) carries the first token round to the last column, which is not reset: a row without padding gets <bos> as its last target.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    shifted = torch.roll(token_ids, shifts=-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (token_ids != pad_id) & (shifted != pad_id)
    return torch.where(keep, shifted, torch.full_like(shifted, ignore_index))
# %% [wrong] eos_left_out | The end of the sequence is taken out of the targets as well: each row's last real token gets ignore_index, so the model never learns to stop.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, ignore_index)
    lengths = (token_ids != pad_id).sum(dim=1)
    for b in range(B):
        # from the last prompt position to the one before <eos>
        for t in range(int(prompt_lengths[b]) - 1, int(lengths[b]) - 2):
            targets[b, t] = token_ids[b, t + 1]
    return targets
# %% [wrong] pad_hard_coded | The padding is taken to be 0: the argument pad_id is ignored.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    shifted = F.pad(token_ids[:, 1:], (0, 1))
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (shifted != 0)
    return shifted.masked_fill(~keep, ignore_index)
# %% [wrong] ignore_hard_coded | -100 is written into the targets whatever ignore_index says: the argument is not used.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    targets = token_ids.roll(-1, 1)
    targets[:, -1] = pad_id
    t = torch.arange(token_ids.size(1), device=token_ids.device)
    targets[(t < prompt_lengths[:, None] - 1) | (targets == pad_id)] = -100
    return targets
# %% [wrong] padding_kept | The padding stays among the targets: only the question is masked.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    B, T = token_ids.shape
    targets = torch.full((B, T), ignore_index, dtype=token_ids.dtype, device=token_ids.device)
    targets[:, :-1] = token_ids[:, 1:]
    question = torch.arange(T, device=token_ids.device) < prompt_lengths.unsqueeze(1) - 1
    return targets.masked_fill(question, ignore_index)
# %% [wrong] question_kept | The words of the question stay among the targets: prompt_lengths is not used at all.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    nxt = torch.cat([token_ids[:, 1:], token_ids.new_full((token_ids.shape[0], 1), pad_id)], 1)
    return torch.where(nxt == pad_id, ignore_index, nxt)
# %% [wrong] first_rows_length | The prompt length of the first row is used for all rows.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    length = int(prompt_lengths[0])
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, length - 1 : -1] = token_ids[:, length:]
    targets[targets == pad_id] = ignore_index
    return targets
# %% [wrong] changes_token_ids | The shift is written into token_ids itself, so the caller's tokens are changed.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    targets = token_ids
    targets[:, :-1] = token_ids[:, 1:].clone()
    targets[:, -1] = pad_id
    steps = torch.arange(targets.shape[1], device=targets.device)
    keep = (steps >= (prompt_lengths - 1).unsqueeze(-1)) & (targets != pad_id)
    targets[~keep] = ignore_index
    return targets
# %% [wrong] lengths_not_unsqueezed | prompt_lengths (B,) is compared with the positions (T,) without unsqueeze: it raises, or mixes up rows and positions where B equals T.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    B, T = token_ids.shape
    shifted = torch.full_like(token_ids, pad_id)
    shifted[:, :-1] = token_ids[:, 1:]
    keep = (torch.arange(T, device=token_ids.device) >= prompt_lengths - 1) & (shifted != pad_id)
    return torch.where(keep, shifted, ignore_index)
# %% [wrong] tests_current_token_for_padding | Whether a position is padding is tested on the token itself, not on its target: at <eos> the padding after it stays as a target.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    B, T = token_ids.shape
    shifted = torch.cat([token_ids[:, 1:], token_ids.new_full((B, 1), ignore_index)], dim=1)
    keep = (torch.arange(T, device=token_ids.device) >= prompt_lengths.view(-1, 1) - 1) & (token_ids != pad_id)
    return torch.where(keep, shifted, ignore_index)
# %% [wrong] one_column_short | The last column is dropped: (B, T − 1) comes back where (B, T) is asked for.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    targets = token_ids[:, 1:].clone()
    pos = torch.arange(targets.shape[1], device=targets.device)
    targets[pos < prompt_lengths.unsqueeze(1) - 1] = ignore_index
    targets[targets == pad_id] = ignore_index
    return targets
# %% [wrong] keep_inverted | The mask is the wrong way round: the targets of the answer are ignored, and question and padding are kept.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    shifted = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (shifted != pad_id)
    return shifted.masked_fill(keep, ignore_index)
# %% [wrong] float_targets | The result is made as a tensor of floats, not of integers as token ids are; cross_entropy cannot use it.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    B, T = token_ids.shape
    out = torch.ones(B, T, device=token_ids.device) * ignore_index
    for b in range(B):
        for t in range(prompt_lengths[b] - 1, T - 1):
            if token_ids[b, t + 1] != pad_id:
                out[b, t] = token_ids[b, t + 1]
    return out
# %% [wrong] filled_with_pad | Positions that predict nothing get pad_id in place of ignore_index, so cross_entropy would count them.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    shifted = torch.cat((token_ids[:, 1:], torch.full_like(token_ids[:, -1:], pad_id)), dim=-1)
    position = torch.arange(token_ids.shape[-1], device=token_ids.device)[None]
    return shifted.masked_fill(position < prompt_lengths[:, None] - 1, pad_id)
# %% [wrong] one_prompt_word_too_many | Off by one the other way: the targets begin at prompt_length − 2, so the last word of the question is learned, too.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    T = token_ids.shape[1]
    shifted = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], dim=1)
    position = torch.arange(1, T + 1, device=token_ids.device)
    answer = position > prompt_lengths.unsqueeze(1) - 2
    return torch.where(answer & (shifted != pad_id), shifted, ignore_index)
# %% [wrong] returns_the_mask | What comes back is the bool mask of kept positions, not the targets: half finished.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    shifted = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    keep = torch.arange(token_ids.shape[1], device=token_ids.device) >= prompt_lengths[:, None] - 1
    keep = keep & (shifted != pad_id)
    return keep
# %% [wrong] unshifted_and_padding_kept | The tokens are not shifted to the next one AND the padding stays among the targets.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    t = torch.arange(token_ids.shape[1], device=token_ids.device).unsqueeze(0)
    return torch.where(t >= prompt_lengths.unsqueeze(1) - 1, token_ids, ignore_index)
# %% [right] masks_before_shifting | Masks the tokens themselves first, by their own positions, and shifts the masked copy afterwards.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    T = token_ids.shape[1]
    own = torch.arange(T, device=token_ids.device)
    labels = token_ids.clone()
    labels[own < prompt_lengths.unsqueeze(1)] = ignore_index     # the question
    labels[token_ids == pad_id] = ignore_index                   # padding
    return F.pad(labels[:, 1:], (0, 1), value=ignore_index)
# %% [right] plain_loops | Two loops in plain Python, over rows and positions.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = torch.full_like(token_ids, ignore_index)
    B, T = token_ids.shape
    for row in range(B):
        start = int(prompt_lengths[row]) - 1
        for t in range(max(start, 0), T - 1):
            upcoming = int(token_ids[row, t + 1])
            if upcoming != pad_id:
                targets[row, t] = upcoming
    return targets
# %% [right] empty_then_boolean_copy | Starts from a tensor full of ignore_index, and copies the kept targets with a boolean index on slices.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """The next token, where it belongs to the answer or ends it; ignore_index elsewhere.

    Args:
        token_ids: (B, T) prompt, answer, end of sequence, padding
        prompt_lengths: (B,) integers

    Returns:
        (B, T)
    """
    following = token_ids[:, 1:]
    number_of_next = torch.arange(1, token_ids.shape[1], device=token_ids.device).expand_as(following)
    in_answer = number_of_next.ge(prompt_lengths[:, None])
    real = following.ne(pad_id)
    result = token_ids.new_full(token_ids.shape, ignore_index)
    result[:, :-1][in_answer & real] = following[in_answer & real]
    return result
