# %% [wrong] only_the_top_mode | only the model's own flag is kept, and model.train(was) sets ALL parts to it: a part that was frozen in evaluation mode is put back into training mode
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    was = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        if ended.all():
            break
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
        ended |= word == eos_id
    model.train(was)
    return ids


# %% [wrong] stops_with_the_first_row | stops as soon as ANY row has ended instead of when all have: longer answers in the same batch are cut off
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = {part: part.training for part in model.modules()}
    model.eval()
    tokens = prompt_ids.clone()
    with torch.no_grad():
        for step in range(max_new_tokens):
            next_word = model(tokens, image_patches)[0][:, -1, :].argmax(dim=-1, keepdim=True)
            tokens = torch.cat((tokens, next_word), dim=1)
            if (next_word == eos_id).any():
                break
    for part, mode in modes.items():
        part.training = mode
    return tokens


# %% [wrong] babble_after_the_end | it is remembered which rows have ended, but they are not filled with eos_id: they go on with whatever the model says next
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    before = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            ids, open_rows = prompt_ids, set(range(len(prompt_ids)))
            while open_rows and ids.shape[1] < prompt_ids.shape[1] + max_new_tokens:
                logits, _ = model(ids, image_patches)
                new = torch.argmax(logits[:, -1], dim=-1)
                ids = torch.hstack([ids, new[:, None]])
                open_rows -= {b for b, token in enumerate(new.tolist()) if token == eos_id}
    finally:
        for part, was in before:
            part.training = was
    return ids


# %% [wrong] continuation_alone | only the new words are returned, without the prompt in front of them
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    states = [(m, m.training) for m in model.modules()]
    model.eval()
    answer = prompt_ids[:, :0]
    done = torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
    for _ in range(max_new_tokens):
        logits, _ = model(torch.cat([prompt_ids, answer], 1), image_patches)
        best = torch.where(done, eos_id, logits[:, -1].argmax(-1))
        answer = torch.cat([answer, best[:, None]], 1)
        done = done | best.eq(eos_id)
        if bool(done.all()):
            break
    for m, training in states:
        m.training = training
    return answer


# %% [wrong] never_stops_early | a table of P + max_new_tokens columns is filled to its end: there is no stop when every row has ended, the result is too long
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    B, P = prompt_ids.shape
    flags = [part.training for part in model.modules()]
    model.eval()
    table = prompt_ids.new_full((B, P + max_new_tokens), eos_id)
    table[:, :P] = prompt_ids
    alive = torch.ones(B, dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        for t in range(P, P + max_new_tokens):
            logits, _ = model(table[:, :t], image_patches)
            word = logits[:, -1].argmax(-1)
            table[alive, t] = word[alive]
            alive = alive & (word != eos_id)
    for part, flag in zip(model.modules(), flags):
        part.training = flag
    return table


# %% [right] only_open_rows | a table full of eos_id; in each round the model is asked only about the rows that have not ended, and at the end the table is cut to the columns used
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    count, used = prompt_ids.shape
    table = F.pad(prompt_ids, (0, max_new_tokens), value=eos_id)
    open_rows = torch.arange(count, device=prompt_ids.device)
    try:
        model.eval()
        with torch.no_grad():
            while len(open_rows) and used < table.shape[1]:
                logits, _ = model(table[open_rows, :used], image_patches[open_rows])
                words = logits[:, -1].argmax(dim=-1)
                table[open_rows, used] = words
                open_rows = open_rows[words != eos_id]
                used += 1
    finally:
        for part, was in modes.items():
            part.training = was
    return table[:, :used]
