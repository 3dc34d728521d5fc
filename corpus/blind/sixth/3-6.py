# %% [wrong] no_training_mode | model.train() is missing: a model that comes in evaluation mode (after generate, say) is trained without its dropout and stays in evaluation mode
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] gradients_cleared_too_late | zero_grad() stands between backward() and step(), so the gradients are thrown away before the update and nothing is learned
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    logits = model(ids, patches)[0]
    targets = shift_targets(ids, lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()

# %% [wrong] gradients_pile_up | optimizer.zero_grad() is never called, so each step's gradients are added to all earlier ones
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    loss.backward()
    optimizer.step()
    return float(loss)

# %% [wrong] clipped | The gradients are clipped to norm 1 before the update, which the task rules out (without clipping)
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train()
    optimizer.zero_grad(set_to_none=True)
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()

# %% [wrong] sum_over_batch_size | The cross-entropies are summed and divided by the number of questions, not by the number of targets: loss and gradients are two to four times too large
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
    loss = total / len(token_ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] loss_after_update | After the update a second forward computes the loss anew, and that one is returned; the loss from before the update is asked for
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def current_loss():
        return F.cross_entropy(model(token_ids, image_patches)[0].flatten(0, 1), targets)

    model.train()
    optimizer.zero_grad()
    current_loss().backward()
    optimizer.step()
    with torch.no_grad():
        return current_loss().item()

# %% [right] only_where_targets | picks the positions with a target before the cross-entropy
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    counts = targets != -100
    model.train()
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits[counts], targets[counts])
    loss.backward()
    optimizer.step()
    return loss.item()
