# %% [wrong] roll_wraps | torch.roll brings the first token round to the last column, so a row that fills all T positions gets <bos> as its last target instead of ignore_index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    following = token_ids.roll(-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (following != pad_id)
    return following.masked_fill(~keep, ignore_index)

# %% [wrong] first_word_lost | The targets begin at position prompt_length instead of prompt_length − 1, so the first word of the answer is never learned
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    nxt = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    t = torch.arange(token_ids.shape[1], device=token_ids.device)
    answer = t[None, :] >= prompt_lengths[:, None]
    return torch.where(answer & (nxt != pad_id), nxt, torch.full_like(nxt, ignore_index))

# %% [wrong] padding_learned | Padding is not taken out: behind <eos> the targets are pad_id instead of ignore_index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, :-1] = token_ids[:, 1:]
    col = torch.arange(token_ids.size(1), device=token_ids.device)
    targets[col < prompt_lengths.unsqueeze(-1) - 1] = ignore_index
    return targets

# %% [wrong] one_column_short | The result is (B, T − 1): the last column is cut off instead of filled with ignore_index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    labels = token_ids[:, 1:].clone()
    pos = torch.arange(labels.shape[1], device=labels.device)
    labels[(pos < prompt_lengths[:, None] - 1) | (labels == pad_id)] = ignore_index
    return labels

# %% [wrong] unshifted | The targets are the tokens themselves from prompt_length on, as Hugging Face's labels are; nothing is shifted by one, so each position is to predict its own token
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    labels = token_ids.clone()
    where = torch.arange(labels.shape[1], device=labels.device).expand_as(labels)
    labels[where < prompt_lengths.unsqueeze(1)] = ignore_index
    labels[token_ids == pad_id] = ignore_index
    return labels

# %% [wrong] constants_inside | −100 is written into the code and the argument ignore_index is never used, so another ignore_index has no effect
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    pad = torch.full((B, 1), pad_id, dtype=token_ids.dtype, device=token_ids.device)
    nxt = torch.cat([token_ids[:, 1:], pad], dim=1)
    drop = torch.arange(T, device=token_ids.device) + 1 < prompt_lengths.view(-1, 1)
    nxt[drop | (nxt == pad_id)] = -100
    return nxt

# %% [right] write_into_empty | starts from a tensor of ignore_index and writes the answer's tokens one column to the left
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    place = torch.arange(1, token_ids.shape[1], device=token_ids.device)  # of the token that is predicted
    following = token_ids[:, 1:]
    wanted = (place >= prompt_lengths.unsqueeze(1)) & (following != pad_id)
    targets[:, :-1][wanted] = following[wanted]
    return targets
