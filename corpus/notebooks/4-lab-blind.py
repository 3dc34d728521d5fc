# %% [right] compared_with_fused | own cells compare grouped, tiled and cached attention with F.scaled_dot_product_attention; loops over tile, names output, weights, scores, mask
# %% in exercise-4-12
# @exercise 4.12
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads cannot share {G} groups")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask if mask.ndim <= 2 else mask.unsqueeze(-3)), float("-inf"))
    return scores.softmax(-1) @ value
# %% after exercise-4-12
query, key, value = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 6, 8), torch.randn(2, 2, 6, 8)
for mask in (None, torch.ones(5, 6, dtype=torch.bool).tril()):
    output = grouped_attention(query, key, value, mask)
    expected = F.scaled_dot_product_attention(query, key.repeat_interleave(2, 1), value.repeat_interleave(2, 1), attn_mask=mask)
    print((output - expected).abs().max())
# %% in exercise-4-13
# @exercise 4.13
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    scale = query.shape[-1] ** -0.5
    S = key.shape[-2]
    m = torch.full_like(query[..., :1], -torch.inf)
    l = torch.zeros_like(m)
    acc = 0.0
    for start in range(0, S, tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        s = query @ k.transpose(-2, -1) * scale
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        alpha = torch.exp(m - m_new)
        p = torch.exp(s - m_new)
        l = l * alpha + p.sum(-1, keepdim=True)
        acc = acc * alpha + p @ v
        m = m_new
    return acc / l
# %% after exercise-4-13
query, key, value = torch.randn(7, 4), torch.randn(9, 4), torch.randn(9, 3)
for tile in (1, 2, 4, 100):
    scores = tiled_attention(query, key, value, tile)
    softmax = torch.softmax(query @ key.T / 2, -1) @ value
    sdpa = F.scaled_dot_product_attention(query[None], key[None], value[None])[0]
    print(tile, (scores - softmax).abs().max().item(), (scores - sdpa).abs().max().item())

# %% [right] stubs_helpers_aliases | helpers for heads in an own cell, stubs left, answers assigned by alias; a comparison with nn.MultiheadAttention under if COMPARE
# %% before exercise-4-19
COMPARE = True


class Heads:
    """namespace for splitting and joining"""
    split = staticmethod(lambda t, H: t.unflatten(-1, (H, -1)).transpose(-3, -2))
    join = staticmethod(lambda t: t.transpose(-3, -2).flatten(-2))


def softmax(s):
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
# %% in exercise-4-19
# @exercise 4.19
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Self-attention with the weights and biases of a layer.

    Args:
        layer: a ViTLayer
        tokens: (..., T, d_model)

    Returns:
        output (..., T, d_model), weights (..., H, T, T)
    """
    raise NotImplementedError("TODO 4.19")
# %% after exercise-4-19
def my_vit_attention(layer, tokens):
    q, k, v = (Heads.split(W(tokens), layer.num_heads) for W in (layer.W_Q, layer.W_K, layer.W_V))
    weights = softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5)
    return layer.W_O(Heads.join(weights @ v)), weights


vit_attention = my_vit_attention
# %% after exercise-4-19
if COMPARE:
    with torch.no_grad():
        layer, mha = ViTLayer(8, 2), nn.MultiheadAttention(8, 2, batch_first=True)
        mha.in_proj_weight.copy_(torch.cat([layer.W_Q.weight, layer.W_K.weight, layer.W_V.weight]))
        mha.in_proj_bias.copy_(torch.cat([layer.W_Q.bias, layer.W_K.bias, layer.W_V.bias]))
        mha.out_proj.weight.copy_(layer.W_O.weight); mha.out_proj.bias.copy_(layer.W_O.bias)
        x = torch.randn(1, 5, 8)
        attn_output, _ = mha(x, x, x)
        output, weights = vit_attention(layer, x)
        print("apart:", (attn_output - output).abs().max())
# %% in exercise-4-20
# @exercise 4.20
def vit_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """One layer: pre-norm, with layer scale."""
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    tokens = tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens, weights

# %% [right] split_three_functions | 4.3 in three cells, scratch between them, prints and asserts below; 4.1 with a fold
# %% in exercise-4-3
# @exercise 4.3
def _set(image_patches, order, step, values):
    """A copy in which the patch number `step` of each scene's order is replaced."""
    B = image_patches.shape[0]
    scene = torch.arange(B, device=image_patches.device)
    out = image_patches.clone()
    out[scene, order[:, step]] = values
    return out


def deletion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    """The scores while patches are taken away, the most important one first."""
    shown, scores = image_patches, [score(image_patches)]
    for step in range(order.shape[1]):
        shown = _set(shown, order, step, blank)
        scores.append(score(shown))
    return torch.stack(scores, dim=1)
# %% after exercise-4-3
print(deletion_curve(lambda p: p.sum((1, 2)), torch.tensor([[[1.0], [2.0]]]), torch.tensor([[0, 1]]), torch.zeros(1)))
# %% after exercise-4-3
def insertion_curve(score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    """The scores while patches are put into an empty scene, the most important one first."""
    scene = torch.arange(image_patches.shape[0], device=image_patches.device)
    shown = blank.expand_as(image_patches).clone()
    scores = [score(shown)]
    for step in range(order.shape[1]):
        shown = _set(shown, order, step, image_patches[scene, order[:, step]])
        scores.append(score(shown))
    return torch.stack(scores, dim=1)
# %% after exercise-4-3
def area_under(curve: Tensor) -> Tensor:
    """The area under curves (..., n + 1) over a width of 1, by trapezoids: (...)."""
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)

assert area_under(torch.tensor([1.0, 0.5, 0.0])) == 0.5
# %% in exercise-4-1
# @exercise 4.1
from functools import reduce


def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers, to the patches."""
    def layer(so_far, weights):
        T = weights.shape[-1]
        I = torch.eye(T, dtype=weights.dtype, device=weights.device)
        return (0.5 * weights.mean(-3) + 0.5 * I) @ so_far
    return reduce(layer, self_maps, cross_map.mean(-3))

# %% [right] assistant_and_types | generated style in the modules of part 4, decorators, docstrings that name built-ins, methods that are never called
# %% in exercise-4-10
# @exercise 4.10
import functools


def validate_even_width(func):
    """Decorator that rejects odd widths."""
    @functools.wraps(func)
    def wrapper(vectors, *args, **kwargs):
        if vectors.shape[-1] % 2 != 0:
            raise ValueError(f"width must be even, got {vectors.shape[-1]}")
        return func(vectors, *args, **kwargs)
    return wrapper


@validate_even_width
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Apply rotary position embeddings (RoPE).

    Unlike many implementations (``rotate_half``), neighbours are paired here.

    Example:
        >>> rotate(torch.tensor([[1.0, 0, 0, 2]]), torch.tensor([3]))
    """
    d = vectors.shape[-1]
    # Step 1: frequencies (in float32 at least, whatever the vectors are)
    exponent = torch.arange(0, d, 2, device=vectors.device, dtype=torch.float64) / d
    inv_freq = base ** -exponent
    # Step 2: angles
    theta = positions.to(torch.float64).unsqueeze(-1) * inv_freq
    cos, sin = theta.cos().to(vectors.dtype), theta.sin().to(vectors.dtype)
    # Step 3: rotate the pairs
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2)


