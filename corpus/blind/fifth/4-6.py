# %% [wrong] constant_divisor | the scores are divided by √128, the width of this model, as a fixed number; it must be right for every d_k
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] d_k_without_root | it divides by d_k and not by its root; now the scores are too small and the maps too even
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = key.shape[-1]
    scores = torch.einsum("...td,...sd->...ts", query, key) / d_k
    weights = scores.softmax(dim=-1)
    return weights @ value, weights

# %% [wrong] scaled_by_patches | the root is that of the number of patches, key.shape[-2], in place of the width d_k
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    s = query @ key.mT
    s = s * key.shape[-2] ** -0.5
    w = torch.softmax(s, -1)
    return w @ value, w

# %% [wrong] weights_scaled | the root divides the weights after the softmax and not the scores before it; the rows sum to 1/√d_k and are as sharp as before
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True) / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [wrong] unit_vectors | query and key are brought to length 1 (cosines) in place of dividing by √d_k; lengths no longer count and the maps cannot become sharp
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] multiplied_by_root | the scores are multiplied by √d_k (** 0.5 in place of ** −0.5), so they are still larger than before
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scale = query.size(-1) ** 0.5
    logits = (query * scale) @ key.transpose(-1, -2)
    logits = logits - logits.amax(dim=-1, keepdim=True)
    attn = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)
    return attn.matmul(value), attn

# %% [right] log_space | the key is scaled once before the product, and the weights are exp(scores − logsumexp)
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ (key * key.shape[-1] ** -0.5).transpose(-2, -1)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    return torch.matmul(weights, value), weights
