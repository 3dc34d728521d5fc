# %% [wrong] not_shifted | the targets are the tokens themselves where the answer stands, without the shift by one: position 6 says top-left in place of position 5, and the model would learn to copy
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    place = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (place >= prompt_lengths.unsqueeze(1)) & (token_ids != pad_id)
    return token_ids.masked_fill(~keep, ignore_index)

# %% [wrong] first_word_lost | it keeps positions from prompt_length on, not from prompt_length − 1, so the first word of the answer is no target
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    following = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    where = torch.arange(T, device=token_ids.device).expand(B, T)
    good = (where >= prompt_lengths[:, None]) & (following != pad_id)
    return torch.where(good, following, torch.full_like(following, ignore_index))

# %% [wrong] rolled_round | torch.roll brings the first token of the row to the last column; <bos> becomes a target there when the row has no padding, where the last column should have none
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    nxt = torch.roll(token_ids, -1, dims=1)
    t = torch.arange(token_ids.shape[1], device=token_ids.device)[None, :]
    ignored = (t < prompt_lengths[:, None] - 1) | (nxt == pad_id) | (token_ids == pad_id)
    return nxt.masked_fill(ignored, ignore_index)

# %% [wrong] one_column_short | only T − 1 columns come back (token_ids[:, 1:]); the last column should be there, filled with ignore_index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids[:, 1:].clone()
    place = torch.arange(targets.shape[1], device=targets.device)
    targets[(place[None] < prompt_lengths[:, None] - 1) | (targets == pad_id)] = ignore_index
    return targets

# %% [wrong] overwrites_the_batch | the shift is written into token_ids itself: the caller's batch is changed, and the model then reads targets in place of its words
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    T = token_ids.shape[1]
    for b in range(len(token_ids)):
        for t in range(T):
            following = token_ids[b, t + 1].item() if t + 1 < T else pad_id
            inside = t >= int(prompt_lengths[b]) - 1
            token_ids[b, t] = following if inside and following != pad_id else ignore_index
    return token_ids

# %% [wrong] fixed_numbers | padding is compared with 0 and ignored places get −100 whatever pad_id and ignore_index say; both arguments are never used
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = torch.zeros_like(token_ids)
    shifted[:, :-1] = token_ids[:, 1:]
    places = torch.arange(token_ids.shape[1], device=token_ids.device)
    answer = places.unsqueeze(0) >= (prompt_lengths - 1).unsqueeze(1)
    return torch.where(answer & (shifted != 0), shifted, -100)

# %% [right] filled_from_the_kept | a tensor full of ignore_index gets the next tokens where a bool mask of T − 1 columns allows
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    following = token_ids[:, 1:]
    number = torch.arange(1, token_ids.shape[1], device=token_ids.device)  # of the token that follows
    answer = number.ge(prompt_lengths.unsqueeze(1)) & following.ne(pad_id)
    targets[:, :-1] = torch.where(answer, following, targets[:, 1:])
    return targets
