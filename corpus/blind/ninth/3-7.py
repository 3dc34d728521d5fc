# %% [wrong] stops_with_the_first_row | The loop ends as soon as any row has said <eos>. It should go on until all rows have. Longer answers in the batch are cut off.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
            ids = torch.cat([ids, word[:, None]], 1)
            ended |= word == eos_id
            if ended.any():
                break
    for part, was in modes:
        part.training = was
    return ids

# %% [wrong] one_mode_for_all_parts | Only the mode of the whole model is remembered, and model.train(was) sets every part to it. Each part should get its own mode back. A part that was frozen in evaluation mode on purpose is training again.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = model.training
    model.eval()
    sequence, done = prompt_ids.clone(), prompt_ids.new_zeros(prompt_ids.shape[0]).bool()
    step = 0
    while step < max_new_tokens and not done.all():
        likeliest = model(sequence, image_patches)[0][:, -1, :].argmax(dim=-1)
        likeliest = torch.where(done, eos_id, likeliest)
        sequence = torch.cat((sequence, likeliest.unsqueeze(-1)), dim=-1)
        done = done | (likeliest == eos_id)
        step += 1
    model.train(was)
    return sequence

# %% [wrong] gradients_stay_switched_off | Gradients are switched off for the whole program, and never on again. It should be a `with torch.no_grad()` block. The answer is right, but after the first call nothing can be trained any more.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    torch.set_grad_enabled(False)
    before = {part: part.training for part in model.modules()}
    model.eval()
    out = [*prompt_ids.T]
    ended = torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
    for _ in range(max_new_tokens):
        logits, _ = model(torch.stack(out, 1), image_patches)
        new = logits[:, -1].argmax(-1)
        new[ended] = eos_id
        out.append(new)
        ended |= new == eos_id
        if bool(ended.all()):
            break
    for part, mode in before.items():
        part.training = mode
    return torch.stack(out, 1)

# %% [wrong] asks_with_the_newest_word_only | After the first round the model gets the newest word alone, as with a cache. It should get the prompt and all words so far. The second word is chosen without knowing the question.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    result, current = prompt_ids, prompt_ids
    finished = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(current, image_patches)[0]
            current = scores[:, -1:].argmax(-1)
            current[finished] = eos_id
            result = torch.cat([result, current], dim=1)
            finished = finished | (current.squeeze(1) == eos_id)
            if finished.all():
                break
    for m, mode in modes:
        m.training = mode
    return result

# %% [wrong] looks_for_the_end_in_the_prompt_too | Whether a row has ended is read from the whole row, prompt included. Only what was generated counts. A prompt that holds eos_id counts as ended from the start and is never answered.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    memory = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            ids = prompt_ids
            for _ in range(max_new_tokens):
                over = (ids == eos_id).any(dim=1)
                if over.all():
                    break
                best = model(ids, image_patches)[0].argmax(-1)[:, -1]
                ids = torch.hstack([ids, torch.where(over, eos_id, best).unsqueeze(1)])
            return ids
    finally:
        for part, was in memory:
            part.training = was

# %% [wrong] forgets_who_has_ended | `ended` is set anew in each round from what the model says now. It should keep what it knows: once ended, always ended. A row that had ended gets one <eos> as filling, and then starts to talk again.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    states = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids.clone()
    ended = torch.full((ids.shape[0],), False, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            said = model(ids, image_patches)[0][:, -1].argmax(-1)
            ids = torch.cat([ids, torch.where(ended, torch.full_like(said, eos_id), said).unsqueeze(1)], 1)
            ended = said.eq(eos_id)
            if ended.all():
                break
    for part, state in states:
        part.training = state
    return ids

# %% [right] board_filled_beforehand | Writes into a board that is filled with eos_id beforehand, and restores modes with an ExitStack.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    from contextlib import ExitStack

    rows, start = prompt_ids.shape
    board = F.pad(prompt_ids, (0, max_new_tokens), value=eos_id)
    going = torch.ones(rows, dtype=torch.bool, device=prompt_ids.device)
    end = start
    with torch.no_grad(), ExitStack() as afterwards:
        for part in model.modules():
            afterwards.callback(setattr, part, "training", part.training)
        model.eval()
        while end < start + max_new_tokens and going.any():
            words = model(board[:, :end], image_patches)[0][:, -1].topk(1).indices.flatten()
            board[going, end] = words[going]
            going = going & (board[:, end] != eos_id)
            end += 1
    return board[:, :end]