# Quick test
_result = rotate(torch.tensor([[1.0, 0.0, 0.0, 2.0]]), torch.tensor([3]))
print("✅" if torch.allclose(_result, torch.tensor([[-0.990, 0.141, -0.060, 1.999]]), atol=1e-3) else "❌", _result)
# %% in exercise-4-16
# @exercise 4.16
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0 (Flamingo style)."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

    @property
    def openness(self) -> float:
        return float(self.gate.detach().tanh())

    def compare(self, text_tokens: Tensor, image_tokens: Tensor) -> Tensor:
        """What F.scaled_dot_product_attention would bring with one head (for a plot, unused)."""
        return F.scaled_dot_product_attention(self.norm(text_tokens), image_tokens, image_tokens)
# %% in exercise-4-17
# @exercise 4.17
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], *self.queries.shape)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [right] repairs_with_prints | the repairs written beside the broken ones, with prints of what is wrong, and a scratch cell that raises
# %% in exercise-4-5
# @exercise 4.5
# broken: mask = padding  -> True means MAY look here!
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = ~padding.unsqueeze(-2)
    #print("allowed cells:", mask.sum(-1))
    return cross_attn(words, patches, mask)
# %% after exercise-4-5
# key_padding_mask means the opposite there
mha = nn.MultiheadAttention(8, 2, batch_first=True)
words, patches, padding = torch.randn(2, 1, 8), torch.randn(2, 4, 8), torch.tensor([[False] * 4, [False, False, True, True]])
output, weights = mha(words, patches, patches, key_padding_mask=padding)
print(weights)
# %% after exercise-4-6
# (raises) what if the widths differ?
look_once(torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4))
# %% in exercise-4-6
# @exercise 4.6
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / np.sqrt(d_k)
    # print(scores.std())
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


