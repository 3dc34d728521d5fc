# %% [wrong] entropy_of_the_mean_row | Takes the entropy of the mean row and not the mean of the rows' entropies. In a diagonal map each key gets the same weight in total, so its mean row is uniform, and a diagonal is called "uniform".
def classify_pattern(weights):
    T = weights.shape[0]
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    if attention_entropy(weights.mean(dim=0)) > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[(i[:, None] - i).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"


# %% [wrong] the_ends_are_neighbours | Builds the band with roll, so the first and the last key count as neighbours. The two ends are none: a map in which the first token looks at the last and the last at the first counts too much weight as local.
def classify_pattern(weights):
    n = len(weights)
    entropy = torch.special.entr(weights).sum(-1) / math.log(n)
    if entropy.mean() > 0.95:
        return "uniform"
    shares = weights / weights.sum()
    if shares.sum(0).max() >= 0.5:
        return "hub"
    eye = torch.eye(n, dtype=torch.bool, device=weights.device)
    if shares[eye].sum() >= 0.5:
        return "diagonal"
    band = eye | eye.roll(1, 0) | eye.roll(-1, 0)
    return "local" if shares[band].sum() >= 0.75 else "other"


# %% [wrong] band_without_absolute_value | Forgets abs(): i - j ≤ 1 holds for the whole upper triangle as well. Weight far to the right of the diagonal counts as near, and a map that looks ahead is called "local".
def classify_pattern(weights):
    i = torch.arange(weights.shape[-1], device=weights.device)
    near = (i[:, None] - i[None, :]) <= 1
    everything = weights.sum()
    per_key = weights.sum(0)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    elif per_key.max() / everything >= 1 / 2:
        return "hub"
    elif torch.trace(weights) / everything >= 1 / 2:
        return "diagonal"
    elif (weights * near).sum() / everything >= 3 / 4:
        return "local"
    else:
        return "other"


# %% [wrong] diagonal_before_hub | Asks for the diagonal before it asks for the hub. Where both fit, as in a small map whose tokens look at themselves and at the first token, the answer should be "hub" and is "diagonal".
def classify_pattern(weights):
    total = weights.sum().item()
    T = weights.shape[0]
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    on_diagonal = sum(weights[t, t].item() for t in range(T))
    if on_diagonal >= 0.5 * total:
        return "diagonal"
    if weights.sum(dim=0).max().item() >= 0.5 * total:
        return "hub"
    beside = sum(weights[a, b].item() for a in range(T) for b in range(T) if abs(a - b) <= 1)
    return "local" if beside >= 0.75 * total else "other"


# %% [wrong] more_than_instead_of_at_least | Compares with > where the task says "at least". A map with exactly half of its weight on one key is no hub for it, one with exactly half on the diagonal no diagonal.
def classify_pattern(weights):
    row_entropy = torch.special.entr(weights).sum(dim=1) / math.log(weights.shape[1])
    j = torch.arange(weights.shape[1], device=weights.device)
    distance = (j[:, None] - j[None, :]).abs()
    share = weights / weights.sum()
    if row_entropy.mean() > 0.95:
        return "uniform"
    if share.sum(dim=0).max() > 0.5:
        return "hub"
    if share[distance == 0].sum() > 0.5:
        return "diagonal"
    if share[distance <= 1].sum() > 0.75:
        return "local"
    return "other"


# %% [right] first_of_a_list | A list of words with their conditions, of which next() takes the first that holds; the band is a sum of three diagonals.
def classify_pattern(weights):
    whole, size = weights.sum(), weights.shape[-1]
    spread = torch.special.entr(weights).sum(-1).mean() / math.log(size)
    main = weights.trace()
    sides = weights.diagonal(1).sum() + weights.diagonal(-1).sum()
    tests = (
        ("uniform", spread > 0.95),
        ("hub", 2 * weights.sum(-2).amax() >= whole),
        ("diagonal", 2 * main >= whole),
        ("local", 4 * (main + sides) >= 3 * whole),
    )
    return next((word for word, holds in tests if holds), "other")
