# %% [wrong] one_mode_for_all_parts | Only the mode of the model as a whole is remembered, and model.train(was) puts all parts into it. A part that was frozen in evaluation mode inside a training model is switched to training; every part should get back its own mode.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    was = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1)
            nxt = torch.where(ended, eos_id, nxt)
            ids = torch.cat([ids, nxt[:, None]], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    model.train(was)
    return ids

# %% [wrong] stops_with_the_first | The loop stops as soon as any row has ended, and the other answers are cut off. It should stop when every row has ended.
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    out = prompt_ids.clone()
    done = torch.zeros(out.shape[0], dtype=torch.bool, device=out.device)
    for _ in range(max_new_tokens):
        logits = model(out, image_patches)[0][:, -1, :]
        token = logits.argmax(dim=-1).masked_fill(done, eos_id)
        out = torch.cat((out, token.unsqueeze(-1)), dim=-1)
        done |= token == eos_id
        if done.any():
            break
    for m, mode in modes:
        m.training = mode
    return out

# %% [wrong] limit_on_the_whole_length | max_new_tokens is taken as the length of prompt and answer together (max_length elsewhere). A prompt of six words with four new tokens allowed gets no answer at all; only the new tokens should count.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = {part: part.training for part in model.modules()}
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.size(0), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        while ids.size(1) < max_new_tokens and not ended.all():
            logits, _ = model(ids, image_patches)
            best = logits[:, -1].argmax(dim=-1)
            best[ended] = eos_id
            ids = torch.cat([ids, best.unsqueeze(1)], dim=1)
            ended = ended | best.eq(eos_id)
    for part, training in modes.items():
        part.training = training
    return ids

# %% [wrong] filled_with_padding | Rows that have ended are filled with 0, the padding, while the rest goes on. They should be filled with eos_id.
def generate(model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int) -> Tensor:
    before = [(part, part.training) for part in model.modules()]
    model.eval()
    tokens = prompt_ids
    running = torch.ones(tokens.shape[0], dtype=torch.long, device=tokens.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if running.sum() == 0:
                break
            next_token = model(tokens, image_patches)[0][:, -1].argmax(-1)
            next_token = next_token * running
            tokens = torch.cat([tokens, next_token.unsqueeze(-1)], dim=-1)
            running = running * (next_token != eos_id).long()
    for part, was in before:
        part.training = was
    return tokens

# %% [wrong] early_return_in_evaluation_mode | When all rows have ended the function returns from inside the loop, before the modes are put back, and the model stays in evaluation mode. Only a call that uses up max_new_tokens leaves it as it was.
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for step in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = logits[:, -1].argmax(-1)
            word = torch.where(ended, torch.full_like(word, eos_id), word)
            ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
            ended |= word == eos_id
            if bool(ended.all()):
                return ids
    for part, was in modes:
        part.training = was
    return ids

# %% [right] only_the_open_rows | Writes into a table that is full of eos_id from the start and asks the model only about the rows that are still open; the modes are put back in a finally.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    start = prompt_ids.shape[1]
    table = F.pad(prompt_ids, (0, max_new_tokens), value=eos_id)
    still_open, filled = torch.arange(len(table), device=table.device), start
    model.eval()
    try:
        with torch.no_grad():
            while filled < start + max_new_tokens and len(still_open):
                logits, _ = model(table[still_open, :filled], image_patches[still_open])
                said = logits[:, -1].argmax(dim=-1)
                table[still_open, filled] = said
                still_open, filled = still_open[said != eos_id], filled + 1
    finally:
        for part, mode in modes:
            part.training = mode
    return table[:, :filled]
