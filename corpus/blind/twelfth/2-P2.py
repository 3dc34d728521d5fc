# %% [wrong] rows_for_columns | what a key gets is summed over dim=-1, which is the row of a query and always 1: a hub is never found (for T > 2)
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    per_key = weights.sum(dim=-1)
    if per_key.max() >= total / 2:
        return "hub"
    if weights.trace() >= total / 2:
        return "diagonal"
    i = torch.arange(T, device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"


# %% [wrong] more_than_half | > instead of ≥ for hub, diagonal and local: "at least" includes exactly half and exactly three quarters
def classify_pattern(weights):
    share = weights / weights.sum()
    band = torch.ones_like(share).tril(1).triu(-1)
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": share.sum(0).max() > 0.5,
        "diagonal": share.diagonal().sum() > 0.5,
        "local": (share * band).sum() > 0.75,
    }
    for name, fits in tests.items():
        if fits:
            return name
    return "other"


# %% [wrong] ring | the neighbours are found with roll, which goes round the ends: the last key counts as a neighbour of the first query, and the corners add to the band
def classify_pattern(weights):
    T = len(weights)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= T / 2:
        return "hub"
    here = torch.eye(T, device=weights.device, dtype=weights.dtype)
    if (weights * here).sum() >= T / 2:
        return "diagonal"
    near = ((here + here.roll(1, dims=1) + here.roll(-1, dims=1)) > 0).to(weights.dtype)
    return "local" if (weights * near).sum() >= 3 * T / 4 else "other"


# %% [wrong] diagonal_before_hub | the diagonal is tested before the hub, against the order of the list: a map that is both (as [[1, 0], [1, 0]]) is called "diagonal"
def classify_pattern(weights):
    total = weights.sum().item()
    column = weights.sum(dim=-2)
    diagonal = torch.diagonal(weights).sum().item()
    band = diagonal + torch.diagonal(weights, 1).sum().item() + torch.diagonal(weights, -1).sum().item()
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    elif diagonal >= 0.5 * total:
        return "diagonal"
    elif column.max().item() >= 0.5 * total:
        return "hub"
    elif band >= 0.75 * total:
        return "local"
    else:
        return "other"


# %% [wrong] entropy_in_nats | the entropy is computed anew and not divided by log T: for larger maps many that are far from even have more than 0.95 and are called "uniform"
def classify_pattern(weights):
    T = weights.shape[-1]
    entropy = torch.special.entr(weights).sum(-1).mean()
    i, j = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="ij")
    apart = (i - j).abs().to(weights.device)
    whole = weights.sum()
    rules = [
        ("uniform", lambda: entropy > 0.95),
        ("hub", lambda: weights.sum(0).max() >= whole / 2),
        ("diagonal", lambda: weights[apart == 0].sum() >= whole / 2),
        ("local", lambda: weights[apart <= 1].sum() >= whole * 3 / 4),
        ("other", lambda: True),
    ]
    return next(name for name, rule in rules if rule())


# %% [right] first_true | a row of truth values in the order of the list, and the position of the first True; the band is the sum of three diagonals
def classify_pattern(weights):
    everything = weights.sum()
    middle = weights.diagonal().sum()
    beside = weights.diagonal(1).sum() + weights.diagonal(-1).sum()
    fits = [
        bool(attention_entropy(weights).mean() > 0.95),
        bool((weights.sum(dim=0) >= everything / 2).any()),
        bool(middle >= everything / 2),
        bool(middle + beside >= everything * 0.75),
        True,
    ]
    return ("uniform", "hub", "diagonal", "local", "other")[fits.index(True)]
