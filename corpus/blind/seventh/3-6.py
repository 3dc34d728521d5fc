# %% [wrong] cleared_before_the_step | zero_grad stands between backward and step, so the fresh gradients are thrown away and the step changes nothing, or hardly anything.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()

# %% [wrong] shifted_twice | The logits are cut to [:, :-1] and the targets to [:, 1:] although shift_targets has shifted them already; each position learns the word after the next one.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    targets = shift_targets(token_ids, prompt_lengths)
    logits, _ = model(token_ids, image_patches)
    logits, targets = logits[:, :-1], targets[:, 1:]
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] clipped_gradients | The gradients are clipped to length 0.1 before the step; the task says without clipping, so the update is another one.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    optimizer.zero_grad()
    logits, _ = model(ids, patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(ids, lengths))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    return loss.item()

# %% [wrong] mean_of_means | The loss is averaged within each question first and then over the questions, so a word of a long answer counts less; the mean over all targets is asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    targets = shift_targets(token_ids, prompt_lengths)
    logits, _ = model(token_ids, image_patches)
    each = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    counts = (targets != -100).sum(1)
    loss = (each.sum(1) / counts).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)

# %% [wrong] mode_left_as_it_was | model.train() is missing; a model that comes from an evaluation is trained in evaluation mode, so that dropout, for one, is off.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] loss_after_the_update | The loss is computed again after optimizer.step() and that one is returned; the loss from before the update is asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch

    def current_loss():
        logits, _ = model(token_ids, image_patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    model.train()
    loss = current_loss()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        return current_loss().item()

# %% [right] only_the_answered_positions | picks the positions that have a target by a bool index, and needs no ignored ones in the loss
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    answered = targets >= 0
    model.train()
    optimizer.zero_grad()
    logits = model(token_ids, image_patches)[0]
    loss = F.cross_entropy(logits[answered], targets[answered])
    loss.backward()
    optimizer.step()
    return loss.item()
