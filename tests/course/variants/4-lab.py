# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa

# %% exercise="4.10" variant="complex numbers"
def rotate(vectors, positions, base=10000.0):
    if vectors.shape[-1] % 2:
        raise ValueError("odd")
    d = vectors.shape[-1]
    freqs = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    angles = positions.unsqueeze(-1).float() * freqs
    pairs = torch.view_as_complex(vectors.reshape(*vectors.shape[:-1], -1, 2).contiguous())
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).type_as(vectors)


# %% exercise="4.10" variant="rotate every two"
def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.size(-1)
    if d & 1:
        raise ValueError(f"odd width {d}")
    theta = torch.exp(-torch.log(torch.tensor(base)) * torch.arange(0, d, 2) / d)
    angle = torch.einsum("...n,k->...nk", positions.to(theta.dtype), theta).repeat_interleave(2, dim=-1)
    return vectors * angle.cos().to(vectors.dtype) + rotate_every_two(vectors) * angle.sin().to(vectors.dtype)


# %% exercise="4.10" variant="matrices"
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError
    speeds = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    a = positions.double()[..., None] * speeds
    rows = torch.stack([torch.stack([a.cos(), -a.sin()], -1), torch.stack([a.sin(), a.cos()], -1)], -2)
    pairs = vectors.unflatten(-1, (d // 2, 2))
    return (rows.to(vectors.dtype) @ pairs[..., None]).squeeze(-1).flatten(-2)


# %% exercise="4.10" variant="empty_like"
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d must be even")
    i = torch.arange(d // 2, dtype=torch.float32)
    angles = positions[..., None] / base ** (2 * i / d)
    out = torch.empty_like(vectors)
    out[..., ::2] = vectors[..., ::2] * torch.cos(angles) - vectors[..., 1::2] * torch.sin(angles)
    out[..., 1::2] = vectors[..., ::2] * torch.sin(angles) + vectors[..., 1::2] * torch.cos(angles)
    return out


# %% exercise="4.11" variant="slices"
def rotate_2d(vectors, rows, columns, base=10000.0):
    d = vectors.shape[-1]
    return torch.cat([rotate(vectors[..., : d // 2], rows, base=base), rotate(vectors[..., d // 2 :], columns, base=base)], -1)


# %% exercise="4.11" variant="stacked halves"
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).movedim(-2, 0)
    places = torch.stack([rows, columns])
    turned = [rotate(half, place, base) for half, place in zip(halves, places)]
    return torch.stack(turned, dim=-2).flatten(-2)


# %% exercise="4.11" variant="without rotate"
def rotate_2d(vectors, rows, columns, base=10000.0):
    half = vectors.shape[-1] // 2
    result = []
    for part, place in ((vectors[..., :half], rows), (vectors[..., half:], columns)):
        angle = place[:, None] * base ** (-torch.arange(0, half, 2) / half)
        c, s = angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
        x, y = part[..., ::2], part[..., 1::2]
        result += [torch.stack([x * c - y * s, x * s + y * c], -1).flatten(-2)]
    return torch.cat(result, -1)


# %% exercise="4.12" variant="expand"
def grouped_attention(query, key, value, mask=None):
    h, g = query.shape[-3], key.shape[-3]
    if h % g:
        raise ValueError(f"{h} % {g}")
    per = h // g
    key = key.unsqueeze(-3).expand(*key.shape[:-2], per, *key.shape[-2:]).flatten(-4, -3)
    value = value.unsqueeze(-3).expand(*value.shape[:-2], per, *value.shape[-2:]).flatten(-4, -3)
    scores = (query / query.shape[-1] ** 0.5) @ key.mT
    if mask is not None:
        scores = torch.where(mask if mask.dim() < 3 else mask[..., None, :, :], scores, -torch.inf)
    return F.softmax(scores, dim=-1) @ value


# %% exercise="4.12" variant="grouped einsum"
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask=None) -> Tensor:
    if query.size(-3) % key.size(-3) != 0:
        raise ValueError("H must be a multiple of G")
    q = query.unflatten(-3, (key.size(-3), -1))
    scores = torch.einsum("...ghtd,...gsd->...ghts", q, key) / np.sqrt(q.size(-1))
    if mask is not None:
        while mask.dim() > 2 and mask.dim() < scores.dim():
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(mask.logical_not(), -float("inf"))
    return torch.einsum("...ghts,...gsv->...ghtv", scores.softmax(-1), value).flatten(-4, -3)


# %% exercise="4.12" variant="index"
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H // G * G != H:
        raise ValueError("no multiple")
    group = torch.arange(H, device=query.device) // (H // G)
    key, value = key[..., group, :, :], value[..., group, :, :]
    logits = torch.matmul(query, key.transpose(-1, -2)) * query.shape[-1] ** -0.5
    if mask is not None:
        logits = logits + torch.zeros(mask.shape, dtype=logits.dtype).masked_fill(~mask, -1e9).unsqueeze(-3 if mask.ndim > 2 else 0)
    return torch.matmul(torch.softmax(logits, -1), value)


# %% exercise="4.12" variant="loop over groups"
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = []
    for g, q in enumerate(query.chunk(G, dim=-3)):
        s = q @ key[..., g : g + 1, :, :].transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        out.append(s.softmax(-1) @ value[..., g : g + 1, :, :])
    return torch.cat(out, dim=-3)


# %% exercise="4.13" variant="in place"
def tiled_attention(query, key, value, tile):
    q = query / query.shape[-1] ** 0.5
    m = torch.full(q.shape[:-1] + (1,), -torch.inf, dtype=q.dtype)
    l = torch.zeros_like(m)
    acc = torch.zeros(q.shape[:-1] + (value.shape[-1],), dtype=q.dtype)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        s = q @ k.mT
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        a = (m - m_new).exp()
        p = (s - m_new).exp()
        l *= a
        l += p.sum(-1, keepdim=True)
        acc *= a
        acc += p @ v
        m = m_new
    return acc / l


# %% exercise="4.13" variant="log-sum-exp"
def tiled_attention(query, key, value, tile):
    output = lse = None
    for k, v in zip(torch.split(key, tile, -2), torch.split(value, tile, -2)):
        s = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        new, part = torch.logsumexp(s, -1, keepdim=True), torch.softmax(s, -1) @ v
        if output is None:
            output, lse = part, new
        else:
            both = torch.logaddexp(lse, new)
            output = output * (lse - both).exp() + part * (new - both).exp()
            lse = both
    return output


# %% exercise="4.13" variant="tiles on both sides"
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    rows = []
    for i in range(0, query.shape[-2], tile):
        q = query[..., i : i + tile, :]
        high = torch.full((*q.shape[:-1], 1), torch.finfo(q.dtype).min, dtype=q.dtype, device=q.device)
        weight, total = 0, 0
        for j in range(0, key.shape[-2], tile):
            s = torch.einsum("...qd,...kd->...qk", q, key[..., j : j + tile, :]) * q.shape[-1] ** -0.5
            higher = torch.max(high, s.max(-1, keepdim=True)[0])
            e = torch.exp(s - higher)
            weight = weight * torch.exp(high - higher) + e.sum(-1, keepdim=True)
            total = total * torch.exp(high - higher) + e @ value[..., j : j + tile, :]
            high = higher
        rows.append(total / weight)
    return torch.cat(rows, -2)


# %% exercise="4.13" variant="two passes"
def tiled_attention(query, key, value, tile):
    scale = query.shape[-1] ** -0.5
    starts = range(0, key.size(-2), tile)
    top = torch.full_like(query[..., 0], -float("inf"))
    for s in starts:
        top = torch.maximum(top, (query @ key[..., s : s + tile, :].mT * scale).amax(-1))
    above = below = 0
    for s in starts:
        e = torch.exp(query @ key[..., s : s + tile, :].mT * scale - top[..., None])
        above, below = above + e @ value[..., s : s + tile, :], below + e.sum(-1)
    return above / below[..., None]


# %% exercise="4.14" variant="explicit softmax"
def attend_with_cache(layer, tokens, cache=None):
    h = layer.num_heads
    T = tokens.shape[-2]
    q, k, v = (
        w(tokens).reshape(*tokens.shape[:-1], h, -1).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V)
    )
    P = 0 if cache is None else cache[0].size(-2)
    if P:
        k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    hidden = torch.ones(T, P + T, dtype=torch.bool).triu(P + 1)
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), (k, v)


# %% exercise="4.14" variant="a list"
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache=None):
    def heads(x):
        return torch.stack(x.chunk(layer.num_heads, dim=-1), dim=-3)

    q = heads(layer.W_Q(tokens))
    new = [heads(layer.W_K(tokens)), heads(layer.W_V(tokens))]
    if cache is not None:
        new = [torch.cat([a, b], dim=-2) for a, b in zip(cache, new)]
    n, m = q.shape[-2], new[0].shape[-2]
    mask = causal_mask(m, tokens.device)[m - n :]
    out = F.scaled_dot_product_attention(q, *new, attn_mask=mask)
    out = torch.cat(out.unbind(-3), dim=-1)
    return layer.W_O(out), new


# %% exercise="4.14" variant="no mask for one"
def attend_with_cache(layer, tokens, cache=None):
    query, key, value = [
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    if cache is not None:
        old_key, old_value = cache
        key = torch.cat([old_key, key], dim=-2)
        value = torch.cat([old_value, value], dim=-2)
    mask = None
    if tokens.shape[-2] > 1:
        i = torch.arange(query.shape[-2])[:, None] + key.shape[-2] - query.shape[-2]
        mask = torch.arange(key.shape[-2])[None] <= i
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-2, -3).flatten(-2)), (key, value)
