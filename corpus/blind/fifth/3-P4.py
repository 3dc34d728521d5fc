# %% [wrong] gradients_cleared | loss.backward() and zero_grad() throw away the .grad that the model had before; torch.autograd.grad leaves it alone AND only a gradient of None counts as "no gradient", so parameters whose gradient is all zeros are missed
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    findings = []
    params = list(model.parameters())
    if any(not p.requires_grad for p in params):
        findings.append("frozen")
    model.zero_grad()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    if loss.requires_grad:
        loss.backward()
    if any(p.requires_grad and p.grad is None for p in params):
        findings.append("no gradient")
    model.zero_grad()
    rows = maps[-1].detach()[torch.arange(len(token_ids)), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.tensor(float(rows.shape[-1])).log():
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        shuffled = model(token_ids, image_patches.roll(1, 0))[0]
        other = F.cross_entropy(shuffled.flatten(0, 1), targets.flatten())
    if other < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [wrong] row_after_the_prompt | the map is read at prompt_lengths, the first word of the answer, and not at prompt_lengths − 1, the last position of the prompt
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    found = []
    learning = [p for p in model.parameters() if p.requires_grad]
    if len(learning) < len(list(model.parameters())):
        found.append("frozen")
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if learning else []
    if any(g is None or not g.any() for g in grads):
        found.append("no gradient")
    B = torch.arange(len(token_ids), device=token_ids.device)
    rows = maps[-1].detach()[B, :, prompt_lengths.clamp(max=token_ids.shape[1] - 1)]
    S = torch.tensor(float(rows.shape[-1]))
    if torch.special.entr(rows).sum(-1).mean().cpu() > 0.99 * S.log():
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        moved = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if moved < 1.01 * loss.detach():
        found.append("misaligned")
    return found

# %% [wrong] any_sharp_row | "one patch" asks whether any single row has more than 0.9 on a patch; it should be the mean of the rows, so a healthy model that looks sharply is called broken
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    parameters = [p for p in model.parameters() if p.requires_grad]
    names = []
    if not all(p.requires_grad for p in model.parameters()):
        names.append("frozen")
    logits, maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    if parameters:
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        if any(g is None or g.abs().max() == 0 for g in gradients):
            names.append("no gradient")
    which = torch.arange(len(token_ids), device=token_ids.device)
    rows = maps[-1].detach()[which, :, prompt_lengths - 1]
    limit = 0.99 * torch.tensor(float(rows.shape[-1]), device=rows.device).log()
    if torch.special.entr(rows).sum(-1).mean() > limit:
        names.append("uniform")
    if rows.max() > 0.9:
        names.append("one patch")
    with torch.no_grad():
        worse = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].transpose(1, 2), targets)
    if worse < 1.01 * loss:
        names.append("misaligned")
    return names

# %% [wrong] shuffled_within_a_scene | roll(1, 1) moves the patches within each image and not the images between the questions (roll(1, 0)); the wrong pairs are never tried
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    everything = list(model.parameters())
    open_ones = [p for p in everything if p.requires_grad]
    out = ["frozen"] if len(open_ones) != len(everything) else []
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    if open_ones:
        grads = torch.autograd.grad(loss, open_ones, allow_unused=True)
        if any(g is None or bool((g == 0).all()) for g in grads):
            out.append("no gradient")
    rows = maps[-1].detach()[torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    most = np.log(rows.shape[-1])
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * most:
        out.append("uniform")
    if rows.mean(0).mean(0).max().item() > 0.9:
        out.append("one patch")
    with torch.no_grad():
        second, _ = model(token_ids, image_patches.roll(1, 1))
        second = F.cross_entropy(second.flatten(0, 1), targets)
    if second < 1.01 * loss:
        out.append("misaligned")
    return out

# %% [wrong] entropy_not_in_log_s | the entropy is compared with 0.99 and not with 0.99 · log S: over nine patches log 9 is 2.2, so any map that spreads a little is called uniform
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    findings = []
    if any(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    learn = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    if learn:
        for g in torch.autograd.grad(loss, learn, allow_unused=True):
            if g is None or torch.count_nonzero(g) == 0:
                findings.append("no gradient")
                break
    rows = maps[-1].detach()[torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99:
        findings.append("uniform")
    if rows.mean((0, 1)).amax() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        rolled = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if rolled < loss * 1.01:
        findings.append("misaligned")
    return findings

# %% [wrong] all_frozen_needed | "frozen" is only found where no parameter at all requires gradients (all in place of any), so a model with a frozen aligner alone is missed
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    findings = []
    if all(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    learn = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn else ()
    if any(g is None or not g.count_nonzero() for g in grads):
        findings.append("no gradient")
    rows = maps[-1].detach()[torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        rolled = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if rolled < loss * 1.01:
        findings.append("misaligned")
    return findings

# %% [right] table_of_answers | each finding's test gives a bool in a dict in the order of the table, and the names that are True come back; the gradients go through torch.autograd.grad
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def run(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with torch.enable_grad():
        loss, maps = run(image_patches)
        reached = loss.requires_grad
        gradients = torch.autograd.grad(loss, learning, allow_unused=True) if learning and reached else [None] * len(learning)
    with torch.no_grad():
        worse, _ = run(image_patches.roll(1, 0))
        scene = torch.arange(len(token_ids), device=token_ids.device)
        rows = maps[-1].detach()[scene, :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean().item()
    findings = {
        "frozen": len(learning) < sum(1 for _ in model.parameters()),
        "no gradient": any(one is None or not bool(one.any()) for one in gradients),
        "uniform": entropy > 0.99 * float(np.log(rows.shape[-1])),
        "one patch": rows.mean(dim=(0, 1)).max().item() > 0.9,
        "misaligned": worse.item() < 1.01 * loss.item(),
    }
    return [name for name, there in findings.items() if there]
