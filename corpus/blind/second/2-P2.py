# %% [right] list_of_tests | right
def classify_pattern(weights):
    share = weights / weights.sum()
    diagonals = [share.diagonal(offset).sum() for offset in (-1, 0, 1)]
    tests = [
        ("uniform", attention_entropy(weights).mean().item() > 0.95),
        ("hub", bool((share.sum(dim=-2) >= 0.5).any())),
        ("diagonal", diagonals[1].item() >= 0.5),
        ("local", sum(diagonals).item() >= 0.75),
        ("other", True),
    ]
    return next(name for name, fits in tests if fits)

# %% [wrong] hub_over_rows | The sum of each row is taken for the hub, which is what a query gives and not what a key gets.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(1).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] hub_single_weight | The largest single weight is compared with one half instead of the share of a key.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.max() >= 0.5:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] hub_against_one | The sum of a column is compared with 0.5, not with half of all weight.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] diagonal_before_hub | The diagonal is tested before the hub.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] band_too_wide | The band includes keys two away (<= 2).
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 2
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] band_without_diagonal | The band leaves the diagonal itself out (== 1).
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() == 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] strict_inequality | "At least half" is tested with > instead of >=.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() > 0.5 * total:
        return "hub"
    if weights.diagonal().sum() > 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] largest_entropy | The largest entropy of a row is compared with 0.95 instead of the mean.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).max() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] one_sided_band | Only the key before counts as a neighbour, not the one behind.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    band = ((i[:, None] - i[None, :]) >= 0) & ((i[:, None] - i[None, :]) <= 1)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"
