# %% [wrong] first_word_lost | keeps positions from prompt_length on instead of prompt_length − 1: the last word of the prompt predicts nothing, and the first word of the answer is never learned
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    B, T = token_ids.shape
    targets = torch.full_like(token_ids, ignore_index)
    for b in range(B):
        for t in range(int(prompt_lengths[b]), T - 1):
            if token_ids[b, t + 1] != pad_id:
                targets[b, t] = token_ids[b, t + 1]
    return targets


# %% [wrong] roll_goes_round | the copy is shifted with roll and the last column is not mended: it gets the first token, <bos>, as a target though it has no next token
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    shifted = torch.roll(token_ids, shifts=-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    in_answer = position >= prompt_lengths.unsqueeze(1) - 1
    return torch.where(in_answer & (shifted != pad_id), shifted, ignore_index)


# %% [wrong] padding_seen_in_the_input | padding is looked for in the tokens and not in the targets: at <eos> the target is <pad>, which stays in as something to learn
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = F.pad(token_ids[:, 1:], (0, 1), value=ignore_index)
    position = torch.arange(token_ids.size(1), device=token_ids.device).unsqueeze(0)
    nothing = (position < prompt_lengths.unsqueeze(1) - 1) | (token_ids == pad_id)
    return targets.masked_fill(nothing, ignore_index)


# %% [wrong] one_prompt_length_for_all | the prompt length of the first row is used for every row of the batch
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    start = int(prompt_lengths[0]) - 1
    targets = token_ids.new_full(token_ids.shape, ignore_index)
    targets[:, start:-1] = token_ids[:, start + 1 :]
    targets[targets == pad_id] = ignore_index
    return targets


# %% [wrong] constants_for_the_arguments | 0 and −100 are written into the code, pad_id and ignore_index are not used: wrong for any other values
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    last = torch.zeros_like(token_ids[:, :1])
    nxt = torch.cat([token_ids[:, 1:], last], dim=1)
    t = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (t[None, :] >= (prompt_lengths - 1)[:, None]) & (nxt != 0)
    return torch.where(keep, nxt, torch.full_like(nxt, -100))


# %% [right] kept_tokens_move_left | decides on the side of the tokens which of them are targets at all, and moves those one place to the left into a table of ignore_index
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    place = torch.arange(token_ids.shape[1], device=token_ids.device).expand_as(token_ids)
    is_target = (place >= prompt_lengths.view(-1, 1)) & (token_ids != pad_id) & (place > 0)
    row, column = is_target.nonzero(as_tuple=True)
    table = torch.full_like(token_ids, ignore_index)
    table[row, column - 1] = token_ids[row, column]
    return table
