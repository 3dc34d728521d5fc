# %% [wrong] gradients_cleared_too_late | zero_grad stands between backward and step: the fresh gradients are thrown away, and the weights do not learn
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


# %% [wrong] mean_of_means | each question gets the mean of its own targets, and these are averaged: targets of short answers count more, where the text asks for the mean over all targets
def train_step(model, optimizer, batch):
    ids, prompts, patches = batch
    model.train()
    optimizer.zero_grad()
    logits = model(ids, patches)[0]
    targets = shift_targets(ids, prompts)
    losses = [F.cross_entropy(one, wanted) for one, wanted in zip(logits, targets)]
    loss = torch.stack(losses).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] loss_after_the_update | the loss is computed once more after the step and that one is returned, not the one from before the update
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).reshape(-1)

    def compute_loss():
        logits, _ = model(token_ids, image_patches)
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets, ignore_index=-100)

    model.train()
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()
    with torch.no_grad():
        return float(compute_loss())


# %% [wrong] mode_as_found | model.train() is missing: a model that comes in evaluation mode is trained in it, without dropout
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it."""
    token_ids, prompt_lengths, image_patches = batch
    optimizer.zero_grad(set_to_none=True)
    logits, _weights = model(token_ids, image_patches)
    log_p = logits.log_softmax(dim=-1).transpose(1, 2)  # (B, V, T)
    loss = F.nll_loss(log_p, shift_targets(token_ids, prompt_lengths))
    loss.backward()
    optimizer.step()
    return loss.detach().item()


# %% [wrong] clipped | the gradients are clipped to length 1 before the step; the text asks for an update without clipping
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    loss = criterion(logits.permute(0, 2, 1), shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% [right] closure | forward and backward stand in a closure that is handed to optimizer.step, which calls it once and returns its loss; only the positions with a target are kept
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    wanted = shift_targets(token_ids, prompt_lengths)
    learned = wanted >= 0
    model.train()

    def closure():
        optimizer.zero_grad()
        logits, _ = model(token_ids, image_patches)
        chosen = logits[learned]
        own = chosen.gather(1, wanted[learned].unsqueeze(1)).squeeze(1)
        loss = (chosen.logsumexp(1) - own).mean()
        loss.backward()
        return loss

    return optimizer.step(closure).item()
