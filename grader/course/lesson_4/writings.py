"""Lesson 4's exercises written in other right ways, as students write them: the slips in these explain wrong answers, too."""

import math

import torch
from attention.vit import vit_attention
from attention.vit_layer import ViTLayer
from torch import Tensor, nn
from torch.nn import functional as F


def rollout_in_one_product(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Multiply the layers first, then look at the image."""
    identity = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    rollout = identity
    for weights in self_maps:
        layer = 0.5 * weights.mean(dim=-3) + 0.5 * identity
        rollout = layer @ rollout
    return rollout @ cross_map.mean(dim=-3)


def gradient_in_steps(weights: Tensor, score: Tensor) -> Tensor:
    """Name each step."""
    gradient = torch.autograd.grad(score.sum(), weights, retain_graph=True)[0]
    product = weights * gradient
    positive = torch.relu(product)
    return positive.mean(dim=-3).detach()


def patch_with_stack(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Put the heads together anew."""
    seen = model.inside(token_ids, clean)

    def edit(heads):
        parts = list(heads.unbind(1))
        parts[head] = seen.heads[:, head]
        return torch.stack(parts, dim=1)

    changed = model.inside(token_ids, twin, edit)
    return changed.logits


def rotate_as_complex(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Take each pair for a complex number, and multiply."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("d must be even")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(vectors.unflatten(-1, (d // 2, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2).to(vectors.dtype)


def rotate_in_loop(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn one pair after the other."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("d must be even")
    turned = []
    for i in range(d // 2):
        angle = positions / base ** (2 * i / d)
        cos, sin = torch.cos(angle).to(vectors.dtype), torch.sin(angle).to(vectors.dtype)
        first, second = vectors[..., 2 * i], vectors[..., 2 * i + 1]
        turned += [first * cos - second * sin, first * sin + second * cos]
    return torch.stack(turned, dim=-1)


def rotate_2d_in_one(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Make the angles of both halves, and turn all pairs at once."""
    d = vectors.shape[-1]
    speeds = base ** (-torch.arange(0, d // 2, 2, device=vectors.device) / (d // 2))
    angles = torch.cat([rows[..., None] * speeds, columns[..., None] * speeds], dim=-1)
    cos, sin = torch.cos(angles).to(vectors.dtype), torch.sin(angles).to(vectors.dtype)
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def grouped_by_repeating(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Give each head a copy of its group's keys and values."""
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups != 0:
        raise ValueError("the heads cannot be shared out")
    key = key.repeat_interleave(heads // groups, dim=-3)
    value = value.repeat_interleave(heads // groups, dim=-3)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


def grouped_in_loop(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attend with one head after the other."""
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups != 0:
        raise ValueError("the heads cannot be shared out")
    outputs = []
    for head in range(heads):
        group = head // (heads // groups)
        scores = query[..., head, :, :] @ key[..., group, :, :].transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        outputs.append(torch.softmax(scores, dim=-1) @ value[..., group, :, :])
    return torch.stack(outputs, dim=-3)


def tiled_on_both_sides(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """Cut the queries into tiles, too."""
    done = []
    for queries in query.split(tile, dim=-2):
        highest = torch.full_like(queries[..., :1], float("-inf"))
        total = torch.zeros_like(highest)
        output = torch.zeros_like(queries[..., :1] * value[..., :1, :])
        for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
            scores = queries @ keys.transpose(-2, -1) / math.sqrt(query.shape[-1])
            higher = torch.maximum(highest, scores.max(dim=-1, keepdim=True).values)
            weights = torch.exp(scores - higher)
            correction = torch.exp(highest - higher)
            total = correction * total + weights.sum(dim=-1, keepdim=True)
            output = correction * output + weights @ values
            highest = higher
        done.append(output / total)
    return torch.cat(done, dim=-2)


def cached_by_steps(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Let one new token after the other attend to all keys so far."""
    heads = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    keys = layer.W_K(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    values = layer.W_V(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    before = 0
    if cache is not None:
        before = cache[0].shape[-2]
        keys = torch.cat([cache[0], keys], dim=-2)
        values = torch.cat([cache[1], values], dim=-2)
    outputs = []
    for step in range(tokens.shape[-2]):
        known = before + step + 1
        scores = query[..., step : step + 1, :] @ keys[..., :known, :].transpose(-2, -1)
        weights = torch.softmax(scores / math.sqrt(query.shape[-1]), dim=-1)
        outputs.append(weights @ values[..., :known, :])
    joined = torch.cat(outputs, dim=-2).transpose(-3, -2).flatten(-2)
    return layer.W_O(joined), (keys, values)


def embedding_by_hand(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    """Cut the patches out, and multiply with the weight as a matrix."""
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
    """Split, compare, mix and join with nothing but reshapes and products."""
    heads = layer.num_heads
    width = tokens.shape[-1] // heads
    query, key, value = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    query, key, value = (one.unflatten(-1, (heads, width)).transpose(-3, -2) for one in (query, key, value))
    weights = (query @ key.transpose(-2, -1) / width**0.5).softmax(-1)
    seen = weights @ value
    joined = seen.transpose(-3, -2).flatten(-2)
    return layer.W_O(joined), weights


def block_in_steps(layer: ViTLayer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Name every step."""
    normed = layer.norm_1(tokens)
    seen, weights = vit_attention(layer, normed)
    tokens = tokens + seen * layer.scale_1
    wide = F.gelu(layer.expand(layer.norm_2(tokens)))
    return tokens + layer.contract(wide) * layer.scale_2, weights
