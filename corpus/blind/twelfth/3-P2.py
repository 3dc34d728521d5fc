# %% [wrong] elu_without_one | phi is elu alone, the + 1 is forgotten: features become negative, so weights are no longer positive and the denominator can come near zero
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = F.elu
    q, k = phi(query), phi(key)
    context = k.transpose(-2, -1) @ value
    norm = q @ k.sum(-2).unsqueeze(-1)
    return (q @ context) / norm


# %% [wrong] einsum_without_batch | the einsum letters name only (n, d): right for a single sequence, but tensors with a batch or heads in front raise an error, although (..., n, d) is promised
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    kv = torch.einsum("nd,ne->de", k, value)
    z = torch.einsum("nd,d->n", q, k.sum(dim=0))
    return torch.einsum("nd,de->ne", q, kv) / z[:, None]


# %% [wrong] causal_cumsum | running sums over the positions (the paper's causal form, for text) instead of sums over all j: position i only sees j <= i, only the last row is right
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = (torch.where(x > 0, x + 1, x.clamp(max=0).exp()) for x in (query, key))
    n = q.shape[-2]
    state = torch.zeros(*k.shape[:-2], k.shape[-1], value.shape[-1], dtype=value.dtype, device=value.device)
    total = torch.zeros_like(k[..., 0, :])
    rows = []
    for i in range(n):
        state = state + k[..., i, :, None] * value[..., i, None, :]
        total = total + k[..., i, :]
        top = (q[..., i, :, None] * state).sum(-2)
        rows.append(top / (q[..., i, :] * total).sum(-1, keepdim=True))
    return torch.stack(rows, -2)


# %% [wrong] divided_by_n | divides by the number of positions instead of by phi(q_i) . sum_j phi(k_j): the weights of a row do not sum to 1, and the output is scaled by how large the features are
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return F.elu(x) + 1

    n = key.shape[-2]
    summary = torch.matmul(phi(key).mT, value)
    return torch.matmul(phi(query), summary) / n


# %% [wrong] sqrt_d_inside_phi | the habit of softmax attention: queries are divided by sqrt(d) before phi; phi is not linear, so this does not cancel and the weights differ from the formula
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    class FeatureMap(nn.Module):
        def forward(self, x):
            return nn.functional.elu(x).add(1.0)

    feature = FeatureMap()
    q = feature(query / query.size(-1) ** 0.5)
    k = feature(key)
    numerator = q @ (k.transpose(-1, -2) @ value)
    denominator = (q * k.sum(dim=-2, keepdim=True)).sum(dim=-1, keepdim=True)
    return numerator / denominator


# %% [right] ones_column | a column of ones appended to the values makes numerator and denominator in one product
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    with_ones = F.pad(value, (0, 1), value=1.0)  # the last column sums the weights
    summary = torch.einsum("...nd,...ne->...de", F.elu(key) + 1, with_ones)
    both = torch.einsum("...nd,...de->...ne", F.elu(query) + 1, summary)
    return both[..., :-1] / both[..., -1:]
