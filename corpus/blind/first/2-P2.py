# %% [wrong] hub_from_rows | For the hub the rows are summed (dim=-1), which always gives 1; the weight of a key is the sum of its column.
def classify_pattern(weights):
    T = weights.shape[0]
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=-1).max() >= 0.5 * weights.sum():
        return "hub"
    if weights.diagonal().sum() >= 0.5 * weights.sum():
        return "diagonal"
    i = torch.arange(T, device=weights.device)
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * weights.sum():
        return "local"
    return "other"

# %% [wrong] any_large_weight_is_hub | A single weight of at least 0.5 is taken for a hub; a key needs half of all weight together.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    near = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    elif weights.max() >= 0.5:
        return "hub"
    elif weights.trace() >= total / 2:
        return "diagonal"
    elif weights[near].sum() >= 0.75 * total:
        return "local"
    else:
        return "other"

# %% [wrong] diagonal_before_hub | The diagonal is asked for before the hub, so a map that fits both gets the wrong word.
def classify_pattern(weights):
    i = torch.arange(weights.shape[-1], device=weights.device)
    total = weights.sum()
    band = (i[:, None] - i[None, :]).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if torch.diagonal(weights).sum() / total >= 0.5:
        return "diagonal"
    if weights.sum(0).max() / total >= 0.5:
        return "hub"
    if (weights * band).sum() / total >= 0.75:
        return "local"
    return "other"

# %% [wrong] band_without_diagonal | The band leaves out the diagonal (== 1 where <= 1 is meant).
def classify_pattern(weights):
    T = weights.shape[0]
    pos = torch.arange(T, device=weights.device)
    neighbours = (pos.view(-1, 1) - pos.view(1, -1)).abs() == 1
    everything = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(dim=0).max() >= everything / 2:
        return "hub"
    if weights.diag().sum() >= everything / 2:
        return "diagonal"
    if weights[neighbours].sum() >= 0.75 * everything:
        return "local"
    return "other"

# %% [wrong] entropy_not_normalised | The entropy is used without dividing by log S, so it easily exceeds 0.95 and maps are called uniform.
def classify_pattern(weights):
    entropy = torch.special.entr(weights).sum(-1).mean()
    i = torch.arange(len(weights), device=weights.device)
    total = weights.sum()
    if entropy > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[(i[:, None] - i).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] every_row_uniform | Every row must be above 0.95 here, but the mean of the rows is what counts.
def classify_pattern(weights):
    i = torch.arange(len(weights), device=weights.device)
    total = weights.sum()
    if (attention_entropy(weights) > 0.95).all():
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[(i[:, None] - i).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] local_from_half | The band needs only half of the weight here, where 3/4 are asked for.
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum().item()
    band = sum(weights.diagonal(k).sum().item() for k in (-1, 0, 1))
    if attention_entropy(weights).mean().item() > 0.95:
        return "uniform"
    if weights.sum(0).max().item() >= total * 0.5:
        return "hub"
    if weights.diagonal().sum().item() >= total * 0.5:
        return "diagonal"
    if band >= total * 0.5:
        return "local"
    return "other"

# %% [wrong] diagonal_sum_not_shared | The sum of the diagonal is compared with 0.5 itself and not with half of all weight (T/2).
def classify_pattern(weights):
    i = torch.arange(weights.shape[0], device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.mean(0).max() >= 0.5:
        return "hub"
    if weights.diagonal().sum() >= 0.5:
        return "diagonal"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * weights.sum():
        return "local"
    return "other"

# %% [wrong] band_on_one_side | The band holds only the diagonal and the key before it; abs() is missing, so the key after it is left out.
def classify_pattern(weights):
    i = torch.arange(weights.shape[0], device=weights.device)
    apart = i[:, None] - i[None, :]
    band = (apart >= 0) & (apart <= 1)
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[band].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] last_fit_wins | The rules are plain ifs that overwrite the name, so the last one that fits wins and not the first.
def classify_pattern(weights):
    name = "other"
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        name = "uniform"
    if weights.sum(dim=0).max() >= 0.5 * total:
        name = "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        name = "diagonal"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        name = "local"
    return name

