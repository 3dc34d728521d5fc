# %% [right] rollout_without_gradients | the rollout and the rotation under torch.no_grad
# %% in exercise-4-1
# @exercise 4.1
@torch.no_grad()
def attention_rollout(self_maps, cross_map):
    result = cross_map.new_zeros(()) + torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    for attention in self_maps:
        attention = attention.mean(-3)
        identity = torch.eye(attention.shape[-1], dtype=attention.dtype, device=attention.device)
        result = ((attention + identity) / 2) @ result
    return result @ cross_map.mean(-3)
# %% in exercise-4-10
# @exercise 4.10
@torch.no_grad()
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2, device=vectors.device, dtype=torch.float64) / d))
    angles = positions.unsqueeze(-1) * inv_freq
    cos, sin = angles.cos().type_as(vectors), angles.sin().type_as(vectors)
    even, odd = vectors[..., ::2], vectors[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)
# %% [right] reference_beside | grouped attention compared with PyTorch's, whose result has a local name
# %% in exercise-4-12
# @exercise 4.12
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key, value = key.repeat_interleave(H // G, -3), value.repeat_interleave(H // G, -3)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.dim() > 2 else mask), -math.inf)
    weights = scores.float().softmax(-1).type_as(query)
    output = weights @ value
    return output
# %% before exercise-4-12
import math
# %% after check-4-12
q, k, v = torch.randn(4, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
output = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 0), v.repeat_interleave(2, 0))
weights = scores = output
print((grouped_attention(q, k, v) - output).abs().max())
