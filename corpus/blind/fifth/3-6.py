# %% [wrong] gradients_pile_up | zero_grad is never called, so the gradients of earlier steps are added to those of this one
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] cleared_too_late | zero_grad stands between backward and step: the gradients are gone before the update, and the model never changes
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(token_ids, prompt_lengths))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()

# %% [wrong] clipped | the gradients are clipped to the norm 1 before the update; the task says without clipping
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    optimizer.zero_grad()
    logits = model(ids, patches)[0]
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), shift_targets(ids, lengths).reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()

# %% [wrong] evaluation_mode | the model is put into evaluation mode for the step (model.eval()); it should be training mode, so dropout never acts
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.eval()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)

# %% [wrong] loss_after | the loss that is returned is computed anew after the update; the one from before is asked
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_now():
        return F.cross_entropy(model(token_ids, image_patches)[0].flatten(0, 1), targets)

    model.train()
    optimizer.zero_grad()
    loss_now().backward()
    optimizer.step()
    with torch.no_grad():
        return loss_now().item()

# %% [wrong] mean_of_rows | the loss is computed for each question and then averaged over the questions, so words of short answers count more; the mean over all targets is asked
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = 0
    for b in range(len(token_ids)):
        loss = loss + F.cross_entropy(logits[b], targets[b])
    loss = loss / len(token_ids)
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [right] picked_targets | only the positions that have a target are picked with a bool index, and minus the log-probability of each is averaged
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    learned = targets != -100
    likely = logits[learned].log_softmax(dim=-1).gather(-1, targets[learned].unsqueeze(-1))
    loss = likely.mean().neg()
    loss.backward()
    optimizer.step()
    return loss.item()
