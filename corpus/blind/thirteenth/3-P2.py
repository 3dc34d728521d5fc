# %% [wrong] phi_without_plus_one | φ is elu alone, without the + 1. It gets negative, so similarities and the denominator can be negative or near zero: the weights are no averages any more.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query), F.elu(key)
    kv = k.transpose(-2, -1) @ value
    z = k.sum(dim=-2, keepdim=True).transpose(-2, -1)
    return (q @ kv) / (q @ z)


# %% [wrong] no_denominator | Only the numerator is computed; the division by φ(q)ᵀ Σ φ(k) is missing, so the output grows with n and is no weighted mean of the values.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi = lambda x: F.elu(x) + 1
    summary = torch.einsum("...nd,...ne->...de", phi(key), value)
    return torch.einsum("...nd,...de->...ne", phi(query), summary)


# %% [wrong] quadratic_brackets | The brackets stand around φ(Q)φ(K)ᵀ: it makes n × n weights and costs n² · d. The numbers are right, the promised O(n · d · d_v) is not.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query) + 1.0
    k = F.elu(key) + 1.0
    weights = q @ k.mT
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value


# %% [wrong] causal_running_sums | Uses cumulative sums over the keys (the causal variant of the paper), so position i only sees keys up to i. The formula sums over all j for every query; only the last row agrees.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    S = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)
    Z = k.cumsum(dim=-2)
    top = (q.unsqueeze(-2) @ S).squeeze(-2)
    bottom = (q * Z).sum(-1, keepdim=True)
    return top / bottom


# %% [wrong] normalised_by_own_key | The denominator is n · φ(q_i)·φ(k_i): each query's similarity with the key at its own place, times n, in place of the sum over all keys. The weights of a row do not sum to 1.
class _LinearAttention:
    def phi(self, x):
        return torch.where(x > 0, x + 1, x.exp())

    def __call__(self, query, key, value):
        q, k = self.phi(query), self.phi(key)
        numerator = q @ (k.transpose(-1, -2) @ value)
        denominator = (q * k).sum(-1, keepdim=True) * k.shape[-2]
        return numerator / denominator


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _LinearAttention()(query, key, value)


# %% [right] ones_column | Puts a column of ones behind the values, so that one product gives numerator and denominator at once, then splits them.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = (F.elu(x).add(1) for x in (query, key))
    with_one = F.pad(value, (0, 1), value=1.0)
    both = torch.matmul(phi_q, torch.matmul(phi_k.transpose(-1, -2), with_one))
    above, below = both.split([value.shape[-1], 1], dim=-1)
    return above / below
