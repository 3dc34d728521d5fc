# %% [wrong] frozen_only_if_all_are | "frozen" is found only where no parameter at all requires gradients (all); it should be where some parameter does not (any). A frozen aligner is overlooked.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets, findings = shift_targets(token_ids, prompt_lengths), []

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, weights = run(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    if not learning:
        findings.append("frozen")
    gradients = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    if any(g is None or not g.any() for g in gradients):
        findings.append("no gradient")
    rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    if run(image_patches.roll(1, 0))[0] < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [wrong] every_row_on_some_patch | For "one patch" the largest weight of each row is taken and averaged; the rows should be averaged first, and then the largest taken. A healthy model that looks sharply at another patch each time is called ill.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    if not all(p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    logits, maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    learning = [p for p in model.parameters() if p.requires_grad]
    if learning:
        grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or bool((g == 0).all()) for g in grads):
            findings.append("no gradient")
    B = len(token_ids)
    rows = maps[-1][torch.arange(B, device=token_ids.device), :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.amax(-1).mean().item() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        other, _ = model(token_ids, image_patches.roll(1, 0))
        if F.cross_entropy(other.flatten(0, 1), targets).item() < 1.01 * loss.item():
            findings.append("misaligned")
    return findings

# %% [wrong] entropy_of_the_mean | For "uniform" the entropy of the mean row is taken; it should be the mean of the rows' entropies. Rows that are sharp on patches all over the scene have an even mean, and a healthy model is called uniform.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_and_maps(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_and_maps(image_patches)
    parameters = list(model.parameters())
    learning = [p for p in parameters if p.requires_grad]
    grads = [None] * len(learning)
    if loss.requires_grad:
        grads = torch.autograd.grad(loss, learning, allow_unused=True)
    rows = maps[-1][torch.arange(len(targets), device=targets.device), :, prompt_lengths - 1].detach()
    mean_row = rows.mean((0, 1))
    with torch.no_grad():
        shuffled, _ = loss_and_maps(image_patches.roll(1, 0))
    tests = {
        "frozen": len(learning) < len(parameters),
        "no gradient": any(g is None or not g.any() for g in grads),
        "uniform": bool(torch.special.entr(mean_row).sum() > 0.99 * np.log(len(mean_row))),
        "one patch": bool(mean_row.max() > 0.9),
        "misaligned": bool(shuffled < 1.01 * loss),
    }
    return [name for name, found in tests.items() if found]

# %% [wrong] patches_rolled | image_patches is rolled along axis 1, the patches of each scene; it should be axis 0, so that each question gets another scene. The scene stays with its question, only its patches change places, so a model that looks by content alone is called misaligned.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets, findings = shift_targets(token_ids, prompt_lengths), []

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    if any(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    loss, weights = run(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None for _ in learning]
    if any(g is None or not g.any() for g in gradients):
        findings.append("no gradient")
    rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    if run(image_patches.roll(1, 1))[0] < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [wrong] the_first_finding_alone | The function returns with the first finding; it should return all of them. A frozen model that is uniform and misaligned as well is only called frozen.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    if not all(p.requires_grad for p in model.parameters()):
        return ["frozen"]
    targets = shift_targets(token_ids, prompt_lengths)
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    grads = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    if any(g is None or not g.any() for g in grads):
        return ["no gradient"]
    rows = maps[-1][torch.arange(len(targets), device=targets.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        return ["uniform"]
    if rows.mean((0, 1)).max() > 0.9:
        return ["one patch"]
    with torch.no_grad():
        other, _ = model(token_ids, image_patches.roll(1, 0))
        worse = F.cross_entropy(other.flatten(0, 1), targets.flatten())
    return ["misaligned"] if worse < 1.01 * loss else []

# %% [wrong] last_position_of_the_text | The rows are those of the last position of the whole text, weights[:, :, -1]; it should be the last position of each prompt, prompt_lengths − 1. Padding and <eos> are measured in place of the word that answers.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets, findings = shift_targets(token_ids, prompt_lengths), []

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    if any(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    loss, weights = run(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None for _ in learning]
    if any(g is None or not g.any() for g in gradients):
        findings.append("no gradient")
    rows = weights[:, :, -1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    if run(image_patches.roll(1, 0))[0] < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [right] a_table_of_findings | All measurements are made first; the findings then stand in a table in the order of the task, and those that hold are returned.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, -2), targets), maps[-1]

    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    with torch.enable_grad():
        loss, weights = run(image_patches)
        reached = loss.requires_grad and bool(learning)
        gradients = torch.autograd.grad(loss, learning, allow_unused=True) if reached else [None] * len(learning)
    with torch.no_grad():
        exchanged, _ = run(image_patches.roll(1, 0))
        scene = torch.arange(len(token_ids), device=weights.device)
        rows = weights.detach()[scene, :, prompt_lengths.to(weights.device) - 1]  # (B, H, S)
        evenness = torch.special.entr(rows).sum(-1).mean().item() / float(np.log(rows.shape[-1]))
        found = (
            ("frozen", len(learning) < len(parameters)),
            ("no gradient", any(gradient is None or not gradient.any() for gradient in gradients)),
            ("uniform", evenness > 0.99),
            ("one patch", rows.mean((0, 1)).max().item() > 0.9),
            ("misaligned", exchanged.item() < 1.01 * loss.item()),
        )
    return [name for name, holds in found if holds]
