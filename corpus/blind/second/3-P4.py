# %% [right] table_of_findings | right
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    names = ("frozen", "no gradient", "uniform", "one patch", "misaligned")
    found = dict.fromkeys(names, False)
    learning = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found["frozen"] = len(learning) != sum(1 for _ in model.parameters())

    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    if learning and loss.requires_grad:
        grads = torch.autograd.grad(loss, list(learning.values()), allow_unused=True)
        found["no gradient"] = not all(g is not None and g.abs().max() > 0 for g in grads)
    else:
        found["no gradient"] = bool(learning)
    last = maps[-1].detach()
    at = (prompt_lengths - 1).view(-1, 1, 1, 1).expand(-1, last.shape[1], 1, last.shape[3])
    rows = last.gather(2, at).squeeze(2).reshape(-1, last.shape[3])
    logs = torch.where(rows > 0, rows, 1.0).log()
    found["uniform"] = bool(-(rows * logs).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]))
    found["one patch"] = bool((rows.mean(0) > 0.9).any())
    with torch.no_grad():
        shuffled = model(token_ids, image_patches.roll(shifts=1, dims=0))[0]
        found["misaligned"] = bool(F.cross_entropy(shuffled.transpose(1, 2), targets) < 1.01 * loss)
    return [name for name in names if found[name]]

# %% [wrong] backward_leaves_grads | It calls loss.backward(), which adds to the .grad of the parameters and leaves the model changed.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            loss.backward()
            grads = [parameter.grad for parameter in learning]
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] last_position | It takes the map at the last position of the whole text instead of at the last position of each prompt.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[:, :, -1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] prompt_length_off_by_one | It takes the row at prompt_lengths instead of at prompt_lengths - 1.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] max_then_mean | "one patch" takes the largest weight in every row and then the mean, so sharp heads that look at different patches are reported too.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.max(-1).values.mean() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] frozen_only_if_all | "frozen" is reported only when no parameter at all requires gradients (all instead of any).
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if not learning:
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] zeros_not_counted | A gradient that is all zeros is not counted: only None is "no gradient".
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] rolled_along_patches | For "misaligned" the patches are rolled within each image (dim 1), not the images over the batch.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 1))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] misaligned_reversed | The comparison is reversed: "misaligned" is reported when the loss rises by more than 1 %.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other > 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] entropy_against_one | The entropy is compared with 0.99 instead of 0.99 log S, as if it were already divided by log S.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99:
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] threshold_base_two | The largest entropy is computed with log2, while the entropy is in nats.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps[-1]

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")
    with torch.enable_grad():
        loss, weights = forward(image_patches)
        if learning:
            if loss.requires_grad:
                grads = torch.autograd.grad(loss, learning, allow_unused=True)
            else:
                grads = [None] * len(learning)
            if any(grad is None or not grad.any() for grad in grads):
                findings.append("no gradient")
    with torch.no_grad():
        rows = weights[torch.arange(len(token_ids), device=weights.device), :, prompt_lengths - 1]
        entropy = torch.special.entr(rows).sum(-1).mean()
        if entropy > 0.99 * torch.tensor(float(rows.shape[-1])).log2():
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        other, _ = forward(image_patches.roll(1, 0))
        if other < 1.01 * loss:
            findings.append("misaligned")
    return findings
