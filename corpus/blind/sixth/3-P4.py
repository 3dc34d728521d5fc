# %% [wrong] entropy_limit | The mean entropy is compared with 0.99 instead of 0.99 · log S (2.175 for nine patches): a map spread over three patches is already called "uniform"
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    params = list(model.parameters())
    live = [p for p in params if p.requires_grad]
    logits, maps = model(token_ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, live, allow_unused=True) if live else []
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1].detach()
    with torch.no_grad():
        rolled = F.cross_entropy(model(token_ids, patches.roll(1, 0))[0].flatten(0, 1), targets)
    out = []
    if len(live) < len(params):
        out.append("frozen")
    if any(g is None or not g.any() for g in grads):
        out.append("no gradient")
    if torch.special.entr(rows).sum(-1).mean() > 0.99:
        out.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        out.append("one patch")
    if rolled < 1.01 * loss:
        out.append("misaligned")
    return out

# %% [wrong] last_column | The rows are read at the last position of the sequence (−1), which is <eos> or padding, instead of the last position of each prompt, prompt_length − 1
def diagnose(model: nn.Module, batch) -> list[str]:
    ids, lengths, images = batch
    targets = shift_targets(ids, lengths)

    def run(pictures):
        logits, maps = model(ids, pictures)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps[-1]

    loss, weights = run(images)
    learn = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn else ()
    with torch.no_grad():
        other = run(images.roll(1, 0))[0]
    rows = weights[:, :, -1].detach()
    limit = 0.99 * torch.tensor(float(rows.shape[-1])).log()
    findings = {
        "frozen": len(learn) < len(list(model.parameters())),
        "no gradient": any(g is None or bool((g == 0).all()) for g in grads),
        "uniform": bool(torch.special.entr(rows).sum(-1).mean().cpu() > limit),
        "one patch": bool(rows.mean((0, 1)).max() > 0.9),
        "misaligned": bool(other < loss * 1.01),
    }
    return [name for name, found in findings.items() if found]

# %% [wrong] any_sharp_row | "one patch" is said where any single row has more than 0.9 on a patch; the rows should be averaged over heads and batch first, so a healthy model that looks sharply at different patches gets the finding
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    learn = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn else []
    shuffled = F.cross_entropy(model(token_ids, patches.roll(1, 0))[0].flatten(0, 1), targets)
    B = token_ids.shape[0]
    rows = maps[-1][torch.arange(B, device=token_ids.device), :, prompt_lengths - 1]
    names = []
    if not all(p.requires_grad for p in model.parameters()):
        names.append("frozen")
    if any(g is None or g.abs().max() == 0 for g in grads):
        names.append("no gradient")
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        names.append("uniform")
    if rows.max() > 0.9:
        names.append("one patch")
    if shuffled < 1.01 * loss:
        names.append("misaligned")
    return names

# %% [wrong] patches_rolled | roll(1, 1) moves the patches within each scene instead of giving the scenes to other questions; the task asks for image_patches.roll(1, 0)
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    parameters = list(model.parameters())
    learn = [p for p in parameters if p.requires_grad]
    logits, maps = model(token_ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn else []
    with torch.no_grad():
        moved = F.cross_entropy(model(token_ids, patches.roll(1, 1))[0].flatten(0, 1), targets)
    rows = maps[-1][torch.arange(len(patches), device=patches.device), :, prompt_lengths - 1].detach()
    found = ["frozen"] if len(learn) != len(parameters) else []
    found += ["no gradient"] if any(g is None or not g.any() for g in grads) else []
    found += ["uniform"] if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]) else []
    found += ["one patch"] if rows.mean((0, 1)).max() > 0.9 else []
    found += ["misaligned"] if moved < 1.01 * loss else []
    return found

# %% [wrong] none_skipped | Gradients that are None are skipped (g is not None and …), so a parameter that the loss does not reach at all is not reported; None counts as "no gradient"
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    learn = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn else []
    with torch.no_grad():
        shuffled = F.cross_entropy(model(token_ids, patches.roll(1, 0))[0].flatten(0, 1), targets)
    rows = maps[-1][torch.arange(len(patches), device=patches.device), :, prompt_lengths - 1].detach()
    found = []
    if any(not p.requires_grad for p in model.parameters()):
        found.append("frozen")
    if any(g is not None and not g.any() for g in grads):
        found.append("no gradient")
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    if shuffled < 1.01 * loss:
        found.append("misaligned")
    return found

# %% [wrong] all_frozen_and_worse_is_misaligned | "frozen" is reported only where every parameter is frozen (not any(requires_grad)) instead of some; AND "misaligned" is turned round: it is said where the shuffled loss is more than 1 % higher, so every healthy model gets it
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    learn = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn else []
    with torch.no_grad():
        shuffled = F.cross_entropy(model(token_ids, patches.roll(1, 0))[0].flatten(0, 1), targets)
    rows = maps[-1][torch.arange(len(patches), device=patches.device), :, prompt_lengths - 1].detach()
    checks = [
        ("frozen", not any(p.requires_grad for p in model.parameters())),
        ("no gradient", any(g is None or not g.any() for g in grads)),
        ("uniform", torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1])),
        ("one patch", rows.mean((0, 1)).max() > 0.9),
        ("misaligned", shuffled > 1.01 * loss),
    ]
    return [name for name, yes in checks if yes]

# %% [right] generator_of_findings | an inner generator yields the findings in order; a loss that no parameter reaches counts as no gradient
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]

    def look(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, -2), targets.flatten()), maps[-1].detach()

    def findings():
        if len(learning) < len(parameters):
            yield "frozen"
        loss, weights = look(image_patches)
        reached = loss.requires_grad and learning
        grads = torch.autograd.grad(loss, learning, allow_unused=True) if reached else [None] * len(learning)
        if any(grad is None or not grad.any() for grad in grads):
            yield "no gradient"
        question = torch.arange(len(weights), device=weights.device)
        rows = weights[question, :, prompt_lengths - 1]  # (B, H, S)
        even = torch.full_like(rows[0, 0], 1 / rows.shape[-1])
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.special.entr(even).sum():
            yield "uniform"
        if rows.flatten(0, 1).mean(0).max() > 0.9:
            yield "one patch"
        with torch.no_grad():
            shuffled, _ = look(image_patches.roll(1, 0))
        if shuffled < 1.01 * loss:
            yield "misaligned"

    return list(findings())
