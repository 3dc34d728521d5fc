# %% [wrong] frozen_means_all | "frozen" is only reported when every parameter is frozen (all instead of any). A model with a frozen aligner alone is called healthy.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    B = token_ids.shape[0]

    def run(patches):
        logits, maps = model(token_ids, patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    found = []
    params = list(model.parameters())
    if all(not p.requires_grad for p in params):
        found.append("frozen")
    loss, maps = run(image_patches)
    learn = [p for p in params if p.requires_grad]
    if learn:
        grads = torch.autograd.grad(loss, learn, allow_unused=True)
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    with torch.no_grad():
        rows = maps[-1][torch.arange(B), :, prompt_lengths - 1]
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
            found.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            found.append("one patch")
        other, _ = run(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            found.append("misaligned")
    return found


# %% [wrong] backward_fills_grad_and_stale_grads | Calls loss.backward() on top of gradients that are already there, and reads .grad. A parameter that an earlier step gave a gradient counts as reached even if this loss does not reach it; and the call leaves gradients in the model.
def diagnose(model: nn.Module, batch) -> list[str]:
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths).reshape(-1)
    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets)
    if any(p.requires_grad for p in model.parameters()):
        loss.backward()
    rows = maps[-1].detach()[range(len(ids)), :, (lengths - 1).tolist()]
    entropy = torch.special.entr(rows).sum(-1).mean().item()
    with torch.no_grad():
        wrong_logits = model(ids, patches.roll(1, 0))[0]
        rolled = F.cross_entropy(wrong_logits.reshape(-1, wrong_logits.shape[-1]), targets)
    checks = {
        "frozen": any(not p.requires_grad for p in model.parameters()),
        "no gradient": any(p.requires_grad and (p.grad is None or p.grad.abs().sum() == 0) for p in model.parameters()),
        "uniform": entropy > 0.99 * float(torch.tensor(float(rows.shape[-1])).log()),
        "one patch": rows.mean((0, 1)).max().item() > 0.9,
        "misaligned": rolled.item() < 1.01 * loss.item(),
    }
    return [name for name, yes in checks.items() if yes]


# %% [wrong] entropy_of_the_mean_map | Takes the entropy of the mean row instead of the mean of the rows' entropies. A healthy model that looks sharply at another patch in each scene has a flat mean, and is called "uniform".
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    result = []
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(logits):
        return F.cross_entropy(logits.transpose(1, 2), targets)

    logits, maps = model(token_ids, image_patches)
    loss = loss_of(logits)
    free = [p for p in model.parameters() if p.requires_grad]
    if len(free) < len(list(model.parameters())):
        result += ["frozen"]
    if free:
        for g in torch.autograd.grad(loss, free, allow_unused=True):
            if g is None or torch.count_nonzero(g) == 0:
                result += ["no gradient"]
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1].detach()
    mean = rows.mean(dim=(0, 1))
    if torch.special.entr(mean).sum() > 0.99 * np.log(len(mean)):
        result += ["uniform"]
    if mean.max() > 0.9:
        result += ["one patch"]
    with torch.no_grad():
        if loss_of(model(token_ids, image_patches.roll(1, 0))[0]) < loss * 1.01:
            result += ["misaligned"]
    return result


# %% [wrong] last_column_of_the_map | Reads the map at the last position of the sequence (−1), which is padding or <eos>, and not at the last position of each row's prompt. "uniform" and "one patch" then speak of positions whose answer nobody asks for.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    names = ["frozen", "no gradient", "uniform", "one patch", "misaligned"]
    flags = [False] * 5
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    trainable = []
    for p in model.parameters():
        if p.requires_grad:
            trainable.append(p)
        else:
            flags[0] = True
    if trainable:
        grads = torch.autograd.grad(loss, trainable, allow_unused=True)
        flags[1] = any(g is None or bool((g == 0).all()) for g in grads)
    rows = maps[-1][:, :, -1]
    S = rows.shape[-1]
    flags[2] = bool(torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.log(torch.tensor(float(S))))
    flags[3] = bool((rows.mean(0).mean(0) > 0.9).any())
    with torch.no_grad():
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    flags[4] = bool(other < 1.01 * loss)
    return [n for n, f in zip(names, flags) if f]


# %% [wrong] one_patch_per_row | Asks whether the largest weight of the single rows is above 0.9 on average, instead of the largest weight of the mean row. A healthy model with sharp maps that follow the question is then said to stare at one patch.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_and_maps(pictures):
        logits, maps = model(token_ids, pictures)
        return F.cross_entropy(logits.flatten(0, -2), targets.flatten()), maps

    loss, maps = loss_and_maps(image_patches)
    with torch.no_grad():
        rolled = loss_and_maps(torch.roll(image_patches, 1, 0))[0]
    learning = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if learning else ()
    rows = torch.stack([one[:, length - 1] for one, length in zip(maps[-1].detach(), prompt_lengths.tolist())])
    out = []
    if not all(p.requires_grad for p in model.parameters()):
        out.append("frozen")
    if any(g is None or not torch.any(g != 0) for g in grads):
        out.append("no gradient")
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * np.log(rows.shape[-1]):
        out.append("uniform")
    if rows.amax(-1).mean().item() > 0.9:
        out.append("one patch")
    if rolled.item() / loss.item() < 1.01:
        out.append("misaligned")
    return out


# %% [right] generator_of_findings | An inner generator yields the findings in the order of the table; the loss is written with log_softmax and gather over kept positions, the rows are taken with take_along_dim.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    kept = targets != -100

    def run(patches):
        logits, maps = model(token_ids, patches)
        spoken = logits[kept].log_softmax(-1).gather(-1, targets[kept].unsqueeze(-1))
        return -spoken.mean(), maps[-1]

    def findings():
        parameters = list(model.parameters())
        learning = [one for one in parameters if one.requires_grad]
        with torch.enable_grad():
            loss, weights = run(image_patches)
        if len(learning) != len(parameters):
            yield "frozen"
        if learning:
            reached = loss.requires_grad
            grads = torch.autograd.grad(loss, learning, allow_unused=True) if reached else [None]
            if not all(one is not None and one.count_nonzero().item() for one in grads):
                yield "no gradient"
        weights = weights.detach()
        index = (prompt_lengths - 1).to(weights.device).reshape(-1, 1, 1, 1)
        rows = weights.take_along_dim(index, dim=2).squeeze(2)
        largest = torch.full((), rows.shape[-1], dtype=rows.dtype).log().item()
        if -torch.xlogy(rows, rows).sum(-1).mean().item() > 0.99 * largest:
            yield "uniform"
        if rows.flatten(0, 1).mean(0).max().item() > 0.9:
            yield "one patch"
        with torch.no_grad():
            if run(image_patches.roll(1, 0))[0].item() < 1.01 * loss.item():
                yield "misaligned"

    return list(findings())
