# %% [wrong] first_two_axes_of_key_swapped | The keys' first two axes change places, not the last two: without a batch that is the same, with a batch it is not.
def attention_scores(query, key):
    turned = key.transpose(0, 1)
    return torch.matmul(query, turned)

# %% [wrong] filled_into_float32 | The scores are written into a tensor of zeros made without a dtype, so float64 comes back as float32.
def attention_scores(query, key):
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    scores = torch.zeros(*query.shape[:-2], n_queries, n_keys)
    for i in range(n_queries):
        for j in range(n_keys):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return scores

# %% [wrong] single_axes_squeezed_away | The result is squeezed: with a single query, a single key or a batch of one, an axis is lost.
def attention_scores(query, key):
    scores = torch.einsum("...qd,...kd->...qk", query, key)
    return scores.squeeze()
