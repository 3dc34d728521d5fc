# %% [wrong] divided_by_the_root_first | Query and key are divided by the root of the root of d before φ, as softmax attention scales its scores; linear attention has no such factor.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    scale = query.shape[-1] ** -0.25
    q, k = F.elu(query * scale) + 1, F.elu(key * scale) + 1
    top = q @ (k.transpose(-2, -1) @ value)
    bottom = q @ k.sum(-2).unsqueeze(-1)
    return top / bottom

# %% [wrong] sums_that_grow_with_the_position | cumsum makes each position see only the keys up to itself; the sums should run over all keys.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return F.elu(x) + 1

    q, k = phi(query), phi(key)
    state = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(dim=-3)  # (..., n, d, d_v)
    norm = k.cumsum(dim=-2)
    return torch.einsum("...nd,...ndv->...nv", q, state) / (q * norm).sum(-1, keepdim=True)

# %% [wrong] sums_multiplied_below | Below the line stands the product of two sums over the features, and not the dot product of φ(q) with the sum of φ(k).
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q, phi_k = (F.elu(x).add(1) for x in (query, key))
    memory = torch.einsum("...nd,...nv->...dv", phi_k, value)
    below = phi_q.sum(-1, keepdim=True) * phi_k.sum(-2, keepdim=True).sum(-1, keepdim=True)
    return torch.einsum("...nd,...dv->...nv", phi_q, memory) / below
