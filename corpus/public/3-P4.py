# %% [right] autograd_grad_allow_unused | torch.autograd.grad with allow_unused over the learning parameters, entr of the last rows, after debugging helpers (karpathy "recipe" style checks)
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch

    def loss_of(patches):
        logits, maps = model(token_ids, patches)
        targets = shift_targets(token_ids, prompt_lengths)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    learning = [p for p in parameters if p.requires_grad]
    if len(learning) < len(parameters) or not learning:
        findings.append("frozen")
    loss, maps = loss_of(image_patches)
    if learning:
        gradients = (
            torch.autograd.grad(loss, learning, allow_unused=True) if loss.requires_grad else [None] * len(learning)
        )
        if any(g is None or not g.any() for g in gradients):
            findings.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids), device=token_ids.device), :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        other, _ = loss_of(image_patches.roll(1, 0))
    if other < 1.01 * loss.detach():
        findings.append("misaligned")
    return findings


# %% [right] backward_on_a_deepcopy | loss.backward() on a deep copy, p.grad inspected by name, after Lightning style gradient checks (named_parameters, grad is None)
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    twin = deepcopy(model)
    twin.zero_grad(set_to_none=True)
    targets = shift_targets(token_ids, prompt_lengths).reshape(-1)
    logits, maps = twin(token_ids, image_patches)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets)
    if loss.requires_grad:
        loss.backward()
    named = dict(twin.named_parameters())
    frozen = [name for name, p in named.items() if not p.requires_grad]
    dead = [name for name, p in named.items() if p.requires_grad and (p.grad is None or p.grad.abs().max() == 0)]
    with torch.no_grad():
        index = (prompt_lengths - 1).view(-1, 1, 1, 1).expand(-1, maps[-1].shape[1], 1, maps[-1].shape[-1])
        last = maps[-1].gather(2, index).squeeze(2)  # (B, H, S)
        entropy = -(last * torch.log(last + 1e-12)).sum(-1).mean().item()
        peak = last.flatten(0, 1).mean(0).max().item()
        shuffled = twin(token_ids, torch.cat([image_patches[-1:], image_patches[:-1]]))[0]
        shuffled_loss = F.cross_entropy(shuffled.reshape(-1, shuffled.shape[-1]), targets).item()
    checks = {
        "frozen": bool(frozen),
        "no gradient": bool(dead),
        "uniform": entropy > 0.99 * float(np.log(last.shape[-1])),
        "one patch": peak > 0.9,
        "misaligned": shuffled_loss < 1.01 * loss.item(),
    }
    return [name for name, found in checks.items() if found]


# %% [right] norms_of_gradients_in_a_list | all conditions as (name, bool) pairs, gradient norms, boolean selection of the rows, after model inspection scripts
import math


def diagnose(model: nn.Module, batch) -> list[str]:
    ids, lengths, patches = batch
    labels = shift_targets(ids, lengths)
    counted = labels != -100
    with torch.enable_grad():
        logits, maps = model(ids, patches)
        loss = F.cross_entropy(logits[counted], labels[counted])
        trainable = [p for p in model.parameters() if p.requires_grad]
        grads = torch.autograd.grad(loss, trainable, allow_unused=True) if trainable and loss.requires_grad else ()
    norms = [0.0 if g is None else g.norm().item() for g in grads] or [0.0] * len(trainable)
    with torch.no_grad():
        where = torch.arange(ids.shape[1], device=ids.device) == (lengths - 1).unsqueeze(1)  # (B, T)
        rows = maps[-1].detach().transpose(1, 2)[where]  # (B, H, S)
        mean_entropy = torch.where(rows > 0, -rows * rows.clamp(min=1e-30).log(), 0.0).sum(-1).mean()
        shifted = F.cross_entropy(model(ids, torch.roll(patches, 1, 0))[0][counted], labels[counted])
    pairs = [
        ("frozen", not all(p.requires_grad for p in model.parameters())),
        ("no gradient", any(norm == 0.0 for norm in norms)),
        ("uniform", mean_entropy.item() > 0.99 * math.log(rows.shape[-1])),
        ("one patch", rows.mean((0, 1)).amax().item() > 0.9),
        ("misaligned", (shifted / loss.detach() < 1.01).item()),
    ]
    return [name for name, holds in pairs if holds]
