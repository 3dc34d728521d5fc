# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa

# ---------------------------------------------------------------- 4.1 to 4.4: do maps explain?


# %% exercise="4.1" variant="from the last layer"
def attention_rollout(self_maps, cross_map):
    seen = cross_map.mean(-3)
    steps = [0.5 * (weights.mean(-3) + torch.eye(weights.shape[-1]).to(weights)) for weights in self_maps]
    chain = steps.pop()
    while steps:
        chain = chain @ steps.pop()
    return chain @ seen


# %% exercise="4.1" variant="residual by hand"
def attention_rollout(self_maps, cross_map):
    seen = cross_map.sum(-3) / cross_map.shape[-3]
    for weights in self_maps:
        seen = seen / 2 + (weights.mean(-3) @ seen) / 2
    return seen


# %% exercise="4.1" variant="einsum"
def attention_rollout(self_maps, cross_map):
    seen = torch.einsum("...hts->...ts", cross_map) / cross_map.size(-3)
    for weights in self_maps:
        average = torch.einsum("...hts->...ts", weights) / weights.size(-3)
        seen = 0.5 * seen + 0.5 * torch.einsum("...ij,...js->...is", average, seen)
    return seen


# %% exercise="4.1" variant="diagonal"
def attention_rollout(self_maps, cross_map):
    result = cross_map.mean(dim=-3)
    for one in self_maps:
        half = one.mean(dim=-3) * 0.5
        half.diagonal(dim1=-2, dim2=-1).add_(0.5)
        result = half.matmul(result)
    return result


# %% exercise="4.2" variant="relu of the gradient"
def gradient_attention(weights, score):
    gradient = torch.autograd.grad(score, weights, torch.ones_like(score), retain_graph=True)[0]
    return (weights * F.relu(gradient)).mean(-3).detach()


# %% exercise="4.2" variant="where"
def gradient_attention(weights, score):
    product = weights * torch.autograd.grad(score.sum(), [weights])[0]
    return torch.where(product > 0, product, torch.zeros_like(product)).mean(dim=-3)


# %% exercise="4.2" variant="head by head"
def gradient_attention(weights, score):
    (slope,) = torch.autograd.grad(outputs=score.sum(), inputs=weights)
    total = 0
    for head in range(weights.shape[-3]):
        total = total + (weights[..., head, :, :] * slope[..., head, :, :]).clamp(min=0)
    return total / weights.shape[-3]


# %% exercise="4.2" variant="backward to one tensor"
def gradient_attention(weights, score):
    score.sum().backward(inputs=[weights], retain_graph=True)
    gains = weights.detach() * weights.grad
    weights.grad = None
    return gains.maximum(torch.zeros(()).to(gains)).mean(-3)


# %% exercise="4.3" variant="turns"
def deletion_curve(score, image_patches, order, blank):
    turn = order.argsort(1).unsqueeze(-1)
    return torch.stack([score(torch.where(turn < k, blank, image_patches)) for k in range(order.shape[1] + 1)], 1)


def insertion_curve(score, image_patches, order, blank):
    turn = order.argsort(1).unsqueeze(-1)
    return torch.stack([score(torch.where(turn < k, image_patches, blank)) for k in range(order.shape[1] + 1)], 1)


def area_under(curve):
    return ((curve[..., 1:] + curve[..., :-1]) / 2).mean(-1)


# %% exercise="4.3" variant="one for both"
def _curve(score, before, after, order):
    scenes, shown = torch.arange(len(before))[:, None], before.clone()
    points = [score(shown)]
    for k in range(1, order.shape[1] + 1):
        shown = before.clone()
        shown[scenes, order[:, :k]] = after[scenes, order[:, :k]]
        points.append(score(shown))
    return torch.stack(points).T


def deletion_curve(score, image_patches, order, blank):
    return _curve(score, image_patches, blank.expand_as(image_patches), order)


def insertion_curve(score, image_patches, order, blank):
    return _curve(score, blank.expand_as(image_patches), image_patches, order)


