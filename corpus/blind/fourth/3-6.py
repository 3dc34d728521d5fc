# %% [wrong] gradients_pile_up | `zero_grad` is never called, so the gradients of earlier steps are added to this one's.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] cleared_after_backward | The gradients are cleared between backward and step: nothing is learned.
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


# %% [wrong] loss_after_the_update | Runs the model again and returns the loss from after the update.
def train_step(model, optimizer, batch):
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths).flatten()

    def loss_now():
        return F.cross_entropy(model(ids, patches)[0].flatten(0, 1), targets)

    model.train()
    optimizer.zero_grad()
    loss_now().backward()
    optimizer.step()
    with torch.no_grad():
        return loss_now().item()


# %% [wrong] mean_of_row_means | Takes the mean for each row and then the mean of those; rows with long answers count too little. Asked for is the mean over all targets.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = torch.stack([F.cross_entropy(l, t) for l, t in zip(logits, targets)]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [wrong] tensor_returned | Returns the loss as a tensor, with its whole graph, and not as a float.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    logits = model(token_ids, image_patches)[0]
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    loss.backward()
    optimizer.step()
    return loss


# %% [wrong] mode_left_as_found | `model.train()` is left out: a model that was in evaluation mode, after `generate` for example, is trained without its dropout.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(
        logits.reshape(-1, logits.size(-1)),
        shift_targets(token_ids, prompt_lengths).reshape(-1),
        ignore_index=-100,
    )
    loss.backward()
    optimizer.step()
    return float(loss)


# %% [right] only_kept_positions | Chooses the positions that have a target by a bool index and writes the cross-entropy with `log_softmax` and `gather`.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    asked = targets != -100
    optimizer.zero_grad(set_to_none=True)
    with torch.enable_grad():
        logits = model.train()(token_ids, image_patches)[0][asked]
        loss = -logits.log_softmax(-1).gather(1, targets[asked].unsqueeze(1)).mean()
    loss.backward()
    optimizer.step()
    return loss.detach().item()
