# %% [right] unfold_windows_einsum | padding by window, Tensor.unfold, einsum over the window axis, after lucidrains/local-attention ideas and the unfold idiom
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    width = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, width, 1)  # (..., n, d, width)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, width, 1)
    inside = F.pad(torch.ones(n, dtype=torch.bool, device=query.device), (window, window)).unfold(0, width, 1)
    sim = torch.einsum("...nd,...ndw->...nw", query * d**-0.5, k)
    sim = sim.masked_fill(~inside, -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    return torch.einsum("...nw,...ndw->...nd", attn, v)


# %% [right] gather_by_clamped_index | (n, 2w+1) indices clamped into range, fancy indexing, -inf outside, after natten like reference code (SHI-Labs/NATTEN naive)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    offsets = torch.arange(-window, window + 1, device=query.device)
    index = torch.arange(n, device=query.device).unsqueeze(1) + offsets  # (n, 2w + 1)
    valid = (index >= 0) & (index < n)
    index = index.clamp(0, n - 1)
    neighbours = key[..., index, :]  # (..., n, 2w + 1, d)
    scores = (query.unsqueeze(-2) * neighbours).sum(-1) / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~valid, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(-1) * value[..., index, :]).sum(dim=-2)


# %% [right] shifted_copies_in_a_loop | one shifted slice for each offset, scores stacked, values added up, after look_around in lucidrains/local-attention
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    t = query.shape[-2]
    padded_k = F.pad(key, (0, 0, window, window), value=0.0)
    padded_v = F.pad(value, (0, 0, window, window), value=0.0)
    position = torch.arange(t, device=query.device)
    scores = []
    for ind in range(2 * window + 1):
        dots = (query * padded_k[..., ind : ind + t, :]).sum(dim=-1)
        neighbour = position + ind - window
        scores.append(dots.masked_fill((neighbour < 0) | (neighbour >= t), float("-inf")))
    probs = (torch.stack(scores, dim=-1) / query.shape[-1] ** 0.5).softmax(dim=-1)
    out = 0
    for ind in range(2 * window + 1):
        out = out + probs[..., ind : ind + 1] * padded_v[..., ind : ind + t, :]
    return out


# %% [right] one_position_at_a_time | each position attends to a slice of keys, outputs concatenated, after first versions in blog posts (ftvision/transformer lab spirit)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.size(-2)
    outputs = []
    for i in range(n):
        start, stop = max(0, i - window), min(n, i + window + 1)
        q_i = query[..., i : i + 1, :]
        scores = torch.matmul(q_i, key[..., start:stop, :].transpose(-2, -1)) / query.size(-1) ** 0.5
        outputs.append(torch.matmul(F.softmax(scores, dim=-1), value[..., start:stop, :]))
    return torch.cat(outputs, dim=-2)


# %% [right] blocks_that_look_around | blocks of `window` queries against their own and both neighbour blocks, far away numbers as padded positions, after lucidrains/local-attention (look_around) (unsure: size of the block scores where the window is nearly n)
def _look_around(x, pad_value, dim):
    """x (..., blocks, size, d), blocks at `dim` from the end → neighbours beside each block."""
    count = x.shape[dim]
    padding = (0, 0) * (-1 - dim) + (1, 1)
    x = F.pad(x, padding, value=pad_value)
    return torch.cat([x.narrow(dim, shift, count) for shift in range(3)], dim=dim + 1)


def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    size = max(window, 1)
    remainder = (-n) % size
    q, k, v = (F.pad(x, (0, 0, 0, remainder)).unflatten(-2, (-1, size)) for x in (query, key, value))
    far = -10 * (n + size)
    position = torch.arange(n, device=query.device)
    b_t = F.pad(position, (0, remainder), value=far).view(-1, size)
    bq_t, bk_t = b_t, _look_around(b_t, far, -2)
    bk, bv = _look_around(k, 0.0, -3), _look_around(v, 0.0, -3)
    outside = (bq_t.unsqueeze(-1) - bk_t.unsqueeze(-2)).abs() > window
    dots = torch.einsum("...bid,...bjd->...bij", q, bk) * d**-0.5
    dots = dots.masked_fill(outside, -torch.finfo(dots.dtype).max)
    out = torch.einsum("...bij,...bjd->...bid", dots.softmax(dim=-1), bv)
    return out.flatten(-3, -2)[..., :n, :]


