# %% [wrong] no_denominator | the numerator alone is returned: φ(Q)(φ(K)ᵀV) is not divided by φ(q)ᵀ Σ φ(k), so outputs grow with the number of keys
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = F.elu(query) + 1, F.elu(key) + 1
    return phi_q @ (phi_k.transpose(-2, -1) @ value)

# %% [wrong] elu_without_one | φ is elu without the + 1: it can be negative, so the weights are no shares and the denominator may come near 0
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query), F.elu(key)
    kv = torch.einsum("...nd,...nv->...dv", k, value)
    z = torch.einsum("...nd,...d->...n", q, k.sum(-2))
    return (q @ kv) / z.unsqueeze(-1)

# %% [wrong] mean_in_the_denominator | the denominator takes the mean of φ(k) over the keys in place of the sum, so all outputs are n times too large
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    top = q @ (k.mT @ value)
    bottom = q @ k.mean(dim=-2, keepdim=True).mT
    return top / bottom

# %% [wrong] causal_sums | the sums over j run only up to i (cumsum), as in the causal form; here each query should see all keys
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)
    z = k.cumsum(dim=-2)
    numerator = (q.unsqueeze(-1) * kv).sum(-2)
    return numerator / (q * z).sum(-1, keepdim=True)

# %% [wrong] scaled_query | the query is divided by √d before φ, as for softmax attention; the formula has no root, and φ is not linear, so it does not cancel
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q = F.elu(query / query.shape[-1] ** 0.5) + 1
    phi_k = F.elu(key) + 1
    sums = phi_k.transpose(-1, -2) @ value
    norm = phi_q @ phi_k.sum(-2).unsqueeze(-1)
    return (phi_q @ sums) / norm

# %% [wrong] relu_features | φ is relu + 1 and not elu + 1: all negative numbers become 1, where elu + 1 gives exp(x) between 0 and 1
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.relu(x) + 1

    q, k = phi(query), phi(key)
    context = torch.einsum("...nd,...ne->...de", k, value)
    return torch.einsum("...nd,...de->...ne", q, context) / (q @ k.sum(-2, keepdim=True).transpose(-1, -2))

# %% [right] column_of_ones | the values get a column of ones, so one product brings the numerator and the denominator at once
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    asked, found = (F.elu(side) + 1 for side in (query, key))
    with_one = F.pad(value, (0, 1), value=1.0)
    both = asked @ (found.transpose(-2, -1) @ with_one)
    return both[..., :-1] / both[..., -1:]
