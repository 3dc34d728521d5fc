# %% [wrong] last_position_of_the_padded_row | The rows of the map are taken at the last position of the padded sequence, maps[-1][:, :, -1]. The last position of each prompt is asked for; behind it come the answer and padding, whose maps are others.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    params = list(model.parameters())
    if any(not p.requires_grad for p in params):
        findings.append("frozen")

    def loss_for(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten()), maps

    loss, maps = loss_for(image_patches)
    learning = [p for p in params if p.requires_grad]
    if learning:
        grads = torch.autograd.grad(loss, learning, allow_unused=True)
        if any(g is None or not g.any() for g in grads):
            findings.append("no gradient")
    rows = maps[-1][:, :, -1]
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99 * torch.log(torch.tensor(float(rows.shape[-1]))):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        rolled, _ = loss_for(image_patches.roll(1, 0))
    if rolled < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [wrong] largest_patch_of_each_row | For "one patch" the largest weight of each row is taken first and then the mean. A healthy model that looks sharply, at another patch for each question, is then found ill; the mean over heads and batch comes first, then the largest.
def diagnose(model, batch):
    ids, lengths, patches = batch
    out = []
    if not all(p.requires_grad for p in model.parameters()):
        out.append("frozen")
    targets = shift_targets(ids, lengths)
    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    active = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, active, allow_unused=True) if active else []
    for g in grads:
        if g is None or g.abs().sum() == 0:
            out.append("no gradient")
            break
    B = len(ids)
    rows = maps[-1][torch.arange(B, device=ids.device), :, lengths - 1]
    S = rows.shape[-1]
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * np.log(S):
        out.append("uniform")
    if rows.max(-1).values.mean() > 0.9:
        out.append("one patch")
    with torch.no_grad():
        other = F.cross_entropy(model(ids, patches.roll(1, 0))[0].reshape(-1, logits.shape[-1]), targets.reshape(-1))
    if other.item() < loss.item() * 1.01:
        out.append("misaligned")
    return out

# %% [wrong] log_to_the_base_two | The largest entropy is taken as log2 S, as in information theory, while entr uses the natural logarithm. The threshold is then about 1.44 times too high, and "uniform" is never found.
def diagnose(model: nn.Module, batch) -> list[str]:
    from math import log2

    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    trainable = [p for p in model.parameters() if p.requires_grad]
    frozen = len(trainable) < len(list(model.parameters()))
    grads = torch.autograd.grad(loss, trainable, allow_unused=True) if trainable else ()
    dead = any(g is None or bool((g == 0).all()) for g in grads)
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]  # (B, H, S)
    entropy = torch.special.entr(rows).sum(-1).mean().item()
    uniform = entropy > 0.99 * log2(rows.shape[-1])
    one = rows.mean(dim=(0, 1)).max().item() > 0.9
    with torch.no_grad():
        rolled_loss = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].transpose(1, 2), targets)
    misaligned = rolled_loss.item() < 1.01 * loss.item()
    names = ["frozen", "no gradient", "uniform", "one patch", "misaligned"]
    return [name for name, found in zip(names, [frozen, dead, uniform, one, misaligned]) if found]

# %% [wrong] any_zero_in_a_gradient_counts | A gradient with a single zero in it counts as "no gradient". The embedding of each word that the batch does not contain has a zero gradient, so a healthy model is found ill; only None or all zeros count.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch

    def forward(images):
        logits, maps = model(token_ids, images)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, -2), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    learn = [p for p in parameters if p.requires_grad]
    if len(learn) != len(parameters):
        findings += ["frozen"]
    loss, maps = forward(image_patches)
    if learn and any(g is None or (g == 0).any() for g in torch.autograd.grad(loss, learn, allow_unused=True)):
        findings += ["no gradient"]
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.tensor(rows.shape[-1]).log():
        findings += ["uniform"]
    if (rows.mean(1).mean(0) > 0.9).any():
        findings += ["one patch"]
    with torch.no_grad():
        if forward(image_patches.roll(1, 0))[0] < loss * 1.01:
            findings += ["misaligned"]
    return findings

# %% [wrong] patches_rolled_within_the_image | The roll goes along the patches (axis 1) and not along the batch. Each question then keeps its own image with the places shifted, and a model that was trained on wrong pairs, or one that ignores places, gets another verdict than with image_patches.roll(1, 0).
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    logits, maps = model(token_ids, image_patches)
    V = logits.shape[-1]
    loss = F.cross_entropy(logits.view(-1, V), targets.view(-1))
    findings = []
    if any(p.requires_grad is False for p in model.parameters()):
        findings.append("frozen")
    wanted = [p for p in model.parameters() if p.requires_grad]
    if wanted:
        gradients = torch.autograd.grad(loss, wanted, allow_unused=True)
        if min(0.0 if g is None else g.abs().max().item() for g in gradients) == 0:
            findings.append("no gradient")
    batch_index = torch.arange(token_ids.shape[0])
    rows = maps[-1][batch_index, :, prompt_lengths - 1]
    largest_entropy = torch.log(torch.tensor(rows.shape[-1], dtype=rows.dtype))
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * largest_entropy:
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        shuffled = F.cross_entropy(model(token_ids, image_patches.roll(1, 1))[0].view(-1, V), targets.view(-1))
    if shuffled < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [right] a_dictionary_of_verdicts | The five verdicts are made as a dictionary in the table's order and filtered at the end; the entropy is written out with xlogy, the gradients come parameter by parameter, and the loss from log_softmax and gather.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    counts = targets != -100

    def ask(patches):
        scores, maps = model(token_ids, patches)
        log_p = scores.log_softmax(-1).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return -log_p[counts].mean(), maps[-1]

    with torch.enable_grad():
        loss, last = ask(image_patches)
        learning = [p for p in model.parameters() if p.requires_grad]
        gradients = torch.autograd.grad(loss, learning, allow_unused=True) if learning else []
    with torch.no_grad():
        wrong_loss, _ = ask(image_patches.roll(1, 0))
        at = (prompt_lengths - 1).view(-1, 1, 1, 1).expand(-1, last.shape[1], 1, last.shape[-1])
        rows = last.detach().gather(2, at).squeeze(2)
        entropy = -torch.special.xlogy(rows, rows).sum(-1).mean()
        ceiling = torch.tensor(float(rows.shape[-1])).log().item()
        verdicts = {
            "frozen": not all(p.requires_grad for p in model.parameters()),
            "no gradient": any(g is None or not g.count_nonzero() for g in gradients),
            "uniform": entropy.item() > 0.99 * ceiling,
            "one patch": rows.flatten(0, 1).mean(0).max().item() > 0.9,
            "misaligned": wrong_loss.item() < 1.01 * loss.item(),
        }
    return [name for name, ill in verdicts.items() if ill]
