# %% [wrong] entropy_of_the_mean_row | The rows are averaged first, and the entropy is taken of the mean row. A diagonal has a uniform mean row and is called "uniform"; it should be the mean of the rows' entropies.
def classify_pattern(weights):
    T = weights.shape[-1]
    mean_row = weights.mean(dim=0)
    entropy = torch.special.entr(mean_row).sum() / math.log(T)
    i = torch.arange(T, device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    total = weights.sum()
    if entropy > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] one_bright_cell_is_a_hub | A map counts as "hub" as soon as one cell holds half of its row. A diagonal, or any sharp map, is then a hub; one key should get at least half of the weight of all rows together.
def classify_pattern(weights):
    n = len(weights)
    entropy = (torch.special.entr(weights).sum(-1) / math.log(n)).mean()
    idx = torch.arange(n, device=weights.device)
    near = (idx.unsqueeze(1) - idx.unsqueeze(0)).abs() <= 1
    all_weight = weights.sum()
    if entropy > 0.95:
        return "uniform"
    elif weights.max() >= 0.5:
        return "hub"
    elif torch.trace(weights) >= all_weight / 2:
        return "diagonal"
    elif (weights * near).sum() >= 3 / 4 * all_weight:
        return "local"
    else:
        return "other"

# %% [wrong] diagonal_by_the_largest | "diagonal" is decided by counting rows whose largest weight is on the diagonal. A band whose middle is a little brighter counts as diagonal although only 0.4 of the weight is there; the weight should be summed.
def classify_pattern(weights):
    T = weights.size(0)
    pos = torch.arange(T, device=weights.device)
    ent = torch.special.entr(weights).sum(dim=1).div(math.log(T)).mean()
    if ent.item() > 0.95:
        return "uniform"
    share = weights / weights.sum()
    if share.sum(dim=0).max() >= 0.5:
        return "hub"
    if (weights.argmax(dim=1) == pos).float().mean() >= 0.5:
        return "diagonal"
    if share[(pos[:, None] - pos).abs() <= 1].sum() >= 0.75:
        return "local"
    return "other"

# %% [wrong] ends_are_neighbours | The neighbours are found with torch.roll, which joins the two ends: the first token and the last count as neighbours. A map with much weight in those two corners is called "local" and should be "other".
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum()
    eye = torch.eye(T, device=weights.device, dtype=weights.dtype)
    band = (eye + eye.roll(1, dims=1) + eye.roll(-1, dims=1)).clamp(max=1)
    entropy = torch.special.entr(weights).sum(-1).mean() / math.log(T)
    if entropy > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() / total >= 0.5:
        return "hub"
    if (weights * eye).sum() / total >= 0.5:
        return "diagonal"
    if (weights * band).sum() / total >= 0.75:
        return "local"
    return "other"

# %% [wrong] diagonal_before_hub | The diagonal is tested before the hub. A map that fits both (two tokens that both look at the first one, say) is called "diagonal"; the first of the list that fits is asked for, and hub comes first.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    tests = {
        "uniform": (torch.special.entr(weights).sum(-1) / math.log(T)).mean() > 0.95,
        "diagonal": weights.diagonal().sum() >= total / 2,
        "hub": weights.sum(0).max() >= total / 2,
        "local": weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total,
    }
    for name, fits in tests.items():
        if fits:
            return name
    return "other"

# %% [right] first_of_a_list | All four shares are computed with plain Python numbers from weights.tolist(), and the first pair of a list that holds is returned.
def classify_pattern(weights):
    rows = weights.tolist()
    n = len(rows)
    entropies = [-sum(w * math.log(w) for w in row if w > 0) / math.log(n) for row in rows]
    everything = sum(map(sum, rows))
    hub = max(sum(column) for column in zip(*rows)) / everything
    diagonal = sum(rows[t][t] for t in range(n)) / everything
    band = sum(sum(row[max(0, t - 1) : t + 2]) for t, row in enumerate(rows)) / everything
    candidates = [
        ("uniform", sum(entropies) / n > 0.95),
        ("hub", hub >= 0.5),
        ("diagonal", diagonal >= 0.5),
        ("local", band >= 0.75),
        ("other", True),
    ]
    return next(word for word, fits in candidates if fits)
