# %% [wrong] divided_by_the_count | The sum is divided by the number of keys n and not by φ(q)·Σφ(k), so the weights of a query do not sum to 1.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    mixed = q @ (k.transpose(-2, -1) @ value)
    return mixed / key.shape[-2]

# %% [wrong] only_the_past | The sums over the keys are running sums (cumsum), as in the causal form, so a query sees only the keys up to its own place; all keys are asked for.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = F.elu(query) + 1, F.elu(key) + 1
    kv = torch.einsum("...nd,...nv->...ndv", phi_k, value).cumsum(dim=-3)
    z = phi_k.cumsum(dim=-2)
    top = torch.einsum("...nd,...ndv->...nv", phi_q, kv)
    return top / (phi_q * z).sum(-1, keepdim=True)

# %% [wrong] queries_scaled_by_the_root | The queries are divided by √d before φ; the formula has no root here, and φ(q/√d) is not a multiple of φ(q), so the weights are others.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return F.elu(x) + 1

    q = phi(query / query.shape[-1] ** 0.5)
    k = phi(key)
    numerator = q @ (k.transpose(-2, -1) @ value)
    denominator = q @ k.sum(dim=-2).unsqueeze(-1)
    return numerator / denominator

# %% [wrong] keys_without_phi | φ is applied to the queries alone; the keys stay as they are and may be negative, so weights are negative, too, and the denominator may be near zero.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    summary = key.transpose(-2, -1) @ value
    norm = torch.einsum("...nd,...d->...n", q, key.sum(-2))
    return (q @ summary) / norm.unsqueeze(-1)

# %% [wrong] product_of_two_sums | The denominator is the sum of φ(q) times the sum of all φ(k), and not their dot product; a product of sums is not a sum of products, and it is far too large.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    kv = k.transpose(-2, -1) @ value
    z = q.sum(-1, keepdim=True) * k.sum((-2, -1)).unsqueeze(-1).unsqueeze(-1)
    return q @ kv / z

# %% [wrong] softmax_as_phi | A softmax over the features of the queries and one over the positions of the keys stand in place of elu + 1; that is another linear attention than the one of the task.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = query.softmax(dim=-1)
    k = key.softmax(dim=-2)
    context = k.transpose(-2, -1) @ value  # (d, d_v), once for all queries
    return q @ context

# %% [right] ones_beside_the_values | a column of ones beside the values makes numerator and denominator in one product
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = (F.elu(side) + 1 for side in (query, key))
    with_ones = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    both = phi_q @ (phi_k.transpose(-2, -1) @ with_ones)
    return both[..., :-1] / both[..., -1:]
