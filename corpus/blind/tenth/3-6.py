# %% [wrong] gradients_cleared_after_backward | zero_grad() stands between backward() and step(), so the fresh gradients are gone before the update and the model does not learn from the batch. The old ones should be cleared before backward().
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

# %% [wrong] mean_over_ignored_positions | reduction="none" and then .mean(): the ignored positions count as losses of 0 in the mean, so the loss is too small by the share of positions that have no target. The mean should run over the targets only.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    loss = losses.mean()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] mean_of_the_rows_means | The mean is taken for each question first, and then over the questions. A "read" question has four targets and a "where" question two, so they get unequal weight; the mean over all targets is asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train()
    ids, lengths, patches = batch
    logits = model(ids, patches)[0]
    targets = shift_targets(ids, lengths)
    loss = sum(F.cross_entropy(one, wanted) for one, wanted in zip(logits, targets)) / len(ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)

# %% [wrong] loss_after_the_update | The loss is computed again after the update, and that one is returned. The loss from before the update is asked for.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch

    def loss_of_batch():
        logits, _ = model(token_ids, image_patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))

    model.train()
    loss = loss_of_batch()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        return loss_of_batch().item()

# %% [wrong] stays_in_evaluation_mode | model.train() is missing. A model that was asked something in evaluation mode is trained in that mode, and dropout, if it has any, does not act; a step begins with training mode.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [right] chosen_log_probabilities | Picks the logits that have a target with a bool mask, and takes the mean of minus their log-probabilities; gradients are cleared by setting them to None.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    words, asked, seen = batch
    wanted = shift_targets(words, asked)
    counts = wanted.ne(-100)
    scores, *_ = model.train()(words, seen)
    surprise = -scores[counts].log_softmax(-1).gather(-1, wanted[counts].unsqueeze(-1))
    loss = surprise.mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().item()
