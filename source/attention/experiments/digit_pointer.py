"""The pointer experiment: one cross-attention head that learns where a digit stands in a scene.

The query is the learned embedding of a digit word; the nine patches answer. What is trained is the map itself.

Axes: B scenes, S = 9 patches of 64 pixels.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention.data.digits import draw_scenes
from attention.single_head import CrossAttention


class Looks(NamedTuple):
    """words (B,) digits that are asked for; patches (B, 9, 64); target (B,) the patch that shows the digit."""

    words: Tensor
    patches: Tensor
    target: Tensor

    def to(self, device: torch.device | str) -> "Looks":
        return Looks(*(tensor.to(device) for tensor in self))


class Pointer(nn.Module):
    """One head of cross-attention: a word asks, the patches answer, and the weights say where."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 64)
        self.attention = CrossAttention(64, 64, 32)

    def forward(self, words: Tensor, patches: Tensor) -> Tensor:
        """words (B,), patches (B, 9, 64) → weights (B, 9)."""
        query = self.embedding(words).unsqueeze(-2)  # (B, 1, 64): one question for each scene
        _, weights = self.attention(query, patches)
        return weights.squeeze(-2)


def draw_start(pointer: nn.Module, seed: int) -> None:
    """Give a pointer the weights that belong to a seed: the same on every machine, whoever wrote the layer."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(pointer.named_parameters()):
            size = 1.0 if name.startswith("embedding") else parameter.shape[-1] ** -0.5
            parameter.copy_(size * torch.randn(parameter.shape, generator=generator))


def draw_looks(count: int, generator: torch.Generator, split: str = "train") -> Looks:
    """Draw full scenes on the CPU, and for each the word of one digit that it shows."""
    patches, labels = draw_scenes(count, generator, split)
    target = torch.randint(9, (count,), generator=generator)
    return Looks(labels.gather(1, target.unsqueeze(1)).squeeze(1), patches, target)


def found(weights: Tensor, target: Tensor) -> float:
    """Return how often the largest weight of a map (..., S) lies on the target patch (...)."""
    return (weights.argmax(-1) == target).double().mean().item()
