# %% [right] split_and_running_sums | K.split and V.split, maximum, corrections, one division at the end, after ezhoureal/assignment2-systems (FlashAttentionPy)
def tiled_attention(query, key, value, tile):
    scale = query.shape[-1] ** -0.5
    m = torch.full((*query.shape[:-1], 1), float("-inf"), dtype=query.dtype, device=query.device)
    l = torch.zeros_like(m)
    o = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        attn = torch.einsum("...qd,...kd->...qk", query, k) * scale
        new_m = torch.maximum(m, attn.amax(dim=-1, keepdim=True))
        attn = torch.exp(attn - new_m)
        m_diff = torch.exp(m - new_m)
        l = l * m_diff + attn.sum(dim=-1, keepdim=True)
        o = o * m_diff + attn @ v
        m = new_m
    return o / l


# %% [right] normalised_after_each_tile | finfo.max as first maximum, output kept normalised, block maxima and sums with EPSILON, after lucidrains/memory-efficient-attention-pytorch (flash_attention.py)
@torch.no_grad()
def tiled_attention(query, key, value, tile):
    max_neg_value = -torch.finfo(query.dtype).max
    row_maxes = torch.full((*query.shape[:-1], 1), max_neg_value, dtype=query.dtype, device=query.device)
    row_sums = torch.zeros_like(row_maxes)
    oc = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    q = query * query.shape[-1] ** -0.5
    for kc, vc in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        attn_weights = q @ kc.transpose(-1, -2)
        block_row_maxes = attn_weights.amax(dim=-1, keepdim=True)
        exp_weights = torch.exp(attn_weights - block_row_maxes)
        block_row_sums = exp_weights.sum(dim=-1, keepdim=True).clamp(min=1e-6)
        new_row_maxes = torch.maximum(block_row_maxes, row_maxes)
        exp_row_max_diff = torch.exp(row_maxes - new_row_maxes)
        exp_block_row_max_diff = torch.exp(block_row_maxes - new_row_maxes)
        new_row_sums = exp_row_max_diff * row_sums + exp_block_row_max_diff * block_row_sums
        oc.mul_((row_sums / new_row_sums) * exp_row_max_diff)
        oc.add_((exp_block_row_max_diff / new_row_sums) * (exp_weights @ vc))
        row_maxes.copy_(new_row_maxes)
        row_sums.copy_(new_row_sums)
    return oc


# %% [right] logaddexp_merge_of_partial_results | each tile gives an output and a logsumexp, both merged by logaddexp, after zhuzilin/ring-flash-attention (_update_out_and_lse)
def tiled_attention(query, key, value, tile):
    out, lse = None, None
    for begin in range(0, key.shape[-2], tile):
        k, v = key[..., begin : begin + tile, :], value[..., begin : begin + tile, :]
        scores = query @ k.mT / query.shape[-1] ** 0.5
        block_lse = torch.logsumexp(scores, dim=-1, keepdim=True)
        block_out = torch.exp(scores - block_lse) @ v
        if out is None:
            out, lse = block_out, block_lse
        else:
            new_lse = torch.logaddexp(lse, block_lse)
            out = torch.exp(lse - new_lse) * out + torch.exp(block_lse - new_lse) * block_out
            lse = new_lse
    return out


# %% [right] query_rows_and_key_tiles | tiles of queries outside, tiles of keys inside, in the order of the algorithm, after the FlashAttention-2 pseudocode in tutorial repositories
def tiled_attention(query, key, value, tile):
    rows = []
    inv_root = 1.0 / query.shape[-1] ** 0.5
    for q in query.split(tile, dim=-2):
        o_i = torch.zeros(*q.shape[:-1], value.shape[-1], dtype=q.dtype, device=q.device)
        l_i = torch.zeros(*q.shape[:-1], dtype=q.dtype, device=q.device)
        m_i = torch.full_like(l_i, -torch.inf)
        for j in range(0, key.size(-2), tile):
            s_ij = q @ key[..., j : j + tile, :].transpose(-2, -1) * inv_root
            m_new = torch.maximum(m_i, s_ij.max(dim=-1).values)
            p_ij = torch.exp(s_ij - m_new[..., None])
            alpha = torch.exp(m_i - m_new)
            l_i = alpha * l_i + p_ij.sum(-1)
            o_i = alpha[..., None] * o_i + p_ij @ value[..., j : j + tile, :]
            m_i = m_new
        rows.append(o_i / l_i[..., None])
    return torch.cat(rows, dim=-2)


