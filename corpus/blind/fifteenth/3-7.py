# %% [wrong] one_mode_for_all_parts | Only the mode of the whole model is remembered, and model.train(was) then puts every part into it: a part that was frozen in evaluation mode begins to train. The mode of each part has to be remembered and put back.
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was_training = model.training
    model.eval()
    ids = prompt_ids
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits, _ = model(ids, image_patches)
        word = logits[:, -1].argmax(-1)
        word = torch.where(ended, torch.full_like(word, eos_id), word)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
        ended |= word == eos_id
        if ended.all():
            break
    model.train(was_training)
    return ids


# %% [wrong] ended_rows_talk_on | It is remembered which rows have ended, but only to know when to stop: an ended row goes on with the model's own words while the others finish. After its end a row must be filled with eos_id.
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    said = prompt_ids.clone()
    ended = torch.zeros(said.shape[0], dtype=torch.bool, device=said.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(said, image_patches)[0][:, -1, :]
            following = scores.argmax(dim=-1)
            said = torch.cat((said, following[:, None]), dim=1)
            ended = ended | (following == eos_id)
            if bool(ended.all()):
                break
    for part, was in modes:
        part.training = was
    return said