def area_under(curve):
    inner = curve[..., 1:-1].sum(-1)
    return (inner + (curve[..., 0] + curve[..., -1]) / 2) / (curve.shape[-1] - 1)


# %% exercise="4.3" variant="insertion is deletion in reverse order, from the end"
def deletion_curve(score, image_patches, order, blank):
    index = order.unsqueeze(-1).expand(-1, -1, image_patches.shape[-1])
    gone = torch.broadcast_to(blank, image_patches.shape)
    curve = []
    for k in range(order.shape[1] + 1):
        curve.append(score(image_patches.scatter(1, index[:, :k], gone)))
    return torch.stack(curve, -1)


def insertion_curve(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order.flip(1), blank).flip(1)


def area_under(curve):
    n = curve.shape[-1] - 1
    return torch.trapz(curve, dx=1 / n)


# %% exercise="4.3" variant="scene by scene"
def deletion_curve(score, image_patches, order, blank):
    B, n, d = image_patches.shape
    shown, points = image_patches.clone(), [score(image_patches)]
    for k in range(n):
        for b in range(B):
            shown[b, order[b, k]] = blank
        points.append(score(shown.clone()))
    return torch.stack(points, dim=1)


def insertion_curve(score, image_patches, order, blank):
    B, n, d = image_patches.shape
    shown = torch.zeros_like(image_patches) + blank
    points = [score(shown.clone())]
    for k in range(n):
        for b in range(B):
            shown[b, order[b, k]] = image_patches[b, order[b, k]]
        points.append(score(shown.clone()))
    return torch.stack(points, dim=1)


def area_under(curve):
    return sum((curve[..., k] + curve[..., k + 1]) / 2 for k in range(curve.shape[-1] - 1)) / (curve.shape[-1] - 1)


# %% exercise="4.4" variant="clone and assign"
def patch_head(model, head, token_ids, clean, twin):
    brought = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = brought[:, head]
        return heads

    return model.inside(token_ids, twin, edit=edit).logits


# %% exercise="4.4" variant="cat"
def patch_head(model, head, token_ids, clean, twin):
    good = model.inside(token_ids, clean)[3]
    mix = lambda heads: torch.cat([heads[:, :head], good[:, head : head + 1], heads[:, head + 1 :]], dim=1)
    return model.inside(token_ids, twin, mix)[0]


# %% exercise="4.4" variant="difference"
def patch_head(model, head, token_ids, clean, twin):
    one_hot = F.one_hot(torch.tensor(head), model.blocks[-1].cross_attn.num_heads)
    good = model.inside(token_ids, clean).heads
    return model.inside(
        token_ids, twin, lambda heads: heads + (good - heads) * one_hot.to(heads).reshape(1, -1, 1, 1)
    ).logits


# %% exercise="4.4" variant="in place, without gradients"
def patch_head(model, head, token_ids, clean, twin):
    with torch.no_grad():
        taken = []
        model.inside(token_ids, clean, lambda heads: taken.append(heads) or heads)

        def edit(heads):
            heads[:, head] = taken[0][:, head]
            return heads

        return model.inside(token_ids, twin, edit).logits


# %% exercise="4.5" variant="the tilde"
def look_past_padding(cross_attn, words, patches, padding):
    mask = ~padding.unsqueeze(-2)
    return cross_attn(words, patches, mask)


# %% exercise="4.5" variant="a row for each word"
def look_past_padding(cross_attn, words, patches, padding):
    own = torch.ones_like(padding) ^ padding
    rows = own.unsqueeze(1).expand(-1, words.size(1), -1)
    return cross_attn(words, context=patches, mask=rows)


# %% exercise="4.5" variant="comparison"
def look_past_padding(cross_attn: nn.Module, words, patches, padding, verbose: bool = False):
    allowed = padding[:, None] == False
    seen, weights = cross_attn.forward(words, patches, allowed)
    if verbose:
        print(weights.shape)
    return (seen, weights)


