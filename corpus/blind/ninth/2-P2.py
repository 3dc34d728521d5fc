# %% [wrong] entropy_of_the_mean_row | Takes the mean of the rows first, and then its entropy. The mean of the rows' entropies is asked for: a diagonal or a band has an even mean row, and is called uniform.
def classify_pattern(weights):
    T = weights.shape[-1]
    if attention_entropy(weights.mean(dim=0)) > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * weights.sum():
        return "hub"
    if weights.diagonal().sum() >= 0.5 * weights.sum():
        return "diagonal"
    i = torch.arange(T)
    band = (i[:, None] - i[None, :]).abs() <= 1
    if weights[band].sum() >= 0.75 * weights.sum():
        return "local"
    return "other"

# %% [wrong] band_goes_round_the_edge | Finds the neighbours with torch.roll, so that the last key counts as a neighbour of the first query, and the other way round. A sequence has ends: weight in the two far corners is called local.
def classify_pattern(weights):
    total = weights.sum()
    own = torch.eye(len(weights), dtype=weights.dtype, device=weights.device)
    near = (own + own.roll(1, 0) + own.roll(-1, 0)).clamp(max=1)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    elif weights.sum(dim=0).amax() / total >= 0.5:
        return "hub"
    elif (weights * own).sum() / total >= 0.5:
        return "diagonal"
    elif (weights * near).sum() / total >= 0.75:
        return "local"
    else:
        return "other"

# %% [wrong] nothing_at_the_end | There is no return where nothing fits. It should be "other": the function returns None.
def classify_pattern(weights):
    i = torch.arange(len(weights), device=weights.device)
    distance = (i[:, None] - i[None, :]).abs()
    share = lambda chosen: weights[chosen].sum() / weights.sum()
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": weights.sum(0).max() / weights.sum() >= 0.5,
        "diagonal": share(distance == 0) >= 0.5,
        "local": share(distance <= 1) >= 0.75,
    }
    for name, fits in tests.items():
        if fits:
            return name

# %% [wrong] hub_by_votes | Calls a key a hub if at least half of the queries give their largest weight to it. Half of all *weight* is asked for: many small majorities make a hub here, and weight that is not a row's largest does not count.
def classify_pattern(weights):
    T = len(weights)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    votes = weights.argmax(dim=-1).bincount(minlength=T)
    if votes.max() >= T / 2:
        return "hub"
    if torch.trace(weights) / weights.sum() >= 0.5:
        return "diagonal"
    near = sum(weights.diagonal(k).sum() for k in (-1, 0, 1))
    return "local" if near / weights.sum() >= 0.75 else "other"

# %% [wrong] column_sum_against_one_half | Compares the sum of a column with 0.5 itself. All weight together is T, and half of it T/2: nearly every map has a column that sums to more than 0.5, and is called a hub.
def classify_pattern(weights):
    rows = range(len(weights))
    everything = float(weights.sum())
    on = sum(float(weights[i, i]) for i in rows)
    beside = sum(float(weights[i, j]) for i in rows for j in rows if abs(i - j) == 1)
    if float(attention_entropy(weights).mean()) > 0.95:
        return "uniform"
    if any(float(weights[:, j].sum()) >= 0.5 for j in rows):
        return "hub"
    if on >= everything / 2:
        return "diagonal"
    if on + beside >= 0.75 * everything:
        return "local"
    return "other"

# %% [wrong] band_cut_on_one_side | Cuts the band with tril(1), which takes away what is far above the diagonal and leaves everything below. The other side needs triu(-1) as well: any causal map is called local.
def classify_pattern(weights):
    weights = weights / weights.sum()
    spread = attention_entropy(weights * len(weights)).mean()
    if spread > 0.95:
        return "uniform"
    if weights.sum(-2).max() >= 0.5:
        return "hub"
    if weights.diagonal().sum() >= 0.5:
        return "diagonal"
    if weights.tril(diagonal=1).sum() >= 0.75:
        return "local"
    return "other"

# %% [right] next_over_a_table | A table of shares with their names and thresholds, read by next(); weight by distance comes from one scatter-add over |i - j|.
def classify_pattern(weights):
    size = weights.shape[-1]
    at = torch.arange(size, device=weights.device)
    apart = (at.unsqueeze(1) - at).abs().flatten()
    by_distance = torch.zeros(size, dtype=weights.dtype, device=weights.device)
    by_distance = by_distance.scatter_add(0, apart, weights.flatten())
    total = weights.sum().item()
    table = (
        ("uniform", attention_entropy(weights).mean().item() > 0.95),
        ("hub", weights.sum(0).max().item() >= total / 2),
        ("diagonal", by_distance[0].item() >= total / 2),
        ("local", by_distance[:2].sum().item() >= 0.75 * total),
    )
    return next((name for name, fits in table if fits), "other")
