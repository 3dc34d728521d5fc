# %% [wrong] frozen_counts_as_no_gradient | looks for missing gradients among all parameters: a frozen one has none either, so every model with a frozen part is also said to have "no gradient", though the text asks this only of parameters that require gradients
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    loss, maps = forward(image_patches)
    learning = [p for p in model.parameters() if p.requires_grad]
    grads = {}
    if learning:
        found = torch.autograd.grad(loss, learning, allow_unused=True)
        grads = {id(p): g for p, g in zip(learning, found)}
    if len(learning) < len(list(model.parameters())):
        findings.append("frozen")
    if any(grads.get(id(p)) is None or not grads[id(p)].any() for p in model.parameters()):
        findings.append("no gradient")
    with torch.no_grad():
        rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
        S = rows.shape[-1]
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.tensor(float(S)).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        if forward(image_patches.roll(1, 0))[0] < 1.01 * loss:
            findings.append("misaligned")
    return findings


# %% [wrong] entropy_of_the_mean | takes the entropy of the averaged map instead of the mean entropy of the maps: sharp maps that look at different patches average to an even one, so a healthy model is called "uniform"
def diagnose(model: nn.Module, batch) -> list[str]:
    ids, lengths, patches = batch
    y = shift_targets(ids, lengths).reshape(-1)
    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y)
    params = list(model.parameters())
    trainable = [p for p in params if p.requires_grad]
    gradients = torch.autograd.grad(loss, trainable, allow_unused=True) if trainable else ()
    mean_map = maps[-1].detach()[torch.arange(ids.shape[0], device=ids.device), :, lengths - 1].mean(dim=(0, 1))
    entropy = -(mean_map * mean_map.clamp_min(1e-12).log()).sum()
    with torch.no_grad():
        wrong_pairs, _ = model(ids, patches.roll(1, 0))
        shuffled = F.cross_entropy(wrong_pairs.reshape(-1, wrong_pairs.shape[-1]), y)
    checks = {
        "frozen": len(trainable) != len(params),
        "no gradient": any(g is None or bool((g == 0).all()) for g in gradients),
        "uniform": bool(entropy > 0.99 * np.log(len(mean_map))),
        "one patch": bool(mean_map.max() > 0.9),
        "misaligned": bool(shuffled < loss.detach() * 1.01),
    }
    return [name for name, hit in checks.items() if hit]


# %% [wrong] max_before_mean | takes the largest weight of each row and averages those, instead of the largest of the averaged row: every sharp model passes 0.9, even if each question looks at another patch, so healthy models are said to stare at "one patch"
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    B = token_ids.shape[0]
    targets = shift_targets(token_ids, prompt_lengths)
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    out = []
    if not all(p.requires_grad for p in model.parameters()):
        out += ["frozen"]
    wanted = [p for p in model.parameters() if p.requires_grad]
    if wanted:
        for g in torch.autograd.grad(loss, wanted, allow_unused=True):
            if g is None or g.abs().sum() == 0:
                out += ["no gradient"]
                break
    last = torch.stack([maps[-1][b, :, prompt_lengths[b] - 1] for b in range(B)]).detach()  # (B, H, S)
    if torch.special.entr(last).sum(-1).mean().item() > 0.99 * np.log(last.shape[-1]):
        out += ["uniform"]
    if last.amax(-1).mean() > 0.9:
        out += ["one patch"]
    with torch.no_grad():
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].transpose(1, 2), targets)
    if other.item() < 1.01 * loss.item():
        out += ["misaligned"]
    return out


# %% [wrong] roll_within_the_scene | rolls axis 1, so the patches change places within each scene and every question keeps its own image, instead of rolling the batch: questions whose answer does not depend on the place look "misaligned", and shuffled pairs are not tested at all
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    class Check:
        def __init__(self, patches):
            self.logits, self.maps = model(token_ids, patches)
            self.loss = F.cross_entropy(self.logits.flatten(0, -2), targets)

    straight = Check(image_patches)
    with torch.no_grad():
        crossed = Check(torch.roll(image_patches, shifts=1, dims=1))
    alive = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(straight.loss, alive, allow_unused=True) if alive else []
    rows = straight.maps[-1].detach()[torch.arange(len(token_ids)), :, prompt_lengths - 1]
    limit = 0.99 * torch.log(torch.tensor(float(rows.size(-1)))).item()
    tests = [
        ("frozen", any(not p.requires_grad for p in model.parameters())),
        ("no gradient", any(g is None or torch.count_nonzero(g) == 0 for g in grads)),
        ("uniform", torch.special.entr(rows).sum(-1).mean().item() > limit),
        ("one patch", rows.mean(dim=(0, 1)).max().item() > 0.9),
        ("misaligned", crossed.loss.item() < 1.01 * straight.loss.item()),
    ]
    return [name for name, found in tests if found]


# %% [wrong] all_frozen_crashes | with every parameter frozen there is nothing to ask a gradient for, and autograd.grad raises a RuntimeError on the empty list instead of the function returning "frozen" and the rest of the findings
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    names = ["frozen", "no gradient", "uniform", "one patch", "misaligned"]
    found = set()
    parameters = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    if len(parameters) < sum(1 for _ in model.parameters()):
        found.add("frozen")
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    if any(g is None or (g == 0).all() for g in gradients):
        found.add("no gradient")
    rows = maps[-1][torch.arange(token_ids.shape[0]), :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.add("uniform")
    if (rows.mean((0, 1)) > 0.9).any():
        found.add("one patch")
    with torch.no_grad():
        rolled, _ = model(token_ids, image_patches.roll(1, 0))
        if F.cross_entropy(rolled.flatten(0, 1), targets.flatten()) < 1.01 * loss:
            found.add("misaligned")
    return [name for name in names if name in found]


# %% [right] generator_of_findings | a nested generator yields the findings in order; rows are gathered, the gradient is only asked for where there is a graph
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def run(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.movedim(-1, 1), targets), maps[-1]

    def findings():
        everything = list(model.parameters())
        learning = [p for p in everything if p.requires_grad]
        with torch.enable_grad():
            loss, weights = run(image_patches)
        if len(learning) < len(everything):
            yield "frozen"
        if learning:
            gradients = (
                torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
            )
            if not all(g is not None and bool(g.any()) for g in gradients):
                yield "no gradient"
        loss, weights = loss.detach(), weights.detach()
        place = (prompt_lengths - 1).to(weights.device)[:, None, None, None]
        rows = weights.gather(2, place.expand(-1, weights.shape[1], 1, weights.shape[3])).squeeze(2)  # (B, H, S)
        even = torch.tensor(float(rows.shape[-1])).log().item()
        if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * even:
            yield "uniform"
        if rows.flatten(0, 1).mean(0).max().item() > 0.9:
            yield "one patch"
        with torch.no_grad():
            if run(image_patches.roll(1, 0))[0].item() < 1.01 * loss.item():
                yield "misaligned"

    return list(findings())
