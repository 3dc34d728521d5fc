"""A vision transformer's two functions and the map of [CLS], made of PyTorch's own parts.

The lab on real eyes has students write the same three functions: `attention.vit` has the reference.
"""

from math import isqrt

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.vit_layer import ViTLayer


def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    """Make tokens of images (3, height, width) or (B, 3, height, width), [CLS] first: (B, 1 + patches, d_model)."""
    patch, side = weight.shape[-1], isqrt(len(positions) - 1)
    images = images.reshape(-1, *images.shape[-3:])
    size = [length // patch for length in images.shape[-2:]]
    tokens = F.linear(F.unfold(images, patch, stride=patch).mT, weight.flatten(1), bias)
    grid = F.interpolate(positions[1:].T.unflatten(1, (side, side))[None], size, mode="bicubic").flatten(2).mT
    return torch.cat([(cls + positions[0]).expand(len(images), 1, -1), tokens + grid], 1)


def vit_block(layer: ViTLayer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return the tokens (B, T, d_model) after one layer, and its weights (B, H, T, T)."""
    normed = layer.norm_1(tokens).transpose(0, 1)  # PyTorch's own order: (T, B, d_model)
    asked = layer.W_Q, layer.W_K, layer.W_V
    inward = [torch.cat([getattr(one, kind) for one in asked]) for kind in ("weight", "bias")]
    outward = layer.W_O.weight, layer.W_O.bias
    seen, weights = F.multi_head_attention_forward(
        *(normed, normed, normed, tokens.shape[-1], layer.num_heads),
        *(*inward, None, None, False, 0.0, *outward),
        average_attn_weights=False,
    )
    tokens = tokens + layer.scale_1 * seen.transpose(0, 1)
    return tokens + layer.scale_2 * layer.contract(F.gelu(layer.expand(layer.norm_2(tokens)))), weights


def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    """Return what [CLS] looks at, (…, rows, columns), without what it gives itself."""
    return weights.select(-2, 0).narrow(-1, 1, rows * columns).unflatten(-1, (rows, columns))
