# %% [wrong] first_token_wraps_around | torch.roll brings the first token of a row into its last column. Where a row has no padding at its end, <bos> becomes a target there; the last column has no next token and must be ignored.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    following = token_ids.roll(-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    answer = position >= prompt_lengths.unsqueeze(1) - 1
    real = (token_ids != pad_id) & (following != pad_id)
    return following.masked_fill(~(answer & real), ignore_index)


# %% [wrong] first_prompt_length_for_all_rows | The answer is taken to begin at the same place in every row, that of the first one. Each row has its own prompt length: compare the positions with prompt_lengths.unsqueeze(1) - 1.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, pad_id)
    targets[:, :-1] = token_ids[:, 1:]
    start = int(prompt_lengths[0]) - 1
    targets[:, :start] = ignore_index
    targets[targets == pad_id] = ignore_index
    return targets
