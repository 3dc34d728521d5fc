# %% [wrong] last_column_of_the_batch | Looks at the last column of the batch, which is mostly padding, and not at the last position of each prompt.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    params = list(model.parameters())
    if any(not p.requires_grad for p in params):
        findings.append("frozen")
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    learning = [p for p in params if p.requires_grad]
    grads = torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
    if any(g is None or not g.any() for g in grads):
        findings.append("no gradient")
    rows = maps[-1][:, :, -1].detach()
    S = rows.shape[-1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(S):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        other = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets)
    if other < 1.01 * loss.detach():
        findings.append("misaligned")
    return findings


# %% [wrong] largest_of_each_row | Takes the mean of each row's largest weight, not the largest of the mean row: a healthy model that looks sharply, each time at another patch, is accused.
def diagnose(model, batch):
    ids, lengths, patches = batch
    B = len(ids)
    out = []
    params = list(model.parameters())
    if not all(p.requires_grad for p in params):
        out.append("frozen")
    targets = shift_targets(ids, lengths).reshape(-1)
    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets)
    learns = [p for p in params if p.requires_grad]
    grads = torch.autograd.grad(loss, learns, allow_unused=True) if learns else []
    if any(g is None or (g == 0).all() for g in grads):
        out.append("no gradient")
    rows = maps[-1][torch.arange(B, device=ids.device), :, lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        out.append("uniform")
    if rows.amax(-1).mean() > 0.9:
        out.append("one patch")
    with torch.no_grad():
        logits2, _ = model(ids, patches.roll(1, 0))
        loss2 = F.cross_entropy(logits2.reshape(-1, logits2.shape[-1]), targets)
    if loss2.item() < 1.01 * loss.item():
        out.append("misaligned")
    return out


# %% [wrong] gradients_left_behind | Calls `loss.backward()` and reads `.grad`: gradients from earlier steps count as the loss's own, and the model is not left as it was.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    targets = shift_targets(token_ids, prompt_lengths)
    if any(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    if loss.requires_grad:
        loss.backward()
    for p in model.parameters():
        if p.requires_grad and (p.grad is None or p.grad.abs().sum() == 0):
            findings.append("no gradient")
            break
    scene = torch.arange(token_ids.shape[0], device=token_ids.device)
    rows = maps[-1][scene, :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * float(np.log(rows.shape[-1])):
        findings.append("uniform")
    if rows.mean(dim=(0, 1)).max().item() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        rolled = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].transpose(1, 2), targets)
    if rolled < loss * 1.01:
        findings.append("misaligned")
    return findings


# %% [wrong] patches_rolled_within_a_scene | Rolls along axis 1: the patches of each scene move on by one place, where the scenes of the batch were to change.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    found = []
    parameters = list(model.parameters())
    trainable = [p for p in parameters if p.requires_grad]
    if len(trainable) < len(parameters):
        found.append("frozen")

    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def run(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    loss, maps = run(image_patches)
    if trainable:
        gradients = torch.autograd.grad(loss, trainable, allow_unused=True)
        if any(g is None or g.abs().max() == 0 for g in gradients):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * torch.log(torch.tensor(float(rows.shape[-1]))):
        found.append("uniform")
    if rows.flatten(0, 1).mean(0).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        swapped, _ = run(image_patches.roll(1, 1))
    if swapped < 1.01 * loss:
        found.append("misaligned")
    return found


# %% [wrong] asks_frozen_parameters | Asks for the gradient of all parameters, frozen ones among them: with one frozen parameter `autograd.grad` raises an error, and there is no diagnosis.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    result = []
    params = list(model.parameters())
    if any(p.requires_grad is False for p in params):
        result.append("frozen")
    logits, maps = model(token_ids, image_patches)
    t = shift_targets(token_ids, prompt_lengths).reshape(-1)
    loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), t)
    gradients = torch.autograd.grad(loss, params, allow_unused=True)
    if any(g is None or bool((g == 0).all()) for g in gradients):
        result.append("no gradient")
    b = torch.arange(len(token_ids), device=token_ids.device)
    rows = maps[-1][b, :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        result.append("uniform")
    if rows.mean(0).mean(0).max() > 0.9:
        result.append("one patch")
    with torch.no_grad():
        l2 = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), t)
    if l2 < loss * 1.01:
        result.append("misaligned")
    return result


# %% [wrong] none_only | Only a gradient of None counts as "no gradient"; a gradient of nothing but zeros is overlooked.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    if any(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    params = [p for p in model.parameters() if p.requires_grad]
    targets = shift_targets(token_ids, prompt_lengths)
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    if params and any(g is None for g in torch.autograd.grad(loss, params, allow_unused=True)):
        findings.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1].detach()
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        rolled = F.cross_entropy(model(token_ids, image_patches.roll(1, 0))[0].flatten(0, 1), targets.flatten())
    if (rolled - loss) / loss < 0.01:
        findings.append("misaligned")
    return findings


# %% [right] dictionary_of_findings | Collects each finding as a truth value by name, in the order of the table, and returns the names that are true.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def measure(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.movedim(-1, 1), targets), maps[-1]

    with torch.enable_grad():
        loss, last_map = measure(image_patches)
        learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
        reached = [None] * len(learning)
        if loss.requires_grad:
            reached = torch.autograd.grad(loss, learning, allow_unused=True)
    with torch.no_grad():
        rolled, _ = measure(image_patches.roll(1, 0))
        rows = torch.stack([one[:, length - 1] for one, length in zip(last_map, prompt_lengths.tolist())])
        widest = torch.tensor(float(rows.shape[-1])).log().item()
        findings = {
            "frozen": len(learning) < len(list(model.parameters())),
            "no gradient": any(gradient is None or not gradient.count_nonzero() for gradient in reached),
            "uniform": torch.special.entr(rows).sum(-1).mean().item() > 0.99 * widest,
            "one patch": rows.mean((0, 1)).max().item() > 0.9,
            "misaligned": rolled.item() < 1.01 * loss.item(),
        }
    return [name for name, found in findings.items() if found]
