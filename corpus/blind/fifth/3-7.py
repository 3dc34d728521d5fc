# %% [wrong] stops_at_the_first | it stops as soon as any row says <eos>; the rows that are not done are cut short. It should wait for all of them
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        new = model(ids, image_patches)[0][:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, new[:, None]], dim=1)
        ended = ended | (new == eos_id)
        if ended.any():
            break
    for part, was in modes:
        part.training = was
    return ids

# %% [wrong] train_mode_after | at the end model.train() puts everything into training mode, also a model or a part that came in evaluation mode; each part should get its own mode back
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    model.eval()
    ended = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    tokens = prompt_ids
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if ended.all():
                break
            logits, _ = model(tokens, image_patches)
            word = logits[:, -1].argmax(dim=-1)
            word[ended] = eos_id
            tokens = torch.cat([tokens, word.unsqueeze(1)], dim=1)
            ended |= word == eos_id
    model.train()
    return tokens

# %% [wrong] goes_on_after_the_end | rows that have ended are not filled with eos_id: the model's further words stand behind their <eos>
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    done = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    out = prompt_ids.clone()
    for _ in range(max_new_tokens):
        logits, _ = model(out, image_patches)
        nxt = logits[:, -1, :].argmax(-1)
        out = torch.cat((out, nxt[:, None]), 1)
        done = done | (nxt == eos_id)
        if bool(done.all()):
            break
    for m, mode in modes:
        m.training = mode
    return out

# %% [wrong] sampled | the next word is drawn at random from the softmax (multinomial); greedy means the likeliest, argmax
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    kept = {part: part.training for part in model.modules()}
    model.eval()
    ids, ended = prompt_ids, torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        if ended.all():
            break
        shares = model(ids, image_patches)[0][:, -1].softmax(-1)
        words = torch.multinomial(shares, 1).squeeze(1)
        words = torch.where(ended, torch.full_like(words, eos_id), words)
        ids = torch.cat([ids, words.unsqueeze(-1)], -1)
        ended = ended | words.eq(eos_id)
    for part, was in kept.items():
        part.training = was
    return ids

# %% [wrong] continuation_alone | only the new words are returned, without the prompt; prompt and continuation are asked, (B, P + k)
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for step in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, word[:, None]], dim=-1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    for part, mode in was:
        part.training = mode
    return ids[:, prompt_ids.shape[1] :]

# %% [wrong] one_too_many | the loop runs max_new_tokens + 1 times (range up to and including it), so up to P + max_new_tokens + 1 tokens come back where no row ends
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    sequence = prompt_ids
    finished = torch.zeros(sequence.shape[0], device=sequence.device).bool()
    k = 0
    while k <= max_new_tokens and not finished.all():
        nxt = model(sequence, image_patches)[0][:, -1].argmax(-1)
        nxt[finished] = eos_id
        sequence = torch.cat([sequence, nxt.unsqueeze(1)], 1)
        finished = finished | (nxt == eos_id)
        k = k + 1
    for part, mode in modes:
        part.training = mode
    return sequence

# %% [right] try_finally | the modes are given back in a finally, so also after an error; whether a row has ended is read from what has been written
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    start, token_ids = prompt_ids.shape[1], prompt_ids
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            for _ in range(max_new_tokens):
                ended = (token_ids[:, start:] == eos_id).any(dim=1)
                if ended.all():
                    break
                likeliest = model(token_ids, image_patches)[0][:, -1].argmax(dim=-1)
                token_ids = F.pad(token_ids, (0, 1))
                token_ids[:, -1] = torch.where(ended, eos_id, likeliest)
    finally:
        for part, was in modes:
            part.training = was
    return token_ids
