# %% [wrong] scale_missing | The scores are not divided by the root of d.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n = query.shape[-2]
    size = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)        # (..., n, d, size)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)    # (..., n, d_v, size)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys)
    place = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    scores = scores.masked_fill((place < 0) | (place >= n), float("-inf"))
    return torch.einsum("...nw,...nvw->...nv", scores.softmax(-1), values)
# %% [wrong] dense_with_band_mask | A dense n × n matrix of scores is made and masked with a band; the exercise forbids any n × n tensor.
import math

def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d)
    band = torch.ones(n, n, dtype=torch.bool, device=query.device).tril(window).triu(-window)
    return scores.masked_fill(~band, -math.inf).softmax(-1) @ value
# %% [wrong] padding_not_masked | The padding is not masked before the softmax: at both ends the zero keys get score 0 and a share of the weight.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    pad = (0, 0, window, window)
    size = 2 * window + 1
    k = F.pad(key, pad).unfold(-2, size, 1)
    v = F.pad(value, pad).unfold(-2, size, 1)
    scores = (query.unsqueeze(-2) @ k).squeeze(-2) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return (v @ weights.unsqueeze(-1)).squeeze(-1)
# %% [wrong] masked_after_softmax | Positions outside the sequence are set to zero only after the softmax, without renormalising: at the ends the weights sum to less than 1.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2], query.shape[-1]
    j = torch.arange(n, device=query.device).unsqueeze(1) + torch.arange(-window, window + 1, device=query.device)
    valid = (j >= 0) & (j < n)
    safe = j.clamp(min=0, max=n - 1)
    k, v = key[..., safe, :], value[..., safe, :]                # (..., n, 2w+1, d)
    weights = (torch.einsum("...id,...iwd->...iw", query, k) / d**0.5).softmax(-1)
    weights = weights * valid
    return torch.einsum("...iw,...iwe->...ie", weights, v)
# %% [wrong] window_is_total_width | window is taken as the width of the whole window, so each position sees only window // 2 neighbours on each side.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    half = window // 2
    n, d = query.shape[-2:]
    outputs = []
    for i in range(n):
        near = slice(max(0, i - half), min(n, i + half + 1))
        scores = query[..., i : i + 1, :] @ key[..., near, :].mT / d**0.5
        outputs.append(scores.softmax(-1) @ value[..., near, :])
    return torch.cat(outputs, dim=-2)
# %% [wrong] looks_back_only | Each position sees only the positions before it (a causal window); those after it, up to i + window, are left out.
import math

def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        start = max(0, i - window)
        k, v = key[..., start : i + 1, :], value[..., start : i + 1, :]
        w = F.softmax((k * query[..., i : i + 1, :]).sum(-1) / math.sqrt(d), dim=-1)
        rows.append((w.unsqueeze(-1) * v).sum(-2))
    return torch.stack(rows, dim=-2)
# %% [wrong] right_end_excluded | Off by one: the slice ends before i + window, so the farthest neighbour on the right is missing.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n = query.shape[-2]
    scale = query.shape[-1] ** -0.5
    out = []
    for i in range(n):
        lo, hi = max(i - window, 0), min(i + window, n)
        hi = max(hi, i + 1)
        k, v, q = key[..., lo:hi, :], value[..., lo:hi, :], query[..., i, :]
        weights = torch.einsum("...d,...jd->...j", q, k).mul(scale).softmax(-1)
        out.append(torch.einsum("...j,...jv->...v", weights, v))
    return torch.stack(out, -2)
# %% [wrong] unfold_axis_reshaped | unfold puts the window axis last, (..., n, d, 2w+1); it is reshaped to (..., n, 2w+1, d) where a transpose is needed, which mixes features and neighbours.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    k = k.reshape(*k.shape[:-2], size, k.shape[-2])
    v = v.reshape(*v.shape[:-2], size, v.shape[-2])
    scores = (k @ query.unsqueeze(-1)).squeeze(-1) / d**0.5
    idx = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    scores = scores.masked_fill((idx < 0) | (idx > n - 1), -torch.inf)
    return (scores.softmax(-1).unsqueeze(-2) @ v).squeeze(-2)
# %% [wrong] pads_features | F.pad counts from the last axis: (window, window) pads the features and not the positions, so the shapes do not fit.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    size = 2 * window + 1
    k = F.pad(key, (window, window)).unfold(-2, size, 1)
    v = F.pad(value, (window, window)).unfold(-2, size, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) / d**0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(size, device=query.device) - window
    scores = scores.masked_fill((j < 0) | (j >= n), -torch.inf)
    return torch.einsum("...nw,...nvw->...nv", scores.softmax(-1), v)
# %% [wrong] unbatched_only | The windows are taken along axis 0, so it works only for inputs without a batch.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(0, size, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(0, size, 1)
    scores = torch.einsum("nd,ndw->nw", query, k) / d**0.5
    j = torch.arange(n)[:, None] + torch.arange(size)[None] - window
    scores[(j < 0) | (j >= n)] = -torch.inf
    return torch.einsum("nw,nvw->nv", scores.softmax(1), v)
# %% [wrong] d_v_taken_as_d | The gathered values are reshaped with d, the width of the keys: where d_v differs from d it raises or is wrong.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    *lead, n, d = query.shape
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    inside = (j >= 0) & (j < n)
    j = j.clamp(0, n - 1)
    k = key[..., j.flatten(), :].view(*lead, n, 2 * window + 1, d)
    v = value[..., j.flatten(), :].view(*lead, n, 2 * window + 1, d)
    scores = torch.einsum("...nd,...nwd->...nw", query, k) / d**0.5
    weights = scores.masked_fill(~inside, -torch.inf).softmax(-1)
    return torch.einsum("...nw,...nwv->...nv", weights, v)
