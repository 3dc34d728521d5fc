# %% [right] row_by_row | right
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, ignore_index)
    for b in range(B):
        for t in range(max(int(prompt_lengths[b]) - 1, 0), T - 1):
            following = token_ids[b, t + 1]
            if following != pad_id:
                targets[b, t] = following
    return targets

# %% [wrong] starts_at_prompt_length | Off by one: targets are kept from position prompt_length on, so the first word of the answer is never a target.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    pads = torch.full_like(token_ids[:, :1], pad_id)
    targets = torch.cat([token_ids[:, 1:], pads], dim=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1)) & (targets != pad_id)
    return torch.where(keep, targets, ignore_index)

# %% [wrong] padding_kept | Padding is not left out of the targets: pad tokens after the answer are learned.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, :-1] = token_ids[:, 1:]
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    return targets.masked_fill(position < prompt_lengths.unsqueeze(1) - 1, ignore_index)

# %% [wrong] roll_wraps | roll(-1) brings the first token (<bos>) round into the last column, and it is kept as a target where the row is full.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids.roll(-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device).unsqueeze(0)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (targets != pad_id)
    return targets.masked_fill(~keep, ignore_index)

# %% [wrong] pads_by_token | It checks that the token itself is not padding, not its target, so the position of <eos> gets padding as a target.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    pad = torch.full((len(token_ids), 1), pad_id, dtype=token_ids.dtype, device=token_ids.device)
    targets = torch.cat([token_ids[:, 1:], pad], 1)
    t = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (t >= prompt_lengths[:, None] - 1) & (token_ids != pad_id)
    return torch.where(keep, targets, ignore_index)

# %% [wrong] not_shifted | The tokens are not shifted: the target of a position is the token that stands there.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1)) & (token_ids != pad_id)
    return token_ids.masked_fill(~keep, ignore_index)

# %% [wrong] first_length_for_all | The prompt length of the first row is used for all rows.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    start = int(prompt_lengths[0]) - 1
    targets[:, :start] = ignore_index
    targets[targets == pad_id] = ignore_index
    return targets

# %% [wrong] hard_coded_ids | Padding 0 and -100 are written into the code, so the arguments pad_id and ignore_index do nothing.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.cat([token_ids[:, 1:], torch.zeros_like(token_ids[:, :1])], 1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (targets != 0)
    return torch.where(keep, targets, -100)

# %% [wrong] in_place | It shifts and overwrites token_ids in place, so the caller's batch is destroyed.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    token_ids[:, :-1] = token_ids[:, 1:].clone()
    token_ids[:, -1] = pad_id
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    drop = (position < prompt_lengths.unsqueeze(1) - 1) | (token_ids == pad_id)
    token_ids[drop] = ignore_index
    return token_ids

# %% [wrong] one_column_short | The result has only T - 1 columns: the last column is not filled up.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids[:, 1:].clone()
    position = torch.arange(targets.shape[1], device=token_ids.device)
    targets[position < prompt_lengths.unsqueeze(1) - 1] = ignore_index
    targets[targets == pad_id] = ignore_index
    return targets

# %% [wrong] eos_dropped | <eos> is dropped from the targets: the last real token of each row is excluded, so the model never learns to stop.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], 1)
    lengths = (token_ids != pad_id).sum(1, keepdim=True)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (position < lengths - 2)
    return torch.where(keep, targets, ignore_index)
