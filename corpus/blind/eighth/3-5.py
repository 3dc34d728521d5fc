# %% [wrong] rolled_round | torch.roll brings the first token into the last column, where it is kept as a target; the last column has no next token and should be ignored. Each row learns to say <bos> at its end.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    following = token_ids.roll(-1, dims=1)
    place = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (place >= prompt_lengths.unsqueeze(1) - 1) & (following != pad_id)
    return following.masked_fill(~keep, ignore_index)

# %% [wrong] one_column_short | The last column is cut off, (B, T − 1), as other programs do; the result should be (B, T), with ignore_index in the last column. It does not fit the logits.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids[:, 1:].clone()
    place = torch.arange(targets.shape[1], device=targets.device)
    targets[place < prompt_lengths[:, None] - 1] = ignore_index
    targets[token_ids[:, 1:] == pad_id] = ignore_index
    return targets

# %% [wrong] padding_is_always_zero | Padding is recognised by 0 in place of pad_id. Right for the default; with another pad_id the padding becomes a target, and a word with the number 0 is lost.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = F.pad(token_ids[:, 1:], (0, 1), value=0)
    answer = torch.arange(shifted.shape[1], device=shifted.device) + 1 >= prompt_lengths.unsqueeze(-1)
    return torch.where(answer & shifted.bool(), shifted, torch.full_like(shifted, ignore_index))

# %% [wrong] the_end_is_no_target | <eos> is ignored like padding (target != EOS); it should be a target. The model never learns to stop.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    padding = token_ids.new_full((B, 1), pad_id)
    target = torch.cat([token_ids[:, 1:], padding], dim=1)
    in_answer = torch.arange(T, device=token_ids.device) >= (prompt_lengths - 1)[:, None]
    a_word = (target != pad_id) & (target != EOS)
    return target.masked_fill(~(in_answer & a_word), ignore_index)

# %% [wrong] padding_sought_in_the_input | It is asked whether the token itself is padding; it should be asked of the target, the token after it. At <eos> the target is padding and stays, so the model learns to say <pad>.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    targets[:, :-1] = token_ids[:, 1:]
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    learn = (position >= prompt_lengths[:, None] - 1) & (token_ids != pad_id)
    return torch.where(learn, targets, ignore_index)

# %% [wrong] the_batch_itself_is_shifted | targets is the same tensor as token_ids, and is shifted and masked in place; it should be a copy. The targets are right, but the caller's token ids are overwritten with −100.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = token_ids
    targets[:, :-1] = token_ids[:, 1:].clone()
    targets[:, -1] = pad_id
    early = torch.arange(targets.shape[1], device=targets.device) < prompt_lengths.unsqueeze(1) - 1
    targets[early | (targets == pad_id)] = ignore_index
    return targets

# %% [right] padded_then_chosen | The shift is one F.pad, and the positions before the answer are counted with a cumulative sum.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    target = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    read = torch.ones_like(token_ids).cumsum(dim=1)  # how many tokens have been read: 1, 2, … T
    predicts = (read >= prompt_lengths.unsqueeze(1)) & (target != pad_id)
    return target.masked_fill(predicts.logical_not(), ignore_index)
