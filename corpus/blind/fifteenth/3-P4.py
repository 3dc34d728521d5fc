# %% [wrong] map_of_the_last_column | The maps are read at the last position of the padded sequence, where there is an answer or padding. They belong to the last position of each prompt, prompt_lengths - 1.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    if len(learning) < len(parameters):
        findings.append("frozen")

    loss, maps = loss_of(image_patches)
    if learning:
        if loss.requires_grad:
            gradients = torch.autograd.grad(loss, learning, allow_unused=True)
        else:
            gradients = [None] * len(learning)
        if any(gradient is None or not gradient.any() for gradient in gradients):
            findings.append("no gradient")

    rows = maps[-1][:, :, -1].detach()  # (B, H, S)
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")

    with torch.no_grad():
        other, _ = loss_of(image_patches.roll(1, 0))
    if other < 1.01 * loss:
        findings.append("misaligned")
    return findings


# %% [wrong] misaligned_only_if_nearly_equal | The difference of the two losses is taken without its sign, so a model whose loss clearly falls when the images are shuffled is not found. It is misaligned whenever the shuffled loss is less than 1 % higher, and lower counts, too.
def diagnose(model: nn.Module, batch) -> list[str]:
    ids, lengths, patches = batch
    scene = torch.arange(len(ids), device=ids.device)
    targets = shift_targets(ids, lengths).reshape(-1)
    found = []

    if not all(parameter.requires_grad for parameter in model.parameters()):
        found.append("frozen")

    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.reshape(len(targets), -1), targets)
    learns = [parameter for parameter in model.parameters() if parameter.requires_grad]
    reached = [None for _ in learns]
    if learns and loss.requires_grad:
        reached = torch.autograd.grad(loss, learns, allow_unused=True)
    for gradient in reached:
        if gradient is None or bool((gradient == 0).all()):
            found.append("no gradient")
            break

    with torch.no_grad():
        rows = maps[-1][scene, :, lengths - 1]
        S = rows.shape[-1]
        if torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.log(torch.tensor(float(S))):
            found.append("uniform")
        if (rows.mean(1).mean(0) > 0.9).any():
            found.append("one patch")
        shuffled_logits, _ = model(ids, patches.roll(1, 0))
        shuffled_loss = F.cross_entropy(shuffled_logits.reshape(len(targets), -1), targets)
        if (shuffled_loss - loss).abs() / loss < 0.01:
            found.append("misaligned")
    return found
