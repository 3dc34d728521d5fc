# %% [wrong] roll_brings_the_start_back | Shifts with roll, which brings the first token back into the last column. Where a row is full to the end the last column gets <bos> as its target; it has no next token and should be ignored.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = torch.roll(token_ids, shifts=-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1) - 1) & (shifted != pad_id)
    return torch.where(keep, shifted, ignore_index)


# %% [wrong] one_column_short | Returns the shifted tokens without the last column, (B, T - 1). Asked for are (B, T), a target or ignore_index for every position.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    labels = token_ids[:, 1:].clone()
    t = torch.arange(labels.size(1), device=labels.device)[None, :]
    labels[t < prompt_lengths[:, None] - 1] = ignore_index
    labels[labels == pad_id] = ignore_index
    return labels


# %% [wrong] padding_is_always_zero | Takes 0 for padding whatever pad_id says. With the default nothing is seen of it; with another pad_id the padding becomes a target, and the word 0 is left out.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    nxt = torch.zeros_like(token_ids)
    nxt[:, :-1] = token_ids[:, 1:]
    pos = torch.arange(T, device=token_ids.device).expand(B, T)
    is_answer = pos >= (prompt_lengths - 1).unsqueeze(-1)
    return nxt.masked_fill(~(is_answer & (nxt != 0)), ignore_index)


# %% [wrong] one_position_too_late | Begins at position prompt_length and not one before it. The first word of the answer is never a target: of the table's row only <eos> is left.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    for row in range(token_ids.shape[0]):
        start = int(prompt_lengths[row])
        for t in range(start, token_ids.shape[1] - 1):
            if token_ids[row, t + 1] != pad_id:
                targets[row, t] = token_ids[row, t + 1]
    return targets


# %% [wrong] the_first_prompt_counts_for_all | Takes the length of the first prompt for the whole batch. With prompts of different lengths, rows lose the beginning of their answer or get words of the question as targets.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    pad_column = torch.full_like(token_ids[:, :1], pad_id)
    targets = torch.cat([token_ids[:, 1:], pad_column], dim=1)
    targets[targets == pad_id] = ignore_index
    targets[:, : prompt_lengths[0] - 1] = ignore_index
    return targets


# %% [right] written_to_their_places | Finds the places of all answer tokens with nonzero and writes each of them one column to the left into a tensor full of ignore_index.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    places = torch.arange(token_ids.size(1), device=token_ids.device).unsqueeze(0)
    learned = (places >= prompt_lengths.reshape(-1, 1)) & (places > 0) & token_ids.ne(pad_id)
    rows, columns = learned.nonzero(as_tuple=True)
    targets = torch.full_like(token_ids, ignore_index)
    targets[rows, columns - 1] = token_ids[rows, columns]
    return targets
