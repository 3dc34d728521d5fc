# %% [wrong] mean_of_the_rows_means | The loss is averaged within each row first and then over the rows, so a target of a short answer counts more than one of a long answer. The mean is to be taken over all targets of the batch at once.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")  # (B, T)
    per_row = losses.sum(1) / (targets != -100).sum(1)
    loss = per_row.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] gradients_clipped | The gradients are clipped to a norm of 1 before the update, which changes every step whose gradient is longer. The text asks for one update without clipping.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()

    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())
