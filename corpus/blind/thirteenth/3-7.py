# %% [wrong] one_mode_for_all | remembers only model.training and calls model.train(was) at the end, which sets ALL parts: a part that was frozen in evaluation mode comes back in training mode
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
        word = logits[:, -1].argmax(-1)
        word = torch.where(ended, torch.full_like(word, eos_id), word)
        ids = torch.cat([ids, word[:, None]], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    model.train(was)
    return ids


# %% [wrong] first_end_stops_all | stops as soon as ANY row says eos_id; rows with longer answers are cut off
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    sequence, new = prompt_ids.clone(), 0
    ended = torch.zeros(prompt_ids.shape[0], dtype=torch.bool, device=prompt_ids.device)
    with torch.no_grad():
        while new < max_new_tokens and not ended.any():
            logits = model(sequence, image_patches)[0]
            best = logits[:, -1, :].max(dim=-1).indices
            best[ended] = eos_id
            ended |= best == eos_id
            sequence = torch.cat((sequence, best.unsqueeze(-1)), dim=-1)
            new += 1
    for part, training in modes:
        part.training = training
    return sequence


# %% [wrong] last_eos_missing | breaks before the column is appended in which the last row says eos_id: the longest answers come back without their end
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    before = {part: part.training for part in model.modules()}
    model.eval()
    columns = list(prompt_ids.unbind(1))
    open_rows = torch.ones_like(columns[0], dtype=torch.bool)
    with torch.inference_mode():
        for _ in range(max_new_tokens):
            logits, _ = model(torch.stack(columns, dim=1), image_patches)
            word = logits[:, -1].argmax(dim=-1).where(open_rows, torch.tensor(eos_id, device=prompt_ids.device))
            open_rows = open_rows & (word != eos_id)
            if not open_rows.any():
                break
            columns.append(word)
    for part, mode in before.items():
        part.training = mode
    return torch.stack(columns, dim=1)


# %% [wrong] eos_of_the_notebook | compares and fills with the notebook's constant EOS (2); the argument eos_id is never read, so another end of sequence is not noticed
@torch.no_grad()
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    modes = [(m, m.training) for m in model.modules()]
    try:
        model.eval()
        ids = prompt_ids
        done = torch.zeros(ids.shape[0], 1, dtype=torch.bool, device=ids.device)
        for _ in range(max_new_tokens):
            next_id = model(ids, image_patches)[0][:, -1].argmax(dim=-1, keepdim=True)
            next_id = next_id.masked_fill(done, EOS)
            done = done | next_id.eq(EOS)
            ids = torch.cat([ids, next_id], dim=1)
            if bool(done.all()):
                break
        return ids
    finally:
        for m, flag in modes:
            m.training = flag


# %% [wrong] filled_with_padding | rows that have ended are filled with 0 (<pad>) by multiplying with "still going on", not with eos_id
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was_training = [part for part in model.modules() if part.training]
    model.eval()
    ids = prompt_ids
    going = torch.ones(prompt_ids.shape[0], dtype=prompt_ids.dtype, device=prompt_ids.device)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if going.sum() == 0:
                break
            word = model(ids, image_patches)[0][:, -1].argmax(-1)
            ids = torch.cat([ids, (word * going)[:, None]], dim=1)
            going = going * (word != eos_id)
    for part in was_training:
        part.training = True
    return ids


# %% [right] table_of_eos | starts from a table that is full of eos_id, writes only the rows that go on, and cuts it at the end; the modes are restored by a context manager
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    from contextlib import contextmanager

    @contextmanager
    def evaluation():
        modes = {part: part.training for part in model.modules()}
        model.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            for part, mode in modes.items():
                part.training = mode

    B, end = prompt_ids.shape
    table = prompt_ids.new_full((B, end + max_new_tokens), eos_id)
    table[:, :end] = prompt_ids
    going = torch.ones(B, dtype=torch.bool, device=prompt_ids.device)
    with evaluation():
        while going.any() and end < table.shape[1]:
            logits, _ = model(table[:, :end], image_patches)
            likeliest = logits[:, -1].argmax(dim=-1)
            table[going, end] = likeliest[going].to(table.dtype)
            going &= likeliest != eos_id
            end += 1
    return table[:, :end]
