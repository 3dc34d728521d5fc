# %% [wrong] diagonal_before_hub | The diagonal is asked before the hub; a map that fits both, such as two tokens that look at key 0 alone, is called "diagonal" where the first fit is "hub"
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.trace() >= total / 2:
        return "diagonal"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    near = (i[:, None] - i).abs() <= 1
    return "local" if weights[near].sum() >= 0.75 * total else "other"

# %% [wrong] rows_for_hub | The hub sums the rows (dim=1), which are all 1, instead of the columns: it is never found in maps with more than two tokens
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(weights.shape[0], device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=1).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] strictly_more | The limits of hub, diagonal and local are tested with > instead of >=, so a map with exactly half of its weight on one key, or exactly 3/4 near the diagonal, falls through
def classify_pattern(weights):
    share = weights / weights.sum()
    i = torch.arange(len(share), device=share.device)
    tests = {
        "uniform": bool(attention_entropy(weights).mean() > 0.95),
        "hub": bool(share.sum(0).max() > 0.5),
        "diagonal": bool(share.diagonal().sum() > 0.5),
        "local": bool(share[(i[:, None] - i).abs() <= 1].sum() > 0.75),
    }
    return next((name for name, fits in tests.items() if fits), "other")

# %% [wrong] band_without_abs | The band has no abs(): i − j <= 1 also takes in everything above the diagonal, so a map that looks far ahead is called "local"
def classify_pattern(weights):
    t = weights.shape[-1]
    pos = torch.arange(t, device=weights.device)
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    elif weights.sum(0).max() >= total / 2:
        return "hub"
    elif weights.diagonal().sum() >= total / 2:
        return "diagonal"
    elif weights[(pos[:, None] - pos[None, :]) <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] any_row_even | "uniform" is said as soon as one row has an entropy above 0.95 (max), instead of the mean of the rows
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).max() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    if weights[(i[:, None] - i).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] neighbours_alone | "local" counts only the keys next to the diagonal, offsets −1 and 1, and leaves the diagonal itself out, so an ordinary band (a third each) is called "other"
def classify_pattern(weights):
    total = float(weights.sum())
    if float(attention_entropy(weights).mean()) > 0.95:
        return "uniform"
    if float(weights.sum(0).max()) >= total / 2:
        return "hub"
    if float(weights.diagonal().sum()) >= total / 2:
        return "diagonal"
    beside = float(weights.diagonal(1).sum() + weights.diagonal(-1).sum())
    return "local" if beside >= 0.75 * total else "other"

# %% [right] first_that_fits | a list of pairs in order, the band by tril and triu
def classify_pattern(weights):
    total = weights.sum()
    rules = (
        ("uniform", attention_entropy(weights).mean() > 0.95),
        ("hub", weights.sum(dim=0).amax() >= total / 2),
        ("diagonal", weights.trace() >= total / 2),
        ("local", weights.tril(1).triu(-1).sum() >= 3 * total / 4),
    )
    for word, fits in rules:
        if fits:
            return word
    return "other"
