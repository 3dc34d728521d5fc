# %% [wrong] begins_one_late | A target is kept from position `prompt_length` on: the last position of the prompt, which predicts the first word of the answer, is left out.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    B, T = token_ids.shape
    nxt = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], dim=1)
    pos = torch.arange(T, device=token_ids.device)
    keep = (pos >= prompt_lengths.unsqueeze(1)) & (nxt != pad_id)
    return nxt.masked_fill(~keep, ignore_index)


# %% [wrong] not_shifted | The tokens are not shifted: each position has itself for a target.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = token_ids.clone()
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    targets[position < prompt_lengths[:, None]] = ignore_index
    targets[token_ids == pad_id] = ignore_index
    return targets


# %% [wrong] rolled_round | `roll` brings the first token round to the last column: a row without padding learns to say <bos> after <eos>.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = token_ids.roll(-1, dims=1)
    t = torch.arange(token_ids.size(1), device=token_ids.device)
    in_answer = t.unsqueeze(0) >= prompt_lengths.unsqueeze(1) - 1
    return torch.where(in_answer & (targets != pad_id), targets, ignore_index)


# %% [wrong] padding_of_the_token | Asks whether the token at a position is padding, not whether its target is: at <eos> the padding that follows stays as a target.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    shifted = F.pad(token_ids[:, 1:], (0, 1), value=pad_id)
    where = torch.arange(token_ids.shape[-1], device=token_ids.device)
    keep = where >= (prompt_lengths - 1).unsqueeze(-1)
    keep = keep & (token_ids != pad_id)
    return shifted.masked_fill(~keep, ignore_index)


# %% [wrong] first_length_for_all | The length of the first prompt is taken for all rows.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    out = torch.full_like(token_ids, ignore_index)
    start = int(prompt_lengths[0]) - 1
    out[:, start:-1] = token_ids[:, start + 1:]
    out[out == pad_id] = ignore_index
    return out


# %% [wrong] one_column_short | The last column is cut off and not filled: (B, T − 1) in place of (B, T).
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    target = token_ids[:, 1:].clone()
    position = torch.arange(target.shape[1], device=target.device)
    target[position < prompt_lengths.unsqueeze(1) - 1] = ignore_index
    target[target == pad_id] = ignore_index
    return target


# %% [right] row_by_row_lists | Goes row by row over Python lists, with the next token from `zip`, and makes one tensor at the end.
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    rows = []
    for tokens, length in zip(token_ids.tolist(), prompt_lengths.tolist()):
        following = tokens[1:] + [pad_id]
        rows.append(
            [after if t + 1 >= length and after != pad_id else ignore_index for t, after in enumerate(following)]
        )
    return torch.tensor(rows, dtype=token_ids.dtype, device=token_ids.device).reshape(token_ids.shape)
