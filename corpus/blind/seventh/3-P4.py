# %% [wrong] entropy_without_its_largest_value | The mean entropy is compared with 0.99 and not with 0.99 · log S; with nine patches log S is 2.2, so a map that is far from even counts as uniform.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    found = []
    if any(not p.requires_grad for p in model.parameters()):
        found.append("frozen")
    learning = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    if any(g is None or not g.any() for g in grads):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99:
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if other < 1.01 * loss:
        found.append("misaligned")
    return found

# %% [wrong] sharp_is_not_the_same_patch | The largest weight of each row is averaged, so a map that is sharp on a different patch for each question counts as "one patch"; the rows must be averaged first, and then the largest taken.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    found = []
    learning = [p for p in model.parameters() if p.requires_grad]
    if len(learning) < len(list(model.parameters())):
        found.append("frozen")
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    if any(g is None or not g.any() for g in grads):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.append("uniform")
    if rows.amax(-1).mean() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if other < 1.01 * loss:
        found.append("misaligned")
    return found

# %% [wrong] rolled_without_an_axis | image_patches.roll(1) without an axis rolls the flattened tensor by a single pixel instead of exchanging the images; the loss hardly changes, and a healthy model counts as misaligned. It should be roll(1, 0).
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch

    def run(patches):
        logits, maps = model(token_ids, patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, weights = run(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    rows = weights[torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1].detach()
    with torch.no_grad():
        shuffled, _ = run(image_patches.roll(1))
    findings = {
        "frozen": not all(p.requires_grad for p in model.parameters()),
        "no gradient": any(g is None or (g == 0).all() for g in grads),
        "uniform": torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]),
        "one patch": rows.mean((0, 1)).max() > 0.9,
        "misaligned": shuffled < 1.01 * loss,
    }
    return [name for name, there in findings.items() if there]

# %% [wrong] last_column_for_every_prompt | The map is read at the last position of the tensor, which is <eos> or padding, and not at prompt_lengths − 1, where the answer comes from.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch

    def run(patches):
        logits, maps = model(token_ids, patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, weights = run(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    rows = weights[:, :, -1].detach()  # (B, H, S), where the last word looks
    with torch.no_grad():
        shuffled, _ = run(image_patches.roll(1, 0))
    findings = {
        "frozen": not all(p.requires_grad for p in model.parameters()),
        "no gradient": any(g is None or (g == 0).all() for g in grads),
        "uniform": torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]),
        "one patch": rows.mean((0, 1)).max() > 0.9,
        "misaligned": shuffled < 1.01 * loss,
    }
    return [name for name, there in findings.items() if there]

# %% [wrong] zeros_count_as_gradient | Only a gradient of None is reported; a parameter whose gradient is all zeros gets nothing either, and is overlooked.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch

    def run(patches):
        logits, maps = model(token_ids, patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, weights = run(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    rows = weights[torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1].detach()
    with torch.no_grad():
        shuffled, _ = run(image_patches.roll(1, 0))
    findings = {
        "frozen": not all(p.requires_grad for p in model.parameters()),
        "no gradient": any(g is None for g in grads),
        "uniform": torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]),
        "one patch": rows.mean((0, 1)).max() > 0.9,
        "misaligned": shuffled < 1.01 * loss,
    }
    return [name for name, there in findings.items() if there]

# %% [wrong] gradients_of_frozen_ones | torch.autograd.grad is asked for the gradients of all parameters, the frozen ones too, and raises a RuntimeError for these; only those that require gradients may be handed in.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    parameters = list(model.parameters())
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    found = []
    if not all(p.requires_grad for p in parameters):
        found.append("frozen")
    grads = torch.autograd.grad(loss, parameters, allow_unused=True)
    if any(g is None or not g.any() for g in grads):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if other < 1.01 * loss:
        found.append("misaligned")
    return found

# %% [right] a_table_of_findings | each finding is one truth value in a dictionary, in the order of the table; gradients only where something requires them
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def run(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    with torch.enable_grad():
        loss, weights = run(image_patches)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    gradients = [None] * len(learning)
    if learning and loss.requires_grad:
        gradients = torch.autograd.grad(loss, learning, allow_unused=True)
    with torch.no_grad():
        other_loss, _ = run(image_patches.roll(1, 0))
    scene = torch.arange(len(token_ids), device=weights.device)
    rows = weights.detach()[scene, :, prompt_lengths - 1]  # (B, H, S)
    entropy = torch.special.entr(rows).sum(-1).mean().item()
    findings = {
        "frozen": any(not parameter.requires_grad for parameter in model.parameters()),
        "no gradient": any(gradient is None or not gradient.any() for gradient in gradients),
        "uniform": entropy > 0.99 * float(np.log(rows.shape[-1])),
        "one patch": rows.mean(dim=(0, 1)).max().item() > 0.9,
        "misaligned": other_loss.item() < 1.01 * loss.item(),
    }
    return [name for name, there in findings.items() if there]
