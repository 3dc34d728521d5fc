# %% [wrong] left_in_eval | Puts the model into evaluation mode and leaves it there.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        if ended.all():
            break
        word = model(ids, image_patches)[0][:, -1].argmax(-1)
        word = torch.where(ended, eos_id, word)
        ended = ended | (word == eos_id)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
    return ids

# %% [wrong] whole_model_in_one_mode | Remembers only model.training and restores with model.train(was): a part that was frozen in another mode loses its mode.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = model.training
    model.eval()
    tokens = prompt_ids.clone()
    ended = torch.full((tokens.shape[0],), False, device=tokens.device)
    while tokens.shape[1] < prompt_ids.shape[1] + max_new_tokens and not ended.all():
        logits, _ = model(tokens, image_patches)
        best = logits[:, -1, :].argmax(dim=-1).masked_fill(ended, eos_id)
        tokens = torch.hstack([tokens, best[:, None]])
        ended |= best == eos_id
    model.train(was)
    return tokens

# %% [wrong] stops_with_the_first | Stops as soon as any row has ended, so the other rows are cut off.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    out = prompt_ids
    with torch.no_grad():
        for _ in range(max_new_tokens):
            next_word = model(out, image_patches)[0][:, -1].argmax(-1, keepdim=True)
            out = torch.cat([out, next_word], dim=1)
            if (next_word == eos_id).any():
                break
    for part, mode in modes:
        part.training = mode
    return out

# %% [wrong] writes_on_after_eos | Rows that have ended go on with whatever the model says; they should be filled with eos_id.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    model.eval()
    ids = prompt_ids
    done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            word = model(ids, image_patches)[0][:, -1].argmax(-1)
            ids = torch.cat([ids, word[:, None]], 1)
            done = done | (word == eos_id)
            if done.all():
                break
    for part, training in modes.items():
        part.training = training
    return ids

# %% [wrong] continuation_alone | Returns only the new words; prompt and continuation are asked for.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    tokens = prompt_ids
    ended = prompt_ids.new_zeros(len(prompt_ids), dtype=torch.bool)
    with torch.inference_mode():
        for _ in range(max_new_tokens):
            scores = model(tokens, image_patches)[0]
            chosen = torch.where(ended, torch.full_like(tokens[:, 0], eos_id), scores[:, -1].argmax(1))
            tokens = torch.cat([tokens, chosen.unsqueeze(1)], dim=1)
            ended = ended | chosen.eq(eos_id)
            if bool(ended.all()):
                break
    for part, was in modes:
        part.training = was
    return tokens[:, prompt_ids.shape[1] :]

# %% [wrong] with_gradients | Runs without no_grad: every round keeps its graph for nothing. AND Never switches to evaluation mode, so dropout decides along.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(dim=-1)
        word[ended] = eos_id
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            return ids
    return ids

# %% [right] filled_in_advance | Fills a table with eos_id in advance, writes into its columns, and restores the modes in a finally.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    B, P = prompt_ids.shape
    table = torch.cat([prompt_ids, prompt_ids.new_full((B, max_new_tokens), eos_id)], dim=1)
    modes = [(part, part.training) for part in model.modules()]
    going = torch.ones(B, dtype=torch.bool, device=prompt_ids.device)
    length = P
    try:
        model.eval()
        while length < P + max_new_tokens and going.any():
            scores, _ = model(table[:, :length], image_patches)
            likeliest = scores.select(1, -1).max(dim=-1).indices
            table[going, length] = likeliest[going]
            going = going & table[:, length].ne(eos_id)
            length += 1
    finally:
        for part, was in modes:
            part.training = was
    return table[:, :length].clone()
