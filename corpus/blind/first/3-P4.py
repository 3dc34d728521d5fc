# %% [wrong] frozen_means_all | "frozen" is found only where all parameters are frozen; one is enough.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    if all(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True)
        if any(g is None or (g == 0).all() for g in grads):
            findings.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        findings.append("misaligned")
    return findings
# %% [wrong] frozen_asked_for_gradients | autograd.grad is asked for the gradients of all parameters, the frozen ones included, which raises for those that require none.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    params = list(model.parameters())
    found = []
    if any(not p.requires_grad for p in params):
        found.append("frozen")
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    if any(g is None or not g.any() for g in grads):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches.roll(1, 0))
        other = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] stale_gradients | backward() is used without clearing what stands in .grad: gradients left from training hide a part that the loss does not reach any more.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    findings = []
    if any(not p.requires_grad for p in model.parameters()):
        findings.append("frozen")
    logits, maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    if loss.requires_grad:
        loss.backward()
    for p in model.parameters():
        if p.requires_grad and (p.grad is None or p.grad.abs().sum() == 0):
            findings.append("no gradient")
            break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        findings.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches.roll(1, 0))
        other = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    if other < 1.01 * loss:
        findings.append("misaligned")
    return findings
# %% [wrong] allow_unused_missing | autograd.grad is called without allow_unused=True: a parameter that the loss does not reach raises instead of being found.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned)
        if any((g == 0).all() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches.roll(1, 0))
        other = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] zero_gradients_missed | Only gradients that are None count as "no gradient"; those that are all zeros are missed.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned and not loss.requires_grad:
        found.append("no gradient")
    elif learned:
        if any(g is None for g in torch.autograd.grad(loss, learned, allow_unused=True)):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches.roll(1, 0))
        other = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] runs_without_gradients | Everything runs under torch.no_grad(), so the loss has no graph, and asking for gradients raises.
import math

@torch.no_grad()
def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    learned = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learned, allow_unused=True)
    if any(g is None or bool((g == 0).all()) for g in grads):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches.roll(1, 0))
        other = F.cross_entropy(logits.flatten(0, 1), shift_targets(token_ids, prompt_lengths).flatten())
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] last_column_for_prompt_end | The rows are taken at the last position of the text ([..., -1, :]), not at the last position of each prompt.
import math

def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][:, :, -1]                              # (B, H, S)
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] first_map | The first map is examined, maps[0], where the last one is asked for.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    B = len(token_ids)
    rows = maps[0][torch.arange(B, device=token_ids.device), :, prompt_lengths - 1]
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] rows_of_all_prompts | maps[-1][:, :, prompt_lengths - 1] takes from every scene the rows of all prompts' ends, (B, H, B, S): where prompts differ in length, wrong rows are mixed in.
import math

def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][:, :, prompt_lengths - 1]
    S = rows.shape[-1]
    entropy = torch.special.entr(rows).sum(dim=-1).mean()
    if entropy.item() > 0.99 * math.log(S):
        found.append("uniform")
    if rows.reshape(-1, S).mean(0).max().item() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] entropy_in_bits | The entropy is measured with log2, in bits, but compared with the natural log S: maps that are far from uniform are called uniform.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    bits = -(rows * torch.log2(rows.clamp_min(1e-12))).sum(-1)
    if bits.mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] log_s_forgotten | The entropy is compared with 0.99 alone, without the factor log S.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99:
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] entropy_of_the_mean | The entropy of the mean map is taken, not the mean of the entropies: sharp maps that look at different patches seem uniform.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    mean_map = rows.flatten(0, 1).mean(0)
    entropy = torch.special.entr(mean_map).sum()
    if entropy > 0.99 * math.log(len(mean_map)):
        found.append("uniform")
    if mean_map.max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] max_before_mean | For "one patch" the largest weight of each row is taken first and then averaged: sharp maps that look at different patches are reported. The mean over heads and batch has to come first.
import math

