# %% [wrong] dot_T | key.T reverses all axes, not the last two: with a batch in front (B, K, d) becomes (d, K, B) and the product fails or mixes batches; it should be key.transpose(-2, -1)
def attention_scores(query, key):
    return torch.matmul(query, key.T)

# %% [wrong] one_batch_only | The einsum names exactly one batch axis b; without a batch (2-D) or with two batch axes einsum raises an error. It should be '...qd,...kd->...qk'
def attention_scores(query, key):
    return torch.einsum("bqd,bkd->bqk", query, key)

# %% [wrong] kq_order | The output indices are ...kq, so the scores come out transposed, (..., K, Q): rows belong to keys instead of queries
def attention_scores(query, key):
    # contract over the feature axis
    return torch.einsum("...qd,...kd->...kq", query, key)

# %% [wrong] float_cast | Both sides are cast with .float(), so float64 comes back as float32, although the type of the numbers must stay
def attention_scores(query, key):
    q, k = query.float(), key.float()  # make sure matmul gets floats
    return q @ k.mT

# %% [wrong] cosine | Query and key are normalised to length 1 first, so it returns cosine similarities instead of dot products: the example gives 0.816 in place of 2
def attention_scores(query, key):
    q_hat = F.normalize(query, dim=-1)
    k_hat = F.normalize(key, dim=-1)
    return q_hat @ k_hat.transpose(-1, -2)

# %% [wrong] mean_of_products | The products are averaged over the features (.mean(-1)) instead of summed, so all scores are too small by the factor d_k
def attention_scores(query, key):
    pairs = query[..., :, None, :] * key[..., None, :, :]   # (..., Q, K, d_k)
    return pairs.mean(-1)

# %% [right] broadcast_sum | no matrix product: pairs by broadcasting, then a sum over the features
def attention_scores(query, key):
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)  # (..., Q, K, d_k)
    return pairs.sum(dim=-1)
