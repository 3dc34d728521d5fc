# %% [wrong] train_at_the_end | model.train() at the end puts every part into training mode, also a model or a frozen part that came in evaluation mode; each part should get back its own mode
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        nxt = model(ids, image_patches)[0][:, -1].argmax(-1)
        nxt[ended] = eos_id
        ids = torch.cat([ids, nxt[:, None]], dim=1)
        ended |= nxt == eos_id
        if ended.all():
            break
    model.train()
    return ids

# %% [wrong] ended_rows_babble | Rows that have ended are not filled with eos_id while the others go on: whatever word is likeliest is put behind their <eos>
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    token_ids = prompt_ids
    ended = torch.zeros(token_ids.shape[0], dtype=torch.bool, device=token_ids.device)
    for _ in range(max_new_tokens):
        logits, _maps = model(token_ids, image_patches)
        word = logits[:, -1].argmax(dim=-1)
        token_ids = torch.cat((token_ids, word.unsqueeze(1)), dim=1)
        ended = ended | (word == eos_id)
        if bool(ended.all()):
            break
    for part, was in modes:
        part.training = was
    return token_ids

# %% [wrong] first_end_stops_all | The loop stops as soon as any row has ended instead of when all have, so the longer answers of the batch are cut off
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    before = {part: part.training for part in model.modules()}
    model.eval()
    out = prompt_ids.clone()
    done = torch.zeros(len(out), dtype=torch.bool, device=out.device)
    for _ in range(max_new_tokens):
        step = model(out, image_patches)[0][:, -1, :].argmax(-1)
        step = torch.where(done, torch.full_like(step, eos_id), step)
        out = torch.cat([out, step.unsqueeze(-1)], dim=-1)
        done = done | step.eq(eos_id)
        if done.any():
            break
    for part, mode in before.items():
        part.training = mode
    return out

# %% [wrong] continuation_alone | Only the new tokens are returned, (B, k), without the prompt in front of them
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    ids, ended = prompt_ids, torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        following = model(ids, image_patches)[0][:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, following[:, None]], 1)
        ended = ended | (following == eos_id)
        if ended.all():
            break
    for m, was in modes:
        m.training = was
    return ids[:, prompt_ids.shape[1]:]

# %% [wrong] sampled | The next word is drawn from the softmax (torch.multinomial) instead of taking the likeliest one (argmax), so it is not greedy and each call may answer otherwise
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        probs = model(ids, image_patches)[0][:, -1].softmax(-1)
        nxt = torch.multinomial(probs, 1).squeeze(1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, nxt.unsqueeze(1)], 1)
        ended = ended | (nxt == eos_id)
        if ended.all():
            break
    for m, was in modes:
        m.training = was
    return ids

# %% [wrong] last_eos_missing | The loop breaks before the word is appended, so when the last row ends its <eos> never gets into the result, which is one column too short
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    states = [(sub, sub.training) for sub in model.modules()]
    model.eval()
    tokens = prompt_ids
    finished = torch.zeros(tokens.size(0), dtype=torch.bool, device=tokens.device)
    for _ in range(max_new_tokens):
        logits, _ = model(tokens, image_patches)
        choice = logits[:, -1].argmax(-1)
        choice = choice.masked_fill(finished, eos_id)
        finished = finished | (choice == eos_id)
        if finished.all():
            break
        tokens = torch.cat([tokens, choice.unsqueeze(1)], dim=1)
    for sub, flag in states:
        sub.training = flag
    return tokens

# %% [right] try_finally | modes are restored in a finally, and whether a row has ended is read off its last token
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            token_ids = prompt_ids
            ended = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
            for _ in range(max_new_tokens):
                likeliest = model(token_ids, image_patches)[0][:, -1].argmax(-1)
                word = torch.where(ended, torch.full_like(likeliest, eos_id), likeliest)
                token_ids = torch.cat([token_ids, word.unsqueeze(1)], dim=1)
                ended = word == eos_id
                if ended.all():
                    break
            return token_ids
    finally:
        for part, was in modes.items():
            part.training = was
