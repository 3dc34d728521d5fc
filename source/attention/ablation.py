"""Taking one head away: what was it good for?

Michel et al. 2019, section 2.3 (a mask on each head): https://arxiv.org/abs/1905.10650
Axes: H heads, T tokens that ask, S tokens that answer.
"""

import torch
from torch import Tensor, nn

from attention.heads import merge_heads, split_heads


def ablate_head(
    attention_layer: nn.Module, head: int, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the output of a MultiHeadAttention without what one head contributes.

    What a head contributes is weights · value · its columns of W_O; the contributions of all heads are added up,
    so that one of them can be left out. The layer stays as it is.

    Args:
        attention_layer: a MultiHeadAttention in evaluation mode.
        head: 0…H−1.
        tokens, context, mask: as the layer takes them.

    Returns:
        (..., T, d_model)
    """
    _, weights = attention_layer(tokens, context, mask)
    value = attention_layer.W_V(tokens if context is None else context)
    heads = weights @ split_heads(value, attention_layer.num_heads)
    kept = torch.arange(attention_layer.num_heads, device=heads.device) != head
    return attention_layer.W_O(merge_heads(heads * kept.to(heads.dtype)[:, None, None]))