# %% [right] as_strided_view | a strided view of padded, contiguous keys and values, after allenai/longformer (as_strided in _chunk)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    def neighbours(x):
        x = F.pad(x, (0, 0, window, window)).contiguous()
        shape = list(x.shape)
        shape[-2:] = [x.shape[-2] - 2 * window, 2 * window + 1, x.shape[-1]]
        stride = list(x.stride())
        stride[-2:] = [stride[-2], stride[-2], stride[-1]]
        return x.as_strided(shape, stride)  # (..., n, 2w + 1, d)

    n = query.shape[-2]
    k, v = neighbours(key), neighbours(value)
    scores = torch.matmul(k, query.unsqueeze(-1)).squeeze(-1) * query.shape[-1] ** -0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    scores = scores.masked_fill((j < 0) | (j >= n), -1e9)
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights.unsqueeze(-2), v).squeeze(-2)


# %% [right] rolled_keys | torch.roll for each offset, what wraps around is hidden, after shifted window code (microsoft/Swin-Transformer torch.roll)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2], query.shape[-1]
    place = torch.arange(n, device=query.device)
    shifts = [s for s in range(-window, window + 1) if abs(s) < n]
    columns = []
    for s in shifts:
        wrapped = (place + s < 0) | (place + s >= n)
        score = torch.einsum("...nd,...nd->...n", query, key.roll(-s, dims=-2)) / d**0.5
        columns.append(score.masked_fill(wrapped, -1e9))
    attn = torch.stack(columns, dim=-1).softmax(-1)
    rolled = torch.stack([value.roll(-s, dims=-2) for s in shifts], dim=-2)
    return torch.einsum("...nw,...nwd->...nd", attn, rolled)


# %% [right] chunks_of_queries_with_banded_slices | blocks of window + 1 queries, the keys from start - window to stop + window, band mask, after memory efficient chunking (AminRezaei0x443/memory-efficient-attention)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    chunk = min(window + 1, max(1, n // 4))
    pieces = []
    for begin in range(0, n, chunk):
        end = min(begin + chunk, n)
        low, high = max(0, begin - window), min(n, end + window)
        i = torch.arange(begin, end, device=query.device)
        j = torch.arange(low, high, device=query.device)
        band = (i[:, None] - j[None, :]).abs() <= window
        scores = query[..., begin:end, :] @ key[..., low:high, :].mT / query.shape[-1] ** 0.5
        scores = torch.where(band, scores, float("-inf"))
        pieces.append(scores.softmax(-1) @ value[..., low:high, :])
    return torch.cat(pieces, dim=-2)


# %% [right] skewed_block_scores | each block's band scores read as diagonals by padding and a view, after allenai/longformer (sliding_chunks, _skew) (unsure: window 0 and large windows)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    w = max(window, 1)
    size = 2 * w + 1
    pad = (-n) % w
    q = F.pad(query, (0, 0, 0, pad)).unflatten(-2, (-1, w))  # (..., c, w, d)
    k = F.pad(key, (0, 0, w, w + pad)).unfold(-2, 3 * w, w)  # (..., c, d, 3w)
    v = F.pad(value, (0, 0, w, w + pad)).unfold(-2, 3 * w, w)
    full = torch.matmul(q, k)  # (..., c, w, 3w): row r needs columns r … r + 2w
    columns = torch.arange(w, device=q.device)[:, None] + torch.arange(size, device=q.device)
    band = full.gather(-1, columns.expand(*full.shape[:-1], size)) * d**-0.5
    place = torch.arange(n + pad, device=q.device).view(-1, w, 1)
    other = place - w + torch.arange(size, device=q.device)
    hidden = (other < 0) | (other >= n) | ((other - place).abs() > window)
    probs = band.masked_fill(hidden & (place < n), float("-inf")).softmax(dim=-1)
    spread = torch.zeros_like(full).scatter(-1, columns.expand(*full.shape[:-1], size), probs)
    out = torch.matmul(spread, v.transpose(-2, -1))
    return out.flatten(-3, -2)[..., :n, :]


# %% [right] exponentials_accumulated_over_offsets | running maximum first, then sums of exponentials over the offsets, no stack, after online softmax scripts
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.size(-2)
    scale = query.size(-1) ** -0.5

    def shifted(x, offset):
        if offset >= 0:
            return F.pad(x[..., min(offset, n) :, :], (0, 0, 0, min(offset, n)))
        return F.pad(x[..., : max(n + offset, 0), :], (0, 0, min(-offset, n), 0))

    place = torch.arange(n, device=query.device)
    offsets = range(-min(window, n - 1), min(window, n - 1) + 1)
    scores = {
        o: ((query * shifted(key, o)).sum(-1, keepdim=True) * scale).masked_fill(
            ((place + o < 0) | (place + o >= n)).unsqueeze(-1), -1e30
        )
        for o in offsets
    }
    top = torch.stack([s.detach() for s in scores.values()]).amax(dim=0)
    total, mixed = 0.0, 0.0
    for o, s in scores.items():
        e = torch.exp(s - top)
        total = total + e
        mixed = mixed + e * shifted(value, o)
    return mixed / total
