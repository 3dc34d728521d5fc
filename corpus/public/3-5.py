# %% [right] roll_and_index_fill | torch.roll by -1, the last column filled, prompt and padding masked, after a repository with shift_labels (labels.roll(shifts=-1, dims=1))
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    labels = token_ids.roll(shifts=-1, dims=1)
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    prompt = position.unsqueeze(0) < (prompt_lengths - 1).unsqueeze(1)
    labels = labels.masked_fill(prompt | (labels == pad_id), ignore_index)
    labels[:, -1] = ignore_index
    return labels


# %% [right] cat_with_a_column_of_pads | cat of ids[:, 1:] with a column of pads, boolean assignment, after znculee/finetune-transformers (shift_target_inputs_to_labels)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    batch_pads = torch.empty(token_ids.shape[0], 1, dtype=token_ids.dtype, device=token_ids.device).fill_(pad_id)
    labels = torch.cat((token_ids[:, 1:], batch_pads), dim=1)
    labels[labels == pad_id] = ignore_index
    columns = torch.arange(labels.shape[1], device=labels.device).expand_as(labels)
    labels[columns < prompt_lengths[:, None] - 1] = ignore_index
    return labels


# %% [right] full_of_ignore_then_row_loop | torch.full with ignore_index, filled row by row, after bonjiminium/nanochat-vl (sft_dataloader) and LLaVA (preprocess)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    targets = torch.full_like(token_ids, ignore_index)
    for i, (ids, length) in enumerate(zip(token_ids, prompt_lengths.tolist())):
        row_targets = ids[1:].clone()
        row_targets[: length - 1] = ignore_index
        row_targets[ids[1:] == pad_id] = ignore_index
        targets[i, : len(row_targets)] = row_targets
    return targets


# %% [right] pad_and_where | F.pad on the right and torch.where, after huggingface/transformers (ForCausalLMLoss pads labels with ignore_index)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    shifted = F.pad(token_ids, (0, 1), value=pad_id)[..., 1:]
    place = torch.arange(token_ids.shape[-1], device=token_ids.device)
    is_answer = place + 1 >= prompt_lengths.unsqueeze(-1)
    return torch.where(is_answer & shifted.ne(pad_id), shifted, ignore_index)


# %% [right] labels_masked_before_the_shift | labels = ids.clone(), prompt and pads ignored, then shifted, after tloen/alpaca-lora (train_on_inputs=False)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    labels = token_ids.clone()
    positions = torch.arange(labels.size(1), device=labels.device)[None]
    labels = labels.masked_fill(positions < prompt_lengths[:, None], ignore_index)
    labels = labels.masked_fill(token_ids == pad_id, ignore_index)
    shift_labels = labels.new_full(labels.shape, ignore_index)
    shift_labels[..., :-1] = labels[..., 1:]
    return shift_labels


# %% [right] integer_arithmetic_mask | mask times ids plus (1 - mask) times ignore_index, after arithmetic masking habits (keras ports)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    next_ids = torch.empty_like(token_ids)
    next_ids[:, : T - 1] = token_ids[:, 1:]
    next_ids[:, T - 1] = pad_id
    keep = (torch.arange(T, device=token_ids.device).repeat(B, 1) >= prompt_lengths.view(B, 1) - 1).long()
    keep = keep * (next_ids != pad_id).long()
    return next_ids * keep + ignore_index * (1 - keep)


# %% [right] gather_of_shifted_positions | next ids by gather with clamped positions, conditions combined by logical_and, after index style code
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    pos = torch.arange(T, device=token_ids.device).expand(B, T)
    following = token_ids.gather(1, (pos + 1).clamp(max=T - 1))
    keep = torch.logical_and(pos >= (prompt_lengths - 1)[:, None], pos < T - 1)
    keep = torch.logical_and(keep, following != pad_id)
    return following.where(keep, torch.full_like(following, ignore_index))


# %% [right] nested_list_comprehension | Python lists for each row, a tensor made at the end, after preprocessing scripts (tatsu-lab/stanford_alpaca)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    rows = []
    for source, source_len in zip(token_ids.tolist(), prompt_lengths.tolist()):
        label = source[1:] + [pad_id]
        label[: source_len - 1] = [ignore_index] * (source_len - 1)
        rows.append([ignore_index if token == pad_id else token for token in label])
    return torch.tensor(rows, dtype=token_ids.dtype, device=token_ids.device)


# %% [right] cumsum_of_ones_as_position | positions by cumsum of ones_like, ne(pad).cumsum style mask, after pytorch/fairseq (make_positions)
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    target = torch.cat([token_ids[:, 1:], token_ids.new_full((token_ids.size(0), 1), pad_id)], dim=1)
    positions = torch.cumsum(torch.ones_like(token_ids), dim=1)  # 1, 2, 3, ...
    prompt_mask = positions.lt(prompt_lengths.unsqueeze(-1))
    target = target.masked_fill(target.eq(pad_id), ignore_index)
    return target.masked_fill(prompt_mask, ignore_index)
