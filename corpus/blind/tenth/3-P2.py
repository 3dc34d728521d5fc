# %% [wrong] softmax_as_the_feature_map | φ is taken to be a softmax over the features, as in another paper on efficient attention. The text says φ(x) = elu(x) + 1; the weights and the result are others.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = query.softmax(-1), key.softmax(-1)
    kv = k.transpose(-2, -1) @ value
    z = k.sum(-2).unsqueeze(-1)
    return (q @ kv) / (q @ z)

# %% [wrong] the_plus_one_is_forgotten | φ is elu without the + 1. It can then be negative, the denominator can come near zero, and the result is far from the formula.
def linear_attention(query, key, value):
    phi_q = F.elu(query)
    phi_k = F.elu(key)
    summary = torch.einsum("...nd,...ne->...de", phi_k, value)
    norm = torch.einsum("...nd,...d->...n", phi_q, phi_k.sum(dim=-2))
    return torch.einsum("...nd,...de->...ne", phi_q, summary) / norm[..., None]

# %% [wrong] only_the_past_is_summed | The sums run over the keys up to i (cumsum, the causal form of the paper). The formula sums over all j; all positions but the last come out otherwise.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    S = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)  # (..., n, d, d_v)
    Z = k.cumsum(dim=-2)
    num = (q.unsqueeze(-2) @ S).squeeze(-2)
    den = (q * Z).sum(-1, keepdim=True)
    return num / den

# %% [wrong] not_divided | The denominator is missing: the numerator is returned as it is. Without it the weights of a row do not sum to 1, and the output grows with n.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.where(x > 0, x + 1, x.exp())

    return phi(query) @ (phi(key).mT @ value)

# %% [wrong] denominator_over_all_queries | The denominator is summed over the queries too, one number per sequence in place of one per row. Each row i has its own denominator φ(q_i)ᵀ Σ φ(k_j).
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = lambda x: F.elu(x) + 1
    Q, K = phi(query), phi(key)
    numerator = Q @ (K.transpose(-1, -2) @ value)
    denominator = (Q * K.sum(-2, keepdim=True)).sum(dim=(-2, -1), keepdim=True)
    return numerator / denominator

# %% [right] a_column_of_ones_for_the_denominator | A column of ones is attached to the values, so one product gives numerator and denominator together.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def feature(x):
        return torch.nn.ELU()(x).add(1.0)

    with_ones = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    memory = torch.einsum("...jd,...je->...de", feature(key), with_ones)
    both = torch.einsum("...id,...de->...ie", feature(query), memory)
    return both[..., :-1] / both[..., -1:]
