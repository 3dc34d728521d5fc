# %% [wrong] rolled_round | torch.roll brings the first token, <bos>, into the last column, where there is no next token; it is no padding, so it becomes a target. The last column must be ignored.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    following = token_ids.roll(-1, dims=1)
    t = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (t >= prompt_lengths.unsqueeze(1) - 1) & (following != pad_id)
    return following.masked_fill(~keep, ignore_index)

# %% [wrong] padding_of_the_wrong_token | The padding is looked for in the token that stands there and not in the target, so the position of <eos> keeps its target, which is padding.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, :-1] = token_ids[:, 1:]
    position = torch.arange(T, device=token_ids.device)
    drop = (position < prompt_lengths[:, None] - 1) | (token_ids == pad_id)
    targets[drop] = ignore_index
    return targets

# %% [wrong] always_minus_hundred | −100 is written into the code, and ignore_index is not used; with another ignore_index the wrong number stands at the ignored positions.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    place = torch.arange(token_ids.shape[1], device=token_ids.device)
    answer = place >= (prompt_lengths - 1).unsqueeze(-1)
    return torch.where(answer & (shifted != pad_id), shifted, -100)

# %% [wrong] one_column_short | The result is token_ids[:, 1:] with some places ignored, (B, T − 1); it must be (B, T), with the last column ignored, to lie beside the logits.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    nxt = token_ids[:, 1:]
    pos = torch.arange(nxt.shape[1], device=nxt.device).unsqueeze(0)
    valid = (pos >= prompt_lengths.unsqueeze(1) - 1) & (nxt != pad_id)
    return nxt.masked_fill(~valid, ignore_index)

# %% [wrong] shifted_in_place | The shift is written into token_ids itself, so the caller's tokens are changed; the model that reads them afterwards already gets the answer. It needs a copy.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids
    targets[:, :-1] = token_ids[:, 1:].clone()
    targets[:, -1] = pad_id
    place = torch.arange(targets.shape[1], device=targets.device)
    keep = (place >= prompt_lengths[:, None] - 1) & (targets != pad_id)
    return torch.where(keep, targets, ignore_index)

# %% [wrong] one_prompt_length_for_all | The prompt length of the first row is used for every row; each row has its own, so targets of other rows are missing or begin within the question.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    start = int(prompt_lengths[0]) - 1
    targets = torch.full_like(token_ids, ignore_index)
    answers = token_ids[:, start + 1 :]
    targets[:, start:-1] = answers.masked_fill(answers == pad_id, ignore_index)
    return targets

# %% [right] full_then_copied | begins with ignore_index everywhere and copies the wanted tokens by one bool index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    after = token_ids[:, 1:]
    place = torch.arange(1, token_ids.shape[1], device=token_ids.device)  # where the next token itself stands
    wanted = torch.ge(place, prompt_lengths.unsqueeze(-1)) & after.ne(pad_id)
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, :-1][wanted] = after[wanted]
    return targets