# %% exercise="4.5" variant="scene by scene"
def look_past_padding(cross_attn, words, patches, padding):
    one_by_one = [
        cross_attn(words[b : b + 1], patches[b : b + 1], padding[b].logical_not()) for b in range(len(words))
    ]
    return torch.cat([seen for seen, _ in one_by_one]), torch.cat([weights for _, weights in one_by_one])


# %% exercise="4.6" variant="torch's softmax"
def look_once(query, key, value):
    d_k = query.shape[-1]
    weights = torch.softmax(query @ key.transpose(-2, -1) / d_k**0.5, dim=-1)
    return weights @ value, weights


# %% exercise="4.6" variant="key scaled"
def look_once(query, key, value):
    scores = torch.einsum("...td,...sd->...ts", query, key * key.size(-1) ** -0.5)
    weights = F.softmax(scores, -1)
    return torch.matmul(weights, value), weights


# %% exercise="4.6" variant="both sides by the fourth root"
def look_once(query, key, value):
    root = query.shape[-1] ** 0.25
    scores = (query / root).matmul((key / root).mT)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% exercise="4.6" variant="log sum exp"
def look_once(query: Tensor, key: Tensor, value: Tensor):
    scores = query @ key.transpose(-2, -1)
    scores = scores / torch.tensor(float(query.shape[-1]), dtype=query.dtype, device=query.device).sqrt()
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return weights @ value, weights


# %% exercise="4.7" variant="shorter block"
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    return aligner(features)


# %% exercise="4.7" variant="decorated helper"
@torch.no_grad()
def encoded(encoder, patches):
    return encoder(patches)


def image_tokens(encoder, aligner, patches):
    return aligner(encoded(encoder, patches))


# %% exercise="4.7" variant="gradients on again inside"
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
        with torch.enable_grad():
            tokens = aligner(features)
    return tokens


# %% exercise="4.7" variant="copied out of inference mode"
def image_tokens(encoder, aligner, patches):
    with torch.inference_mode():
        features = encoder(patches)
    return aligner(features.clone())


# %% exercise="4.8" variant="flip and remainder"
def mirror_left_right(cells, patches, turned):
    row, column = cells // 3, cells % 3
    grid = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    cells = torch.where(turned, 3 * row + 2 - column, cells)
    return cells, torch.where(turned[:, None, None], grid, patches)


# %% exercise="4.8" variant="written into copies"
def mirror_left_right(cells, patches, turned):
    cells, patches = cells.clone(), patches.clone()
    cells[turned] += 2 - 2 * (cells[turned] % 3)
    patches[turned] = patches[turned][:, [2, 1, 0, 5, 4, 3, 8, 7, 6]]
    return cells, patches


# %% exercise="4.8" variant="gather"
def mirror_left_right(cells, patches, turned):
    place = torch.arange(9, device=cells.device)
    opposite = place - place % 3 + (2 - place % 3)
    order = torch.where(turned.unsqueeze(1), opposite, place)
    shown = patches.gather(1, order.unsqueeze(-1).expand_as(patches))
    return order.gather(1, cells.unsqueeze(1)).squeeze(1), shown


# %% exercise="4.8" variant="scene by scene"
def mirror_left_right(cells, patches, turned):
    places, scenes = [], []
    for cell, scene, turn in zip(cells.tolist(), patches, turned.tolist()):
        row, column = divmod(cell, 3)
        places.append(3 * row + (2 - column if turn else column))
        scenes.append(torch.cat([scene[[2, 1, 0]], scene[[5, 4, 3]], scene[[8, 7, 6]]]) if turn else scene)
    return torch.tensor(places, device=cells.device), torch.stack(scenes)


# %% exercise="4.9" variant="minus"
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy


# %% exercise="4.9" variant="a small number inside the log"
def looking_loss(logits, answers, weights, strength):
    answered = -logits.log_softmax(-1).gather(1, answers[:, None]).mean()
    looking = -(weights * (weights + 1e-10).log()).sum(1)
    return answered - strength * looking.sum() / len(looking)


