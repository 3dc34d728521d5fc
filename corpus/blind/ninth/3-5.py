# %% [wrong] begins_one_too_late | Targets are kept from position prompt_length on. The last position of the prompt, prompt_length − 1, already predicts the first word of the answer. That first word is missing among the targets.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    following = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths.unsqueeze(1)) & (following != pad_id)
    return following.masked_fill(~keep, ignore_index)

# %% [wrong] roll_brings_the_start_back | roll(-1) puts the first token behind the last one. The last column has no next token and should be ignored. In a row without padding <bos> becomes a target there.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    nxt = token_ids.roll(-1, dims=1)
    steps = torch.arange(token_ids.size(1), device=token_ids.device).expand_as(token_ids)
    is_answer = steps >= prompt_lengths[:, None] - 1
    return torch.where(is_answer & nxt.ne(pad_id), nxt, ignore_index)

# %% [wrong] longest_prompt_for_all | One start is used for the whole batch, that of the longest prompt. Each row has its own prompt length. Rows with a shorter prompt lose the first words of their answer.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    start = int(prompt_lengths.max()) - 1
    targets = token_ids.new_full((B, T), ignore_index)
    targets[:, start:-1] = token_ids[:, start + 1 :]
    targets[targets == pad_id] = ignore_index
    return targets

# %% [wrong] looks_for_padding_in_the_tokens | Positions are dropped where the token itself is padding. They should be dropped where the next one, the target, is. At <eos> the padding becomes a target, and the model learns to say <pad>.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    column = token_ids.new_full((len(token_ids), 1), ignore_index)
    targets = torch.cat([token_ids[:, 1:], column], dim=1)
    t = torch.arange(token_ids.shape[1], device=token_ids.device)[None]
    in_prompt = t < prompt_lengths[:, None] - 1
    targets = targets.masked_fill(in_prompt, ignore_index)
    return targets.masked_fill(token_ids == pad_id, ignore_index)

# %% [wrong] writes_into_the_batch | The next tokens are a view of token_ids, and −100 is written into it. A copy should be made first. The result is right, but the caller's token ids are ruined.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    upcoming = token_ids[:, 1:]
    for row, length in zip(upcoming, prompt_lengths.tolist()):
        row[: length - 1] = ignore_index
        row[row == pad_id] = ignore_index
    return F.pad(upcoming, (0, 1), value=ignore_index)

# %% [wrong] tilde_on_integers | The choice is made by arithmetic with ~keep, but keep was turned into integers, where ~0 is −1 and ~1 is −2. It should stay bool, or be 1 − keep. Ignored positions get +100, and kept targets get 200 added.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, pad_id)
    targets[:, : T - 1] = token_ids[:, 1:]
    late_enough = torch.arange(1, T + 1, device=token_ids.device) >= prompt_lengths.view(B, 1)
    keep = (late_enough * (targets != pad_id)).long()
    return targets * keep + ignore_index * ~keep

# %% [right] row_by_row_with_lists | Plain Python over rows and positions, then one tensor at the end.
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    rows = []
    for words, length in zip(token_ids.tolist(), prompt_lengths.tolist()):
        rows.append(
            [
                word if place + 1 >= length and word != pad_id else ignore_index
                for place, word in enumerate(words[1:] + [pad_id])
            ]
        )
    return torch.tensor(rows, dtype=token_ids.dtype, device=token_ids.device).reshape(token_ids.shape)
