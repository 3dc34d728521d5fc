"""Figures of lesson 1: maps on one colour scale, maps over a scene, curves, distributions.

Panels that are compared share one scale that starts at 0. The colour maps read the same with any colour vision. Every
figure is white, so that its dark text can be read on a dark page too. Digits are dark ink on white paper.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from torch import Tensor

# The paper under a digit, from weight 0 to the largest: light enough throughout for dark ink.
PAPER = LinearSegmentedColormap.from_list("paper", ["#ffffff", "#ffd27f", "#f0a000"])
INK = np.array([0.07, 0.07, 0.15])
# Pixels: a patch of 8 by 8, a margin of 1, and below it a strip for a number.
CELL_WIDTH, CELL_HEIGHT = 10, 12


def show_map(weights: Tensor, rows: Sequence[str] = (), columns: Sequence[str] = (), title: str = "") -> None:
    """Draw one map (Q, K): a row for each query, a column for each key."""
    show_maps({title: weights}, rows, columns)


def show_maps(
    maps: Mapping[str, Tensor],
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    label: str = "weight",
    largest: float = 1.0,
) -> None:
    """Draw maps (Q, K), by title, side by side on one scale from 0 to `largest`."""
    queries, keys = next(iter(maps.values())).shape
    width = min(7.0, 0.9 + len(maps) * max(1.6, 0.5 * keys + 0.5))
    figure, axes = _panels(1, len(maps), width, 0.9 + 0.36 * max(queries, 3))
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
    """Draw scenes of 3×3 patches, one in each row; the background of a digit shows its weight, on one scale.

    Args:
        images: (N, 24, 24)
        maps: (N, 9) by title.
        target: (N,) the patch that is asked for; it has a blue frame.
        words: N words, what each scene is asked.
    """
    count = len(images)
    figure, axes = _panels(count, 1 + len(maps), 7.0, 0.4 + 1.75 * count)
    for row, image in enumerate(images.detach().cpu().double()):
        axes[row][0].set_ylabel(words[row], fontsize=9)
        for ax, (title, weights) in zip(axes[row], [("scene", None), *maps.items()], strict=True):
            _draw_scene(ax, image, None if weights is None else weights[row].detach().cpu().double(), largest)
            line, column = divmod(int(target[row]), 3)
            corner = (CELL_WIDTH * column, CELL_HEIGHT * line)
            ax.add_patch(
                plt.Rectangle(
                    corner, CELL_WIDTH, CELL_HEIGHT, fill=False, edgecolor="#0072b2", linewidth=2.5, clip_on=False
                )
            )
            ax.set_title(title if row == 0 else "", fontsize=9)
    scale = ScalarMappable(Normalize(0.0, largest), PAPER)
    figure.colorbar(scale, ax=axes[:, 1:], label="weight", shrink=0.8)
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
    """Draw lines by name over the same x, and if there is one, a dotted level to compare with."""
    ax = _panels(1, 1, 6.2, 2.7)[1][0][0]
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
    """Draw shares from 0 to 1, each with its number, and the chance level."""
    ax = _panels(1, 1, 6.2, 0.9 + 0.36 * len(values))[1][0][0]
    names = list(values)[::-1]
    bars = ax.barh(names, [values[name] for name in names], color="#0072b2", height=0.6)
    ax.bar_label(bars, fmt=" %.3f", fontsize=8)
    ax.axvline(chance, color="0.3", linestyle=":", linewidth=1.2, label=f"chance {chance:.3f}")
    ax.set(xlim=(0, 1.12), xlabel=ylabel)
    ax.tick_params(labelsize=8)
    ax.legend(fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 0.98))  # above the bars
    plt.show()


def show_spread(samples: Mapping[str, Tensor], xlabel: str, smallest: float) -> None:
    """Draw positive numbers by name, a histogram each over one logarithmic axis, with mean and median.

    What is below `smallest` is counted in the first bar.
    """
    _, axes = _panels(len(samples), 1, 6.2, 0.6 + 1.25 * len(samples), sharex=True)
    largest = max(values.max().item() for values in samples.values())
    edges = np.geomspace(smallest, 2 * largest, 49)
    for ax, (name, values) in zip(axes[:, 0], samples.items(), strict=True):
        values = values.detach().cpu().double()
        shares = np.full(len(values), 1 / len(values))
        ax.hist(values.clamp(min=smallest).numpy(), bins=edges, weights=shares, color="#8ec3e6")
        median, mean = values.median().item(), values.mean().item()
        ax.axvline(median, color="#0b4a75", linewidth=2, label=f"median {median:.2g}")
        ax.axvline(mean, color="#b34700", linewidth=2, linestyle="--", label=f"mean {mean:.2g}")
        ax.set(xscale="log", ylabel="share", title=name)
        ax.title.set_size(9)
        ax.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0.08, 1.0))
    axes[-1][0].set_xlabel(xlabel)
    plt.show()


def _panels(rows: int, columns: int, width: float, height: float, **more: bool):
    """Return a white figure of `width` by `height` inches, and its axes, rows × columns."""
    return plt.subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False, facecolor="white", **more
    )


def _draw_scene(ax, image: Tensor, weights: Tensor | None, largest: float) -> None:
    """Draw nine patches in a grid, dark ink on paper; the paper of a patch shows its weight, if there is one."""
    ink = (image - image.min()) / (image.max() - image.min()).clamp(min=1e-9)
    canvas = np.zeros((3 * CELL_HEIGHT, 3 * CELL_WIDTH, 3))
    for place in range(9):
        row, column = divmod(place, 3)
        top, left = CELL_HEIGHT * row, CELL_WIDTH * column
        share = 0.0 if weights is None else weights[place].item()
        canvas[top : top + CELL_HEIGHT, left : left + CELL_WIDTH] = PAPER(share / largest)[:3]
        patch = ink[8 * row : 8 * row + 8, 8 * column : 8 * column + 8].unsqueeze(-1).numpy()
        inside = canvas[top + 1 : top + 9, left + 1 : left + 9]
        inside[:] = inside * (1 - patch) + INK * patch
        if weights is not None:
            middle, line = left + CELL_WIDTH / 2, top + 10.6
            ax.text(middle, line, f"{share:.2f}", ha="center", va="center", color="black", fontsize=7)
    ax.imshow(canvas, extent=(0, 3 * CELL_WIDTH, 3 * CELL_HEIGHT, 0), interpolation="nearest")
    ax.set_xticks(range(0, 3 * CELL_WIDTH + 1, CELL_WIDTH), [""] * 4)
    ax.set_yticks(range(0, 3 * CELL_HEIGHT + 1, CELL_HEIGHT), [""] * 4)
    ax.tick_params(length=0)
    ax.grid(color="0.45", linewidth=0.8)


def _numbers(ax, weights: Tensor, largest: float, kind: str) -> None:
    for query, row in enumerate(weights.tolist()):
        for key, weight in enumerate(row):
            colour = "black" if weight > 0.6 * largest else "white"
            ax.text(key, query, kind.format(weight), ha="center", va="center", color=colour, fontsize=8)
