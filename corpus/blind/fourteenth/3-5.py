# %% [wrong] first_rows_prompt_for_all | The length of the first row's prompt is used for all rows, though each has its own.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    begin = int(prompt_lengths[0]) - 1
    targets = targets.masked_fill(targets == pad_id, ignore_index)
    targets[:, :begin] = ignore_index
    return targets

# %% [wrong] rolled_round_the_end | roll brings the first token of a row to its end, and the last column keeps it as a target; it has no next token.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    following = token_ids.roll(-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (following != pad_id)
    return torch.where(keep, following, ignore_index)

# %% [wrong] minus_one_hundred_by_hand | −100 is written out, and the argument ignore_index is never used.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, -100)
    for b in range(B):
        for t in range(int(prompt_lengths[b]) - 1, T - 1):
            if token_ids[b, t + 1] != pad_id:
                targets[b, t] = token_ids[b, t + 1]
    return targets
