# %% [wrong] one_too_late | keeps targets from position prompt_length on instead of prompt_length - 1: the first word of the answer is never a target
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, ignore_index)
    for b in range(B):
        for t in range(int(prompt_lengths[b]), T - 1):
            following = token_ids[b, t + 1]
            if following != pad_id:
                targets[b, t] = following
    return targets


# %% [wrong] rolled_round | torch.roll brings the first token round into the last column, and nothing removes it: a row without padding gets <bos> as its last target
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.roll(token_ids, shifts=-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (targets != pad_id)
    return targets.masked_fill(~keep, ignore_index)


# %% [wrong] writes_into_the_input | `targets = token_ids` is the same tensor, not a copy: shifting and masking change the caller's tokens
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids
    targets[:, :-1] = token_ids[:, 1:].clone()
    targets[:, -1] = pad_id
    place = torch.arange(targets.shape[1], device=targets.device)[None, :]
    targets[place < prompt_lengths[:, None] - 1] = ignore_index
    targets[targets == pad_id] = ignore_index
    return targets


# %% [wrong] padding_of_the_token | looks for padding in the token itself, not in its target: the position of <eos> keeps <pad> as a target
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], ignore_index)], dim=1)
    position = torch.arange(token_ids.size(1), device=token_ids.device).expand_as(token_ids)
    in_answer = position >= (prompt_lengths - 1)[:, None]
    is_padding = token_ids == pad_id
    return torch.where(in_answer & ~is_padding, shifted, torch.full_like(shifted, ignore_index))


# %% [wrong] arguments_not_used | 0 and -100 are written into the code: pad_id and ignore_index are accepted and ignored, so any other value gives wrong targets
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    nxt = F.pad(token_ids[:, 1:], (0, 1))
    start = (prompt_lengths - 1).reshape(-1, 1)
    column = torch.ones_like(token_ids).cumsum(1) - 1
    learn = (column >= start) * (nxt != 0)
    return nxt * learn - 100 * (~learn)


# %% [right] answer_by_answer | row by row: the slice of the answer is written one place earlier into a row of ignore_index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    for ids, goal, length in zip(token_ids, targets, prompt_lengths.tolist()):
        start = max(length - 1, 0)
        answer = ids[start + 1 :]
        goal[start : start + len(answer)] = torch.where(answer == pad_id, torch.full_like(answer, ignore_index), answer)
    return targets
