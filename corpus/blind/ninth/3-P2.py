# %% [wrong] one_added_inside | The one is added inside: elu(x + 1). It should be elu(x) + 1, which is positive everywhere. The features can be negative, and the denominators come near zero.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query + 1), F.elu(key + 1)
    summary = k.transpose(-2, -1) @ value
    norm = q @ k.sum(-2).unsqueeze(-1)
    return (q @ summary) / norm

# %% [wrong] n_by_n_first | The brackets are set the other way: all n × n products of queries and keys are made first. The sum over the keys should be made once, for all queries. The numbers are right, and the cost is n² and not n.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = lambda x: nn.functional.elu(x) + 1
    similarity = torch.einsum("...id,...jd->...ij", phi(query), phi(key))
    return torch.einsum("...ij,...jv->...iv", similarity / similarity.sum(-1, keepdim=True), value)

# %% [wrong] overwrites_queries_and_keys | elu is called with inplace=True, to save memory. What is handed in should stay as it is. The output is right, but the caller's queries and keys are changed.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def features(x):
        return F.elu(x, inplace=True) + 1

    q, k = features(query), features(key)
    kv = torch.einsum("...nd,...nv->...dv", k, value)
    z = torch.einsum("...nd,...d->...n", q, k.sum(dim=-2))
    return torch.einsum("...nd,...dv->...nv", q, kv) / z.unsqueeze(-1)

# %% [wrong] running_sums | The sums over j are running sums, as in the causal form. Here every query should meet all keys. Only the last position comes out right.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    pairs = k.unsqueeze(-1) * value.unsqueeze(-2)
    top = (q.unsqueeze(-1) * pairs.cumsum(-3)).sum(-2)
    bottom = (q * k.cumsum(-2)).sum(-1, keepdim=True)
    return top / bottom

# %% [wrong] mean_in_the_denominator | Below the line stands the mean of the keys' features. It should be their sum, as above the line. The output is n times too large.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = (F.elu(x).add(1.0) for x in (query, key))
    numerator = torch.matmul(phi_q, torch.matmul(phi_k.mT, value))
    denominator = torch.matmul(phi_q, phi_k.mean(dim=-2, keepdim=True).mT)
    return numerator / denominator

# %% [wrong] divides_by_root_d_from_habit | Queries are divided by the root of d before φ, as for softmax. The formula has no such factor, and inside φ it does not cancel. Close to the right numbers, and wrong.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    d = query.size(-1)
    q = torch.nn.ELU()(query / d**0.5) + 1
    k = torch.nn.ELU()(key) + 1
    state = torch.zeros(*key.shape[:-2], d, value.size(-1), dtype=value.dtype, device=value.device)
    total = torch.zeros(*key.shape[:-2], d, dtype=value.dtype, device=value.device)
    for j in range(key.size(-2)):
        state = state + k[..., j, :, None] * value[..., j, None, :]
        total = total + k[..., j, :]
    return (q @ state) / (q @ total[..., None])

# %% [right] ones_as_an_extra_value | Appends a column of ones to the values, so that one product makes numerator and denominator; φ is written with torch.where.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    with_ones = F.pad(value, (0, 1), value=1.0)
    both = phi(query) @ (phi(key).transpose(-1, -2) @ with_ones)
    above, below = both.split([value.shape[-1], 1], dim=-1)
    return above / below
