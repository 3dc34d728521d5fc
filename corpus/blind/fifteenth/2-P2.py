# %% [wrong] hub_by_counting_favourites | A hub is called where one key is the favourite of half of the queries. The rule asks for half of all weight, the sum of its column, and a favourite may have little weight.
def classify_pattern(weights):
    T = weights.shape[-1]
    i = torch.arange(T, device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    favourites = torch.bincount(weights.argmax(dim=-1), minlength=T)
    if favourites.max() >= T / 2:
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"
# %% [wrong] ends_are_neighbours | The band is made with roll, which goes around in a circle, so the first and the last token count as neighbours. The two ends are no neighbours.
def classify_pattern(weights):
    """A word for where the weight of a map lies."""
    T = weights.shape[0]
    everything = weights.sum().item()
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max().item() >= 0.5 * everything:
        return "hub"
    if torch.trace(weights).item() >= 0.5 * everything:
        return "diagonal"
    near = torch.eye(T, dtype=torch.bool)
    near = near | near.roll(1, dims=0) | near.roll(-1, dims=0)
    if (weights * near).sum().item() >= 0.75 * everything:
        return "local"
    return "other"
# %% [wrong] every_row_must_be_uniform | Every single row must have an entropy above 0.95, where the rule speaks of the mean of the rows. One row that looks closely then hides a map that is uniform on the whole.
def classify_pattern(weights):
    total = weights.sum()
    t = torch.arange(len(weights))
    distance = (t[:, None] - t).abs()
    rules = [
        ("uniform", bool((attention_entropy(weights) > 0.95).all())),
        ("hub", bool(weights.sum(0).max() >= total / 2)),
        ("diagonal", bool(weights[distance == 0].sum() >= total / 2)),
        ("local", bool(weights[distance <= 1].sum() >= 3 * total / 4)),
    ]
    for name, fits in rules:
        if fits:
            return name
    return "other"
