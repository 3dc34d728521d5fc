"""Figures of two joined towers: emoji and their nearest names, recall on five splits, maps of names.

Figures have a white background of their own, so that they can be read on a dark page too.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
from torch import Tensor

DOT, LINE, CHANCE = "#0072b2", "#d55e00", "0.45"


def show_emoji(pictures: Tensor, titles: Sequence[str], colours: Sequence[str] | None = None) -> None:
    """Show pictures (n, 3, H, W) in a row, each with a title of some lines above it."""
    width = 9.6 / len(pictures)  # inches
    height = 0.15 + width + 0.155 * max(_wrapped(title).count("\n") + 1 for title in titles)
    _, axes = plt.subplots(
        1, len(pictures), figsize=(9.6, height), layout="constrained", facecolor="white", squeeze=False
    )
    for ax, picture, title, colour in zip(axes[0], pictures, titles, colours or ["black"] * len(titles), strict=True):
        ax.imshow(picture.permute(1, 2, 0).numpy())
        ax.set_title(_wrapped(title), fontsize=7.5, color=colour)
        ax.set_anchor("S")
        ax.axis("off")
    plt.show()


def _wrapped(title: str) -> str:
    return "\n".join(fill(line, 19) for line in title.split("\n"))


def show_recalls(recall: Mapping[str, Sequence[float]], sizes: Mapping[int, Sequence[float]], chance: float) -> None:
    """Show the recall on each split: left a line of dots for each way of training, right against the number of pairs.

    Args:
        recall: by way of training, a number for each split.
        sizes: by number of pairs trained on, a number for each split.
        chance: drawn as a dotted line in both panels.
    """
    _, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 3.2), layout="constrained", facecolor="white", width_ratios=(1.25, 1)
    )
    for row, values in enumerate(recall.values()):
        left.plot(values, [row] * len(values), "o", color=DOT, alpha=0.6, markersize=7)
    left.set_yticks(range(len(recall)), recall)
    left.invert_yaxis()
    left.axvline(chance, color=CHANCE, linestyle=":", label="chance")
    left.set(xlim=(0, 0.6), xlabel="right name among ten, unseen emoji")
    right.plot([sum(values) / len(values) for values in sizes.values()], color=LINE, label="mean of five splits")
    for place, values in enumerate(sizes.values()):
        right.plot([place] * len(values), values, "o", color=DOT, alpha=0.6, markersize=6)
    right.axhline(chance, color=CHANCE, linestyle=":", label="chance")
    right.set_xticks(range(len(sizes)), sizes)
    right.set(ylim=(0, 0.6), xlabel="pairs trained on")
    for ax in (left, right):
        ax.grid(color="0.92")
        ax.legend(fontsize=8, loc="upper right" if ax is left else "upper left")
    plt.show()


def show_scene_maps(picture: Tensor, maps: Tensor, names: Sequence[str]) -> None:
    """Show a picture (3, H, W), and beside it a map (rows, columns) for each name, all on one scale around 0.

    Args:
        maps: (n, rows, columns), shares of patches. Red speaks for the name, blue against it.
    """
    most = maps.abs().max().item()
    figure, axes = plt.subplots(1, 1 + len(maps), figsize=(9.6, 2.5), layout="constrained", facecolor="white")
    axes[0].imshow(picture.permute(1, 2, 0).numpy())
    axes[0].set_title("the picture", fontsize=9)
    for ax, map, name in zip(axes[1:], maps, names, strict=True):
        shown = ax.imshow(map.numpy(), vmin=-most, vmax=most, cmap="coolwarm")
        ax.axhline(map.shape[0] / 2 - 0.5, color="0.3", linewidth=0.7)
        ax.axvline(map.shape[1] / 2 - 0.5, color="0.3", linewidth=0.7)
        ax.set_title(f"{fill(name, 20)}\nmean {map.mean():.2f}", fontsize=8)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    figure.colorbar(shown, ax=axes, label="share of a patch", shrink=0.8)
    plt.show()
