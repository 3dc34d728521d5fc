"""Other right ways to write lesson 5's exercises, as students write them. Some mistakes are edits of these."""

import torch
from attention.vit_layer import ViTLayer
from torch import Tensor
from torch.nn import functional as F


def embedding_by_hand(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    """Return the embedded patches, cut out with reshapes and multiplied by the weight as a matrix."""
    d, patch = len(bias), weight.shape[-1]
    side = round((len(positions) - 1) ** 0.5)
    batch = images.reshape(-1, *images.shape[-3:])
    rows, columns = batch.shape[-2] // patch, batch.shape[-1] // patch
    n = rows * columns
    cut = batch.reshape(-1, 3, rows, patch, columns, patch)
    flat = cut.permute(0, 2, 4, 1, 3, 5).reshape(len(batch), n, -1)
    patches = flat @ weight.reshape(d, -1).T + bias
    grid = positions[1:].T.reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    places = grid.reshape(d, n).T
    first = (cls + positions[0]).expand(len(batch), 1, d)
    tokens = torch.cat([first, patches + places], dim=1)
    return tokens.reshape(*images.shape[:-3], *tokens.shape[1:])


def attention_by_hand(layer: ViTLayer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return output and weights of attention, computed with only reshapes and products."""
    heads = layer.num_heads
    width = tokens.shape[-1] // heads
    query, key, value = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    query, key, value = (one.unflatten(-1, (heads, width)).transpose(-3, -2) for one in (query, key, value))
    weights = (query @ key.transpose(-2, -1) / width**0.5).softmax(-1)
    seen = weights @ value
    joined = seen.transpose(-3, -2).flatten(-2)
    return layer.W_O(joined), weights
