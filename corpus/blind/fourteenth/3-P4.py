# %% [wrong] last_column_of_the_batch | The map is read at the last position of the row, where padding or the end stands, and not at the last position of each prompt.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_on(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters) or not parameters:
        findings.append("frozen")
    loss, maps = loss_on(image_patches)
    if learning:
        gradients = torch.autograd.grad(loss, learning, allow_unused=True)
        if any(gradient is None or not gradient.any() for gradient in gradients):
            findings.append("no gradient")
    with torch.no_grad():
        scene = torch.arange(len(token_ids), device=token_ids.device)
        rows = maps[-1][scene, :, -1]  # (B, H, S)
        largest = torch.tensor(float(rows.shape[-1])).log().item()
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * largest:
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        if loss_on(image_patches.roll(1, 0))[0] < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] patches_rolled_within_a_scene | The patches are rolled within each scene and not from scene to scene: each question keeps its own image, only in another order.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_on(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters) or not parameters:
        findings.append("frozen")
    loss, maps = loss_on(image_patches)
    if learning:
        gradients = torch.autograd.grad(loss, learning, allow_unused=True)
        if any(gradient is None or not gradient.any() for gradient in gradients):
            findings.append("no gradient")
    with torch.no_grad():
        scene = torch.arange(len(token_ids), device=token_ids.device)
        rows = maps[-1][scene, :, prompt_lengths - 1]  # (B, H, S)
        largest = torch.tensor(float(rows.shape[-1])).log().item()
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * largest:
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        if loss_on(image_patches.roll(1, 1))[0] < 1.01 * loss:
            findings.append("misaligned")
    return findings

# %% [wrong] zeros_pass_for_a_gradient | Only a gradient of None counts as none; a gradient that is all zeros is not found.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_on(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters) or not parameters:
        findings.append("frozen")
    loss, maps = loss_on(image_patches)
    if learning:
        gradients = torch.autograd.grad(loss, learning, allow_unused=True)
        if any(gradient is None for gradient in gradients):
            findings.append("no gradient")
    with torch.no_grad():
        scene = torch.arange(len(token_ids), device=token_ids.device)
        rows = maps[-1][scene, :, prompt_lengths - 1]  # (B, H, S)
        largest = torch.tensor(float(rows.shape[-1])).log().item()
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * largest:
            findings.append("uniform")
        if rows.mean((0, 1)).max() > 0.9:
            findings.append("one patch")
        if loss_on(image_patches.roll(1, 0))[0] < 1.01 * loss:
            findings.append("misaligned")
    return findings
