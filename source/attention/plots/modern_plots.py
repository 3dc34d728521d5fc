"""Figures of modern attention: positions that turn, and words that are read once.

Figures have a white background of their own, so that they can be read on a dark page too.
"""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import torch
from torch import Tensor

LINES = (("#0072b2", "-", 4.0), ("#e69f00", "--", 2.4), ("#000000", ":", 1.4))  # thin ones lie on thick ones


def added_waves(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Positions as sines and cosines that are added, with the speeds of rotary positions.

    Vaswani et al. 2017, section 3.5: https://arxiv.org/abs/1706.03762

    Args:
        vectors: (..., n, d), d even.
        positions: (n,)
    """
    d = vectors.shape[-1]
    angle = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    return vectors + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def show_shifts(scores: Mapping[str, Mapping[int, Tensor]]) -> None:
    """Draw scores against the distance of query and key: a panel for each kind of positions, a line for each place.

    Args:
        scores: by kind, then by the place of the query, the scores at distance 0, 1, 2, …
    """
    _, axes = plt.subplots(1, len(scores), figsize=(9.6, 3.0), layout="constrained", facecolor="white", sharey=True)
    for ax, (kind, by_place) in zip(axes, scores.items(), strict=True):
        for (place, values), (colour, style, width) in zip(by_place.items(), LINES, strict=False):
            label = f"query at {place}"
            ax.plot(values.cpu().numpy(), color=colour, linestyle=style, linewidth=width, label=label)
        ax.set_title(kind, fontsize=10)
        ax.set_xlabel("distance of the key")
        ax.grid(color="0.9")
    axes[0].set_ylabel("score")
    axes[-1].legend(fontsize=8)
    plt.show()


def show_grids(scores: Mapping[str, Tensor]) -> None:
    """Draw how well a patch in the middle fits every patch of a grid (rows, columns).

    There is a panel for each kind of positions.
    """
    _, axes = plt.subplots(1, len(scores), figsize=(7.4, 3.2), layout="constrained", facecolor="white")
    low = min(grid.min().item() for grid in scores.values())
    high = max(grid.max().item() for grid in scores.values())
    for ax, (kind, grid) in zip(axes, scores.items(), strict=True):
        image = ax.imshow(grid.cpu().numpy(), vmin=low, vmax=high, cmap="viridis")
        ax.plot(grid.shape[1] // 2, grid.shape[0] // 2, marker="x", color="#d55e00", markersize=9)
        ax.set_title(kind, fontsize=10)
        ax.set(xlabel="column", ylabel="row", xticks=[], yticks=[])
    plt.colorbar(image, ax=axes, label="score", shrink=0.9)
    plt.show()


def show_seconds(seconds: Mapping[str, Mapping[int, float]]) -> None:
    """Draw seconds against the number of new words, both axes logarithmic, a line for each way of answering."""
    _, ax = plt.subplots(figsize=(5.2, 3.2), layout="constrained", facecolor="white")
    for (name, by_words), colour, marker in zip(seconds.items(), ("#d55e00", "#0072b2"), ("o", "s"), strict=True):
        ax.plot(list(by_words), list(by_words.values()), color=colour, marker=marker, label=name)
    ax.set(xscale="log", yscale="log", xlabel="new words", ylabel="seconds")
    ax.set_xticks(list(by_words), [f"{words:,}" for words in by_words])
    ax.minorticks_off()
    ax.grid(color="0.9")
    ax.legend(fontsize=9)
    plt.show()
