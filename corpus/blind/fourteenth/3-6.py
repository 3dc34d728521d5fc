# %% [wrong] mean_of_the_rows_means | The loss is averaged within each question first, then over the questions: long answers count less than the mean over all targets says.
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

# %% [wrong] shifted_once_more | The targets of shift_targets are shifted already, and here logits and targets are moved against each other once more.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    targets = shift_targets(token_ids, prompt_lengths)
    logits = model(token_ids, image_patches)[0]
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] divided_by_all_positions | The sum of the losses is divided by the number of all positions, those that are ignored among them.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    loss = F.cross_entropy(logits.reshape(len(targets), -1), targets, reduction="sum") / targets.numel()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return float(loss.detach())
