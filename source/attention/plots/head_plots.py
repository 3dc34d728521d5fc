"""Figures of lesson 2: maps of heads on one colour scale, aligners, seeds, growth.

Axes: H heads, T tokens that ask, S tokens that answer, N scenes of 9 patches. The background is white, whatever the
theme of the notebook.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

COLOURS, MARKERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"), "os^Dv"


def show_heads(weights: Tensor, title: str = "", names: Sequence[str] = ()) -> None:
    """Draw the maps (H, T, S) of one layer side by side, from 0 to 1, one panel for each head."""
    count, rows, columns = weights.shape
    height = 1.1 + min(5.6 / count * rows / columns, 3.0)
    figure, axes = _panels(1, count, height)
    for index, (ax, head) in enumerate(zip(axes[0], weights.detach().cpu(), strict=True)):
        image = ax.imshow(head.numpy(), vmin=0, vmax=1, cmap="viridis")
        ax.set_title(names[index] if names else f"head {index}", fontsize=9)
        ax.set_xlabel("key", fontsize=8)
        ax.set_xticks(range(columns), range(columns), fontsize=7)
        ax.set_yticks(range(rows), range(rows), fontsize=7)
    axes[0][0].set_ylabel("query", fontsize=8)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.7)
    figure.suptitle(title, fontsize=10)
    plt.show()


def show_readers(images: Tensor, cells: Tensor, maps: Mapping[str, Tensor]) -> None:
    """Draw scenes with their two named cells, and beside them where every head looks.

    There is a row for each scene and reader.

    Args:
        images: (N, 24, 24)
        cells: (N, 2) the first named cell has a solid frame, the second a dashed one.
        maps: (N, H, 9) for each reader, by name; all have equally many heads.
    """
    heads = next(iter(maps.values())).shape[1]
    rows = [(scene, name) for scene in range(len(images)) for name in maps]
    side = min(6.2 / (1 + heads), 1.6)  # inches
    figure, axes = _panels(len(rows), 1 + heads, 0.4 + 1.02 * side * len(rows), width=0.9 + side * (1 + heads))
    for line, (scene, name) in zip(axes, rows, strict=True):
        line[0].imshow(images[scene].cpu().numpy(), cmap="gray_r")
        line[0].set_ylabel(name, fontsize=9)
        for edge in (7.5, 15.5):
            line[0].axhline(edge, color="0.8", linewidth=0.8)
            line[0].axvline(edge, color="0.8", linewidth=0.8)
        _frame(line[0], cells[scene], size=8)
        for ax, weights in zip(line[1:], maps[name][scene].detach().cpu(), strict=True):
            shown = _small_map(ax, weights)
            _frame(ax, cells[scene], size=1)
    for column, ax in enumerate(axes[0]):
        ax.set_title(f"head {column - 1}" if column else "scene", fontsize=9)
    _scale(figure, shown, axes[:, 1:])
    plt.show()


def show_words(maps: Mapping[str, Tensor], places: Sequence[str]) -> None:
    """Draw where every head looks for every word.

    There is a column for each place that is named, and a row for each head of each group.

    Args:
        maps: (9, H, 9) by group: for the word of each place, the map of every head.
        places: the names of the nine places.
    """
    rows = [(name, head) for name, one in maps.items() for head in range(one.shape[1])]
    figure, axes = _panels(len(rows), len(places), 0.9 + 0.76 * len(rows), width=7.6)
    for line, (name, head) in zip(axes, rows, strict=True):
        for place, ax in enumerate(line):
            shown = _small_map(ax, maps[name][place, head].detach().cpu())
            _frame(ax, torch.tensor([place]), size=1)
        line[0].set_ylabel(f"{name}\nhead {head}", fontsize=8)
    for ax, place in zip(axes[0], places, strict=True):
        ax.set_title(place.replace("-", "-\n"), fontsize=8)
    _scale(figure, shown, axes)
    plt.show()


def show_similarities(similarities: Mapping[str, Tensor]) -> None:
    """Draw the mean cosine similarity of each digit's patches (rows) with each word (columns), for each aligner."""
    figure, axes = _panels(1, len(similarities), 2.6, sharey=True)
    for ax, (name, table) in zip(axes[0], similarities.items(), strict=True):
        image = ax.imshow(table.detach().cpu().numpy(), vmin=-1, vmax=1, cmap="cividis")
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("word", fontsize=8)
        ax.set_xticks(range(10), range(10), fontsize=7)
        ax.set_yticks(range(10), range(10), fontsize=7)
    axes[0][0].set_ylabel("patches of digit", fontsize=8)
    figure.colorbar(image, ax=axes, label="mean cosine similarity", shrink=0.8)
    plt.show()


