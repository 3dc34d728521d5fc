# %% [wrong] rolled_around_the_end | torch.roll brings the first token, <bos>, to the last column, where it counts as a target. The last column has no next token and should hold ignore_index.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = torch.roll(token_ids, shifts=-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (targets != pad_id)
    return targets.masked_fill(~keep, ignore_index)

# %% [wrong] own_token_is_tested_for_padding | A position is kept where its own token is no padding, in place of its target. The <eos> position then keeps padding as its target, and learns to write <pad>.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    B, T = token_ids.shape
    nxt = torch.cat([token_ids[:, 1:], token_ids.new_full((B, 1), pad_id)], dim=1)
    t = torch.arange(T, device=token_ids.device).unsqueeze(0)
    keep = (t >= prompt_lengths.unsqueeze(1) - 1) & (token_ids != pad_id)
    return torch.where(keep, nxt, ignore_index)

# %% [wrong] truth_of_a_token | Padding is recognised by targets.bool(), as the number 0, whatever pad_id says. With another pad_id the padding stays a target, and a word with number 0 is lost.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = F.pad(token_ids[:, 1:], (0, 1), value=0)
    steps = torch.arange(token_ids.size(1), device=token_ids.device)[None, :]
    in_answer = steps >= (prompt_lengths - 1)[:, None]
    keep = in_answer & targets.bool()
    targets[~keep] = ignore_index
    return targets

# %% [wrong] first_row_speaks_for_all | The length of the first prompt is used for every row. In a batch of different questions some rows then learn a word of the question, or miss the first word of the answer; each row has its own length.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = torch.full_like(token_ids, ignore_index)
    start = int(prompt_lengths[0]) - 1
    shifted = token_ids[:, start + 1 :]
    targets[:, start:-1] = torch.where(shifted == pad_id, torch.full_like(shifted, ignore_index), shifted)
    return targets

# %% [wrong] one_position_late | Targets are kept from position prompt_length on. The last word of the prompt predicts the first word of the answer, so it should be prompt_length − 1; now the answer itself is never learned, only its end.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = torch.full_like(token_ids, pad_id)
    shifted[:, :-1] = token_ids[:, 1:]
    positions = torch.arange(token_ids.shape[1], device=token_ids.device)
    is_answer = positions[None] >= prompt_lengths[:, None]
    return torch.where(is_answer & (shifted != pad_id), shifted, torch.full_like(shifted, ignore_index))

# %% [right] row_by_row_in_lists | Plain lists: for each row the tokens behind the prompt are put one place earlier, padding is replaced, and the gaps are filled; one tensor is made at the end.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    rows = []
    for row, length in zip(token_ids.tolist(), prompt_lengths.tolist()):
        wanted = [ignore_index if word == pad_id else word for word in row[length:]]
        rows.append([ignore_index] * (len(row) - len(wanted) - 1) + wanted + [ignore_index])
    return torch.tensor(rows, dtype=token_ids.dtype, device=token_ids.device)
