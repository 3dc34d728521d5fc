# %% [right] preallocated | right
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    B, P = prompt_ids.shape
    text = prompt_ids.new_full((B, P + max_new_tokens), eos_id)
    text[:, :P] = prompt_ids
    length = P
    model.eval()
    try:
        with torch.inference_mode(False), torch.no_grad():
            running = torch.ones(B, dtype=torch.bool, device=prompt_ids.device)
            while length < P + max_new_tokens and bool(running.any()):
                scores = model(text[:, :length], image_patches)[0][:, -1]
                best = scores.max(dim=-1).indices
                text[running, length] = best[running]
                running &= text[:, length] != eos_id
                length += 1
    finally:
        for part, mode in modes.items():
            part.training = mode
    return text[:, :length].clone()

# %% [wrong] ended_rows_go_on | Rows that have ended are not filled with eos_id; they go on with whatever the model says.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = logits[:, -1].argmax(-1)
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
            ended |= word == eos_id
            if ended.all():
                break
    for part, training in was:
        part.training = training
    return ids

# %% [wrong] stops_at_first_end | It stops as soon as any row has ended instead of when all have.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = logits[:, -1].argmax(-1)
            word = torch.where(ended, eos_id, word)
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
            ended = ended | (word == eos_id)
            if ended.any():
                break
    for part, training in was:
        part.training = training
    return ids

# %% [wrong] train_afterwards | model.train() at the end puts every part into training mode, also those that were in evaluation mode before.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
            ids = torch.cat([ids, word[:, None]], 1)
            ended |= word == eos_id
            if ended.all():
                break
    model.train()
    return ids

# %% [wrong] only_top_mode | Only the mode of the model as a whole is remembered; model.train(was) overwrites the modes of its parts (a frozen part in eval mode is switched on).
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = model.training
    model.eval()
    ids = prompt_ids.clone()
    done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if done.all():
                break
            next_ids = model(ids, image_patches)[0][:, -1, :].argmax(dim=-1)
            next_ids[done] = eos_id
            ids = torch.cat([ids, next_ids.unsqueeze(-1)], dim=-1)
            done = done | (next_ids == eos_id)
    model.train(was)
    return ids

# %% [wrong] no_eval | The model is not put into evaluation mode, so dropout stays on while it answers.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
            ended = ended | (word == eos_id)
            if ended.all():
                break
    return ids

# %% [wrong] continuation_only | It returns only the new words, without the prompt in front.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids, P = prompt_ids, prompt_ids.shape[1]
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
            ended = ended | (word == eos_id)
            if ended.all():
                break
    for part, training in was:
        part.training = training
    return ids[:, P:]

# %% [wrong] never_stops_early | It always adds max_new_tokens words, even when every row has ended.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
            ended = ended | (word == eos_id)
    for part, training in was:
        part.training = training
    return ids

# %% [wrong] sampled | The next word is drawn at random from the softmax (multinomial) instead of taking the likeliest.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            word = torch.multinomial(logits[:, -1].softmax(-1), 1).squeeze(1)
            word = torch.where(ended, eos_id, word)
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
            ended = ended | (word == eos_id)
            if ended.all():
                break
    for part, training in was:
        part.training = training
    return ids

# %% [wrong] keeps_gradients | There is no torch.no_grad(), so the whole graph is built for every word.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
        ids = torch.cat([ids, word.unsqueeze(1)], 1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    for part, training in was:
        part.training = training
    return ids
