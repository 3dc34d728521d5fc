"""Explanations from attention: rollout through the layers, and attention weighted by its gradient.

Both give one map for each token that asks: how much each patch counts.
Axes: H heads, T text tokens, S image tokens.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def attention_rollout(self_maps: Sequence[Tensor], cross_map: Tensor) -> Tensor:
    """Follow attention through the layers: which patches could a token have seen, along all paths?

    Abnar and Zuidema 2020, section 3, eq. 1: https://arxiv.org/abs/2005.00928. A residual connection hands every token
    on to itself, so half of each layer's map is the identity. The product of these maps says where the words come from;
    the cross-attention, which has no such identity, says what they looked at.

    Args:
        self_maps: the self-attention weights (..., H, T, T) of each layer, the first layer first; may be empty.
        cross_map: the cross-attention weights (..., H, T, S).

    Returns:
        (..., T, S); each row sums to 1, as the rows of the maps do.
    """
    seen = cross_map.mean(-3)
    for weights in self_maps:
        identity = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
        seen = (weights.mean(-3) + identity) / 2 @ seen
    return seen


def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each attention weight by what the score gains from it; keep what speaks for the score.

    Chefer et al. 2021, section 3, eq. 5: https://arxiv.org/abs/2103.15679.

    Args:
        weights: (..., H, T, S), in the graph that `score` was computed in.
        score: (...), one number for each scene.

    Returns:
        (..., T, S), without gradients: the mean over the heads of the positive part of weight × gradient.
    """
    (gradient,) = torch.autograd.grad(score.sum(), weights, retain_graph=True)
    return (weights.detach() * gradient).clamp(min=0).mean(-3)
