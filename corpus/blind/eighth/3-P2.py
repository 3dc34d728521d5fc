# %% [wrong] one_added_inside | φ is elu(x + 1); it should be elu(x) + 1. Features may be negative, and the sum that is divided by may come near 0.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = F.elu(query + 1), F.elu(key + 1)
    numerator = phi_q @ (phi_k.transpose(-2, -1) @ value)
    denominator = phi_q @ phi_k.sum(-2).unsqueeze(-1)
    return numerator / denominator

# %% [wrong] causal_sums | Both sums over j run only up to i (cumsum), as in a model that writes; here they should hold all keys for every query.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = (F.elu(side) + 1 for side in (query, key))
    memory = (phi_k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)  # (..., n, d, d_v)
    total = phi_k.cumsum(dim=-2)
    numerator = torch.einsum("...nd,...ndv->...nv", phi_q, memory)
    return numerator / (phi_q * total).sum(-1, keepdim=True)

# %% [wrong] keys_without_features | φ is applied to the queries alone; the keys should go through it, too. Similarities may be negative, and the shares are no shares.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q = F.elu(query) + 1
    state = torch.einsum("...nd,...nv->...dv", key, value)
    norm = torch.einsum("...nd,...d->...n", phi_q, key.sum(dim=-2))
    return torch.einsum("...nd,...dv->...nv", phi_q, state) / norm.unsqueeze(-1)

# %% [wrong] divided_by_the_number_of_keys | The sum is divided by n; it should be divided by φ(q)ᵀ Σ φ(k), which is another number for each query. The outputs are no means of the values.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return F.elu(x) + 1

    state = phi(key).transpose(-2, -1) @ value
    return phi(query) @ state / key.shape[-2]

# %% [wrong] scaled_features | Queries and keys are divided by the fourth root of d before φ, as for a softmax; the formula has no scale. φ is not linear, so it does not cancel.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    root = query.shape[-1] ** 0.25
    phi_q, phi_k = F.elu(query / root) + 1, F.elu(key / root) + 1
    top = phi_q @ (phi_k.transpose(-2, -1) @ value)
    bottom = phi_q @ phi_k.transpose(-2, -1).sum(-1, keepdim=True)
    return top / bottom

# %% [wrong] softmax_for_features | The features are softmaxes (of the queries over d, of the keys over n), another linear attention; it should be elu + 1, with a division at the end.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = torch.softmax(query, dim=-1)
    k = torch.softmax(key, dim=-2)  # over the positions: already normalised
    return q @ (k.transpose(-2, -1) @ value)

# %% [right] a_column_of_ones | A column of ones is put behind the values, so that one product gives the numerator and, in its last column, the denominator.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    asks, answers = (F.elu(side).add(1) for side in (query, key))
    with_ones = F.pad(value, (0, 1), value=1.0)  # (..., n, d_v + 1)
    summed = asks @ (answers.transpose(-2, -1) @ with_ones)
    return summed[..., :-1] / summed[..., -1:]
