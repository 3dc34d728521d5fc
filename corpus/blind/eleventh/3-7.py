# %% [wrong] one_mode_for_all_parts | Remembers the mode of the whole model only and sets every part to it at the end. A part that was frozen on purpose (in evaluation mode inside a training model) comes back in training mode.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was_training = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = logits[:, -1].argmax(dim=-1)
            word = torch.where(ended, eos_id, word)
            ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
            ended = ended | (word == eos_id)
            if ended.all():
                break
    model.train(was_training)
    return ids


# %% [wrong] stops_with_the_first | Stops as soon as any row has ended. The others are cut off in the middle of their answer; it should go on until every row has ended.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    finished = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        next_id = model(prompt_ids, image_patches)[0][:, -1, :].argmax(-1)
        next_id[finished] = eos_id
        prompt_ids = torch.cat((prompt_ids, next_id[:, None]), dim=1)
        finished |= next_id == eos_id
        if finished.any():
            break
    for part, was in modes:
        part.training = was
    return prompt_ids


# %% [wrong] rows_babble_on | Notices which rows have ended, but does not fill them with eos_id: they go on with whatever the model says after the end, until the last row has ended.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    state = {part: part.training for part in model.modules()}
    model.eval()
    out = prompt_ids.clone()
    done = [False] * len(out)
    with torch.no_grad():
        while out.shape[1] < prompt_ids.shape[1] + max_new_tokens and not all(done):
            logits, _ = model(out, image_patches)
            best = logits[:, -1].argmax(-1)
            out = torch.cat([out, best[:, None]], 1)
            done = [d or b == eos_id for d, b in zip(done, best.tolist())]
    for part, training in state.items():
        part.training = training
    return out


# %% [wrong] gradients_off_for_good | Switches gradients off with torch.set_grad_enabled(False) and never on again. The answers are right, but every training step afterwards fails: nothing requires a gradient any more.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(m, m.training) for m in model.modules()]
    model.eval()
    torch.set_grad_enabled(False)
    tokens, ended = prompt_ids, torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
    for _ in range(max_new_tokens):
        scores = model(tokens, image_patches)[0][:, -1]
        new = scores.argmax(dim=-1).masked_fill(ended, eos_id)
        tokens = torch.cat([tokens, new.unsqueeze(-1)], dim=-1)
        ended = ended | new.eq(eos_id)
        if bool(ended.all()):
            break
    for m, mode in was:
        m.training = mode
    return tokens


# %% [wrong] filled_with_padding | Fills rows that have ended with 0, the number of the padding, and not with eos_id.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    alive = torch.ones(prompt_ids.size(0), dtype=torch.long, device=prompt_ids.device)
    ids = prompt_ids
    with torch.no_grad():
        for step in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            next_word = logits[:, -1].argmax(dim=-1) * alive
            ids = torch.cat([ids, next_word.view(-1, 1)], dim=1)
            alive = alive * (next_word != eos_id).long()
            if alive.sum() == 0:
                break
    for part, mode in modes:
        part.training = mode
    return ids


# %% [right] page_full_of_ends | Starts from a page that is full of eos_id and writes words only into the rows that still go on; modes are put back in a finally.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    rows, start = prompt_ids.shape
    page = torch.cat([prompt_ids, prompt_ids.new_full((rows, max_new_tokens), eos_id)], dim=1)
    going = torch.ones(rows, dtype=torch.bool, device=page.device)
    modes = {part: part.training for part in model.modules()}
    end = start
    try:
        model.eval()
        while end < page.shape[1] and going.any():
            with torch.no_grad():
                said = model(page[:, :end], image_patches)[0].select(1, -1).max(dim=-1).indices
            page[going, end] = said[going].to(page.dtype)
            going = going & (page[:, end] != eos_id)
            end += 1
    finally:
        for part, mode in modes.items():
            part.training = mode
    return page[:, :end]
