# %% [wrong] one_mode_for_all_parts | Only model.training is remembered, and model.train(was) sets every part to it; a part that was frozen in evaluation mode on purpose is in training mode afterwards.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
            ids = torch.cat([ids, nxt[:, None]], dim=1)
            ended |= nxt == eos_id
            if ended.all():
                break
    model.train(was)
    return ids

# %% [wrong] only_the_newest_word_is_read | After the first round the model gets the last word alone, without the question; there is no cache that would remember the words before it.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    token_ids, given = prompt_ids, prompt_ids
    ended = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(given, image_patches)
        given = logits[:, -1].argmax(-1).masked_fill(ended, eos_id).unsqueeze(1)
        token_ids = torch.cat([token_ids, given], dim=1)
        ended = ended | (given[:, 0] == eos_id)
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return token_ids

# %% [wrong] prompt_counts_as_new | The loop runs while the whole sequence is shorter than max_new_tokens, so the prompt is counted too; with a prompt of 6 words and 4 new ones nothing is said at all.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    token_ids = prompt_ids
    ended = torch.zeros(token_ids.shape[0], dtype=torch.bool, device=token_ids.device)
    while token_ids.shape[1] < max_new_tokens and not ended.all():
        logits, _ = model(token_ids, image_patches)
        word = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
        token_ids = torch.cat([token_ids, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
    for part, was in modes:
        part.training = was
    return token_ids

# %% [wrong] the_constant_eos | The notebook's constant EOS is compared and filled in, and eos_id is ignored; with another eos_id rows end at the wrong word, or never.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    token_ids = prompt_ids
    ended = torch.zeros(len(token_ids), dtype=torch.bool, device=token_ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(token_ids, image_patches)
        following = logits[:, -1].argmax(dim=-1)
        following[ended] = EOS
        token_ids = torch.cat([token_ids, following.unsqueeze(1)], dim=1)
        ended |= following == EOS
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return token_ids

# %% [wrong] drawn_by_lot | The next word is drawn with torch.multinomial from the probabilities; greedy means the likeliest word, argmax, so the answer depends on chance.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        probabilities = logits[:, -1].softmax(-1)
        word = torch.multinomial(probabilities, 1).squeeze(1).masked_fill(done, eos_id)
        ids = torch.cat([ids, word[:, None]], 1)
        done = done | (word == eos_id)
        if done.all():
            break
    for part, was in modes:
        part.training = was
    return ids

# %% [wrong] ended_rows_go_on | Which rows have ended is not remembered: a row goes on talking behind its <eos>, and it only stops when all rows say <eos> in the same round. Ended rows must be filled with eos_id.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    token_ids = prompt_ids
    for _ in range(max_new_tokens):
        logits, _ = model(token_ids, image_patches)
        following = logits[:, -1].argmax(-1)
        token_ids = torch.cat([token_ids, following.unsqueeze(-1)], dim=-1)
        if (following == eos_id).all():
            break
    for part, was in modes:
        part.training = was
    return token_ids

# %% [right] a_list_of_columns | new words are collected as columns; the modes are put back in a finally, also after an error
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    found = {part: part.training for part in model.modules()}
    columns, ended = [prompt_ids], torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
    try:
        model.eval()
        while len(columns) <= max_new_tokens and not ended.all():
            scores = model(torch.cat(columns, dim=1), image_patches)[0][:, -1]
            word = torch.where(ended, eos_id, scores.argmax(dim=-1))
            ended = ended | word.eq(eos_id)
            columns.append(word.unsqueeze(1))
    finally:
        for part, training in found.items():
            part.training = training
    return torch.cat(columns, dim=1)
