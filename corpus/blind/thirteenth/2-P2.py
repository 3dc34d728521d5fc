# %% [wrong] rows_for_columns | looks for the hub in the sums of the rows, which are all 1, instead of the columns (what each key gets): a hub is never found from three keys on
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum()
    i = torch.arange(T, device=weights.device)
    apart = (i[:, None] - i[None, :]).abs()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=1).max() >= 0.5 * total:
        return "hub"
    if weights[apart == 0].sum() >= 0.5 * total:
        return "diagonal"
    if weights[apart <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"


# %% [wrong] ends_are_neighbours | the band is built by rolling the diagonal, so the first and the last position count as neighbours: weight in the two far corners is taken for local
def classify_pattern(weights):
    T = len(weights)
    eye = torch.eye(T, dtype=torch.bool, device=weights.device)
    band = eye | eye.roll(1, dims=1) | eye.roll(-1, dims=1)
    whole = weights.sum().item()
    checks = [
        ("uniform", attention_entropy(weights).mean().item() > 0.95),
        ("hub", weights.sum(0).max().item() / whole >= 0.5),
        ("diagonal", weights.trace().item() / whole >= 0.5),
        ("local", weights[band].sum().item() / whole >= 0.75),
    ]
    for word, fits in checks:
        if fits:
            return word
    return "other"


# %% [wrong] entropy_of_mean_row | takes the entropy of the mean row instead of the mean entropy of the rows: a diagonal, whose rows look at one key each, has an even mean row and is called uniform
def classify_pattern(weights):
    T = weights.shape[-1]
    column = weights.mean(dim=0)  # what each key gets, from all queries
    diagonal = torch.diagonal(weights).sum() / T
    near = diagonal
    if T > 1:
        near = near + (torch.diagonal(weights, 1).sum() + torch.diagonal(weights, -1).sum()) / T
    if attention_entropy(column) > 0.95:
        return "uniform"
    elif column.max() >= 0.5:
        return "hub"
    elif diagonal >= 0.5:
        return "diagonal"
    elif near >= 0.75:
        return "local"
    else:
        return "other"


# %% [wrong] last_that_fits | each test overwrites the answer of the one before, so the LAST word that fits is returned, not the first: a diagonal is always also local and is called "local"
def classify_pattern(weights):
    word = "other"
    total = float(weights.sum())
    place = torch.arange(weights.shape[0], device=weights.device)
    if float(attention_entropy(weights).mean()) > 0.95:
        word = "uniform"
    if float(weights.sum(0).max()) >= total / 2:
        word = "hub"
    if float(weights.diagonal().sum()) >= total / 2:
        word = "diagonal"
    if float(weights[(place[:, None] - place).abs() <= 1].sum()) >= 3 * total / 4:
        word = "local"
    return word


# %% [wrong] diagonal_before_hub | asks for the diagonal before the hub: a map that is both (2×2 identity, or one key that gets half while the diagonal has half too) is called "diagonal" instead of "hub"
def classify_pattern(weights):
    n = weights.shape[0]
    w = weights.tolist()
    total = sum(map(sum, w))
    on = sum(w[i][i] for i in range(n))
    band = sum(w[i][j] for i in range(n) for j in range(n) if abs(i - j) <= 1)
    keys = [sum(row[j] for row in w) for j in range(n)]
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if on >= 0.5 * total:
        return "diagonal"
    if max(keys) >= 0.5 * total:
        return "hub"
    if band >= 0.75 * total:
        return "local"
    return "other"


# %% [right] first_of_a_generator | tests as lambdas in an ordered table, the first that fits by next(); the band is the sum of three diagonals
def classify_pattern(weights):
    total = weights.sum()

    def on(*offsets):
        return sum(weights.diagonal(offset).sum() for offset in offsets if abs(offset) < len(weights))

    tests = {
        "uniform": lambda: attention_entropy(weights).mean() > 0.95,
        "hub": lambda: 2 * weights.sum(dim=0).amax() >= total,
        "diagonal": lambda: 2 * on(0) >= total,
        "local": lambda: 4 * on(-1, 0, 1) >= 3 * total,
    }
    return next((word for word, fits in tests.items() if fits()), "other")