for d_k in (4, 32, 128):
    q, k = torch.randn(2, 100, d_k)
    print(d_k, (q @ k.T).std().item(), torch.softmax(q @ k.T, -1).amax(-1).mean().item(), look_once(q, k, k)[1].amax(-1).mean().item())
# %% in exercise-4-9
# @exercise 4.9
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy   # was: + strength * entropy

# %% [right] merged_and_reordered | 4.10 and 4.11 in one cell, 4.21 by an alias above its place, checks and figures deleted, own function named scaled_dot_product_attention for 4.12 and 4.14
# %% delete exercise-4-11
# %% in exercise-4-10
# @exercise 4.10
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours."""
    d = vectors.size(-1)
    if d % 2: raise ValueError("odd width")
    i = torch.arange(d // 2, device=vectors.device)
    ω = base ** (-2 * i / d)
    φ = positions[..., None] * ω
    z = torch.view_as_complex(vectors.reshape(*vectors.shape[:-1], d // 2, 2).to(torch.promote_types(vectors.dtype, torch.float32)).contiguous())
    turned = z * torch.polar(torch.ones_like(φ), φ)
    return torch.view_as_real(turned).flatten(-2).to(vectors.dtype)


# @exercise 4.11
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    a, b = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(a, rows, base), rotate(b, columns, base)], dim=-1)
# %% delete check-4-10
# %% delete check-4-11
# %% delete check-4-21
# %% delete show-temple
# %% delete text-09
# %% before exercise-4-12
def scaled_dot_product_attention(q, k, v, mask=None):
    """own one: exp, sums, matrix products"""
    s = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        s = torch.where(mask, s, -torch.inf)
    w = torch.exp(s - s.max(-1, keepdim=True).values)
    return (w / w.sum(-1, keepdim=True)) @ v
# %% in exercise-4-12
# @exercise 4.12
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H is no multiple of G")
    group = torch.arange(H, device=key.device) // (H // G)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    return scaled_dot_product_attention(query, key.index_select(-3, group), value.index_select(-3, group), mask)
# %% in exercise-4-14
# @exercise 4.14
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    q, k, v = (W(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is not None:
        k, v = (torch.cat([old, new], dim=-2) for old, new in zip(cache, (k, v), strict=True))
    T, S = q.shape[-2], k.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=tokens.device).tril(S - T)
    out = scaled_dot_product_attention(q, k, v, mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong 4.13] scores_kept | the tiles' scores are collected and put together, so that T × S numbers stand in memory; comparison below
# %% in exercise-4-13
# @exercise 4.13
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    parts = []
    for keys in key.split(tile, dim=-2):
        parts.append(query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5)
    largest = torch.stack([part.amax(-1) for part in parts]).amax(0).unsqueeze(-1)
    total, output = 0.0, 0.0
    for part, values in zip(parts, value.split(tile, dim=-2), strict=True):
        weights = torch.exp(part - largest)
        total = total + weights.sum(-1, keepdim=True)
        output = output + weights @ values
    return output / total
# %% after exercise-4-13
query, key, value = torch.randn(3, 50, 8)
print((tiled_attention(query, key, value, 7) - F.scaled_dot_product_attention(query[None], key[None], value[None])[0]).abs().max())
