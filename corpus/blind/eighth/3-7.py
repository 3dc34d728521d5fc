# %% [wrong] one_mode_for_all_parts | The mode of the model alone is remembered, and model.train(was) sets it for every part; each part should get back its own. A part that was frozen in evaluation mode is in training mode afterwards.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, word[:, None]], dim=1)
        ended |= word == eos_id
        if ended.all():
            break
    model.train(was)
    return ids

# %% [wrong] stops_with_the_first_row | The loop stops as soon as any row has ended (ended.any()); it should go on until all have (ended.all()). Longer answers in the same batch are cut off.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids, ended = prompt_ids, torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
    for _ in range(max_new_tokens):
        following = model(ids, image_patches)[0][:, -1].argmax(-1)
        following = torch.where(ended, torch.full_like(following, eos_id), following)
        ids = torch.cat([ids, following.unsqueeze(1)], 1)
        ended = ended | (following == eos_id)
        if ended.any():
            break
    for part, mode in modes:
        part.training = mode
    return ids

# %% [wrong] the_last_end_is_left_out | The loop breaks before the word is appended when all rows have ended; the last eos_id belongs to the answer. The result is one column short, and a batch that ends at once comes back without an end.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    model.eval()
    token_ids = prompt_ids
    ended = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    while token_ids.shape[1] < prompt_ids.shape[1] + max_new_tokens:
        logits, _ = model(token_ids, image_patches)
        best = logits[:, -1].argmax(dim=-1)
        best[ended] = eos_id
        ended = ended | (best == eos_id)
        if ended.all():
            break
        token_ids = torch.cat([token_ids, best.unsqueeze(-1)], dim=-1)
    for part, training in modes.items():
        part.training = training
    return token_ids

# %% [wrong] prompt_counted_as_new | max_new_tokens is taken for the length of the whole, prompt included (as max_length elsewhere); it counts the new words alone. A prompt of 6 with max_new_tokens=4 gets no answer at all.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids.clone()
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(ids.shape[1], max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
        ended = ended | word.eq(eos_id)
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return ids

# %% [wrong] the_end_is_always_two | The global EOS is used throughout, and the argument eos_id never; the end should be eos_id. With another end word rows do not stop, or stop at the word 2 and are filled with it.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        word = model(ids, image_patches)[0][:, -1].argmax(-1)
        word = word.masked_fill(ended, EOS)
        ids = torch.cat([ids, word[:, None]], 1)
        ended = ended | (word == EOS)
        if bool(ended.all()):
            break
    for part, was in modes:
        part.training = was
    return ids

# %% [wrong] ends_are_not_remembered | It is only asked whether all rows say eos_id in this very round, and nothing is remembered; rows that have ended should be filled with eos_id. They babble on behind their end, and the loop stops only if all end together.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, word], dim=1)
        if (word == eos_id).all():
            break
    for part, was in modes:
        part.training = was
    return ids

# %% [right] ended_read_from_the_text | Whether a row has ended is not kept beside the text but read from what it has said; the modes come back in a finally.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    said = prompt_ids[:, :0]  # (B, 0), nothing yet
    try:
        while said.shape[1] < max_new_tokens:
            ended = (said == eos_id).any(dim=1)
            if said.shape[1] and ended.all():
                break
            logits, _ = model(torch.cat([prompt_ids, said], dim=1), image_patches)
            word = logits[:, -1].argmax(dim=-1).masked_fill(ended, eos_id)
            said = torch.cat([said, word.unsqueeze(1)], dim=1)
    finally:
        for part, was in modes:
            part.training = was
    return torch.cat([prompt_ids, said], dim=1)
