"""Figures of lesson 1: maps on one colour scale, maps over a scene, curves.

Panels that are compared share one scale that starts at 0. Viridis and cividis read the same with any colour vision.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from torch import Tensor


def show_map(weights: Tensor, rows: Sequence[str] = (), columns: Sequence[str] = (), title: str = "") -> None:
    """One map (Q, K): a row for each query, a column for each key."""
    show_maps({title: weights}, rows, columns)


def show_maps(
    maps: Mapping[str, Tensor],
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    label: str = "weight",
    largest: float = 1.0,
) -> None:
    """Maps (Q, K), by title, side by side on one scale from 0 to `largest`."""
    queries, keys = next(iter(maps.values())).shape
    width = min(7.0, 0.9 + len(maps) * max(1.6, 0.5 * keys + 0.5))
    figure, axes = plt.subplots(
        1, len(maps), figsize=(width, 0.9 + 0.36 * max(queries, 3)), layout="constrained", squeeze=False
    )
    for index, (ax, (title, weights)) in enumerate(zip(axes[0], maps.items(), strict=True)):
        kind = "{:.0f}" if weights.dtype == torch.bool else "{:.2f}"
        weights = weights.detach().cpu().double()
        drawn = ax.imshow(weights.numpy(), cmap="viridis", vmin=0.0, vmax=largest, aspect="auto")
        if weights.numel() * len(maps) <= 100:
            _numbers(ax, weights, largest, kind)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("key", fontsize=8)
        ax.set_xticks(range(keys), columns or range(keys), fontsize=8, rotation=90 if len(columns) > 5 else 0)
        ax.set_yticks(range(queries), (rows or range(queries)) if index == 0 else [""] * queries, fontsize=8)
    axes[0][0].set_ylabel("query", fontsize=8)
    figure.colorbar(drawn, ax=axes, label=label, shrink=0.9)
    plt.show()


def show_over_image(
    images: Tensor, maps: Mapping[str, Tensor], target: Tensor, words: Sequence[str], largest: float = 1.0
) -> None:
    """Scenes of 3×3 patches, a row each, and over them what each map gives to each patch, on one scale.

    Args:
        images: (N, 24, 24)
        maps: (N, 9) by title.
        target: (N,) the patch that is asked for; it has a frame.
        words: N words, what each scene is asked.
    """
    count = len(images)
    figure, axes = plt.subplots(
        count, 1 + len(maps), figsize=(7, 0.4 + 1.4 * count), layout="constrained", squeeze=False
    )
    for row, image in enumerate(images.detach().cpu()):
        axes[row][0].set_ylabel(words[row], fontsize=9)
        for ax, (title, weights) in zip(axes[row], [("scene", None), *maps.items()], strict=True):
            ax.imshow(image.numpy(), cmap="gray_r")
            if weights is not None:
                drawn = _veil(ax, weights[row], largest)
            place = divmod(int(target[row]), 3)
            ax.add_patch(
                plt.Rectangle(
                    (8 * place[1] - 0.5, 8 * place[0] - 0.5),
                    8,
                    8,
                    fill=False,
                    edgecolor="#e69f00",
                    linewidth=2.5,
                )
            )
            ax.set_title(title if row == 0 else "", fontsize=9)
            ax.set_xticks([])
            ax.set_yticks([])
    figure.colorbar(drawn, ax=axes[:, 1:], label="weight", shrink=0.8)
    plt.show()


def show_curve(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    xlabel: str,
    ylabel: str,
    level: float | None = None,
    level_name: str = "chance",
    logarithmic: bool = False,
) -> None:
    """Lines by name over the same x, and if there is one, a dotted level to compare with."""
    _, ax = plt.subplots(figsize=(6.2, 2.7), layout="constrained")
    colours, markers = ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), "os^D"
    for index, (name, y) in enumerate(lines.items()):
        mark = markers[index % 4] if len(x) <= 20 else None
        ax.plot(x, y, label=name, color=colours[index % 4], marker=mark, markersize=4, linewidth=1.6)
    if level is not None:
        ax.axhline(level, color="0.3", linestyle=":", linewidth=1.2, label=f"{level_name} {level:.3f}")
    if logarithmic:
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [str(one) for one in x])
    ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, None))
    ax.legend(fontsize=8, frameon=False)
    plt.show()


def show_bars(values: Mapping[str, float], ylabel: str, chance: float) -> None:
    """Shares from 0 to 1, each with its number, and the chance level."""
    _, ax = plt.subplots(figsize=(6.2, 0.7 + 0.36 * len(values)), layout="constrained")
    names = list(values)[::-1]
    bars = ax.barh(names, [values[name] for name in names], color="#0072b2", height=0.6)
    ax.bar_label(bars, fmt=" %.3f", fontsize=8)
    ax.axvline(chance, color="0.3", linestyle=":", linewidth=1.2, label=f"chance {chance:.3f}")
    ax.set(xlim=(0, 1.12), xlabel=ylabel)
    ax.tick_params(labelsize=8)
    ax.legend(fontsize=8, frameon=False, loc="upper right")
    plt.show()


def _veil(ax, weights: Tensor, largest: float):
    grid = weights.detach().cpu().double().reshape(3, 3)
    pixels = grid.repeat_interleave(8, 0).repeat_interleave(8, 1)
    drawn = ax.imshow(pixels.numpy(), cmap="viridis", vmin=0.0, vmax=largest, alpha=0.78)
    for place, weight in enumerate(grid.flatten().tolist()):
        row, column = divmod(place, 3)
        colour = "black" if weight > 0.6 * largest else "white"
        ax.text(
            8 * column + 3.5,
            8 * row + 3.5,
            f"{weight:.2f}",
            ha="center",
            va="center",
            color=colour,
            fontsize=8,
        )
    return drawn


def _numbers(ax, weights: Tensor, largest: float, kind: str) -> None:
    for query, row in enumerate(weights.tolist()):
        for key, weight in enumerate(row):
            colour = "black" if weight > 0.6 * largest else "white"
            ax.text(key, query, kind.format(weight), ha="center", va="center", color=colour, fontsize=8)