# %% [right] two_passes_over_the_keys | a first pass for the maximum, a second one for both sums, after "online softmax" teaching scripts (safe softmax in passes)
def tiled_attention(query, key, value, tile):
    q = query / query.shape[-1] ** 0.5
    tiles = range(0, key.shape[-2], tile)
    largest = None
    for start in tiles:
        here = (q @ key[..., start : start + tile, :].mT).amax(-1, keepdim=True)
        largest = here if largest is None else torch.maximum(largest, here)
    numerator, denominator = 0.0, 0.0
    for start in tiles:
        e = torch.exp(q @ key[..., start : start + tile, :].mT - largest)
        numerator = numerator + e @ value[..., start : start + tile, :]
        denominator = denominator + e.sum(-1, keepdim=True)
    return numerator / denominator


# %% [right] ones_column_carries_the_total | a column of ones behind the values carries the total, one sum to correct, float32 accumulators, after triton-like codes (acc and l in one) (unsure: precision of float64 input)
def tiled_attention(query, key, value, tile):
    v1 = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1).float()
    q, k = query.float() * query.shape[-1] ** -0.5, key.float()
    acc = torch.zeros(*query.shape[:-1], v1.shape[-1], device=query.device)
    m_i = torch.full((*query.shape[:-1], 1), -1e30, device=query.device)
    n_tiles = (key.shape[-2] + tile - 1) // tile
    for t in range(n_tiles):
        part = slice(t * tile, min((t + 1) * tile, key.shape[-2]))
        qk = torch.matmul(q, k[..., part, :].transpose(-2, -1))
        m_ij = torch.max(m_i, qk.amax(-1, keepdim=True))
        acc = acc * (m_i - m_ij).exp() + torch.matmul((qk - m_ij).exp(), v1[..., part, :])
        m_i = m_ij
    return (acc[..., :-1] / acc[..., -1:]).to(query.dtype)


# %% [right] autograd_function_forward | a torch.autograd.Function with the loop in forward, no backward asked, after CS336 assignment 2 (FlashAttention in PyTorch)
class _FlashForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, tile):
        scale = q.shape[-1] ** -0.5
        o = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype, device=q.device)
        l = torch.zeros(q.shape[:-1], dtype=q.dtype, device=q.device)
        m = torch.full(q.shape[:-1], float("-inf"), dtype=q.dtype, device=q.device)
        for kj, vj in zip(torch.split(k, tile, dim=-2), torch.split(v, tile, dim=-2)):
            s = (q @ kj.transpose(-2, -1)) * scale
            new_m = torch.maximum(m, s.amax(dim=-1))
            p = torch.exp(s - new_m.unsqueeze(-1))
            correction = torch.exp(m - new_m)
            l.mul_(correction).add_(p.sum(dim=-1))
            o.mul_(correction.unsqueeze(-1)).add_(p @ vj)
            m.copy_(new_m)
        return o.div_(l.unsqueeze(-1))

    @staticmethod
    def backward(ctx, grad_output):
        raise NotImplementedError("forward only")


def tiled_attention(query, key, value, tile):
    return _FlashForward.apply(query, key, value, tile)


# %% [right] padded_keys_and_equal_tiles | keys padded to a multiple of the tile, padding hidden, after block based kernels in teaching code (tinygrad style shapes)
def tiled_attention(query, key, value, tile):
    S = key.shape[-2]
    tile = min(tile, S)
    extra = (-S) % tile
    k = F.pad(key, (0, 0, 0, extra)).unflatten(-2, (-1, tile))
    v = F.pad(value, (0, 0, 0, extra)).unflatten(-2, (-1, tile))
    real = (torch.arange(S + extra, device=key.device) < S).view(-1, tile)
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total, mixed = torch.zeros_like(largest), query.new_zeros(*query.shape[:-1], value.shape[-1])
    for j in range(real.shape[0]):
        scores = torch.einsum("...td,...sd->...ts", query, k[..., j, :, :]) / query.shape[-1] ** 0.5
        scores = scores.masked_fill(~real[j], -torch.inf)
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = torch.addcmul(weights.sum(-1, keepdim=True), total, shrink)
        mixed = torch.addcmul(weights @ v[..., j, :, :], mixed, shrink)
        largest = new
    return mixed / total
