# %% [wrong] diagonal_before_hub | Asks for the diagonal before the hub: a map that fits both gets the wrong word, since the first that fits counts.
def classify_pattern(weights):
    T = len(weights)
    i = torch.arange(T, device=weights.device)
    band = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.trace() / weights.sum() >= 0.5:
        return "diagonal"
    if weights.sum(0).max() / weights.sum() >= 0.5:
        return "hub"
    if weights[band].sum() / weights.sum() >= 0.75:
        return "local"
    return "other"

# %% [wrong] entropy_of_mean_row | Averages the rows first and takes the entropy of the mean row: a diagonal map counts as uniform.
def classify_pattern(weights):
    total = weights.sum()
    if attention_entropy(weights.mean(dim=0)) > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= total / 2:
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    if sum(weights.diagonal(k).sum() for k in (-1, 0, 1)) >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] rows_for_hub | Sums the rows in place of the columns for the hub; every row sums to 1, so no hub is found.
def classify_pattern(weights):
    everything = weights.sum()
    band = torch.ones_like(weights).tril(1).triu(-1)
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": weights.sum(dim=-1).max() >= 0.5 * everything,
        "diagonal": weights.diagonal().sum() >= 0.5 * everything,
        "local": (weights * band).sum() >= 0.75 * everything,
    }
    return next((name for name, fits in tests.items() if fits), "other")

# %% [wrong] shares_not_divided | Compares the sums themselves with ½ and ¾, although all weight together is T: nearly everything is a hub.
def classify_pattern(weights):
    i = torch.arange(weights.shape[0], device=weights.device)
    near = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    elif weights.sum(0).max().item() >= 0.5:
        return "hub"
    elif weights.diag().sum().item() >= 0.5:
        return "diagonal"
    elif weights[near].sum().item() >= 0.75:
        return "local"
    return "other"

# %% [wrong] neighbours_without_diagonal | The band holds the two neighbours and leaves out the diagonal itself.
def classify_pattern(weights):
    T = weights.size(0)
    column = weights.mean(0)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if (column >= 0.5).any():
        return "hub"
    if weights.diagonal().mean() >= 0.5:
        return "diagonal"
    beside = weights.diagonal(1).sum() + weights.diagonal(-1).sum()
    return "local" if beside / T >= 0.75 else "other"

# %% [wrong] strictly_more_than_half | Uses > where the text says "at least": exactly half of the weight on one key is no hub here.
def classify_pattern(weights):
    share = weights / weights.sum()
    i = torch.arange(len(share), device=share.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if share.sum(0).max() > 0.5:
        return "hub"
    if share.trace() > 0.5:
        return "diagonal"
    if share[(i[:, None] - i[None]).abs() <= 1].sum() > 0.75:
        return "local"
    return "other"

# %% [right] pure_python_lists | Works on nested Python lists with sums and generators, and only calls attention_entropy as a tensor function.
def classify_pattern(weights):
    rows = weights.tolist()
    T = len(rows)
    total = sum(map(sum, rows))
    if float(attention_entropy(weights).mean()) > 0.95:
        return "uniform"
    if any(2 * sum(column) >= total for column in zip(*rows)):
        return "hub"
    if 2 * sum(rows[k][k] for k in range(T)) >= total:
        return "diagonal"
    if 4 * sum(rows[a][b] for a in range(T) for b in range(max(a - 1, 0), min(a + 2, T))) >= 3 * total:
        return "local"
    return "other"
