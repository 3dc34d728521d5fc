# %% [wrong] entropy_of_the_mean_row | The rows are averaged first and the entropy is taken of the mean row; a diagonal has an even mean row and is called uniform. The mean of the entropies is asked for.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights.mean(0)) > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] one_large_weight_is_a_hub | A hub is found where any single weight reaches one half; the sum of a column must reach half of all weight, so every sharp map is called a hub.
def classify_pattern(weights):
    n = weights.shape[0]
    all_weight = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.max() >= 0.5:
        return "hub"
    if torch.trace(weights) >= all_weight / 2:
        return "diagonal"
    pos = torch.arange(n, device=weights.device)
    near = (pos[:, None] - pos).abs() <= 1
    return "local" if weights[near].sum() >= 0.75 * all_weight else "other"

# %% [wrong] more_than_instead_of_at_least | All three shares are compared with > where the task says "at least"; a map with exactly half of its weight on one key or on the diagonal falls through.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() > total / 2:
        return "hub"
    if weights.diagonal().sum() > total / 2:
        return "diagonal"
    if weights[(i[:, None] - i).abs() <= 1].sum() > 3 * total / 4:
        return "local"
    return "other"

# %% [wrong] only_the_right_neighbour | tril(1).triu() keeps the diagonal and the key after it, not the key before it; a band to both sides is then called other.
def classify_pattern(weights):
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    band = weights.tril(1).triu()
    if band.sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] every_row_must_be_even | Uniform is returned only where each single row has an entropy above 0.95; the rule speaks of the mean over the rows, so one sharper row changes the word.
def classify_pattern(weights):
    total = weights.sum()
    place = torch.arange(len(weights), device=weights.device)
    near = (place[:, None] - place[None, :]).abs() <= 1
    if (attention_entropy(weights) > 0.95).all():
        return "uniform"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    if weights[near].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] diagonal_before_hub | The diagonal is asked for before the hub, but the first word that fits counts, and hub comes second; a map that is both gets the wrong word.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(weights.shape[-1], device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    elif weights.diagonal().sum() >= total / 2:
        return "diagonal"
    elif weights.sum(0).max() >= total / 2:
        return "hub"
    elif weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    else:
        return "other"

# %% [right] a_table_of_rules | a dictionary from words to truth values, in the order of the rules; the first true one is returned
def classify_pattern(weights):
    total = weights.sum()
    band = weights.tril(1).triu(-1)
    fits = {
        "uniform": attention_entropy(weights).mean() > 0.95,
        "hub": weights.sum(0).max() >= total / 2,
        "diagonal": weights.diagonal().sum() >= total / 2,
        "local": band.sum() >= 0.75 * total,
    }
    return next((word for word, true in fits.items() if true), "other")
