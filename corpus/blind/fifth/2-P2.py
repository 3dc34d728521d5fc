# %% [wrong] rows_for_hub | the hub is looked for in the sums of the rows (dim=1), which are all 1; the weight that a key gets is the sum of its column, so a hub is never found for T > 2
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum()
    i = torch.arange(T, device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=1).max() >= total / 2:
        return "hub"
    if weights.trace() >= total / 2:
        return "diagonal"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] diagonal_before_hub | the diagonal is asked before the hub; a map that is both, [[1, 0], [0.5, 0.5]] say, is called "diagonal" where the first that fits is "hub"
def classify_pattern(weights):
    total = weights.sum()
    place = torch.arange(len(weights), device=weights.device)
    near = (place[:, None] - place).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if torch.diagonal(weights).sum() / total >= 0.5:
        return "diagonal"
    if weights.sum(0).max() / total >= 0.5:
        return "hub"
    if (weights * near).sum() / total >= 0.75:
        return "local"
    return "other"

# %% [wrong] every_row_even | it asks that each row's entropy is above 0.95 (min) in place of the mean of the rows; a map with one less even row is not called uniform
def classify_pattern(weights):
    n = weights.shape[0]
    everything = weights.sum()
    if attention_entropy(weights).min() > 0.95:
        return "uniform"
    elif weights.sum(0).amax() >= 0.5 * everything:
        return "hub"
    elif weights.diagonal().sum() >= 0.5 * everything:
        return "diagonal"
    band = torch.ones_like(weights).tril(1).triu(-1)
    if (weights * band).sum() >= 0.75 * everything:
        return "local"
    return "other"

# %% [wrong] band_on_one_side | the band holds the diagonal and the keys before it only (0 ≤ i − j ≤ 1); the neighbours after it are missing, so maps of both neighbours become "other"
def classify_pattern(weights):
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if (weights.sum(0) >= total / 2).any():
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    i = torch.arange(weights.shape[0], device=weights.device)
    step = i[:, None] - i[None, :]
    if weights[(step >= 0) & (step <= 1)].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] sum_not_share | the column and diagonal sums are compared with 0.5 and 0.75 and not with half or 3/4 of all weight (T); nearly every map that is not uniform becomes a "hub"
def classify_pattern(weights):
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= 0.5:
        return "hub"
    if torch.trace(weights) >= 0.5:
        return "diagonal"
    near = torch.tril(torch.triu(weights, -1), 1)
    if near.sum() >= 0.75:
        return "local"
    return "other"

# %% [wrong] none_for_other | after the last test nothing is returned, so a map that fits none of the words gives None and not "other"
def classify_pattern(weights):
    T = len(weights)
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": weights.sum(0).max() >= weights.sum() / 2,
        "diagonal": weights.diagonal().sum() >= weights.sum() / 2,
        "local": weights.tril(1).triu(-1).sum() >= 0.75 * weights.sum(),
    }
    for name, fits in tests.items():
        if fits:
            return name

# %% [right] first_of_a_list | the four tests stand in a list in order, and next() takes the first that fits, with "other" as its default
def classify_pattern(weights):
    total = weights.sum()
    tests = (
        ("uniform", attention_entropy(weights).mean() > 0.95),
        ("hub", 2 * weights.sum(-2).amax() >= total),
        ("diagonal", 2 * weights.diagonal().sum() >= total),
        ("local", 4 * weights.triu(-1).tril(1).sum() >= 3 * total),
    )
    return next((name for name, fits in tests if bool(fits)), "other")
