"""A reader of two cells: the experiment that shows what several heads are for.

One layer of attention is asked for two cells of a scene at once and must answer with both digits.
Axes: B scenes, H heads, 9 patches.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.data.digits import draw_scenes
from attention.experiments.progress import progress
from attention.multi_head import MultiHeadAttention


class TwoCellReader(nn.Module):
    """One query, made of the names of two cells, looks at nine patches and says two digits."""

    def __init__(self, num_heads: int, d_model: int = 64) -> None:
        super().__init__()
        self.aligner = nn.Sequential(nn.Linear(64, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.positions = nn.Parameter(torch.randn(9, d_model))
        self.first, self.second = nn.Embedding(9, d_model), nn.Embedding(9, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.digits = nn.Linear(d_model, 20)

    def ask(self, patches: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the attention gets: one query (B, 1, d_model), and the image tokens (B, 9, d_model)."""
        query = self.first(cells[:, 0]) + self.second(cells[:, 1])
        return query.unsqueeze(1), self.aligner(patches) + self.positions

    def answer(self, output: Tensor) -> Tensor:
        """Return what the attention brought back (B, 1, d_model), as scores for both digits (B, 2, 10)."""
        return self.digits(output.squeeze(1)).unflatten(-1, (2, 10))

    def forward(self, patches: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        """patches (B, 9, 64), cells (B, 2) → logits (B, 2, 10), weights (B, H, 9)."""
        output, weights = self.attention(*self.ask(patches, cells))
        return self.answer(output), weights.squeeze(-2)


class HalfAndHalf(TwoCellReader):
    """A reader whose every head must look half at the one named cell and half at the other.

    A query of zeros scores all cells alike, and the mask leaves the two that are named.
    """

    def forward(self, patches: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        """patches (B, 9, 64), cells (B, 2) → logits (B, 2, 10), weights (B, H, 9)."""
        query, image = self.ask(patches, cells)
        named = F.one_hot(cells, 9).sum(1, keepdim=True).bool()  # (B, 1, 9)
        output, weights = self.attention(torch.zeros_like(query), image, named)
        return self.answer(output), weights.squeeze(-2)


def draw_reading(count: int, generator: torch.Generator, split: str = "train") -> tuple[Tensor, Tensor, Tensor]:
    """Draw scenes, two different cells of each, and the digits there: (B, 9, 64), (B, 2), (B, 2)."""
    patches, labels = draw_scenes(count, generator, split)
    cells = torch.rand(count, 9, generator=generator).argsort(1)[:, :2]
    return patches, cells, labels.gather(1, cells)


def draw_parameters(model: nn.Module, seed: int) -> None:
    """Draw every parameter anew, by name: the same seed gives the same start, however the layer was written."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if name.startswith(("positions", "first", "second")):
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
            else:  # as nn.Linear draws its own
                width = parameter.shape[-1] if parameter.ndim > 1 else 64
                parameter.copy_((torch.rand(parameter.shape, generator=generator) * 2 - 1) / width**0.5)


def train_reader(
    num_heads: int,
    steps: int,
    seed: int,
    device: torch.device | str = "cpu",
    kind: type[TwoCellReader] = TwoCellReader,
    rate: float = 3e-3,
) -> TwoCellReader:
    """Return a reader after `steps` updates: Adam, its rate on half a cosine down to 0, 128 fresh scenes a step."""
    reader = kind(num_heads).to(device)
    draw_parameters(reader, seed)
    optimizer = torch.optim.Adam(reader.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    generator = torch.Generator().manual_seed(seed)
    for _ in progress(range(steps), f"{kind.__name__}, heads: {num_heads}"):
        patches, cells, answers = (tensor.to(device) for tensor in draw_reading(128, generator))
        logits, _ = reader(patches, cells)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return reader


def shares_right(logits: Tensor, answers: Tensor) -> tuple[float, float, float, float]:
    """Return how often a reader is right: first digit, second digit, both in order, and the pair in any order.

    The pair is the two digits that both answers together give most. Chance, for two different digits out of ten, is
    1/10, 1/10, 1/90 and 1/45.

    Args:
        logits: (B, 2, 10)
        answers: (B, 2)
    """
    right = logits.argmax(-1) == answers
    pair = logits.softmax(-1).sum(1).topk(2).indices.sort(-1).values == answers.sort(-1).values
    first, second = right.double().mean(0).tolist()
    return first, second, right.all(1).double().mean().item(), pair.all(1).double().mean().item()
