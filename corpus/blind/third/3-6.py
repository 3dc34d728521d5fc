# %% [wrong] gradients_never_cleared | zero_grad is missing: the gradients of all steps so far add up.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] cleared_before_the_step | Clears the gradients between backward and step, so the update has nothing to go by.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    loss = F.cross_entropy(model(ids, patches)[0].transpose(1, 2), shift_targets(ids, lengths))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return float(loss)

# %% [wrong] loss_after_the_update | Runs the model once more after the update and returns that loss; the one from before is asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).reshape(-1)

    def loss_now():
        logits = model(token_ids, image_patches)[0]
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets)

    model.train()
    optimizer.zero_grad()
    loss_now().backward()
    optimizer.step()
    with torch.no_grad():
        return loss_now().item()

# %% [wrong] mode_left_alone | Does not switch to training mode: a model in evaluation mode trains without its dropout.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(end_dim=-2), targets.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] mean_of_row_means | Takes the mean loss of every question and averages these: a question with a long answer counts no more than a short one.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    losses = [F.cross_entropy(row, wanted) for row, wanted in zip(logits, targets)]
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] clipped | Clips the gradients before the update; the text asks for none.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    logits = model(token_ids, image_patches)[0]
    loss = nn.CrossEntropyLoss(ignore_index=-100)(
        logits.view(-1, logits.size(-1)), shift_targets(token_ids, prompt_lengths).view(-1)
    )
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()

# %% [right] picked_log_probabilities | Picks the positions with a target itself, takes log_softmax there, in place of F.cross_entropy with its ignore_index.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train(True)
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    where = targets.ne(-100)
    log_share = logits[where].log_softmax(-1)
    loss = log_share.gather(1, targets[where].unsqueeze(1)).mean().neg()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())
