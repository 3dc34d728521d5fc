# %% [wrong] no_eval_mode | The model is not put into evaluation mode: dropout stays on while it answers.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _maps = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1)
            nxt = torch.where(ended, eos_id, nxt)
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended |= nxt == eos_id
            if ended.all():
                break
    return ids
# %% [wrong] mode_not_restored | The model is left in evaluation mode: the mode in which it was found is not restored.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    model.eval()
    ended = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    out = prompt_ids
    with torch.no_grad():
        for step in range(max_new_tokens):
            if ended.all():
                break
            scores = model(out, image_patches)[0][:, -1, :]
            word = scores.argmax(dim=-1).masked_fill(ended, eos_id)
            out = torch.cat((out, word[:, None]), dim=1)
            ended = ended | (word == eos_id)
    return out
# %% [wrong] always_back_to_train | model.train() is called at the end whatever the mode was before: a model that was in evaluation mode comes back in training mode.
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    model.eval()
    ids = prompt_ids.clone()
    ended = torch.zeros(ids.size(0), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        best = logits[:, -1].argmax(-1)
        best[ended] = eos_id
        ids = torch.cat([ids, best[:, None]], 1)
        ended |= best.eq(eos_id)
        if ended.all():
            break
    model.train()
    return ids
# %% [wrong] only_root_mode_restored | The mode is restored with model.train(was), which sets every part to the root's mode: a part that was frozen in evaluation mode does not stay so.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    was_training = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        while ids.shape[1] < prompt_ids.shape[1] + max_new_tokens and not ended.all():
            logits, _ = model(ids, image_patches)
            new = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, new.unsqueeze(-1)], -1)
            ended = ended | (new == eos_id)
    model.train(was_training)
    return ids
# %% [wrong] gradients_left_on | The model runs with gradients: no torch.no_grad(), so every round builds a graph for nothing.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _maps = model(ids, image_patches)
        nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
        ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
        ended |= nxt == eos_id
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] ended_rows_go_on | Rows that have ended are not filled with eos_id: they go on talking until the last row has ended.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids, ended = prompt_ids, torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _maps = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1)
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] stops_at_first_end | Stops as soon as any row has ended; it should go on until every row has.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    before = {part: part.training for part in model.modules()}
    model.eval()
    ids = prompt_ids
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            token = logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, token], dim=1)
            if (token == eos_id).any():
                break
    for part, mode in before.items():
        part.training = mode
    return ids
# %% [wrong] never_stops_early | Always runs all max_new_tokens rounds: it does not stop when every row has ended.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    state = [(m, m.training) for m in model.modules()]
    model.eval()
    done = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(prompt_ids, image_patches)
            nxt = logits[:, -1].argmax(-1).masked_fill(done, eos_id)
            done = done | (nxt == eos_id)
            prompt_ids = torch.cat([prompt_ids, nxt[:, None]], 1)
    for m, t in state:
        m.training = t
    return prompt_ids
# %% [wrong] first_position_read | The next word is read from the first position's logits (logits[:, 0]), not from the last one's.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, 0].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] forgets_the_prompt | After the first round only the new word is given to the model, without the prompt and the words before it.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    pieces, current = [prompt_ids], prompt_ids
    ended = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(current, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            current = nxt.unsqueeze(1)
            pieces.append(current)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return torch.cat(pieces, dim=1)
# %% [wrong] continuation_only | Only the continuation comes back; prompt and continuation together are asked for.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids[:, prompt_ids.shape[1] :]
# %% [wrong] samples | The next word is drawn at random from the softmax; greedy means to take the likeliest.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        probs = F.softmax(logits[:, -1], dim=-1)
        nxt = torch.multinomial(probs, num_samples=1).squeeze(1)
        nxt = torch.where(ended, eos_id, nxt)
        ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
        ended = ended | (nxt == eos_id)
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] eos_hard_coded | The end is tested against the constant 2, not against the argument eos_id.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    EOS_TOKEN = 2
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1)
            nxt[ended] = EOS_TOKEN
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended |= nxt == EOS_TOKEN
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] one_word_too_few | Off by one: the loop runs max_new_tokens − 1 times.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for step in range(1, max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] last_eos_not_appended | The loop breaks before the new words are appended, so the last row's eos_id is missing from the result.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] full_width_buffer | The result always has max_new_tokens new columns: the buffer is not cut where every row has ended.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    B, P = prompt_ids.shape
    out = prompt_ids.new_full((B, P + max_new_tokens), eos_id)
    out[:, :P] = prompt_ids
    ended = torch.zeros(B, dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        for k in range(max_new_tokens):
            logits, _ = model(out[:, : P + k], image_patches)
            out[:, P + k] = logits[:, -1].argmax(-1).masked_fill(ended, eos_id)
            ended |= out[:, P + k] == eos_id
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return out
# %% [wrong] cat_without_axis | The new words (B,) are concatenated without an unsqueeze, which raises.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] grad_switched_off_for_good | Gradients are switched off with torch.set_grad_enabled(False) and never switched on again: nothing can be trained afterwards.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    torch.set_grad_enabled(False)
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
        ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
        ended = ended | (nxt == eos_id)
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] total_length_limit | max_new_tokens is taken as the limit of the whole length, prompt included, and not of the new words.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        while ids.shape[1] < max_new_tokens and not bool(ended.all()):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] restored_only_on_break | The modes are restored only where all rows ended early; when max_new_tokens is reached, the model stays in evaluation mode.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                for part, was in modes:
                    part.training = was
                return ids
    return ids