# %% exercise="4.9" variant="where"
def looking_loss(logits, answers, weights, strength):
    safe = torch.where(weights > 0, weights, torch.ones_like(weights))
    entropy = -(weights * safe.log()).sum(dim=-1)
    loss = nn.CrossEntropyLoss()(logits, answers)
    return loss - (strength * entropy).mean()


# %% exercise="4.9" variant="negative entropy added"
def looking_loss(logits, answers, weights, strength):
    tiny = torch.finfo(weights.dtype).tiny
    negative = (weights * torch.log(torch.clamp(weights, min=tiny))).sum(-1).mean()
    return F.nll_loss(F.log_softmax(logits, dim=-1), answers) + strength * negative


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


# %% exercise="4.15" variant="corners"
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S = image_tokens.shape[-2]
        n = S + text_tokens.shape[-2]
        allowed = torch.ones((n, n), device=text_tokens.device) > 0
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] &= mask
        output, weights = self.self_attn(torch.cat((image_tokens, text_tokens), dim=-2), mask=allowed)
        return output, weights


# %% exercise="4.15" variant="by position"
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None, *, verbose=False):
        both = torch.cat([image_tokens, text_tokens], -2)
        count = image_tokens.size(-2)
        place = torch.arange(both.size(-2), device=both.device)
        may = (place[None, :] < count) | (place[:, None] >= count)
        if mask is not None:
            may = may & F.pad(mask, (count, 0, count, 0), value=True)
        return self.self_attn(both, both, may)


# %% exercise="4.15" variant="as a list"
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super(ConcatenatedAttention, self).__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        words = torch.ones(T, T).bool().to(text_tokens.device) if mask is None else mask
        corner = words.new_ones
        table = torch.vstack([torch.hstack([corner(S, S), ~corner(S, T)]), torch.hstack([corner(T, S), words])])
        return list(self.self_attn(tokens=torch.cat([image_tokens, text_tokens], dim=-2), context=None, mask=table))


# %% exercise="4.16" variant="one line"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * seen, weights


# %% exercise="4.16" variant="registered"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.register_parameter("gate", nn.Parameter(torch.zeros(1)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens):
        asking = self.norm(text_tokens)
        found = self.cross_attn(asking, context=image_tokens)
        opened = torch.tanh(self.gate[0])
        return [torch.add(found[0] * opened, text_tokens), found[1]]


# %% exercise="4.16" variant="tanh written out"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor([0.0]), requires_grad=True)

    def forward(self, text_tokens, image_tokens):
        output, weights = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        up, down = self.gate.exp(), (-self.gate).exp()
        tokens = text_tokens.clone()
        tokens = tokens + output * ((up - down) / (up + down))
        return tokens, weights


# %% exercise="4.17" variant="expand"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        batch = image_tokens.shape[:-2]
        queries = self.queries.expand(*batch, *self.queries.shape)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights


# %% exercise="4.17" variant="repeated"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.num_queries = num_queries
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.queries = nn.Parameter(0.5 * torch.randn(num_queries, d_model))

    def forward(self, image_tokens):
        lead = image_tokens.shape[:-2]
        asked = self.queries.repeat(*lead, 1, 1)
        output = self.cross_attn(asked, context=image_tokens, mask=None)
        summary = self.norm(output[0] + self.queries)
        return [summary, output[1]]


# %% exercise="4.17" variant="normal_"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        nn.init.normal_(self.queries, std=0.02)
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, image_tokens):
        asking = torch.broadcast_to(self.queries, (*image_tokens.shape[:-2], *self.queries.shape))
        seen, weights = self.cross_attn(asking, image_tokens)
        return self.norm(seen.add(asking)), weights


# ---------------------------------------------------------------- 4.18 to 4.21: real eyes


# %% exercise="4.18" variant="convolution"
import math


