# %% [wrong] gradients_pile_up | The old gradients are never cleared. They should be set to zero before backward. From the second step on each update uses the sum of all gradients so far.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] mean_of_row_means | The loss is averaged within each question first, then over the questions. It should be the mean over all targets of the batch. Words of short answers count more than words of long ones.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    targets = shift_targets(token_ids, prompt_lengths)
    logits = model(token_ids, image_patches)[0]
    each = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    learned = targets != -100
    loss = (each.sum(1) / learned.sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)

# %% [wrong] loss_of_the_next_step | The loss is computed again after the update, and that one comes back. The loss from before the update was asked for. The number is too small.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).reshape(-1)

    def compute():
        logits, _ = model(token_ids, image_patches)
        return nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets)

    model.train()
    optimizer.zero_grad()
    compute().backward()
    optimizer.step()
    with torch.no_grad():
        return compute().item()

# %% [wrong] cleared_between_backward_and_step | The gradients are cleared after backward and before the update. They should be cleared before backward. The optimizer finds none, and nothing learns.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    logits, maps = model(ids, patches)
    loss = nn.CrossEntropyLoss()(logits.flatten(end_dim=-2), shift_targets(ids, lengths).flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()

# %% [wrong] vocabulary_by_reshape | cross_entropy wants the vocabulary on axis 1, and the logits are reshaped to (B, V, T). They should be transposed or flattened. Scores of different words and positions are mixed, and the loss is that of a scrambled model.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    B, T, V = logits.shape
    loss = F.cross_entropy(logits.reshape(B, V, T), shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] ignores_the_padding_id_instead | cross_entropy is told to ignore index 0, the padding. shift_targets marks what is to be left out with −100, which cross_entropy ignores by itself. An error comes out: target −100 is out of bounds.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    model.train()
    optimizer.zero_grad()
    output = model(token_ids, image_patches)
    loss = criterion(output[0].view(-1, output[0].size(-1)), shift_targets(token_ids, prompt_lengths).view(-1))
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [right] picks_the_targets_by_hand | Selects the targets with a bool mask, and takes minus the mean of their log-probabilities itself.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train(True)
    optimizer.zero_grad(set_to_none=True)
    targets = shift_targets(token_ids, prompt_lengths)
    wanted = targets != -100
    surprises = -model(token_ids, image_patches)[0][wanted].log_softmax(-1)
    loss = surprises.gather(1, targets[wanted].unsqueeze(1)).mean()
    before = loss.detach().item()
    loss.backward()
    optimizer.step()
    return before
