# %% [right] sum_of_products | right
def attention_scores(query, key):
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)

# %% [wrong] dot_t | key.T turns all axes round, which is wrong as soon as there is a batch.
def attention_scores(query, key):
    return query @ key.T

# %% [wrong] keys_ask | The product is key times query, so rows and columns are exchanged.
def attention_scores(query, key):
    return key @ query.transpose(-2, -1)

# %% [wrong] elementwise | Query i is compared with key i alone, element by element.
def attention_scores(query, key):
    return (query * key).sum(-1)

# %% [wrong] batch_axes_swapped | transpose(0, 1) swaps the first two axes, which are not the last two when there is a batch.
def attention_scores(query, key):
    return query @ key.transpose(0, 1)

# %% [wrong] cosine | The vectors are normalised, so cosines and not dot products come out.
def attention_scores(query, key):
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)

# %% [wrong] key_reshaped | The keys are reshaped to (d_k, K) instead of transposed.
def attention_scores(query, key):
    return query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])

# %% [wrong] scaled_already | The scores are already divided by the root of d_k, which comes in 1.2.
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
