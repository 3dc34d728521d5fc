# %% [wrong] no_zero_grad | The old gradients are never cleared: they add up over the steps.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] zero_grad_before_step | zero_grad stands between backward and step: the fresh gradients are cleared, and the update changes nothing.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()
# %% [wrong] train_mode_forgotten | model.train() is missing: a model that is in evaluation mode stays there.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    optimizer.zero_grad()
    logits, maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] loss_as_tensor | The loss comes back as a tensor with its graph, not as a float: .item() is missing.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
# %% [wrong] loss_after_update | The loss is computed anew after the update and that one is returned; the loss from before the update is asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_now():
        logits, _ = model(token_ids, image_patches)
        return F.cross_entropy(logits.flatten(0, 1), targets)

    model.train()
    optimizer.zero_grad()
    loss_now().backward()
    optimizer.step()
    with torch.no_grad():
        return loss_now().item()
# %% [wrong] gradients_clipped | The gradients are clipped to norm 1 before the update; the text says: without clipping.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()
# %% [wrong] sum_reduction | The loss is the sum over the targets (reduction="sum") in place of their mean.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    V = logits.shape[-1]
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.view(-1, V), targets.view(-1), reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] mean_per_question | The loss is averaged within each question first, and then over the questions; so the targets of long answers count less. It should be one mean over all targets.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    losses = [F.cross_entropy(row, target) for row, target in zip(logits, targets)]
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] whole_text_learned | The loss is taken over all next tokens, question and padding included; shift_targets is not used.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] ignored_as_class_zero | shift_targets is called with ignore_index=0, but cross_entropy is not told: the positions to be left out are learned as word 0.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths, 0, 0)
    logits, _ = model(ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] shifted_twice | The targets are shifted once more against the logits (logits[:, :-1] with targets[:, 1:]), although shift_targets has already done it.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    logits, targets = logits[:, :-1], targets[:, 1:]
    loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] not_flattened | cross_entropy gets (B, T, V) and (B, T) as they are; it takes axis 1 for the classes, so it raises.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits, shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] reshape_for_transpose | The logits are brought to (B, V, T) by reshape where a transpose is needed: the scores of different words and positions are mixed up.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    B, T, V = logits.shape
    loss = F.cross_entropy(logits.reshape(B, V, T), shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] softmax_first | A softmax is applied before cross_entropy, which makes its own: the loss is taken of softmaxed probabilities.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    probs = F.softmax(logits, dim=-1)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(probs.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] batch_order | The batch is unpacked in the wrong order: image patches and prompt lengths are swapped.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, image_patches, prompt_lengths = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] pair_taken_as_logits | The model's result, a pair of logits and maps, is used as if it were the logits alone, which raises.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] own_optimizer | A new AdamW optimizer is made inside, and the one that is given is ignored.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] ignored_positions_counted | The sum of the losses is divided by all B·T positions, the ignored ones included, and not by the number of targets.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    per_token = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")  # 0 where ignored
    loss = per_token.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] update_per_question | The questions are taken one after the other with an update for each; one update on the whole batch is asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    total = 0.0
    for i in range(len(token_ids)):
        logits, _ = model(token_ids[i : i + 1], image_patches[i : i + 1])
        targets = shift_targets(token_ids[i : i + 1], prompt_lengths[i : i + 1])
        loss = F.cross_entropy(logits[0], targets[0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(token_ids)
# %% [wrong] label_smoothing | The loss has label smoothing of 0.1, which nobody asked for.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-100)
    loss = criterion(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
# %% [wrong] prints_the_loss | The loss is printed and nothing is returned.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss: {loss.item():.4f}")
# %% [wrong] eval_and_tensor | The model is set to evaluation mode in place of training mode AND the loss comes back as a tensor, not as a float.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.eval()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()
# %% [wrong] step_not_called | optimizer.step is written without parentheses: the update is never made.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step
    return loss.item()
# %% [right] log_softmax_by_hand | Log-softmax and gather by hand, over the kept positions only.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    ids, prompt_lengths, patches = batch
    model.train(True)
    logits = model(ids, patches)[0]
    targets = shift_targets(ids, prompt_lengths)
    kept = targets != -100
    log_p = logits[kept].log_softmax(-1)
    loss = -log_p.gather(1, targets[kept].unsqueeze(1)).mean()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    loss.backward()
    optimizer.step()
    return float(loss)
# %% [right] transposed_cross_entropy | Gives cross_entropy (B, V, T) by a transpose, and names another ignore_index on both sides.
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits, _maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths, ignore_index=-1)
    loss = F.cross_entropy(logits.mT, targets, ignore_index=-1)
    before = loss.detach().item()
    loss.backward()
    optimizer.step()
    return before
# %% [right] sum_over_count | Sums the losses and divides by the number of targets; clears old gradients by setting them to zero.
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    """One update on one batch; returns the loss before it.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    tokens, lengths, patches = batch
    model = model.train()
    scores = model(tokens, patches)[0]
    wanted = shift_targets(tokens, lengths)
    total = nn.CrossEntropyLoss(reduction="sum")(scores.reshape(-1, scores.shape[-1]), wanted.reshape(-1))
    loss = total / (wanted != -100).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
