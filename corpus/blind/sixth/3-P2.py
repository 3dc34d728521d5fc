# %% [wrong] elu_alone | φ is elu(x) without the + 1, so features may be negative, and the sum below the line may be 0
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query), F.elu(key)
    kv = k.transpose(-2, -1) @ value
    z = k.sum(-2, keepdim=True)
    return q @ kv / (q @ z.transpose(-2, -1))

# %% [wrong] relu_plus_one | φ is relu(x) + 1 instead of elu(x) + 1: for negative numbers it is 1 and not exp(x)
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = lambda x: F.relu(x) + 1
    q, k = phi(query), phi(key)
    top = torch.einsum("...nd,...de->...ne", q, torch.einsum("...nd,...ne->...de", k, value))
    bottom = torch.einsum("...nd,...d->...n", q, k.sum(-2))
    return top / bottom.unsqueeze(-1)

# %% [wrong] scaled_first | The queries are divided by √d before φ, a habit from softmax attention; φ is not linear, so the result is another one
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query / query.shape[-1] ** 0.5) + 1
    k = F.elu(key) + 1
    state = k.mT @ value
    return (q @ state) / (q @ k.sum(dim=-2).unsqueeze(-1))

# %% [wrong] divided_by_n | The output is divided by the number of keys n instead of φ(q)ᵀ Σ φ(k), so the weights do not sum to 1
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    fq, fk = (F.elu(x) + 1.0 for x in (query, key))
    return fq @ (fk.transpose(-1, -2) @ value) / key.shape[-2]

# %% [wrong] causal_sums | The sums over j run only up to i (cumsum), as in the paper's causal form; the task sums over all keys for every query
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)     # (..., n, d, d_v)
    norm = k.cumsum(dim=-2)
    return torch.einsum("...nd,...ndv->...nv", q, kv) / (q * norm).sum(-1, keepdim=True)

# %% [wrong] keys_normalised | Each key's features are divided by their own sum (dim=-1) in place of the division by φ(q)ᵀ Σ φ(k): that normalises the keys one by one, and not the weights of a query
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    k = k / k.sum(dim=-1, keepdim=True)
    return q @ (k.transpose(-2, -1) @ value)

# %% [right] ones_column | a column of ones behind the values gives numerator and denominator from one product
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    both = q @ (k.transpose(-2, -1) @ F.pad(value, (0, 1), value=1.0))
    return both[..., :-1] / both[..., -1:]