def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    S = rows.shape[-1]
    entropies = torch.special.entr(rows).sum(-1)
    if entropies.mean() > 0.99 * math.log(S):
        found.append("uniform")
    if rows.max(dim=-1).values.mean() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] nine_patches_assumed | log 9 is hard-coded as the largest entropy; the number of patches S may be another.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    entropy = torch.special.entr(rows).sum(-1).mean().item()
    if entropy > 0.99 * math.log(9):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max().item() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] any_single_head | "one patch" is reported as soon as one head's mean is above 0.9: the mean is taken over the batch only, and not over the heads.
import math

def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if (rows.mean(dim=0) > 0.9).any():
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] misaligned_reversed | The comparison for "misaligned" is turned round: it is reported where the wrong images do hurt.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other > 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] patches_rolled | The patches within each scene are rolled (axis 1), not the scenes (axis 0): every question keeps its own image.
import math

def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 1))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] ten_percent | The limit for "misaligned" is 10 % (1.1) in place of 1 %.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        wrong_pairs, _ = loss_of(image_patches.roll(1, 0))
    if wrong_pairs < 1.1 * loss:
        found.append("misaligned")
    return found
# %% [wrong] first_finding_only | It returns after the first finding; all findings are asked for.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps[-1]

    if not all(p.requires_grad for p in model.parameters()):
        return ["frozen"]
    loss, last = run(image_patches)
    grads = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    if any(g is None or not g.any() for g in grads):
        return ["no gradient"]
    rows = last[torch.arange(len(token_ids)), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        return ["uniform"]
    if rows.mean((0, 1)).max() > 0.9:
        return ["one patch"]
    if run(image_patches.roll(1, 0))[0] < 1.01 * loss:
        return ["misaligned"]
    return []
# %% [wrong] names_with_underscores | Two findings are spelled otherwise than asked: "no_gradient" and "one_patch".
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps[-1]

    loss, last = run(image_patches)
    params = [p for p in model.parameters() if p.requires_grad]
    if params and loss.requires_grad:
        grads = torch.autograd.grad(loss, params, allow_unused=True)
    else:
        grads = [None] * len(params)
    rows = last[torch.arange(len(token_ids)), :, prompt_lengths - 1].detach()
    checks = {
        "frozen": not all(p.requires_grad for p in model.parameters()),
        "no_gradient": any(g is None or not g.any() for g in grads),
        "uniform": bool(torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1])),
        "one_patch": bool(rows.mean((0, 1)).max() > 0.9),
        "misaligned": bool(run(image_patches.roll(1, 0))[0] < 1.01 * loss),
    }
    return [name for name, found in checks.items() if found]
# %% [wrong] order_of_the_table_lost | The findings are collected in a set and sorted by the alphabet, not in the order of the table.
import math

