# %% [wrong] plus_one_missing | φ is elu without the + 1: the features may be negative.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query), F.elu(key)
    context = k.transpose(-2, -1) @ value
    norm = q @ k.sum(-2).unsqueeze(-1)
    return (q @ context) / norm
# %% [wrong] relu_features | φ is relu + 1 in place of elu + 1: negative entries all become 1.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    phi_q = torch.relu(query) + 1
    phi_k = torch.relu(key) + 1
    kv = torch.einsum("...nd,...nv->...dv", phi_k, value)
    z = torch.einsum("...nd,...d->...n", phi_q, phi_k.sum(dim=-2))
    return torch.einsum("...nd,...dv->...nv", phi_q, kv) / z.unsqueeze(-1)
# %% [wrong] denominator_missing | The denominator is left out: the weights are not normalised.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    def phi(x):
        return F.elu(x) + 1

    return phi(query) @ (phi(key).mT @ value)
# %% [wrong] quadratic_brackets | The brackets stand as (φ(Q) φ(K)ᵀ) V: the values are right, but an n × n matrix is made and the cost is n²·d, not n·d·d_v.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    similarity = q @ k.transpose(-2, -1)
    return (similarity / similarity.sum(dim=-1, keepdim=True)) @ value
# %% [wrong] query_scaled | The query is divided by the root of d before φ; the formula has no scaling.
import math

def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q = F.elu(query / math.sqrt(query.shape[-1])) + 1
    k = F.elu(key) + 1
    numerator = q @ (k.mT @ value)
    denominator = (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
    return numerator / denominator
# %% [wrong] softmax_attention | This is ordinary softmax attention; linear attention is another function and does not approximate it.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value
# %% [wrong] value_through_phi | φ is applied to the values as well; only queries and keys go through it.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    query, key, value = (F.elu(x) + 1 for x in (query, key, value))
    top = query @ (key.transpose(-1, -2) @ value)
    bottom = query @ key.sum(-2, keepdim=True).transpose(-1, -2)
    return top / bottom
# %% [wrong] key_sum_over_features | In the denominator φ(k) is summed over the features and not over the positions.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    phi_q, phi_k = F.elu(query) + 1, F.elu(key) + 1
    top = phi_q @ (phi_k.transpose(-2, -1) @ value)
    bottom = phi_q.sum(-1, keepdim=True) * phi_k.sum(-1, keepdim=True)
    return top / bottom
# %% [wrong] keepdim_missing | The denominator (..., n) is not unsqueezed: it is broadcast along the features d_v, so it raises, or divides columns where n equals d_v.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    kv = k.transpose(-2, -1) @ value
    z = (q * k.sum(dim=-2, keepdim=True)).sum(dim=-1)
    return q @ kv / z
# %% [wrong] one_total_for_all | The denominator is summed over all queries (and the batch) to one number; each query needs its own.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    out = q @ (k.mT @ value)
    total = (q @ k.sum(dim=-2).unsqueeze(-1)).sum()
    return out / total
# %% [wrong] causal_sums | The sums over j are running sums (cumsum) that end at i, as in the causal variant; they should go over all keys.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = torch.einsum("...nd,...nv->...ndv", k, value).cumsum(dim=-3)
    z = k.cumsum(dim=-2)
    return torch.einsum("...nd,...ndv->...nv", q, kv) / (q * z).sum(-1, keepdim=True)
# %% [wrong] capital_t_on_batches | `.T` reverses all axes of a batched tensor, not only the last two: with a batch it raises or is wrong.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    return q @ (k.T @ value) / (q @ k.sum(-2).unsqueeze(-1))
# %% [wrong] one_inside_elu | The 1 is added inside: elu(x + 1) in place of elu(x) + 1.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query + 1), F.elu(key + 1)
    s = k.transpose(-2, -1) @ value
    z = k.sum(-2)
    return (q @ s) / (q @ z.unsqueeze(-1))
# %% [wrong] inputs_changed | elu is called with inplace=True, so the caller's query and key are overwritten.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q = F.elu(query, inplace=True) + 1
    k = F.elu(key, inplace=True) + 1
    kv = k.transpose(-2, -1) @ value
    return (q @ kv) / (q @ k.sum(-2, keepdim=True).mT)
# %% [wrong] exp_features | φ is exp, where elu + 1 is asked for.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q = torch.exp(query)
    k = torch.exp(key)
    numerator = torch.matmul(q, torch.matmul(k.transpose(-2, -1), value))
    denominator = torch.matmul(q, k.sum(dim=-2).unsqueeze(-1))
    return numerator / denominator
# %% [wrong] raw_keys_in_denominator | The denominator sums the raw keys, not φ of them.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    phi = lambda x: F.elu(x) + 1
    memory = phi(key).transpose(-2, -1) @ value
    return phi(query) @ memory / (phi(query) @ key.sum(dim=-2).unsqueeze(-1))
# %% [wrong] no_batch_in_einsum | The einsum has no batch axis in its letters, so any batched input raises.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    memory = torch.einsum("nd,nv->dv", k, value)
    z = torch.einsum("nd,d->n", q, k.sum(0))
    return torch.einsum("nd,dv->nv", q, memory) / z[:, None]
# %% [wrong] divided_by_count | The sum is divided by the number of keys n, where the denominator of the formula belongs.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    return q @ (k.mT @ value) / key.shape[-2]
# %% [right] ones_column | Appends a column of ones to the values, so that one product gives numerator and denominator.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    q, k = F.elu(query) + 1, F.elu(key) + 1
    extended = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    both = q @ (k.transpose(-2, -1) @ extended)
    return both[..., :-1] / both[..., -1:]
# %% [right] einsum_three | Three einsums with named axes, φ from torch.where.
def linear_attention(query, key, value):
    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    fq, fk = phi(query), phi(key)
    memory = torch.einsum("...jd,...jv->...dv", fk, value)
    below = torch.einsum("...id,...jd->...i", fq, fk.sum(-2, keepdim=True))
    return torch.einsum("...id,...dv->...iv", fq, memory) / below.unsqueeze(-1)
# %% [right] queries_normalised_first | nn.ELU as a module, and the queries' features are divided by the denominator before the last product.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with φ(q)·φ(k) in place of exp(q·k), φ = elu + 1, in O(n · d · d_v).

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    elu = nn.ELU()
    feature_q = elu(query) + 1
    feature_k = elu(key) + 1
    total = feature_k.sum(dim=-2, keepdim=True)                      # (..., 1, d)
    shares = feature_q / (feature_q * total).sum(dim=-1, keepdim=True)
    return torch.matmul(shares, torch.matmul(feature_k.mT, value))
