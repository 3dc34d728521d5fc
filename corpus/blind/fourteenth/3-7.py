# %% [wrong] always_the_prompts_last_position | Each round reads the logits at the prompt's last position and not at the last one of what has been said so far, so the same word comes again and again.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    length = prompt_ids.shape[1]
    token_ids = prompt_ids
    ended = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(token_ids, image_patches)
        word = logits[:, length - 1].argmax(-1).masked_fill(ended, eos_id)
        token_ids = torch.cat([token_ids, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    for part, was in modes:
        part.training = was
    return token_ids

# %% [wrong] newest_word_alone_handed_in | After the first round the model gets the newest word alone, without the prompt and the words before it.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    before = [(part, part.training) for part in model.modules()]
    model.eval()
    said = [prompt_ids]
    ended = prompt_ids.new_zeros(prompt_ids.shape[0], dtype=torch.bool)
    with torch.no_grad():
        while len(said) <= max_new_tokens and not ended.all():
            logits = model(said[-1], image_patches)[0][:, -1]
            word = torch.where(ended, eos_id, logits.argmax(-1))
            ended |= word == eos_id
            said.append(word[:, None])
    for part, was in before:
        part.training = was
    return torch.cat(said, dim=1)

# %% [wrong] drawn_at_random_not_greedy | The next word is drawn from the softmax with multinomial; greedy means the likeliest word.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = {part: part.training for part in model.modules()}
    model.eval()
    ids = prompt_ids.clone()
    done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if done.all():
                break
            shares = F.softmax(model(ids, image_patches)[0][:, -1, :], dim=-1)
            word = torch.multinomial(shares, 1).squeeze(1)
            word[done] = eos_id
            done = done | word.eq(eos_id)
            ids = torch.cat((ids, word.unsqueeze(-1)), -1)
    for part, mode in was.items():
        part.training = mode
    return ids
