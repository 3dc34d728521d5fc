# %% [wrong] quadratic_brackets | Right numbers with the brackets the wrong way: φ(Q)φ(K)ᵀ is an n × n matrix, so the cost is n² · d and not n · d · d_v.
def linear_attention(query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    A = q @ k.transpose(-2, -1)
    return (A @ value) / A.sum(-1, keepdim=True)


# %% [wrong] no_denominator | The numerator alone: what is below the fraction bar is missing, so the weights do not sum to 1.
def linear_attention(query, key, value):
    phi = lambda x: F.elu(x) + 1
    return phi(query) @ (phi(key).transpose(-2, -1) @ value)


# %% [wrong] elu_without_one | φ is elu without the + 1: features can be negative, and the denominator near zero.
def linear_attention(query, key, value):
    q = F.elu(query)
    k = F.elu(key)
    numerator = torch.einsum("...nd,...de->...ne", q, torch.einsum("...nd,...ne->...de", k, value))
    denominator = (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
    return numerator / denominator


# %% [wrong] keys_added_over_the_width | The keys are added up along their width in place of along j: the denominator belongs to another position.
def linear_attention(query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = k.transpose(-2, -1) @ value
    z = q.sum(-1, keepdim=True) * k.sum(-1, keepdim=True)
    return q @ kv / z


# %% [wrong] running_sums | The sums over j run only up to i: that is the causal form, which was not asked for.
def linear_attention(query, key, value):
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    kv = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)
    norm = k.cumsum(dim=-2)
    top = (q.unsqueeze(-2) @ kv).squeeze(-2)
    return top / (q * norm).sum(-1, keepdim=True)


# %% [wrong] queries_without_phi | φ is put on the keys only, and the queries go in as they are.
def linear_attention(query, key, value):
    features = F.elu(key).add(1)
    state = features.mT @ value
    total = features.sum(dim=-2).unsqueeze(-1)
    return (query @ state) / (query @ total)


# %% [right] ones_column | Appends a column of ones to the values, so that one product gives numerator and denominator; φ is written with `where`.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    with_ones = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    summed = torch.einsum("...jd,...je->...de", phi(key), with_ones)
    both = torch.einsum("...id,...de->...ie", phi(query), summed)
    return both[..., :-1] / both[..., -1:]
