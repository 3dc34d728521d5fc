# %% [wrong] one_position_late | Keeps targets from position prompt_length on, one too late: the first word of the answer is never a target.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1)) & (targets != pad_id)
    return torch.where(keep, targets, ignore_index)

# %% [wrong] rolled_around | Shifts with roll and leaves the last column as it comes: there the first word of the prompt becomes a target.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids.roll(-1, dims=1)
    t = torch.arange(targets.size(1), device=targets.device).expand_as(targets)
    drop = (t < prompt_lengths[:, None] - 1) | (targets == pad_id)
    return targets.masked_fill(drop, ignore_index)

# %% [wrong] padding_of_the_input | Leaves out positions whose own token is padding, in place of those whose target is: after <eos> it learns to write <pad>.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    last = token_ids.new_full((B, 1), ignore_index)
    targets = torch.cat([token_ids[:, 1:], last], dim=1)
    in_answer = torch.arange(T, device=token_ids.device)[None] >= prompt_lengths[:, None] - 1
    return torch.where(in_answer & (token_ids != pad_id), targets, torch.full_like(targets, ignore_index))

# %% [wrong] fixed_numbers | Uses 0 and −100 in place of pad_id and ignore_index, so other values of the two are not heard.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    out = torch.full_like(token_ids, -100)
    for b, length in enumerate(prompt_lengths.tolist()):
        for t in range(length - 1, token_ids.shape[1] - 1):
            if token_ids[b, t + 1] != 0:
                out[b, t] = token_ids[b, t + 1]
    return out

# %% [wrong] one_prompt_for_all | Takes the prompt length of the first row for all rows.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    start = int(prompt_lengths[0]) - 1
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, start:-1] = token_ids[:, start + 1 :]
    targets[targets == pad_id] = ignore_index
    return targets

# %% [wrong] answer_not_shifted | Masks the prompt but does not shift: each position gets its own token as target in place of the next one.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    positions = torch.arange(token_ids.shape[-1], device=token_ids.device).unsqueeze(0)
    answer = positions >= prompt_lengths.unsqueeze(-1)
    return token_ids.masked_fill(~answer | (token_ids == pad_id), ignore_index)

# %% [right] mask_first_then_shift | Blanks prompt and padding in place of the tokens first, then shifts that by one column.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    counted = torch.ones_like(token_ids).cumsum(1)  # 1 for the first column
    kept = token_ids.masked_fill(counted.le(prompt_lengths.view(-1, 1)) | token_ids.eq(pad_id), ignore_index)
    return torch.cat((kept[:, 1:], torch.full_like(kept[:, :1], ignore_index)), dim=1)