def patch_embedding(images, weight, bias, cls, positions):
    single = images.dim() == 3
    if single:
        images = images.unsqueeze(0)
    features = F.conv2d(images.flatten(0, -4), weight, bias, stride=weight.shape[-1])
    side = int(math.sqrt(positions.shape[0] - 1))
    grid = positions[1:].reshape(side, side, -1).permute(2, 0, 1)[None]
    grid = F.interpolate(grid, features.shape[2:], mode="bicubic")
    tokens = (features + grid).flatten(2).mT
    start = torch.stack([cls + positions[0]] * tokens.shape[0])[:, None]
    tokens = torch.cat((start, tokens), 1).reshape(*images.shape[:-3], -1, cls.numel())
    return tokens.squeeze(0) if single else tokens


# %% exercise="4.18" variant="patch by patch"
def patch_embedding(images, weight, bias, cls, positions, mode="bicubic"):
    P = weight.shape[-1]
    rows, columns = images.shape[-2] // P, images.shape[-1] // P
    side = int(round((len(positions) - 1) ** 0.5))
    grid = positions[1:].view(side, side, -1).permute(2, 0, 1).unsqueeze(0)
    places = F.interpolate(grid, size=(rows, columns), mode=mode, align_corners=False)[0]
    tokens = [(cls + positions[0]).expand(*images.shape[:-3], -1)]
    for row in range(rows):
        for column in range(columns):
            square = images[..., row * P : row * P + P, column * P : column * P + P]
            made = torch.einsum("...chw,dchw->...d", square, weight) + bias
            tokens.append(made + places[:, row, column])
    return torch.stack(tokens, dim=-2)


# %% exercise="4.18" variant="a Conv2d, and positions only where they must be made anew"
class Projector(nn.Conv2d):
    def tokens(self, images):
        return self(images).flatten(-2).transpose(-1, -2)


def patch_embedding(images, weight, bias, cls, positions):
    d, colours, P, _ = weight.shape
    n = (images.shape[-2] // P, images.shape[-1] // P)
    lead = images.shape[:-3]
    made = torch.nn.functional.conv2d(images.reshape(-1, colours, *images.shape[-2:]), weight, bias, stride=(P, P))
    made = made.flatten(2).transpose(1, 2).reshape(*lead, -1, d)
    with_cls = torch.cat([cls.expand(*lead, 1, d), made], dim=-2)
    side = round((positions.shape[0] - 1) ** 0.5)
    if n != (side, side):
        grid = positions[1:].reshape(1, side, side, d).permute(0, 3, 1, 2)
        grid = F.interpolate(grid, size=n, mode="bicubic", align_corners=False).permute(0, 2, 3, 1).reshape(-1, d)
        positions = torch.cat([positions[:1], grid])
    return with_cls + positions


# %% exercise="4.18" variant="unfold twice"
import math


def patch_embedding(images, weight, bias, cls, positions):
    P = weight.shape[-1]
    squares = images.unfold(-2, P, P).unfold(-2, P, P)  # (..., 3, rows, columns, P, P)
    rows, columns = squares.shape[-4:-2]
    patches = squares.movedim(-5, -3).flatten(-3).flatten(-3, -2)
    side = math.isqrt(len(positions) - 1)
    grid = F.interpolate(positions[1:].T.unflatten(1, (side, side))[None], (rows, columns), mode="bicubic", align_corners=False)
    patches = patches @ weight.flatten(1).T + bias + grid[0].flatten(1).mT
    head = (cls + positions[0]).expand_as(patches[..., :1, :])
    return torch.cat([head, patches], -2)


# %% exercise="4.19" variant="fused, with an identity"
def vit_attention(layer, tokens):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    identity = torch.eye(tokens.shape[-2], dtype=tokens.dtype, device=tokens.device).expand(*k.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(q, k, identity)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


# %% exercise="4.19" variant="head by head"
import math


def vit_attention(layer, tokens):
    width = tokens.shape[-1] // layer.num_heads
    seen, weights = [], []
    for q, k, v in zip(*(f(tokens).split(width, -1) for f in (layer.W_Q, layer.W_K, layer.W_V))):
        scores = q @ k.mT / math.sqrt(width)
        weights.append(torch.softmax(scores, -1))
        seen.append(weights[-1] @ v)
    return layer.W_O(torch.cat(seen, -1)), torch.stack(weights, -3)


# %% exercise="4.19" variant="einsum"
def vit_attention(layer, tokens):
    H = layer.num_heads
    Q = (tokens @ layer.W_Q.weight.T + layer.W_Q.bias).unflatten(-1, (H, -1))
    K = F.linear(tokens, layer.W_K.weight, layer.W_K.bias).unflatten(-1, (H, -1))
    V = layer.W_V(tokens).unflatten(-1, (H, -1))
    scores = torch.einsum("...qhd,...khd->...hqk", Q, K) * Q.shape[-1] ** -0.5
    A = F.softmax(scores, dim=-1)
    return [layer.W_O(torch.einsum("...hqk,...khd->...qhd", A, V).flatten(-2)), A]


# %% exercise="4.19" variant="one matrix for all three"
def vit_attention(layer, tokens):
    linears = (layer.W_Q, layer.W_K, layer.W_V)
    weight, bias = torch.cat([one.weight for one in linears]), torch.cat([one.bias for one in linears])
    qkv = F.linear(tokens, weight, bias).unflatten(-1, (3, layer.num_heads, -1))
    q, k, v = (one.transpose(-3, -2) for one in qkv.unbind(-3))
    weights = torch.exp(torch.log_softmax((q / q.shape[-1] ** 0.5) @ k.transpose(-1, -2), dim=-1))
    return layer.W_O((weights @ v).transpose(-3, -2).reshape(tokens.shape)), weights


# %% exercise="4.20" variant="plain"
def vit_block(layer, tokens):
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + seen * layer.scale_1
    return tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens)))), weights


