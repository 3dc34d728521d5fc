# %% [right] sum_over_count | right
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train(True)
    targets = shift_targets(token_ids, prompt_lengths)
    log_p = model(token_ids, image_patches)[0].log_softmax(-1)
    wanted = targets != -100
    picked = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    loss = -(picked * wanted).sum() / wanted.sum()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    loss.backward()
    optimizer.step()
    return float(loss.detach())

# %% [wrong] no_zero_grad | The old gradients are never cleared, so they add up from step to step.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] zero_after_backward | zero_grad stands between backward and step, so the update sees no gradient at all.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()

# %% [wrong] no_train_mode | model.train() is missing, so a model in evaluation mode (without dropout) is trained as such.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] loss_after_update | It returns the loss measured again after the update, not the one before it.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches)
        loss = F.cross_entropy(logits.flatten(0, 1), targets)
    return loss.item()

# %% [wrong] tensor_returned | It returns the loss as a tensor with its graph, not as a float.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

# %% [wrong] mean_per_question | The loss is first averaged within each question and then over questions, so words of short answers weigh more than in the mean over all targets.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    each = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    loss = (each.sum(1) / (targets != -100).sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] loss_on_whole_text | The model is trained on every next token including the question and padding, without shift_targets.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] softmax_before_loss | The logits go through a softmax before F.cross_entropy, which takes logits and applies its own.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    probabilities = logits.softmax(-1)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(probabilities.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] clipped | The gradients are clipped to norm 1 before the update, though no clipping was asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()

# %% [wrong] zeroed_unasked | The sum over all positions is divided by B*T, so ignored positions count as targets with loss 0.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
