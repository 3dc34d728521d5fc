"""Exercises 4.10 to 4.14 written in other right ways, as students write them: the slips in these explain wrong answers, too."""

import math

import torch
from torch import Tensor, nn


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