# %% [wrong] ended_filled_with_pad | Rows that have ended are filled with 0, the padding, and not with eos_id.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            nxt = logits[:, -1].argmax(-1) * ~ended
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] all_at_once_stop | It stops only when all rows say eos_id in one and the same round: which rows ended earlier is not remembered for stopping, only the fill looks back.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image_patches)
            best = logits[:, -1].argmax(-1)
            ids = torch.cat([ids, torch.where(ended, eos_id, best).unsqueeze(1)], dim=1)
            stop = (best == eos_id).all()
            ended = ended | (best == eos_id)
            if stop:
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] one_round_at_least | The loop asks only after a word was said whether there may be more (`while True`): with max_new_tokens = 0 one word is made all the same.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids, made = prompt_ids, 0
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        while True:
            logits, _ = model(ids, image_patches)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            made += 1
            if made >= max_new_tokens or ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] first_image_for_all | Every prompt is asked about the first scene: image_patches[:1] is expanded to the batch.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    ids = prompt_ids
    image = image_patches[:1].expand(ids.shape[0], -1, -1)
    ended = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(ids, image)
            nxt = torch.where(ended, eos_id, logits[:, -1].argmax(-1))
            ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
            ended = ended | (nxt == eos_id)
            if ended.all():
                break
    for part, was in modes:
        part.training = was
    return ids
# %% [wrong] no_fill_and_mode_lost | Ended rows are not filled with eos_id AND the model is left in evaluation mode.
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    model.eval()
    finished = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(prompt_ids, image_patches)
        token = logits[:, -1].argmax(-1, keepdim=True)
        prompt_ids = torch.cat([prompt_ids, token], dim=-1)
        finished |= token.squeeze(-1) == eos_id
        if finished.all():
            break
    return prompt_ids
# %% [right] try_finally_decorator | Decorated with no_grad, modes restored in a finally block, and the end recognised from the last column only (ended rows are filled, so that is enough).
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    found = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        text = prompt_ids
        ended = torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
        for _ in range(max_new_tokens):
            scores, _ = model(text, image_patches)
            word = scores[:, -1, :].max(dim=-1).indices
            word = word.masked_fill(ended, eos_id)
            text = torch.hstack([text, word[:, None]])
            ended = word == eos_id
            if bool(ended.all()):
                break
        return text
    finally:
        for part, was in found:
            part.training = was
# %% [right] buffer_cut_to_length | Writes into a buffer full of eos_id, and cuts it where the last row ended.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    B, P = prompt_ids.shape
    modes = {part: part.training for part in model.modules()}
    out = torch.full((B, P + max_new_tokens), eos_id, dtype=prompt_ids.dtype, device=prompt_ids.device)
    out[:, :P] = prompt_ids
    going = torch.ones(B, dtype=torch.bool, device=prompt_ids.device)
    length = P
    model.eval()
    with torch.no_grad():
        while length < P + max_new_tokens and going.any():
            logits = model(out[:, :length], image_patches)[0]
            best = logits[:, -1].argmax(dim=-1)
            out[going, length] = best[going]
            going = going & (best != eos_id)
            length += 1
    for part, mode in modes.items():
        part.training = mode
    return out[:, :length]
# %% [right] list_of_columns | Collects the columns in a list and joins them once per round; tracks in a set which rows are still open.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    """Greedy continuation of equally long prompts.

    Args:
        prompt_ids: (B, P)
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens; rows that have ended are filled with eos_id.
    """
    parts = list(model.modules())
    flags = [part.training for part in parts]
    for part in parts:
        part.eval()
    open_rows = set(range(len(prompt_ids)))
    columns = [prompt_ids]
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if not open_rows:
                break
            logits, _ = model(torch.cat(columns, 1), image_patches)
            words = logits[:, -1].argmax(-1).tolist()
            words = [word if row in open_rows else eos_id for row, word in enumerate(words)]
            columns.append(torch.tensor(words, dtype=prompt_ids.dtype, device=prompt_ids.device).unsqueeze(1))
            open_rows -= {row for row, word in enumerate(words) if word == eos_id}
    for part, flag in zip(parts, flags):
        part.training = flag
    return torch.cat(columns, 1)