def show_own_and_other(similarities: Mapping[str, Tensor], labels: Tensor) -> None:
    """Draw how similar patches are to their own word and to the other nine.

    There are two histograms for each aligner, (N, 10).
    """
    _, axes = _panels(1, len(similarities), 2.3, sharex=True, sharey=True)
    own = torch.nn.functional.one_hot(labels, 10).bool().cpu()
    bins = torch.linspace(-1, 1, 41).tolist()
    line = dict(density=True, histtype="step", linewidth=1.8, color=COLOURS[0], label="own word")
    for ax, (name, table) in zip(axes[0], similarities.items(), strict=True):
        table = table.detach().cpu()
        ax.hist(table[~own].tolist(), bins, density=True, color="0.6", label="other words")
        ax.hist(table[own].tolist(), bins, **line)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("cosine similarity", fontsize=8)
    axes[0][0].set_ylabel("density", fontsize=8)
    axes[0][0].legend(fontsize=7, loc="upper left")
    plt.show()


def show_aligners(losses: Mapping[str, Sequence[float]], results: Mapping[str, tuple[float, float]]) -> None:
    """Draw the loss of each aligner that was trained, step by step, and on the right what each keeps.

    What it keeps is drawn against how often it matches.

    Args:
        losses: a loss for each step, by name.
        results: variance that survives and share of patches whose nearest word is right, by name.
    """
    _, axes = _panels(1, 2, 3.0)
    left, right = axes[0]
    for index, name in enumerate(results):
        style = dict(color=COLOURS[index % 5], label=name)
        if name in losses:
            left.plot(range(1, 1 + len(losses[name])), losses[name], linewidth=1.5, **style)
        right.plot(*results[name], MARKERS[index % 5], markersize=8, **style)
    left.set(xlabel="step", ylabel="loss", ylim=(0, None))
    right.set(xlabel="variance that survives", ylabel="nearest word is right", xlim=(0.6, 1.0), ylim=(0, 1.05))
    right.axhline(0.1, color="0.3", linestyle=":", linewidth=1.2)
    right.text(0.99, 0.12, "chance", fontsize=8, ha="right")
    right.legend(fontsize=8, loc="center right")
    plt.show()


def show_seeds(seeds: Mapping[str, Sequence[float]], here: Mapping[str, float], chance: float) -> None:
    """Draw a dot for each seed of a benchmark, a star for each reader that this notebook has measured.

    Readers are given by name.
    """
    figure, axes = _panels(1, 1, 1.1 + 0.5 * len(seeds))
    ax = axes[0][0]
    for row, (name, shares) in enumerate(seeds.items()):
        spread = [row + 0.07 * (index % 5 - 2) for index in range(len(shares))]  # so that equal dots do not hide
        ax.plot(shares, spread, "o", color=COLOURS[0], alpha=0.6, markersize=5, label="" if row else "a seed each")
        if name in here:
            ax.plot(here[name], row, "*", color=COLOURS[1], markersize=13, label="" if row else "this notebook")
    ax.axvline(chance, color="0.3", linestyle=":", linewidth=1.2, label=f"one read, one guessed: {chance:.3f}")
    names = [f"{name}\n{len(shares)} seeds" for name, shares in seeds.items()]
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5), xlabel="both digits right, in order")
    figure.legend(fontsize=8, loc="outside lower center", ncols=3)
    plt.show()


def show_growth(stds: Mapping[str, Sequence[float]]) -> None:
    """Draw how large the tokens are after each layer, on a logarithmic scale, by name of how updates are added."""
    _, axes = _panels(1, 1, 2.7)
    for index, (name, line) in enumerate(stds.items()):
        axes[0][0].plot(range(len(line)), line, marker=MARKERS[index], color=COLOURS[index], markersize=4, label=name)
    axes[0][0].set(xlabel="layers", ylabel="standard deviation", yscale="log")
    axes[0][0].legend(fontsize=8)
    plt.show()


def _panels(rows: int, columns: int, height: float, width: float = 7.0, **more) -> tuple[Figure, np.ndarray]:
    """Return a figure on white with rows × columns panels; sizes in inches."""
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False, facecolor="white", **more
    )
    for ax in axes.flat:
        ax.set_facecolor("white")
    return figure, axes


def _small_map(ax: Axes, weights: Tensor):
    """Draw one map (9,) over the 3×3 places, from 0 to 1."""
    ax.set(xticks=[], yticks=[])
    return ax.imshow(weights.reshape(3, 3).numpy(), vmin=0, vmax=1, cmap="viridis")


def _scale(figure: Figure, shown, axes) -> None:
    """Draw one colour bar for all maps, with the level of chance."""
    bar = figure.colorbar(shown, ax=axes, shrink=0.6, aspect=30)
    bar.set_ticks([0, 1 / 9, 0.5, 1], labels=["0", "chance", "0.5", "1"], fontsize=8)


def _frame(ax: Axes, cells: Tensor, size: int) -> None:
    """Draw frames inside the named cells of a 3×3 picture, solid and dashed, and no ticks."""
    edge = 0.07 * size
    for cell, line in zip(cells.tolist(), ("-", "--"), strict=False):
        row, column = divmod(cell, 3)
        corner = (column * size - 0.5 + edge, row * size - 0.5 + edge)
        side = size - 2 * edge
        ax.add_patch(Rectangle(corner, side, side, fill=False, edgecolor="#d55e00", linewidth=1.8, linestyle=line))
    ax.set(xticks=[], yticks=[])
