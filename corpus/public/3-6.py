# %% [right] view_minus_one_ignore_index | logits.view(-1, V), targets.view(-1), ignore_index written out, after karpathy/nanoGPT (GPT.forward loss)
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-100)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [right] class_axis_in_the_middle | logits.transpose(1, 2) for cross_entropy, criterion object, after seq2seq homework code (CS224n)
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    optimizer.zero_grad()
    outputs = model(token_ids, image_patches)
    loss = criterion(outputs[0].transpose(1, 2), shift_targets(token_ids, prompt_lengths))
    loss.backward()
    optimizer.step()
    return float(loss.detach())


# %% [right] sum_divided_by_count | reduction sum over the number of targets, after pytorch/fairseq (label_smoothed_nll_loss and sample_size)
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train()
    token_ids, prompt_lengths, image_patches = batch
    optimizer.zero_grad()
    logits, _ = model(token_ids, image_patches)
    target = shift_targets(token_ids, prompt_lengths).reshape(-1)
    lprobs = F.log_softmax(logits.reshape(target.numel(), -1), dim=-1)
    sample_size = (target != -100).sum()
    loss = F.nll_loss(lprobs, target, ignore_index=-100, reduction="sum") / sample_size
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().item()


# %% [right] boolean_selection_of_targets | only positions with a target are scored, after masked language model code (logits[mask])
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train(True)
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    counted = targets.ne(-100)
    with torch.enable_grad():
        logits = model(token_ids, image_patches)[0]
        loss = F.cross_entropy(logits[counted], targets[counted])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% [right] float32_logits | logits cast to float32 before the loss, flatten(0, 1), after causal language model losses that upcast the logits
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _attentions = model(token_ids, image_patches)
    shift_labels = shift_targets(token_ids, prompt_lengths, ignore_index=-100).to(logits.device)
    loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), shift_labels.flatten())
    for p in model.parameters():
        p.grad = None
    loss.backward()
    optimizer.step()
    return loss.item()
