# %% [right] unfinished_sequences_multiply | unfinished flags multiplied in, next = next * u + eos * (1 - u), after mindspore-lab/mindocr (generation_utils, unfinished flags)
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        input_ids = prompt_ids
        unfinished_sequences = torch.ones(input_ids.shape[0], dtype=torch.long, device=input_ids.device)
        for _ in range(max_new_tokens):
            next_token_logits = model(input_ids, image_patches)[0][:, -1, :]
            next_tokens = torch.argmax(next_token_logits, dim=-1)
            next_tokens = next_tokens * unfinished_sequences + eos_id * (1 - unfinished_sequences)
            input_ids = torch.cat([input_ids, next_tokens[:, None]], dim=-1)
            unfinished_sequences = unfinished_sequences.mul((next_tokens != eos_id).long())
            if unfinished_sequences.max() == 0:
                break
        return input_ids
    finally:
        for module, training in modes:
            module.training = training


# %% [right] finished_flags_masked_fill | a bool finished, masked_fill, all().break, modes in a dictionary, after a greedy_decode with finished = torch.zeros(batch, bool)
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    was_training = {name: module.training for name, module in model.named_modules()}
    model.eval()
    generated = prompt_ids.clone()
    finished = torch.zeros(prompt_ids.size(0), device=prompt_ids.device, dtype=torch.bool)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            if finished.all():
                break
            logits, _ = model(generated, image_patches)
            next_token = logits[:, -1].argmax(dim=-1, keepdim=True)
            next_token = next_token.masked_fill(finished.unsqueeze(1), eos_id)
            generated = torch.cat([generated, next_token], dim=1)
            finished = finished | (next_token.squeeze(1) == eos_id)
    for name, module in model.named_modules():
        module.training = was_training[name]
    return generated


# %% [right] preallocated_buffer | a buffer full of eos_id filled column by column and cut at the end, after facebookresearch/llama (generation.py, tokens = torch.full)
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    bsz, prompt_len = prompt_ids.shape
    total_len = prompt_len + max_new_tokens
    tokens = torch.full((bsz, total_len), eos_id, dtype=prompt_ids.dtype, device=prompt_ids.device)
    tokens[:, :prompt_len] = prompt_ids
    eos_reached = torch.tensor([False] * bsz, device=prompt_ids.device)
    states = [m.training for m in model.modules()]
    model.eval()
    cur_pos = prompt_len
    while cur_pos < total_len and not all(eos_reached):
        logits = model(tokens[:, :cur_pos], image_patches)[0]
        next_token = torch.argmax(logits[:, -1], dim=-1)
        next_token = torch.where(eos_reached, tokens[:, cur_pos], next_token)
        tokens[:, cur_pos] = next_token
        eos_reached |= next_token == eos_id
        cur_pos += 1
    for module, state in zip(model.modules(), states):
        module.training = state
    return tokens[:, :cur_pos]


# %% [right] context_manager_for_evaluation | a context manager that puts modes back, topk(1) for the choice, after karpathy/minGPT (generate with torch.topk)
from contextlib import contextmanager


@contextmanager
def _evaluating(model):
    before = [(part, part.training) for part in model.modules()]
    try:
        yield model.eval()
    finally:
        for part, mode in before:
            part.training = mode


def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    idx = prompt_ids
    done = torch.zeros(len(idx), 1, dtype=torch.bool, device=idx.device)
    with torch.no_grad(), _evaluating(model):
        for _ in range(max_new_tokens):
            logits, _ = model(idx, image_patches)
            probs = F.softmax(logits[:, -1, :], dim=-1)
            _, idx_next = torch.topk(probs, k=1, dim=-1)
            idx_next = torch.where(done, torch.full_like(idx_next, eos_id), idx_next)
            idx = torch.cat((idx, idx_next), dim=1)
            done = done | (idx_next == eos_id)
            if bool(done.all()):
                break
    return idx


