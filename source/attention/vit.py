"""A vision transformer from this course's parts: patches become tokens, tokens attend, and [CLS] looks at the image.

Dosovitskiy et al. 2021, section 3.1: https://arxiv.org/abs/2010.11929
Axes: n patches, T = 1 + n tokens, of which the first is [CLS]; H heads; P the side of a patch in pixels.
"""

from math import isqrt

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.dot_product import attention
from attention.heads import merge_heads, split_heads
from attention.vit_layer import ViTLayer


def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    """Cut images into patches, make each a token, put [CLS] in front, add positions.

    Dosovitskiy et al. 2021, eq. 1. The positions were learned for a square grid of patches; for another grid they are
    interpolated (section 3.2), here bicubically, as DINOv2 does (Oquab et al. 2023: https://arxiv.org/abs/2304.07193).

    Args:
        images: (..., 3, rows · P, columns · P), of the weights' dtype.
        weight: (d_model, 3, P, P), one small image for each number of a token.
        bias: (d_model,)
        cls: (d_model,)
        positions: (1 + side², d_model), that of [CLS] first, then those of the grid, row by row.

    Returns:
        (..., 1 + rows · columns, d_model)
    """
    patch, side = weight.shape[-1], isqrt(len(positions) - 1)
    batch = images.reshape(-1, *images.shape[-3:])
    made = F.conv2d(batch, weight, bias, stride=patch)  # (B, d_model, rows, columns)
    learned = positions[1:].T.unflatten(1, (side, side)).unsqueeze(0)  # (1, d_model, side, side)
    places = F.interpolate(learned, size=made.shape[-2:], mode="bicubic", align_corners=False)
    patches = (made + places).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(batch), 1, -1)
    return torch.cat([first, patches], dim=1).reshape(*images.shape[:-3], -1, len(bias))


def vit_attention(layer: ViTLayer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Self-attention of all tokens with a layer's weights and biases; nothing is masked, normed, scaled by `scale_1` or added.

    Vaswani et al. 2017, section 3.2.2: https://arxiv.org/abs/1706.03762

    Args:
        tokens: (..., T, d_model)

    Returns:
        output (..., T, d_model), weights (..., H, T, T)
    """
    query, key, value = (split_heads(project(tokens), layer.num_heads) for project in (layer.W_Q, layer.W_K, layer.W_V))
    seen, weights = attention(query, key, value)
    return layer.W_O(merge_heads(seen)), weights


def vit_block(layer: ViTLayer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Run one layer: attention, then a feed-forward step, each behind a norm and before a scale for every dimension.

    Pre-norm: Dosovitskiy et al. 2021, eq. 2 and 3. Layer scale: Touvron et al. 2021, section 2.1, eq. 4:
    https://arxiv.org/abs/2103.17239

    Args:
        tokens: (..., T, d_model)

    Returns:
        tokens (..., T, d_model), weights (..., H, T, T)
    """
    seen, weights = vit_attention(layer, layer.norm_1(tokens))
    tokens = tokens + layer.scale_1 * seen
    worked = layer.contract(F.gelu(layer.expand(layer.norm_2(tokens))))
    return tokens + layer.scale_2 * worked, weights


def cls_map(weights: Tensor, rows: int, columns: int) -> Tensor:
    """Return what [CLS] looks at, as pictures: its weights on the patches, without the one on itself.

    Args:
        weights: (..., T, T) with T = 1 + rows · columns; queries in rows.

    Returns:
        (..., rows, columns); a map sums to 1 less what rests on [CLS].
    """
    return weights[..., 0, 1:].unflatten(-1, (rows, columns))
