"""Joining two frozen towers: a small aligner learns from pairs which picture and which name belong together.

Axes: N pairs, d = 384 in both towers; n patches of a picture.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.experiments.matching import draw_linear

HELD_OUT = 280  # pairs that no training sees
PAIRS_AT_ONCE, JOIN_STEPS, JOIN_RATE, JOIN_DECAY = 256, 200, 1e-3, 0.1


def split_pairs(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw which pairs are trained on, and which 280 are held out: two tensors of indices."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return order[HELD_OUT:], order[:HELD_OUT]


def new_aligner(method: str = "linear", width: int = 384) -> nn.Module:
    """Return what exercise 2.1's `TokenAligner(width, width, method)` holds: "linear" or "mlp"."""
    if method == "linear":
        return nn.Linear(width, width)
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))


def train_to_join(
    aligner: nn.Module,
    images: Tensor,
    texts: Tensor,
    loss: Callable[[Tensor, Tensor], Tensor],
    seed: int,
    steps: int = JOIN_STEPS,
) -> list[float]:
    """Train the aligner in place with AdamW, on at most 256 pairs a step, and return the losses.

    Args:
        images: (N, d), the mean token of each picture.
        texts: (N, d)
        loss: of aligned images (B, d) and texts (B, d), whose rows belong together.
    """
    draw_linear(aligner, seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(aligner.parameters(), lr=JOIN_RATE, weight_decay=JOIN_DECAY)
    losses = []
    for _ in range(steps):
        chosen = torch.randperm(len(images), generator=generator)[:PAIRS_AT_ONCE]
        now = loss(aligner(images[chosen]), texts[chosen])
        optimizer.zero_grad()
        now.backward()
        optimizer.step()
        losses.append(now.item())
    return losses


def in_another_order(texts: Tensor, seed: int) -> Tensor:
    """Give each picture the text of another: (N, d) → (N, d)."""
    return texts[torch.randperm(len(texts), generator=torch.Generator().manual_seed(seed))]


def vectors_by_chance(texts: Tensor, seed: int) -> Tensor:
    """Draw a vector for each text that knows nothing of what it means: (N, d)."""
    return torch.randn(texts.shape, generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def similarities(aligner: nn.Module, images: Tensor, texts: Tensor) -> Tensor:
    """Compute the cosine of each aligned picture (N, d) and each text (V, d): (N, V)."""
    return F.normalize(aligner(images), dim=-1) @ F.normalize(texts, dim=-1).T


def has_near_name(names: Sequence[str], known: Sequence[str]) -> Tensor:
    """Tell which names differ from a known one in a single word, as "clock face one oclock" does: (N,) bool.

    The two have equally many words, two or more, and all words but one are the same and at the same
    place.
    """
    gaps = {gap for name in known for gap in _with_gaps(name)}
    return torch.tensor([any(gap in gaps for gap in _with_gaps(name)) for name in names])


def _with_gaps(name: str) -> list[tuple[str, ...]]:
    """Return a name's words with a gap in the place of each, in turn; none for a name of one word."""
    words = name.split()
    return [(*words[:place], "", *words[place + 1 :]) for place in range(len(words))] if len(words) > 1 else []


def quarters(maps: Tensor) -> Tensor:
    """Average maps (..., 2 · rows, 2 · columns) over each quarter: (..., 4), the upper two first."""
    return maps.unflatten(-1, (2, -1)).unflatten(-3, (2, -1)).mean((-3, -1)).flatten(-2)
