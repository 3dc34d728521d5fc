# %% [wrong] elu_without_one | φ is elu alone; the + 1 that makes it positive is missing.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = F.elu(query), F.elu(key)
    numerator = phi_q @ (phi_k.transpose(-2, -1) @ value)
    denominator = phi_q @ phi_k.sum(-2).unsqueeze(-1)
    return numerator / denominator

# %% [wrong] no_denominator | Only the numerator is computed; it is not divided by φ(q) · Σ φ(k).
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = (1 + F.elu(side) for side in (query, key))
    summary = torch.einsum("...nd,...nv->...dv", k, value)
    return torch.einsum("...nd,...dv->...nv", q, summary)

# %% [wrong] quadratic_brackets | Computes φ(Q)φ(K)ᵀ first: the numbers are right, but the cost is n² · d and an n × n tensor is made.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = lambda x: F.elu(x) + 1
    similarity = phi(query) @ phi(key).mT
    return (similarity / similarity.sum(-1, keepdim=True)) @ value

# %% [wrong] key_sum_over_features | Sums φ(k) over the features in place of over the keys for the denominator.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    top = q @ (k.transpose(-1, -2) @ value)
    bottom = (q * k.sum(dim=-1, keepdim=True)).sum(dim=-1, keepdim=True)
    return top / bottom

# %% [wrong] running_sums | Uses cumulative sums over the keys, which is the causal form: position i does not see what comes after it.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query).add(1), F.elu(key).add(1)
    state = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(-3)
    total = k.cumsum(-2)
    return torch.einsum("...nd,...ndv->...nv", q, state) / (q * total).sum(-1, keepdim=True)

# %% [wrong] mean_in_one_sum | Takes the mean of the keys for the denominator and the sum for the numerator, so the result is n times too large.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    kv = k.transpose(-2, -1).matmul(value)
    norm = q.matmul(k.mean(dim=-2, keepdim=True).transpose(-2, -1))
    return q.matmul(kv) / norm

# %% [right] column_of_ones | Appends a column of ones to the values, so one product gives numerator and denominator; φ is written with where and exp.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    with_ones = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    both = phi(query) @ (phi(key).transpose(-2, -1) @ with_ones)
    return both[..., :-1] / both[..., -1:]
