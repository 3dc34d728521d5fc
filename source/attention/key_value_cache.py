"""A key-value cache: what the earlier words are asked for is computed once, and kept.

Shazeer 2019, section 2.4: https://arxiv.org/abs/1911.02150
Axes: H heads, P tokens in the cache, T new tokens.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.heads import merge_heads, split_heads

Cache = tuple[Tensor, Tensor]  # keys and values of all tokens so far, each (..., H, P, d_head)


def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
    """Compute causal self-attention of new tokens to all before them, and to themselves.

    Args:
        layer: a MultiHeadAttention, with W_Q, W_K, W_V, W_O and num_heads.
        tokens: (..., T, d_model), the new tokens alone.
        cache: what the call for the tokens before returned, keys and values (..., H, P, d_head); None at the start.

    Returns:
        output (..., T, d_model), cache: keys and values (..., H, P + T, d_head).
    """
    query, key, value = (split_heads(linear(tokens), layer.num_heads) for linear in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    new, known = query.shape[-2], key.shape[-2]
    mask = torch.ones(new, known, dtype=torch.bool, device=tokens.device).tril(known - new)
    output = F.scaled_dot_product_attention(query, key, value, mask)
    return layer.W_O(merge_heads(output)), (key, value)
