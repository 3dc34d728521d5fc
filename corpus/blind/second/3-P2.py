# %% [right] ones_column | right
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    with_one = torch.cat([value, torch.ones_like(value[..., :1])], -1)
    memory = phi(key).transpose(-2, -1) @ with_one
    both = phi(query) @ memory
    return both[..., :-1] / both[..., -1:]

# %% [wrong] plus_one_forgotten | phi is elu without the + 1, so similarities can be negative.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query), F.elu(key)
    memory = k.transpose(-2, -1) @ value
    norm = q @ k.sum(-2).unsqueeze(-1)
    return q @ memory / norm

# %% [wrong] no_normaliser | The denominator is missing: the sum is not divided by the sum of the similarities.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    return q @ (k.transpose(-2, -1) @ value)

# %% [wrong] quadratic_brackets | The brackets are (QK^T)V, so the n x n matrix is made and the cost stays quadratic.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    similarity = q @ k.transpose(-2, -1)
    return similarity @ value / similarity.sum(-1, keepdim=True)

# %% [wrong] divided_by_n | It divides by the number of keys (a mean) instead of by the sum of the similarities.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    memory = k.transpose(-2, -1) @ value
    return q @ memory / key.shape[-2]

# %% [wrong] sum_over_features | The keys are summed over the features instead of over the positions in the denominator.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    memory = k.transpose(-2, -1) @ value
    total = q.sum(-1, keepdim=True) * k.sum(-1, keepdim=True)
    return q @ memory / total

# %% [wrong] raw_query | phi is applied to the keys only; the queries go in as they are.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    k = F.elu(key) + 1
    memory = k.transpose(-2, -1) @ value
    total = k.sum(-2, keepdim=True).transpose(-2, -1)
    return (query @ memory) / (query @ total)

# %% [wrong] relu_feature_map | It uses relu + 1 as the feature map instead of elu + 1.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.relu(query) + 1, F.relu(key) + 1
    memory = torch.einsum("...nd,...ne->...de", k, value)
    top = torch.einsum("...nd,...de->...ne", q, memory)
    bottom = torch.einsum("...nd,...d->...n", q, k.sum(-2))
    return top / bottom.unsqueeze(-1)

# %% [wrong] scaled_like_softmax | Query and key are scaled by d^(1/4) as in softmax attention before phi, which changes the function.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    scale = query.shape[-1] ** 0.25
    q, k = F.elu(query / scale) + 1, F.elu(key / scale) + 1
    memory = k.transpose(-2, -1) @ value
    return q @ memory / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
