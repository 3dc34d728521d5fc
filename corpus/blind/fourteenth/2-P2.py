# %% [wrong] entropy_of_the_mean_row | The rows are averaged first, and the entropy of that one row is taken: a diagonal, whose mean row is even, is called uniform.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights.mean(0)) > 0.95:
        return "uniform"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    if weights.trace() >= total / 2:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] diagonal_asked_before_hub | The diagonal is asked for before the hub, so a map that is both gets the wrong word.
def classify_pattern(weights):
    T = weights.shape[0]
    share = weights / weights.sum()
    i = torch.arange(T, device=weights.device)
    distance = torch.abs(i.unsqueeze(1) - i)
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "diagonal": share[distance == 0].sum() >= 0.5,
        "hub": share.sum(dim=0).max() >= 0.5,
        "local": share[distance <= 1].sum() >= 0.75,
    }
    return next((word for word, fits in tests.items() if fits), "other")

# %% [wrong] neighbour_on_one_side | The band has the diagonal and the keys before it, and lacks those behind it.
def classify_pattern(weights):
    total = weights.sum().item()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= 0.5 * total:
        return "hub"
    if torch.diagonal(weights).sum() >= 0.5 * total:
        return "diagonal"
    near = torch.diagonal(weights).sum() + torch.diagonal(weights, offset=-1).sum()
    return "local" if near >= 0.75 * total else "other"