# %% [wrong] wraps_around | torch.roll goes round in a circle: the first positions see the last ones and the other way round; what was carried round is not masked.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    shifts = range(-window, window + 1)
    k = torch.stack([key.roll(s, dims=-2) for s in shifts], dim=-2)       # (..., n, 2w+1, d)
    v = torch.stack([value.roll(s, dims=-2) for s in shifts], dim=-2)
    scores = (k @ query.unsqueeze(-1)).squeeze(-1) / query.shape[-1] ** 0.5
    return (scores.softmax(-1).unsqueeze(-2) @ v).squeeze(-2)
# %% [wrong] edges_repeated | Indices outside are clamped to the first or last position and not masked: the edges are counted several times.
import math

def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    offsets = torch.arange(-window, window + 1, device=query.device)
    neighbours = (torch.arange(n, device=query.device).unsqueeze(1) + offsets).clamp(0, n - 1)
    k, v = key[..., neighbours, :], value[..., neighbours, :]
    scores = torch.einsum("...nd,...nwd->...nw", query, k) / math.sqrt(d)
    return torch.einsum("...nw,...nwv->...nv", scores.softmax(-1), v)
# %% [wrong] query_changed_in_place | The query is scaled in place (`query /= …`), so the caller's tensor changes.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    query /= d**0.5
    out = []
    for i in range(n):
        lo, hi = max(0, i - window), i + window + 1
        w = (query[..., i : i + 1, :] @ key[..., lo:hi, :].transpose(-1, -2)).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, -2)
# %% [wrong] zero_masked_with_product | The scores of positions outside are multiplied by the 0/1 mask, which makes them 0 and not −∞: they keep a share of the softmax.
import math

def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    pos = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    mask = ((pos >= 0) & (pos <= n - 1)).to(query.dtype)
    pos = pos.clamp(0, n - 1)
    scores = (query.unsqueeze(-2) * key[..., pos, :]).sum(-1) / math.sqrt(d)
    weights = (scores * mask).softmax(dim=-1)
    return (weights.unsqueeze(-1) * value[..., pos, :]).sum(-2)
# %% [wrong] padding_found_by_zero_keys | What is padding is guessed from keys that are all zero: real keys that are zero are masked, too.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    is_padding = (k == 0).all(dim=-2)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(is_padding, -torch.inf).softmax(-1)
    return torch.einsum("...nw,...nvw->...nv", weights, v)
# %% [wrong] separate_blocks | The sequence is cut into separate blocks of 2·window + 1 and each attends within itself: neighbours across a border are missed and others too far away are seen.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    size = 2 * window + 1
    outputs = []
    for q, k, v in zip(query.split(size, -2), key.split(size, -2), value.split(size, -2)):
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        outputs.append(scores.softmax(-1) @ v)
    return torch.cat(outputs, dim=-2)
# %% [wrong] negative_indices_wrap | Only the right end is checked: at the left end the negative indices count from the back, so the first positions see the last ones.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        near = [j for j in range(i - window, i + window + 1) if j < n]
        scores = (key[..., near, :] * query[..., i : i + 1, :]).sum(-1) / d**0.5
        rows.append((scores.softmax(-1).unsqueeze(-1) * value[..., near, :]).sum(-2))
    return torch.stack(rows, -2)
# %% [wrong] unscaled_and_padding_seen | The scores are not divided by the root of d AND the padding is not masked before the softmax.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    k = F.pad(key, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    weights = torch.einsum("...nd,...ndw->...nw", query, k).softmax(-1)
    return torch.einsum("...nw,...nvw->...nv", weights, v)
# %% [right] loop_over_positions | A loop over the positions with slices, which needs no padding at all.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        near = slice(max(0, i - window), min(n, i + window + 1))
        scores = (key[..., near, :] @ query[..., i, :, None]).squeeze(-1) / d**0.5
        rows.append((scores.softmax(-1).unsqueeze(-2) @ value[..., near, :]).squeeze(-2))
    return torch.stack(rows, dim=-2)
# %% [right] neighbour_indices | Gathers the neighbours by clamped indices (..., n, 2w+1, d) and masks those outside.
def sliding_window_attention(query, key, value, window):
    n, d = query.shape[-2:]
    offsets = torch.arange(-window, window + 1, device=query.device)
    j = torch.arange(n, device=query.device).unsqueeze(1) + offsets
    outside = (j < 0) | (j >= n)
    j = j.clamp(0, n - 1)
    scores = torch.einsum("...nd,...nwd->...nw", query * d**-0.5, key[..., j, :])
    weights = scores.masked_fill(outside, -torch.inf).softmax(-1)
    return torch.einsum("...nw,...nwv->...nv", weights, value[..., j, :])
# %% [right] padded_unfold | Pads and unfolds keys, values, and a row of ones that shows what is padding.
import math

def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away, without an n × n matrix.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    size, pad = 2 * window + 1, (0, 0, window, window)
    n, d = query.shape[-2], query.shape[-1]
    k = F.pad(key, pad).unfold(-2, size, 1)                                   # (..., n, d, size)
    v = F.pad(value, pad).unfold(-2, size, 1)                                 # (..., n, d_v, size)
    real = F.pad(torch.ones(n, device=query.device), (window, window)).unfold(0, size, 1).bool()
    scores = torch.matmul(query.unsqueeze(-2), k).squeeze(-2) / math.sqrt(d)
    scores = torch.where(real, scores, torch.full_like(scores, -math.inf))
    return torch.matmul(v, scores.softmax(-1).unsqueeze(-1)).squeeze(-1)