# %% [wrong] hub_by_votes | A hub is found by counting how many queries have their largest weight on a key, where the weight that the key gets counts.
def classify_pattern(weights):
    T = weights.shape[0]
    total = weights.sum()
    favourite = weights.argmax(dim=-1)
    votes = torch.bincount(favourite, minlength=T)
    i = torch.arange(T, device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if votes.max() >= T / 2:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diagonal"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] more_than_half | "At least half" is written with > for hub and diagonal, so exactly half does not count.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() > 0.5 * total:
        return "hub"
    if weights.diagonal().sum() > 0.5 * total:
        return "diagonal"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] other_words | The words "diag" and "none" are returned, where "diagonal" and "other" are asked for.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if weights.diagonal().sum() >= 0.5 * total:
        return "diag"
    if weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        return "local"
    return "none"

# %% [wrong] band_wraps_round | torch.roll builds the band, so the first and the last token count as neighbours.
def classify_pattern(weights):
    eye = torch.eye(weights.shape[0], device=weights.device, dtype=weights.dtype)
    band = eye + eye.roll(1, dims=1) + eye.roll(-1, dims=1)
    total = weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= 0.5 * total:
        return "hub"
    if (weights * eye).sum() >= 0.5 * total:
        return "diagonal"
    if (weights * band).sum() >= 0.75 * total:
        return "local"
    return "other"

# %% [wrong] diag_called_as_attribute | weights.diag.sum() forgets the brackets of diag(), which raises an AttributeError.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    entropy = attention_entropy(weights).mean()
    hub = weights.sum(0).max() / total
    diagonal = weights.diag.sum() / total
    local = weights[(i[:, None] - i[None, :]).abs() <= 1].sum() / total
    if entropy > 0.95:
        return "uniform"
    if hub >= 0.5:
        return "hub"
    if diagonal >= 0.5:
        return "diagonal"
    if local >= 0.75:
        return "local"
    return "other"

# %% [wrong] lower_threshold_and_printed | The entropy threshold is 0.9 and not 0.95 AND the word is printed, not returned.
def classify_pattern(weights):
    total = weights.sum()
    i = torch.arange(len(weights), device=weights.device)
    if attention_entropy(weights).mean() > 0.9:
        print("uniform")
    elif weights.sum(0).max() >= 0.5 * total:
        print("hub")
    elif weights.diagonal().sum() >= 0.5 * total:
        print("diagonal")
    elif weights[(i[:, None] - i[None, :]).abs() <= 1].sum() >= 0.75 * total:
        print("local")
    else:
        print("other")

# %% [right] table_of_rules | All rules are worked out first; the first that holds gives the word.
def classify_pattern(weights):
    w = weights.detach()
    total = w.sum()
    place = torch.arange(w.shape[-1], device=w.device)
    band = (place.unsqueeze(1) - place.unsqueeze(0)).abs() <= 1
    rules = {
        "uniform": attention_entropy(w).mean() > 0.95,
        "hub": w.sum(dim=0).max() >= 0.5 * total,
        "diagonal": w.diagonal().sum() >= 0.5 * total,
        "local": w[band].sum() >= 0.75 * total,
    }
    return next((word for word, holds in rules.items() if holds), "other")

# %% [right] triu_and_tril | Early returns; the band is cut out with triu and tril; the entropy is worked out here.
def classify_pattern(weights):
    S = weights.shape[-1]
    entropy = torch.special.entr(weights).sum(dim=-1) / math.log(S)
    if entropy.mean() > 0.95:
        return "uniform"
    everything = weights.sum()
    if (weights.sum(dim=0) >= everything / 2).any():
        return "hub"
    if torch.trace(weights) >= everything / 2:
        return "diagonal"
    band = weights.triu(-1).tril(1)
    if band.sum() >= everything * 3 / 4:
        return "local"
    return "other"

# %% [right] numpy_elif | numpy in float64 and one chain of elif.
def classify_pattern(weights):
    w = weights.detach().cpu().double().numpy()
    total = w.sum()
    near = sum(np.trace(w, offset=k) for k in (-1, 0, 1))
    if float(attention_entropy(weights).mean()) > 0.95:
        word = "uniform"
    elif w.sum(axis=0).max() >= total / 2:
        word = "hub"
    elif np.trace(w) >= total / 2:
        word = "diagonal"
    elif near >= 0.75 * total:
        word = "local"
    else:
        word = "other"
    return word
