# %% [wrong] whole_model_back_to_one_mode | Afterwards `model.train(was)` sets every part to the model's own mode: a part that was frozen in evaluation mode comes back in training mode.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    was = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1)
            nxt = torch.where(ended, torch.full_like(nxt, eos_id), nxt)
            ids = torch.cat([ids, nxt[:, None]], dim=1)
            ended |= nxt == eos_id
            if ended.all():
                break
    model.train(was)
    return ids


# %% [wrong] ended_rows_go_on | Rows that have ended are not filled with eos_id: they go on talking while the others finish.
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    tokens = prompt_ids.clone()
    ended = torch.zeros(tokens.shape[0], dtype=torch.bool, device=tokens.device)
    for _ in range(max_new_tokens):
        following = model(tokens, image_patches)[0][:, -1].argmax(dim=-1)
        tokens = torch.cat((tokens, following.unsqueeze(1)), dim=1)
        ended = ended | (following == eos_id)
        if bool(ended.all()):
            break
    for part, was in modes:
        part.training = was
    return tokens


# %% [wrong] stops_with_the_first | Stops as soon as any row has ended, so the other rows are cut short.
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = {part: part.training for part in model.modules()}
    model.eval()
    ids = prompt_ids
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1, :].argmax(-1, keepdim=True)
        ids = torch.cat([ids, word], 1)
        if (word == eos_id).any():
            break
    for part, was in modes.items():
        part.training = was
    return ids


# %% [wrong] stays_in_evaluation | The model is set to evaluation mode and left there.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    model.eval()
    ended = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    out = prompt_ids
    with torch.no_grad():
        for step in range(max_new_tokens):
            logits = model(out, image_patches)[0]
            best = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
            out = torch.cat([out, best.unsqueeze(-1)], -1)
            ended = ended | (best == eos_id)
            if ended.all():
                return out
    return out


# %% [wrong] continuation_alone | Returns only the new words; asked for are prompt and continuation.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    before = [(part, part.training) for part in model.modules()]
    model.eval()
    new = []
    ended = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        while len(new) < max_new_tokens and not ended.all():
            so_far = torch.cat([prompt_ids, *new], dim=1)
            scores, _ = model(so_far, image_patches)
            word = scores[:, -1].argmax(-1)
            word[ended] = eos_id
            ended = ended | word.eq(eos_id)
            new.append(word.unsqueeze(1))
    for part, was in before:
        part.training = was
    return torch.cat(new, dim=1)


# %% [wrong] drawn_words | The next word is drawn at random from the probabilities; greedy means the likeliest.
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    saved = [(m, m.training) for m in model.modules()]
    model.eval()
    ids = prompt_ids
    done = torch.zeros(ids.size(0), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        probs = torch.softmax(model(ids, image_patches)[0][:, -1], dim=-1)
        nxt = torch.multinomial(probs, 1).squeeze(1)
        nxt = nxt.masked_fill(done, eos_id)
        ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
        done = done | (nxt == eos_id)
        if done.all():
            break
    for m, t in saved:
        m.training = t
    return ids


# %% [right] filled_in_advance | Makes the whole answer of eos_id in advance, writes words into the rows that have not ended, and cuts off what was not needed.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    B, P = prompt_ids.shape
    modes = {name: part.training for name, part in model.named_modules()}
    answer = torch.cat([prompt_ids, prompt_ids.new_full((B, max_new_tokens), eos_id)], dim=1)
    speaking = torch.ones(B, dtype=torch.bool, device=prompt_ids.device)
    length = P
    try:
        model.eval()
        with torch.no_grad():
            while length < P + max_new_tokens and bool(speaking.any()):
                likeliest = model(answer[:, :length], image_patches)[0][:, -1].max(dim=-1).indices
                answer[speaking, length] = likeliest[speaking]
                speaking = speaking & (answer[:, length] != eos_id)
                length += 1
    finally:
        for name, part in model.named_modules():
            part.training = modes[name]
    return answer[:, :length].clone()