# %% [right] list_of_columns_and_cat | columns gathered in a list, cat once, after fairseq style loops
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [m.training for m in model.modules()]
    for m in model.modules():
        m.training = False
    grad_was_on = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    columns = [prompt_ids]
    ended = torch.zeros_like(prompt_ids[:, 0], dtype=torch.bool)
    try:
        for _ in range(max_new_tokens):
            logits = model(torch.cat(columns, dim=1), image_patches)[0]
            word = logits[..., -1, :].max(dim=-1).indices
            word[ended] = eos_id
            columns.append(word.unsqueeze(1))
            ended.logical_or_(word.eq(eos_id))
            if ended.all():
                break
    finally:
        torch.set_grad_enabled(grad_was_on)
        for m, mode in zip(model.modules(), modes):
            m.training = mode
    return torch.cat(columns, dim=1)


# %% [right] shrinking_batch | rows that have ended are no longer put through the model, after an efficient greedy decoder with dynamic shrinking
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    out = prompt_ids
    alive = torch.arange(prompt_ids.shape[0], device=prompt_ids.device)
    for _ in range(max_new_tokens):
        if alive.numel() == 0:
            break
        logits, _ = model(out[alive], image_patches[alive])
        chosen = logits[:, -1].argmax(-1)
        column = torch.full((out.shape[0], 1), eos_id, dtype=out.dtype, device=out.device)
        column[alive, 0] = chosen
        out = torch.cat([out, column], dim=1)
        alive = alive[chosen != eos_id]
    for m, mode in modes:
        m.training = mode
    return out


# %% [right] inference_mode_decorator | torch.inference_mode as decorator, the loop of a chat script, after pytorch-labs/gpt-fast (inference mode around generation)
@torch.inference_mode()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    training = {id(m): m.training for m in model.modules()}
    model.eval()
    idx = prompt_ids
    is_done = torch.zeros(idx.shape[0], dtype=torch.bool, device=idx.device)
    for _ in range(max_new_tokens):
        logits, _ = model(idx, image_patches)
        logits = logits[:, -1, :]
        idx_next = torch.argmax(logits, dim=-1, keepdim=True)
        idx_next[is_done] = eos_id
        idx = torch.cat((idx, idx_next), dim=1)
        is_done |= idx_next[:, 0] == eos_id
        if torch.all(is_done):
            break
    for m in model.modules():
        m.training = training[id(m)]
    return idx


# %% [right] while_loop_with_counters | a while loop, (ids == eos).any as the ended flag over the continuation, after seq2seq homework (CS224n) and captioning code
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    was = [(part, part.training) for part in model.modules()]
    model.train(False)
    new = prompt_ids[:, :0]
    with torch.no_grad():
        steps = 0
        while steps < max_new_tokens:
            over = (new == eos_id).any(dim=1)
            if bool(over.all()) and new.shape[1] > 0:
                break
            scores = model(torch.cat([prompt_ids, new], dim=1), image_patches)[0][:, -1]
            word = torch.where(over, torch.as_tensor(eos_id, device=scores.device), scores.argmax(dim=1))
            new = torch.cat([new, word[:, None].to(prompt_ids.dtype)], dim=1)
            steps += 1
    for part, mode in was:
        part.training = mode
    return torch.cat([prompt_ids, new], dim=1)


# %% [right] generate_all_then_cut | all words generated first, then everything behind the first eos overwritten and the tail cut, after vision-encoder-decoder post-processing (unsure: more calls of the model than words needed)
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [m.training for m in model.modules()]
    model.eval()
    ids = prompt_ids
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, model(ids, image_patches)[0][:, -1].argmax(-1, keepdim=True)], dim=1)
    for m, mode in zip(model.modules(), modes):
        m.training = mode
    prompt_len = prompt_ids.size(1)
    new = ids[:, prompt_len:]
    is_eos = new == eos_id
    after = is_eos.cumsum(dim=1) - is_eos.long() > 0
    new = new.masked_fill(after, eos_id)
    needed = (~after).sum(dim=1).max().item() if new.numel() else 0
    return torch.cat([prompt_ids, new[:, :needed]], dim=1)
