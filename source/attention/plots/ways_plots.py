"""Figures of the lab: three ways side by side, what they cost, coloured scenes, and pairs that were never seen.

Panels that are compared share one scale from 0 to 1. Viridis reads the same with any colour vision; lines and bars differ
in dash and hatch as well as in colour.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.patches import Rectangle
from torch import Tensor

_SEEN, _UNSEEN = "#0072b2", "#e69f00"
_STYLES = (("#0072b2", "-", "o"), ("#e69f00", "--", "s"), ("#009e73", ":", "^"))


def show_squares(grids: Mapping[str, Tensor], label: str, largest: float = 1.0) -> None:
    """Grids (9,) of 3×3 numbers, by title, side by side on one scale from 0 to `largest`."""
    figure, axes = plt.subplots(
        1, len(grids), figsize=(2.1 * len(grids) + 0.8, 2.5), layout="constrained", squeeze=False
    )
    for ax, (title, values) in zip(axes[0], grids.items(), strict=True):
        grid = values.detach().cpu().reshape(3, 3)
        drawn = ax.imshow(grid.numpy(), cmap="viridis", vmin=0.0, vmax=largest)
        for place, value in enumerate(grid.flatten().tolist()):
            _write_share(ax, place % 3, place // 3, value, largest)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize=9)
    figure.colorbar(drawn, ax=axes[0], shrink=0.8, label=label)
    plt.show()


def show_sights(sights: Mapping[str, Tensor], patches: int) -> None:
    """Who may see whom, (n, n) bool by title; the first `patches` tokens are the image's."""
    _, axes = plt.subplots(1, len(sights), figsize=(3.0 * len(sights), 3.0), layout="constrained", squeeze=False)
    for ax, (title, allowed) in zip(axes[0], sights.items(), strict=True):
        rows, columns = allowed.shape
        tokens = [f"patch {n}" if n < patches else f"word {n - patches}" for n in range(patches + rows)]
        ax.imshow(allowed.cpu().numpy(), cmap="cividis", vmin=0, vmax=1)
        ax.set_xticks(range(columns), tokens[:columns], rotation=90, fontsize=8)
        ax.set_yticks(range(rows), tokens[:rows] if rows == columns else tokens[patches:], fontsize=8)
        ax.set_title(title, fontsize=9)
        ax.axvline(patches - 0.5, color="white", linewidth=1.5)
        if rows == columns:
            ax.axhline(patches - 0.5, color="white", linewidth=1.5)
    plt.show()


def show_costs(sizes: Sequence[int], costs: Mapping[str, Sequence[float]], here: str = "") -> None:
    """Draw lines over the number of patches, both axes logarithmic, by name."""
    _, ax = plt.subplots(figsize=(6.2, 3.0), layout="constrained")
    for (name, values), (colour, dash, mark) in zip(costs.items(), _STYLES, strict=True):
        ax.plot(
            sizes,
            [value / 1e9 for value in values],
            color=colour,
            linestyle=dash,
            marker=mark,
            markersize=4,
            label=name,
        )
    ax.set(xscale="log", yscale="log", xlabel="patches", ylabel="10⁹ FLOPs for a question", title=here)
    ax.set_yticks(heights := (10, 30, 100, 300), [str(height) for height in heights])
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=9)
    plt.show()


def show_pictures(pictures: Tensor, questions: Sequence[str], said: Sequence[str], cells: Sequence[int] = ()) -> None:
    """Draw coloured scenes (N, 24, 24, 3), above each its question, below it what was said; cells are framed."""
    _, axes = plt.subplots(1, len(pictures), figsize=(2.6 * len(pictures), 3.0), layout="constrained", squeeze=False)
    for number, ax in enumerate(axes[0]):
        ax.imshow(pictures[number].clamp(0, 1).numpy())
        for line in (7.5, 15.5):
            ax.axhline(line, color="0.6", linewidth=0.8)
            ax.axvline(line, color="0.6", linewidth=0.8)
        if cells:
            row, column = divmod(cells[number], 3)
            ax.add_patch(
                Rectangle((column * 8 - 0.5, row * 8 - 0.5), 8, 8, fill=False, edgecolor="black", linewidth=2.5)
            )
        ax.set(xticks=[], yticks=[])
        ax.set_title(questions[number], fontsize=9)
        ax.set_xlabel(said[number], fontsize=9)
    plt.show()


def show_gap(seen: Mapping[str, float], unseen: Mapping[str, float], chance: Mapping[str, float]) -> None:
    """Bars for seen and unseen pairs side by side, by question, with the chance of each."""
    _, ax = plt.subplots(figsize=(5.6, 2.8), layout="constrained")
    for offset, (name, shares, colour, hatch) in zip(
        (-0.2, 0.2), (("seen pairs", seen, _SEEN, ""), ("unseen pairs", unseen, _UNSEEN, "//")), strict=True
    ):
        places = [place + offset for place in range(len(shares))]
        bars = ax.bar(places, list(shares.values()), 0.4, label=name, color=colour, hatch=hatch, edgecolor="white")
        ax.bar_label(bars, fmt="%.2f", fontsize=8)
    for place, share in enumerate(chance.values()):
        ax.plot([place - 0.42, place + 0.42], [share, share], color="black", linestyle=":", linewidth=1.2)
    ax.set_xticks(range(len(seen)), list(seen))
    ax.set(ylim=(0, 1.12), ylabel="right answers")
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    plt.show()


def show_pairs(shares: Tensor, seen: Tensor, rows: Sequence[str], columns: Sequence[str], title: str) -> None:
    """Draw shares (rows, columns) as a map, with a frame around every pair that is not `seen` (rows, columns)."""
    figure, ax = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    drawn = ax.imshow(shares.numpy(), cmap="viridis", vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in torch.cartesian_prod(torch.arange(len(rows)), torch.arange(len(columns))).tolist():
        _write_share(ax, column, row, shares[row, column].item(), 1.0)
        if not seen[row, column]:
            corner = (column - 0.46, row - 0.46)
            ax.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor="black", linewidth=2.5))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_title(title, fontsize=10)
    figure.colorbar(drawn, ax=ax, label="right answers")
    plt.show()


def _write_share(ax, x: int, y: int, value: float, largest: float) -> None:
    colour = "black" if value > 0.6 * largest else "white"
    ax.text(x, y, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
