"""Pictures of heads, on one colour scale.

Axes: H heads, T tokens that ask, S tokens that answer, N scenes of 9 patches.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.patches import Rectangle
from torch import Tensor


def show_heads(weights: Tensor, title: str = "", names: Sequence[str] = ()) -> None:
    """The maps (H, T, S) of one layer side by side, from 0 to 1, one panel for each head."""
    count, rows, columns = weights.shape
    height = 1.1 + min(5.6 / count * rows / columns, 3.0)
    figure, axes = plt.subplots(1, count, figsize=(7, height), layout="constrained", squeeze=False)
    for index, (ax, head) in enumerate(zip(axes[0], weights.detach().cpu(), strict=True)):
        image = ax.imshow(head.numpy(), vmin=0, vmax=1, cmap="viridis")
        ax.set_title(names[index] if names else f"head {index}", fontsize=9)
        ax.set_xlabel("key", fontsize=8)
        ax.set_xticks(range(head.shape[1]), range(head.shape[1]), fontsize=7)
        ax.set_yticks(range(head.shape[0]), range(head.shape[0]), fontsize=7)
    axes[0][0].set_ylabel("query", fontsize=8)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.7)
    figure.suptitle(title, fontsize=10)
    plt.show()


def show_readers(images: Tensor, cells: Tensor, maps: Mapping[str, Tensor]) -> None:
    """Scenes with their two named cells, and beside them where every head of every reader looks.

    Args:
        images: (N, 24, 24)
        cells: (N, 2) the first named cell has a solid frame, the second a dashed one.
        maps: (N, H, 9) for each reader, by name.
    """
    heads = [(name, index) for name, one in maps.items() for index in range(one.shape[1])]
    shape = (len(images), 1 + len(heads))
    size = (7, 0.7 + 6.2 * len(images) / max(shape[1], 6))
    figure, axes = plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False)
    for row, image in enumerate(images):
        axes[row][0].imshow(image.cpu().numpy(), cmap="gray_r")
        _frame(axes[row][0], cells[row], size=8)
        for ax, (name, index) in zip(axes[row][1:], heads, strict=True):
            weights = maps[name][row, index].detach().cpu().reshape(3, 3)
            shown = ax.imshow(weights.numpy(), vmin=0, vmax=1, cmap="viridis")
            _frame(ax, cells[row], size=1)
    axes[0][0].set_title("scene", fontsize=7)
    for ax, (name, index) in zip(axes[0][1:], heads, strict=True):
        ax.set_title(f"{name}\nhead {index}", fontsize=7)
    bar = figure.colorbar(shown, ax=axes, shrink=0.8, aspect=30)
    bar.set_ticks([0, 1 / 9, 0.5, 1], labels=["0", "chance", "0.5", "1"], fontsize=7)
    plt.show()


def show_similarities(similarities: Mapping[str, Tensor]) -> None:
    """Mean cosine similarity of the patches of each digit (rows) with each word (columns), (10, 10) for each aligner."""
    figure, axes = plt.subplots(1, len(similarities), figsize=(7, 2.6), layout="constrained", sharey=True)
    for ax, (name, table) in zip(axes, similarities.items(), strict=True):
        image = ax.imshow(table.detach().cpu().numpy(), vmin=-1, vmax=1, cmap="cividis")
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("word", fontsize=8)
        ax.set_xticks(range(10), range(10), fontsize=7)
        ax.set_yticks(range(10), range(10), fontsize=7)
    axes[0].set_ylabel("patches of digit", fontsize=8)
    figure.colorbar(image, ax=axes, label="mean cosine similarity", shrink=0.8)
    plt.show()


def show_own_and_other(similarities: Mapping[str, Tensor], labels: Tensor) -> None:
    """How similar patches are to their own word and to the other nine: two histograms for each aligner, (N, 10)."""
    _, axes = plt.subplots(
        1, len(similarities), figsize=(7, 2.3), layout="constrained", sharex=True, sharey=True
    )
    own = torch.nn.functional.one_hot(labels, 10).bool().cpu()
    bins = torch.linspace(-1, 1, 41).tolist()
    for ax, (name, table) in zip(axes, similarities.items(), strict=True):
        table = table.detach().cpu()
        ax.hist(table[~own].tolist(), bins, density=True, color="0.6", label="other words")
        ax.hist(
            table[own].tolist(),
            bins,
            density=True,
            histtype="step",
            linewidth=1.8,
            color="#0072b2",
            label="own word",
        )
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("cosine similarity", fontsize=8)
    axes[0].set_ylabel("density", fontsize=8)
    axes[0].legend(fontsize=7, loc="upper left")
    plt.show()


def _frame(ax: plt.Axes, cells: Tensor, size: int) -> None:
    """Frames around the two named cells of a 3×3 picture, and no ticks."""
    for cell, line in zip(cells.tolist(), ("-", "--"), strict=True):
        row, column = divmod(cell, 3)
        corner = (column * size - 0.5, row * size - 0.5)
        ax.add_patch(
            Rectangle(
                corner,
                size,
                size,
                fill=False,
                edgecolor="#d55e00",
                linewidth=1.6,
                linestyle=line,
                clip_on=False,
            )
        )
    ax.set_xticks([])
    ax.set_yticks([])
