# %% [wrong] mean_of_the_rows_means | The loss is taken for each question and averaged over the questions; it should be the mean over all targets. Questions with long answers ("read", 4 targets) count for less than they should.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = torch.stack([F.cross_entropy(row, target) for row, target in zip(logits, targets)]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] shifted_twice | logits[:, :-1] meets targets[:, 1:], though shift_targets has shifted already; they should be compared as they are. Each position learns the word after the next.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    logits = logits[:, :-1]
    targets = shift_targets(token_ids, prompt_lengths)[:, 1:]
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [wrong] gradients_clipped | The gradients are clipped to length 1 before the update; the task says without clipping. The first steps, whose gradients are long, are others.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    scores = model(ids, patches)[0]
    wanted = shift_targets(ids, lengths)
    loss = F.cross_entropy(scores.reshape(-1, scores.shape[-1]), wanted.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(loss)

# %% [wrong] the_loss_afterwards | The loss is computed once more after the update, and that one is returned; it should be the one from before. The curve is one step ahead.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_now():
        logits, _ = model(token_ids, image_patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    model.train()
    optimizer.zero_grad()
    loss_now().backward()
    optimizer.step()
    with torch.no_grad():
        return loss_now().item()

# %% [wrong] cleared_between_backward_and_step | zero_grad stands between backward and step; it should come before backward. The optimizer finds no gradients, and nothing is learned.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)  # classes on axis 1
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()

# %% [wrong] ignoring_the_padding_word | cross_entropy is told ignore_index=PAD; the targets that do not count hold −100, which is the default. −100 is taken for a class and raises an IndexError.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths, pad_id=PAD)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [right] only_the_positions_that_count | The logits and targets that count are picked with a bool mask first, so that nothing need be ignored; gradients are cleared at the very beginning.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    optimizer.zero_grad()
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    counts = targets != -100
    loss = F.cross_entropy(logits[counts], targets[counts])
    loss.backward()
    before = loss.item()
    optimizer.step()
    return before
