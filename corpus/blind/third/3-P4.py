# %% [wrong] zeros_not_seen | Takes only None for a missing gradient; a gradient of nothing but zeros is not found.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    found = []

    def loss_on(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten()), maps

    learning = [p for p in model.parameters() if p.requires_grad]
    if len(learning) < len(list(model.parameters())):
        found.append("frozen")
    loss, maps = loss_on(image_patches)
    if learning and any(g is None for g in torch.autograd.grad(loss, learning, allow_unused=True)):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    if loss_on(image_patches.roll(1, 0))[0] < 1.01 * loss:
        found.append("misaligned")
    return found

# %% [wrong] last_column_of_the_map | Looks at the last position of the sequence, which is padding or answer, in place of the last position of each prompt.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    learners = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss, learners, allow_unused=True) if learners else []
    with torch.no_grad():
        rows = maps[-1][:, :, -1]
        wrong_pairs = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
        entropy = torch.special.entr(rows).sum(-1).mean()
        tests = {
            "frozen": any(not p.requires_grad for p in model.parameters()),
            "no gradient": any(g is None or not g.any() for g in gradients),
            "uniform": entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log(),
            "one patch": rows.mean((0, 1)).max() > 0.9,
            "misaligned": wrong_pairs < 1.01 * loss,
        }
    return [name for name, ill in tests.items() if ill]

# %% [wrong] mean_of_largest | For "one patch" takes the largest weight of each row and averages these: heads that are sure, each of another patch, count as a collapse.
def diagnose(model: nn.Module, batch) -> list[str]:
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths)

    def run(images):
        logits, maps = model(ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = run(patches)
    findings = []
    parameters = list(model.parameters())
    if not all(p.requires_grad for p in parameters):
        findings.append("frozen")
    open_ones = [p for p in parameters if p.requires_grad]
    if open_ones:
        grads = torch.autograd.grad(loss, open_ones, allow_unused=True)
        if any(g is None or g.abs().sum() == 0 for g in grads):
            findings.append("no gradient")
    with torch.no_grad():
        row = maps[-1][torch.arange(len(ids)), :, lengths - 1]
        if torch.special.entr(row).sum(-1).mean().item() > 0.99 * float(np.log(row.shape[-1])):
            findings.append("uniform")
        if row.amax(-1).mean() > 0.9:
            findings.append("one patch")
        if run(patches.roll(1, 0))[0] < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] misaligned_turned_round | Calls a model misaligned where the shuffled loss is MORE than 1 % higher, which is the sign of a healthy one.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).reshape(-1)
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.reshape(len(targets), -1), targets)
    result = []
    if any(not p.requires_grad for p in model.parameters()):
        result += ["frozen"]
    learners = [p for p in model.parameters() if p.requires_grad]
    if learners:
        for g in torch.autograd.grad(loss, learners, allow_unused=True):
            if g is None or torch.count_nonzero(g) == 0:
                result += ["no gradient"]
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        result += ["uniform"]
    if rows.flatten(0, 1).mean(0).max() > 0.9:
        result += ["one patch"]
    with torch.no_grad():
        shuffled = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].reshape(len(targets), -1), targets)
    if shuffled > loss * 1.01:
        result += ["misaligned"]
    return result

# %% [wrong] first_finding_only | A chain of elif names only the first finding; a model may have several.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, weights = loss_of(image_patches)
    learners = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learners, allow_unused=True) if learners else ()
    rows = weights[torch.arange(len(token_ids)), :, prompt_lengths - 1].detach()
    entropy = torch.special.entr(rows).sum(-1).mean()
    if not all(p.requires_grad for p in model.parameters()):
        return ["frozen"]
    elif any(g is None or (g == 0).all() for g in grads):
        return ["no gradient"]
    elif entropy > 0.99 * np.log(rows.shape[-1]):
        return ["uniform"]
    elif rows.mean((0, 1)).max() > 0.9:
        return ["one patch"]
    elif loss_of(image_patches.roll(1, 0))[0].item() < 1.01 * loss.item():
        return ["misaligned"]
    return []

# %% [wrong] rolled_within_the_scene | Rolls the patches within each scene (axis 1) in place of giving each question another one's image (axis 0).
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    wanted = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), wanted)
    frozen = [p for p in model.parameters() if not p.requires_grad]
    free = [p for p in model.parameters() if p.requires_grad]
    found = ["frozen"] if frozen else []
    if free:
        gradients = torch.autograd.grad(loss, free, allow_unused=True)
        if not all(g is not None and bool(g.ne(0).any()) for g in gradients):
            found.append("no gradient")
    with torch.no_grad():
        rows = torch.stack([m[:, length - 1] for m, length in zip(maps[-1], prompt_lengths.tolist())])
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * float(np.log(rows.shape[-1])):
            found.append("uniform")
        if (rows.mean((0, 1)) > 0.9).any():
            found.append("one patch")
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 1))[0].flatten(0, 1), wanted)
        if other < 1.01 * loss:
            found.append("misaligned")
    return found

# %% [right] generator_of_findings | An inner generator yields the findings one after the other; the rows are picked by a loop, gradients by the hooks-free autograd.grad.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def measured(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.movedim(-1, 1), targets), maps[-1]

    def findings():
        parameters = list(model.parameters())
        learners = [one for one in parameters if one.requires_grad]
        if len(learners) != len(parameters):
            yield "frozen"
        loss, last = measured(image_patches)
        if learners:
            reached = torch.autograd.grad(loss, learners, allow_unused=True)
            if any(one is None or not bool((one != 0).any()) for one in reached):
                yield "no gradient"
        with torch.no_grad():
            rows = torch.stack([one[:, end - 1] for one, end in zip(last, prompt_lengths.tolist())])
            spread = -torch.xlogy(rows, rows).sum(-1).mean().item()
            if spread > 0.99 * float(np.log(rows.shape[-1])):
                yield "uniform"
            if float(rows.flatten(0, 1).mean(0).max()) > 0.9:
                yield "one patch"
            if float(measured(image_patches.roll(1, 0))[0]) < 1.01 * float(loss):
                yield "misaligned"

    return list(findings())
