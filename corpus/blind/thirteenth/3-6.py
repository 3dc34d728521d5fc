# %% [wrong] mean_of_row_means | takes the mean of each row first and then the mean of the rows: rows with long answers count as much as rows with short ones; the mean over all targets is asked for
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    per_row = [F.cross_entropy(row, goal) for row, goal in zip(logits, targets)]
    loss = torch.stack(per_row).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] reshaped_not_transposed | brings the logits (B, T, V) into the form (B, V, T) with a reshape instead of a transpose: the scores of words and positions are mixed up
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    ids, lengths, patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits = model(ids, patches)[0]
    B, T, V = logits.shape
    loss = F.cross_entropy(logits.reshape(B, V, T), shift_targets(ids, lengths))
    loss.backward()
    optimizer.step()
    return float(loss.detach())


# %% [wrong] shifted_twice | shift_targets has shifted already; cutting logits [:, :-1] against targets [:, 1:] shifts once more, so each position learns the word after the next
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    predicted = logits[:, :-1].flatten(0, 1)
    wanted = targets[:, 1:].flatten()
    loss = F.cross_entropy(predicted, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] cleared_too_late | clears the gradients after backward and before step: the optimizer sees none, and nothing is learned
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    def loss_of(ids, lengths, patches):
        logits, _ = model(ids, patches)
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), shift_targets(ids, lengths).reshape(-1))

    model.train()
    loss = loss_of(*batch)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


# %% [wrong] mode_as_found | never calls model.train(): a model that was left in evaluation mode (after answering, say) trains without its dropout
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    with torch.enable_grad():
        scores = model(token_ids, image_patches)[0]
        log_share = scores.log_softmax(-1)
        targets = shift_targets(token_ids, prompt_lengths)
        loss = F.nll_loss(log_share.flatten(0, -2), targets.flatten(), ignore_index=-100)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [right] chosen_positions | picks the positions that have a target, and writes the cross-entropy out as log-sum-exp minus the score of the target
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    scores, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    learn = targets != -100
    chosen, wanted = scores[learn], targets[learn]
    own = chosen.gather(1, wanted[:, None]).squeeze(1)
    loss = (torch.logsumexp(chosen, dim=1) - own).mean()
    loss.backward()
    before = loss.item()
    optimizer.step()
    return before