# %% exercise="4.20" variant="nn.GELU, and F.layer_norm"
def vit_block(layer, tokens):
    def norm(which, x):
        return F.layer_norm(x, x.shape[-1:], which.weight, which.bias, which.eps)

    seen, weights = vit_attention(layer, norm(layer.norm_1, tokens))
    x = torch.add(tokens, torch.mul(layer.scale_1, seen))
    mlp = nn.Sequential(layer.expand, nn.GELU(), layer.contract)
    return x + torch.mul(layer.scale_2, mlp(norm(layer.norm_2, x))), weights


# %% exercise="4.20" variant="scale as a diagonal matrix, GELU by erf"
import math


def vit_block(layer, tokens):
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + seen @ torch.diag(layer.scale_1)
    wide = layer.expand(layer.norm_2(tokens))
    wide = wide * 0.5 * (1 + torch.erf(wide / math.sqrt(2)))
    return tokens + layer.contract(wide) @ torch.diag(layer.scale_2), weights


# %% exercise="4.20" variant="two steps in a loop"
def vit_block(layer, tokens):
    kept = []

    def attend(x):
        output, weights = vit_attention(layer, x)
        kept.append(weights)
        return output

    def work(x):
        return layer.contract(torch.nn.functional.gelu(layer.expand(x)))

    for norm, step, scale in ((layer.norm_1, attend, layer.scale_1), (layer.norm_2, work, layer.scale_2)):
        tokens = tokens + scale * step(norm(tokens))
    return tokens, kept[0]


# %% exercise="4.21" variant="reshape"
def cls_map(weights, rows, columns):
    return weights[..., 0, 1:].reshape(*weights.shape[:-2], rows, columns)


# %% exercise="4.21" variant="stacked rows"
def cls_map(weights, rows, columns):
    row = weights[..., 0, :]
    return torch.stack([row[..., 1 + i * columns : 1 + (i + 1) * columns] for i in range(rows)], dim=-2)


# %% exercise="4.21" variant="split"
def cls_map(weights, rows, columns):
    asked, _ = torch.split(weights, [1, rows * columns], dim=-2)
    return asked[..., 1:].unflatten(-1, (rows, columns)).squeeze(-3)


# %% exercise="4.21" variant="view of a copy"
def cls_map(weights, rows, columns):
    patches = torch.index_select(weights, -1, torch.arange(1, weights.shape[-1], device=weights.device))
    return patches[..., 0, :].contiguous().view(patches.shape[:-2] + (rows, columns))
