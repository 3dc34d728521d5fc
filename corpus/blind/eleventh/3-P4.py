# %% [wrong] zeros_pass_as_gradients | "no gradient" is only reported where autograd gives None. A part that is in the graph but is multiplied by zero gets a gradient of zeros; the text counts "none, or only zeros", and this model is called healthy.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    B = token_ids.shape[0]
    targets = shift_targets(token_ids, prompt_lengths)

    def forward(patches):
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps

    findings = []
    parameters = list(model.parameters())
    if any(not p.requires_grad for p in parameters):
        findings.append("frozen")
    loss, maps = forward(image_patches)
    learning = [p for p in parameters if p.requires_grad]
    if learning:
        if not loss.requires_grad:
            findings.append("no gradient")
        else:
            grads = torch.autograd.grad(loss, learning, allow_unused=True)
            if any(g is None for g in grads):
                findings.append("no gradient")
    rows = maps[-1][torch.arange(B, device=token_ids.device), :, prompt_lengths - 1]
    S = rows.shape[-1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(S):
        findings.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        findings.append("one patch")
    with torch.no_grad():
        rolled, _ = forward(image_patches.roll(1, 0))
    if rolled < 1.01 * loss:
        findings.append("misaligned")
    return findings

# %% [wrong] entropy_of_the_mean_row | The rows are averaged over heads and batch first, and then the entropy is taken. Sharp maps on different patches average to an even row, so a healthy pointer is called "uniform"; the text wants the mean of the entropies.
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    found = []
    logits, maps = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    if not all(p.requires_grad for p in model.parameters()):
        found.append("frozen")
    live = [p for p in model.parameters() if p.requires_grad]
    if live:
        grads = torch.autograd.grad(loss, live, allow_unused=True) if loss.requires_grad else [None]
        if any(g is None or not g.any() for g in grads):
            found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    mean_row = rows.mean(dim=(0, 1))
    entropy = torch.special.entr(mean_row).sum()
    if entropy > 0.99 * np.log(len(mean_row)):
        found.append("uniform")
    if mean_row.max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        other = model(token_ids, image_patches.roll(1, 0))[0]
        other_loss = F.cross_entropy(other.reshape(-1, other.shape[-1]), targets.reshape(-1))
    if other_loss < loss * 1.01:
        found.append("misaligned")
    return found

# %% [wrong] one_percent_as_a_hundredth | "Less than 1 % higher" is a share of the loss; here the difference is compared with 0.01. A well-trained model with a loss of 0.001 whose loss grows fivefold is called misaligned, and with a large loss of 3 a rise of 0.02 is called healthy.
def diagnose(model: nn.Module, batch) -> list[str]:
    """What is wrong with a model."""
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    loss_of = lambda logits: F.cross_entropy(logits.transpose(1, 2), targets)
    logits, maps = model(token_ids, image_patches)
    loss = loss_of(logits)
    learn = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, learn, allow_unused=True) if learn and loss.requires_grad else [None] * len(learn)
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    with torch.no_grad():
        loss_rolled = loss_of(model(token_ids, image_patches.roll(1, 0))[0])
    checks = {
        "frozen": len(learn) < len(list(model.parameters())),
        "no gradient": any(g is None or (g == 0).all() for g in grads),
        "uniform": torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]),
        "one patch": rows.mean((0, 1)).max() > 0.9,
        "misaligned": loss_rolled - loss < 0.01,
    }
    return [name for name, yes in checks.items() if yes]

# %% [wrong] sharp_means_one_patch | "one patch" takes the largest weight of each row and averages those. So every sharp map counts, also where each question looks at its own patch; the text averages the rows first and asks whether one and the same patch has more than 0.9.
def diagnose(model, batch):
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths).flatten()
    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets)
    result = []

    frozen, learning = [], []
    for p in model.parameters():
        (learning if p.requires_grad else frozen).append(p)
    if frozen:
        result += ["frozen"]

    dead = False
    if learning and loss.requires_grad:
        for g in torch.autograd.grad(loss, learning, allow_unused=True):
            if g is None or g.abs().sum() == 0:
                dead = True
    elif learning:
        dead = True
    if dead:
        result += ["no gradient"]

    rows = torch.stack([maps[-1][b, :, lengths[b] - 1] for b in range(len(ids))])  # (B, H, S)
    entropy = -(rows * rows.clamp_min(1e-12).log()).sum(-1)
    if entropy.mean() > 0.99 * np.log(rows.shape[-1]):
        result += ["uniform"]
    if rows.max(dim=-1).values.mean() > 0.9:
        result += ["one patch"]

    with torch.no_grad():
        loss2 = F.cross_entropy(model(ids, patches.roll(1, 0))[0].flatten(0, 1), targets)
    if loss2 < 1.01 * loss:
        result += ["misaligned"]
    return result

# %% [wrong] old_gradients_count | loss.backward() is called, and then .grad is looked at, without clearing it before. A part that this loss does not reach but that has a .grad left from an earlier step is taken for reached, and "no gradient" is missed; the batch's gradient is also added to whatever stood there.
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, last = run(image_patches)
    if loss.requires_grad:
        loss.backward()
    out = []
    if any(p.requires_grad is False for p in model.parameters()):
        out.append("frozen")
    if any(p.requires_grad and (p.grad is None or not p.grad.any()) for p in model.parameters()):
        out.append("no gradient")
    last = last.detach()
    rows = last[torch.arange(last.shape[0]), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean().item() > 0.99 * np.log(rows.shape[-1]):
        out.append("uniform")
    if rows.mean(dim=(0, 1)).max().item() > 0.9:
        out.append("one patch")
    with torch.no_grad():
        shuffled, _ = run(image_patches.roll(1, 0))
    if shuffled.item() < 1.01 * loss.item():
        out.append("misaligned")
    return out

# %% [right] one_small_question_each | Five small generators of yes or no, the rows by take_along_dim, entropies by xlogy, and the names chosen by itertools.compress in the order of the table.
from itertools import compress


def diagnose(model: nn.Module, batch) -> list[str]:
    words, lengths, images = batch
    wanted = shift_targets(words, lengths)

    def ask(pictures):
        logits, maps = model(words, pictures)
        return F.cross_entropy(logits.movedim(-1, 1), wanted), maps

    with torch.enable_grad():
        loss, maps = ask(images)
        learning = [one for one in model.parameters() if one.requires_grad]
        slopes = (None,) * len(learning)
        if learning and loss.requires_grad:
            slopes = torch.autograd.grad(loss, learning, allow_unused=True)
    with torch.no_grad():
        with_others_images, _ = ask(torch.roll(images, 1, dims=0))
        last = maps[-1]
        asked = (lengths.to(last.device) - 1).view(-1, 1, 1, 1)
        rows = torch.take_along_dim(last, asked, dim=-2).squeeze(-2)  # (B, H, S)
        disorder = -torch.special.xlogy(rows, rows).sum(-1).mean()
        answers = (
            len(learning) != sum(1 for _ in model.parameters()),
            any(slope is None or torch.count_nonzero(slope) == 0 for slope in slopes),
            bool(disorder > 0.99 * np.log(rows.shape[-1])),
            bool((rows.mean(1).mean(0) > 0.9).any()),
            bool(with_others_images < loss * 1.01),
        )
    return list(compress(("frozen", "no gradient", "uniform", "one patch", "misaligned"), answers))
