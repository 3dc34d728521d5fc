# %% [wrong] diagonal_before_hub | The diagonal is tested before the hub; the hub comes first in the list. A 2×2 map [[1, 0], [1, 0]], half of which is on the diagonal, is called "diagonal".
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    near = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    return "local" if weights[near].sum() >= 0.75 * total else "other"

# %% [wrong] rows_in_place_of_columns | The hub is looked for in the sums of the rows (sum(1)), which are all 1; it should be the sums of the columns, sum(0). With more than two tokens a hub is never found.
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum().item()
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    if weights.sum(1).max().item() >= total / 2:
        return "hub"
    if torch.trace(weights).item() >= total / 2:
        return "diagonal"
    band = sum(weights.diagonal(k).sum().item() for k in (-1, 0, 1) if abs(k) < T)
    return "local" if band >= 0.75 * total else "other"

# %% [wrong] strictly_more_than_half | Hub, diagonal and local ask for more than the share (>); it should be at least (>=). A map with exactly half of its weight on one key is not called a hub.
def classify_pattern(weights):
    share = weights / weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if share.sum(0).max() > 0.5:
        return "hub"
    if share.diagonal().sum() > 0.5:
        return "diagonal"
    if share[near].sum() > 0.75:
        return "local"
    return "other"

# %% [wrong] neighbours_on_one_side | The band holds the diagonal and the key before each token alone, since abs() is missing and 0 ≤ i − j ≤ 1 is asked; the key after it belongs to it, too. A band around the diagonal is called "other".
def classify_pattern(weights):
    total = weights.sum()
    place = torch.arange(weights.shape[-1], device=weights.device)
    back = place[:, None] - place[None, :]
    near = (back >= 0) & (back <= 1)
    tests = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": weights.sum(0).amax() >= total / 2,
        "diagonal": weights.diagonal().sum() >= total / 2,
        "local": (weights * near).sum() >= 0.75 * total,
    }
    return next((name for name, fits in tests.items() if fits), "other")

# %% [wrong] every_row_must_be_even | A map counts as uniform only if all its rows have an entropy above 0.95; it should be the mean of the rows. One sharper row is enough to change the word.
def classify_pattern(weights):
    if (attention_entropy(weights) > 0.95).all():
        return "uniform"
    total = weights.sum()
    if (weights.sum(0) >= total / 2).any():
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    i = torch.arange(len(weights), device=weights.device)
    near = (i[:, None] - i[None, :]).abs() <= 1
    if weights[near].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] one_bright_spot_is_a_hub | A hub is found where any single weight is at least half; it should be where one key gets half of all weight (the sum of a column). A diagonal map is called "hub".
def classify_pattern(weights):
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.max() >= 0.5:
        return "hub"
    if weights.diagonal().sum() / total >= 0.5:
        return "diagonal"
    band = weights.tril(1).triu(-1)
    return "local" if band.sum() / total >= 0.75 else "other"

# %% [right] a_table_of_tests | Names and tests stand in a table in the order of the task, and the first that fits is returned; the band is cut out with tril and triu.
def classify_pattern(weights):
    whole = weights.sum()
    tests = (
        ("uniform", lambda: attention_entropy(weights).mean() > 0.95),
        ("hub", lambda: weights.sum(dim=0).amax() >= whole / 2),
        ("diagonal", lambda: weights.trace() >= whole / 2),
        ("local", lambda: weights.tril(1).triu(-1).sum() >= 0.75 * whole),
    )
    for name, fits in tests:
        if fits():
            return name
    return "other"
