# %% [wrong] hub_from_row_sums | Adds up the rows and not the columns: every row sums to 1, so no hub is ever found.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(1).max() >= 0.5 * weights.sum():
        return "hub"
    if weights.diagonal().sum() >= 0.5 * weights.sum():
        return "diagonal"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * weights.sum():
        return "local"
    return "other"


# %% [wrong] diagonal_before_hub | Asks for the diagonal before the hub; a map that fits both must be called a hub.
def classify_pattern(weights):
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if torch.trace(weights) / total >= 0.5:
        return "diagonal"
    if weights.sum(0).max() / total >= 0.5:
        return "hub"
    band = torch.ones_like(weights).triu(-1).tril(1)
    if (weights * band).sum() / total >= 0.75:
        return "local"
    return "other"


# %% [wrong] band_without_diagonal | The band holds only the keys next to the diagonal, at distance exactly 1, without the diagonal itself.
def classify_pattern(weights):
    T = weights.shape[0]
    pos = torch.arange(T, device=weights.device)
    distance = (pos[:, None] - pos[None, :]).abs()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= T / 2:
        return "hub"
    if weights[distance == 0].sum() >= T / 2:
        return "diagonal"
    if weights[distance == 1].sum() >= 3 * T / 4:
        return "local"
    return "other"


# %% [wrong] one_bright_cell | Takes a hub to be a single weight of at least one half, in place of a column with half of all weight.
def classify_pattern(weights):
    all_of_it = weights.sum()
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    if weights.max() >= 0.5:
        return "hub"
    if weights.diag().sum() >= all_of_it / 2:
        return "diagonal"
    i = torch.arange(len(weights), device=weights.device)
    near = (i[:, None] - i[None, :]).abs() <= 1
    if (weights * near).sum() >= 0.75 * all_of_it:
        return "local"
    return "other"


# %% [wrong] entropy_of_the_mean_row | Takes the entropy of the mean row and not the mean of the rows' entropies: a plain diagonal has an even mean row, and is called uniform.
def classify_pattern(weights):
    total = float(weights.sum())
    i = torch.arange(weights.shape[-1], device=weights.device)
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights.mean(0)) > 0.95:
        return "uniform"
    elif float(weights.sum(0).max()) >= total / 2:
        return "hub"
    elif float(weights.trace()) >= total / 2:
        return "diagonal"
    elif float(weights[near].sum()) >= 0.75 * total:
        return "local"
    else:
        return "other"


# %% [wrong] more_than_half | "At least" was read as "more than": a map with exactly half of its weight on one key, or on the diagonal, falls through.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(weights.shape[0], device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() > total / 2:
        return "hub"
    if weights.diagonal().sum() > total / 2:
        return "diagonal"
    if weights[band].sum() > total * 3 / 4:
        return "local"
    return "other"


# %% [right] table_of_tests | A dictionary of words and tests in their order; `next` returns the first that holds.
def classify_pattern(weights):
    total = weights.sum()
    near = sum(weights.diagonal(offset).sum() for offset in (-1, 0, 1))
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": 2 * weights.sum(dim=0).amax() >= total,
        "diagonal": 2 * weights.trace() >= total,
        "local": 4 * near >= 3 * total,
    }
    return next((word for word, fits in tests.items() if bool(fits)), "other")