def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps

    loss, maps = loss_of(image_patches)
    found, trainable = [], []
    for parameter in model.parameters():
        if parameter.requires_grad:
            trainable.append(parameter)
        elif "frozen" not in found:
            found.append("frozen")
    if trainable and not loss.requires_grad:
        found.append("no gradient")
    elif trainable:
        for g in torch.autograd.grad(loss, trainable, allow_unused=True):
            if g is None or g.abs().max() == 0:
                found.append("no gradient")
                break
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return sorted(set(found))
# %% [wrong] unfreezes_the_model | Frozen parameters are switched to requires_grad to get their gradients and are left so: the diagnosis changes the model.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets), maps

    found = []
    was_learned = [p.requires_grad for p in model.parameters()]
    if not all(was_learned):
        found.append("frozen")
    for p in model.parameters():
        p.requires_grad_(True)
    loss, maps = loss_of(image_patches)
    grads = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    if any(was and (g is None or not g.any()) for was, g in zip(was_learned, grads)):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [wrong] whole_text_loss | The loss is taken over all next tokens of the text, question and padding included, not over shift_targets.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch

    def loss_of(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten()), maps

    found = []
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    loss, maps = loss_of(image_patches)
    learned = [p for p in model.parameters() if p.requires_grad]
    if learned:
        grads = torch.autograd.grad(loss, learned, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]   # (B, H, S)
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean(dim=(0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = loss_of(image_patches.roll(1, 0))[0]
    if other < 1.01 * loss:
        found.append("misaligned")
    return found
# %% [right] dictionary_of_checks | All five answers are computed first, and picked out in order at the end.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps[-1]

    loss, last = run(image_patches)
    params = [p for p in model.parameters() if p.requires_grad]
    if params and loss.requires_grad:
        grads = torch.autograd.grad(loss, params, allow_unused=True)
    else:
        grads = [None] * len(params)
    with torch.no_grad():
        rows = last[torch.arange(len(token_ids), device=last.device), :, prompt_lengths - 1]
        shuffled, _ = run(image_patches.roll(1, 0))
    checks = {
        "frozen": not all(p.requires_grad for p in model.parameters()),
        "no gradient": any(g is None or not g.any() for g in grads),
        "uniform": bool(torch.special.entr(rows).sum(-1).mean() > 0.99 * math.log(rows.shape[-1])),
        "one patch": bool(rows.mean((0, 1)).max() > 0.9),
        "misaligned": bool(shuffled < 1.01 * loss),
    }
    return [name for name, found in checks.items() if found]
# %% [right] entropy_by_hand | The entropy by hand with xlogy, rows by gather, the loss with log_softmax.
import math

def diagnose(model, batch):
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths)

    def answer_loss(images):
        logits, maps = model(ids, images)
        chosen = targets != -100
        return F.nll_loss(logits.log_softmax(-1)[chosen], targets[chosen]), maps

    problems = []
    learned = [p for p in model.parameters() if p.requires_grad]
    if len(learned) < len(list(model.parameters())):
        problems.append("frozen")
    loss, maps = answer_loss(patches)
    if learned:
        reached = loss.requires_grad
        gradients = torch.autograd.grad(loss, learned, allow_unused=True) if reached else [None]
        if any(g is None or torch.count_nonzero(g) == 0 for g in gradients):
            problems.append("no gradient")
    last = maps[-1].detach()
    B, H, T, S = last.shape
    where = (lengths - 1).view(B, 1, 1, 1).expand(B, H, 1, S)
    rows = last.gather(2, where).squeeze(2)
    entropy = -torch.xlogy(rows, rows).sum(dim=-1)
    if entropy.mean().item() > 0.99 * math.log(S):
        problems.append("uniform")
    if rows.reshape(B * H, S).mean(dim=0).max().item() > 0.9:
        problems.append("one patch")
    with torch.no_grad():
        mixed, _ = answer_loss(torch.cat([patches[-1:], patches[:-1]]))
    if mixed.item() < 1.01 * loss.item():
        problems.append("misaligned")
    return problems
# %% [right] backward_with_saved_gradients | Uses backward, but puts the old .grad aside first and restores it afterwards.
import math

def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model: some of "frozen", "no gradient", "uniform", "one patch", "misaligned", in this order.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision)
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    parameters = list(model.parameters())
    kept = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    if loss.requires_grad:
        loss.backward()
    dead = [p for p in parameters if p.requires_grad and (p.grad is None or not bool((p.grad != 0).any()))]
    for p, old in zip(parameters, kept):
        p.grad = old
    rows = torch.stack([maps[-1][b, :, int(n) - 1] for b, n in enumerate(prompt_lengths)]).detach()
    with torch.no_grad():
        shuffled_logits = model(token_ids, image_patches.roll(1, 0))[0]
        shuffled = F.cross_entropy(shuffled_logits.flatten(0, 1), targets)
    names = []
    if any(not p.requires_grad for p in parameters):
        names += ["frozen"]
    if dead:
        names += ["no gradient"]
    if torch.special.entr(rows).sum(dim=-1).mean() > 0.99 * math.log(rows.shape[-1]):
        names += ["uniform"]
    if rows.mean(dim=1).mean(dim=0).max() > 0.9:
        names += ["one patch"]
    if shuffled < loss * 1.01:
        names += ["misaligned"]
    return names
