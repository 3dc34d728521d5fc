# %% [right] sums_of_map_diagonal_and_offsets | torch.diagonal with offsets -1, 0, 1, after clarkkev/attention-analysis
def classify_pattern(weights):
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= 0.5 * total:
        return "hub"
    on_diagonal = torch.diagonal(weights).sum()
    if on_diagonal >= 0.5 * total:
        return "diagonal"
    near = sum(torch.diagonal(weights, offset=o).sum() for o in (-1, 0, 1))
    return "local" if near >= 0.75 * total else "other"


# %% [right] numpy_masks_and_ordered_rules | numpy arrays, np.eye and np.tri band, rules in a list, after BERT pattern scripts (Kovaleva et al. style)
def classify_pattern(weights):
    w = weights.detach().cpu().double().numpy()
    n = w.shape[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        plogp = np.where(w > 0, w * np.log(w), 0.0)
    entropy = -plogp.sum(axis=1) / np.log(n)
    total = w.sum()
    band = np.tri(n, k=1) - np.tri(n, k=-2)
    rules = [
        ("uniform", entropy.mean() > 0.95),
        ("hub", w.sum(axis=0).max() >= total / 2),
        ("diagonal", np.trace(w) >= total / 2),
        ("local", (w * band).sum() >= 0.75 * total),
    ]
    for name, holds in rules:
        if holds:
            return name
    return "other"


# %% [right] triu_tril_band_and_items | band by triu(-1).tril(1), shares as Python floats, after Longformer band code
def classify_pattern(weights):
    T = weights.shape[-1]
    mass = weights.sum().item()
    entropy = (torch.special.entr(weights).sum(-1) / math.log(T)).mean().item()
    hub = weights.sum(0).max().item() / mass
    diagonal = weights.trace().item() / mass
    local = weights.triu(-1).tril(1).sum().item() / mass
    if entropy > 0.95:
        return "uniform"
    elif hub >= 0.5:
        return "hub"
    elif diagonal >= 0.5:
        return "diagonal"
    elif local >= 0.75:
        return "local"
    else:
        return "other"
