"""Figures of lesson 3: scenes, maps over scenes, curves, and the pipeline.

Maps that are compared share one colour scale. Viridis and cividis read the same with any colour vision.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.patches import FancyBboxPatch
from torch import Tensor


def show_scene(ax, patches: Tensor, title: str = "", cell: int | None = None) -> None:
    """One scene (9, 64) as an image, with a frame around the cell in question."""
    image = patches.detach().cpu().reshape(3, 3, 8, 8).permute(0, 2, 1, 3).reshape(24, 24)
    ax.imshow(image.numpy(), cmap="gray", vmin=-0.8, vmax=1.85)
    for line in (7.5, 15.5):
        ax.axhline(line, color="0.5", linewidth=0.6)
        ax.axvline(line, color="0.5", linewidth=0.6)
    if cell is not None and cell >= 0:
        _frame(ax, cell, 8)
    ax.set(title=title, xticks=[], yticks=[])


def show_scene_maps(
    patches: Tensor, maps: Mapping[str, Tensor], cell: int | None = None, largest: float = 1.0
):
    """A scene (9, 64) beside maps (9,) of it, by title, on one scale from 0 to `largest`."""
    figure, axes = plt.subplots(1, 1 + len(maps), figsize=(1.7 * (1 + len(maps)), 2.3), layout="constrained")
    show_scene(axes[0], patches, "scene", cell)
    for ax, (title, weights) in zip(axes[1:], maps.items(), strict=True):
        grid = weights.detach().cpu().reshape(3, 3)
        drawn = ax.imshow(grid.numpy(), cmap="viridis", vmin=0.0, vmax=largest)
        for place, weight in enumerate(grid.flatten().tolist()):
            colour = "black" if weight > 0.6 * largest else "white"
            ax.text(
                place % 3, place // 3, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=8
            )
        if cell is not None and cell >= 0:
            _frame(ax, cell, 1)
        ax.set(title=title, xticks=[], yticks=[])
    figure.colorbar(drawn, ax=axes[1:], shrink=0.7)
    plt.show()


def show_word_maps(words: Sequence[str], maps: Mapping[str, Tensor]) -> None:
    """Maps (T,) over the words of a question, by title, one row each on one scale from 0 to 1."""
    _, ax = plt.subplots(figsize=(1.6 + 0.8 * len(words), 0.8 + 0.5 * len(maps)), layout="constrained")
    rows = torch.stack(list(maps.values())).detach().cpu()
    drawn = ax.imshow(rows.numpy(), cmap="viridis", vmin=0.0, vmax=1.0, aspect="auto")
    for row, weights in enumerate(rows.tolist()):
        for place, weight in enumerate(weights):
            colour = "black" if weight > 0.6 else "white"
            ax.text(place, row, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=8)
    ax.set_xticks(range(len(words)), words)
    ax.set_yticks(range(len(maps)), list(maps))
    ax.figure.colorbar(drawn, ax=ax)
    plt.show()


def _frame(ax, cell: int, size: int) -> None:
    row, column = divmod(cell, 3)
    corner = (column * size - 0.5, row * size - 0.5)
    ax.add_patch(plt.Rectangle(corner, size, size, fill=False, edgecolor="#e69f00", linewidth=2.5))


def show_losses(record: Mapping[str, Tensor]) -> None:
    """The two stages' losses, step by step."""
    _, axes = plt.subplots(1, 2, figsize=(7, 2.4), layout="constrained")
    for ax, name, title in zip(
        axes, ("align losses", "losses"), ("stage 1: align", "stage 2: answer"), strict=True
    ):
        losses = record[name].tolist()
        ax.plot(losses, color="0.75", linewidth=0.8)
        width = min(20, len(losses))
        if width:
            smooth = torch.tensor(losses).unfold(0, width, 1).mean(1).tolist()
            ax.plot(range(width - 1, len(losses)), smooth, color="#0072b2", linewidth=1.8)
        ax.set(title=title, xlabel="step", ylabel="loss", ylim=(0, None))
    plt.show()


def show_bars(groups: Mapping[str, Mapping[str, float]], ylabel: str, chance: float | None = None) -> None:
    """Bars from 0 to 1, side by side: {"trained": {"where": 0.99, …}, "untrained": {…}}."""
    colours = ("#0072b2", "#e69f00", "#999999", "#009e73")
    _, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    names = list(next(iter(groups.values())))
    width = 0.8 / len(groups)
    for index, (group, values) in enumerate(groups.items()):
        places = [place + (index - (len(groups) - 1) / 2) * width for place in range(len(names))]
        bars = ax.bar(places, [values[name] for name in names], width, label=group, color=colours[index % 4])
        ax.bar_label(bars, fmt="%.2f", fontsize=7)
    if chance is not None:
        ax.axhline(chance, color="black", linestyle=":", linewidth=1, label=f"chance {chance:.2f}")
    ax.set(ylim=(0, 1.1), ylabel=ylabel)
    ax.set_xticks(range(len(names)), names)
    ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    plt.show()


def show_pipeline() -> None:
    """Encode → align → cross-attend → generate, with the shapes of this lesson's model."""
    _, ax = plt.subplots(figsize=(7.2, 3.1), layout="constrained")
    boxes: Sequence[tuple[float, float, str, str]] = (
        (0.0, 2.0, "image\n24 × 24", "#f0f0f0"),
        (2.0, 2.0, "patchify\n9 × 64", "#cfe8f5"),
        (4.0, 2.0, "align\n9 × 64", "#cfe8f5"),
        (6.0, 2.0, "+ positions,\nnorm", "#cfe8f5"),
        (0.0, 0.0, "where is\nthe 7 ?", "#f0f0f0"),
        (2.0, 0.0, "embed +\npositions", "#fbe3b5"),
        (4.0, 0.0, "text block", "#fbe3b5"),
        (6.0, 0.0, "block with\ncross-attention", "#fbe3b5"),
        (8.0, 0.0, "next word\ntop-left", "#f0f0f0"),
    )
    for x, y, text, colour in boxes:
        ax.add_patch(
            FancyBboxPatch((x, y), 1.5, 1.0, boxstyle="round,pad=0.05", facecolor=colour, edgecolor="0.35")
        )
        ax.text(x + 0.75, y + 0.5, text, ha="center", va="center", fontsize=8)
    arrow = {"arrowstyle": "->", "color": "0.25"}
    for y, last in ((2.5, 6.0), (0.5, 8.0)):
        for x in range(2, int(last) + 1, 2):
            ax.annotate("", (x - 0.07, y), (x - 0.43, y), arrowprops=arrow)
    ax.annotate("", (6.75, 1.08), (6.75, 1.92), arrowprops=arrow)
    ax.text(6.85, 1.5, "keys, values", fontsize=8, va="center")
    ax.text(5.7, 1.28, "queries", fontsize=8, va="center", ha="center")
    ax.annotate("", (6.2, 1.08), (5.95, 1.2), arrowprops=arrow)
    ax.set(xlim=(-0.2, 9.7), ylim=(-0.2, 3.2))
    ax.axis("off")
    plt.show()
