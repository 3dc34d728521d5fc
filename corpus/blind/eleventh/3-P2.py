# %% [wrong] elu_of_x_plus_one | φ is elu(x) + 1, but here 1 is added before the elu: elu(x + 1). For negative numbers that is another function, which can even be negative, so the weights differ from those of the formula.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = lambda x: F.elu(x + 1)
    q, k = phi(query), phi(key)
    kv = k.transpose(-2, -1) @ value
    norm = q @ k.sum(dim=-2).unsqueeze(-1)
    return (q @ kv) / norm

# %% [wrong] causal_version_of_the_paper | The sums over j are running sums, as in the paper's section on causal models: position i only mixes what stands before it. The formula sums over all j, so every output but the last differs.
def linear_attention(query, key, value):
    # Katharopoulos et al. 2020: S_i = S_{i-1} + phi(k_i) v_i^T,  Z_i = Z_{i-1} + phi(k_i)
    q, k = F.elu(query) + 1, F.elu(key) + 1
    S = torch.zeros(*key.shape[:-2], key.shape[-1], value.shape[-1], dtype=value.dtype, device=value.device)
    Z = torch.zeros_like(key[..., 0, :])
    out = []
    for i in range(query.shape[-2]):
        S = S + k[..., i, :, None] * value[..., i, None, :]
        Z = Z + k[..., i, :]
        num = (q[..., i, None, :] @ S).squeeze(-2)
        den = (q[..., i, :] * Z).sum(-1, keepdim=True)
        out.append(num / den)
    return torch.stack(out, dim=-2)

# %% [wrong] divides_along_the_wrong_axis | The denominator is (..., n), without an axis for the width, so the division lines it up with d_v instead of with the positions. It stops with an error, and where n equals d_v each column is divided by another position's number.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    numerator = q @ (k.mT @ value)
    denominator = torch.einsum("...nd,...d->...n", q, k.sum(-2))
    return numerator / denominator

# %% [wrong] brackets_the_other_way | The product of all queries with all keys is made first, an n × n matrix, and then multiplied with the values. The numbers are right, but the cost is n² · d, and the text wants O(n · d · d_v) with the sums over j made once.
def linear_attention(query, key, value):
    """Attention with phi(q).phi(k) in place of exp(q.k)."""
    def phi(x):
        return torch.nn.functional.elu(x) + 1
    similarity = phi(query) @ phi(key).transpose(-2, -1)
    weights = similarity / similarity.sum(dim=-1, keepdim=True)
    return weights @ value

# %% [wrong] divides_by_root_d_first | Out of habit queries are divided by √d before φ is taken. φ is not linear, so this does not cancel, and the weights are not those of the formula, which has no √d.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    d = query.size(-1)
    q = F.elu(query / d ** 0.5) + 1
    k = F.elu(key) + 1
    context = torch.einsum("...nd,...nv->...dv", k, value)
    normalizer = torch.einsum("...nd,...d->...n", q, k.sum(dim=-2))
    return torch.einsum("...nd,...dv->...nv", q, context) / normalizer.unsqueeze(-1)

# %% [right] both_sums_in_one_product | A column of ones behind the values makes numerator and denominator in one matrix product; φ is written out piecewise, x + 1 above 0 and exp(x) below.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def feature(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    counted = F.pad(value, (0, 1), value=1.0)
    summary = torch.matmul(feature(key).transpose(-2, -1), counted)
    result = torch.matmul(feature(query), summary)
    return result[..., :-1].div(result[..., -1:])
