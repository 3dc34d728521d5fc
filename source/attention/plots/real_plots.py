"""Figures of real eyes: a picture beside the maps of layers and heads, the object's box, a number for each head, and curves.

Axes: L layers, H heads; a map has a number for each patch. The background is white, whatever the theme of the notebook.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.patches import Rectangle
from torch import Tensor

PHOTO_LINES = {"temple": ("#0072b2", "o"), "flower": ("#d55e00", "s")}
BRIGHT = 8  # times the even weight: where the colours end
# Of curves: two orders that a model gives, then three that need none.
_ORDERS = (("#0072b2", "o-"), ("#009e73", "^-"), ("#d55e00", "s--"), ("#cc79a7", "D--"), ("#56b4e9", "v--"))


def show_layers(picture: Tensor, maps: Tensor, layers: Sequence[int]) -> None:
    """Draw what [CLS] looks at in a picture (3, h, w).

    There is a panel for each head of each layer; the longer axis goes to the right.

    Args:
        maps: (L, H, rows, columns) on one scale, which ends at eight times the even weight.
        layers: the layers' numbers, for the titles.
    """
    rows, columns = [f"head {head}" for head in range(maps.shape[1])], [f"layer {layer}" for layer in layers]
    grid = maps.transpose(0, 1)
    if len(columns) < len(rows):
        rows, columns, grid = columns, rows, maps
    side = 7.4 / len(columns)  # inches
    figure = plt.figure(figsize=(9.6, 0.5 + side * len(rows)), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01, wspace=0.02, hspace=0.02)
    left, right = figure.subfigures(1, 2, width_ratios=(1.4, 8.2))
    ax = left.subplots()
    ax.imshow(picture.permute(1, 2, 0).cpu().numpy())
    ax.axis("off")
    axes = right.subplots(len(rows), len(columns), squeeze=False)
    for line, name, row in zip(axes, rows, grid.detach().cpu(), strict=True):
        for ax, one in zip(line, row, strict=True):
            shown = ax.imshow(one.numpy(), vmin=0, vmax=BRIGHT / (1 + one.numel()), cmap="viridis")
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(name, fontsize=7)
    for ax, name in zip(axes[0], columns, strict=True):
        ax.set_title(name, fontsize=7)
    right.colorbar(shown, ax=axes, label="weight", extend="max", shrink=0.8, pad=0.01, aspect=25)
    plt.show()


def show_boxes(pictures: Mapping[str, Tensor], maps: Mapping[str, Tensor], boxes: Mapping[str, Tensor]) -> None:
    """Draw each picture with its box, and beside it its maps.

    The maps are (H, rows, columns), and each has the share of it that lies in the box.

    Args:
        boxes: (rows, columns) bool, a rectangle.
    """
    heads = len(next(iter(maps.values())))
    size = (1.3 * (1 + heads), 1.55 * len(pictures))
    _, axes = plt.subplots(
        len(pictures), 1 + heads, figsize=size, layout="constrained", facecolor="white", squeeze=False
    )
    for line, (name, picture) in zip(axes, pictures.items(), strict=True):
        box = boxes[name]
        patch = picture.shape[-1] // box.shape[-1]
        line[0].imshow(picture.permute(1, 2, 0).cpu().numpy())
        line[0].set_title(f"box: {box.float().mean():.2f}", fontsize=9)
        _frame_box(line[0], box, patch)
        for head, (ax, one) in enumerate(zip(line[1:], maps[name].detach().cpu(), strict=True)):
            ax.imshow(one.numpy(), vmin=0, vmax=BRIGHT / (1 + box.numel()), cmap="viridis")
            ax.set_title(f"head {head}: {(one * box).sum() / one.sum():.2f}", fontsize=9)
            _frame_box(ax, box, 1)
        for ax in line:
            ax.set(xticks=[], yticks=[])
    plt.show()


def show_depth(curves: Mapping[str, Mapping[str, Tensor]], chance: Mapping[str, float]) -> None:
    """Draw a panel for each measure: a line over the layers for each photo, and chance as a dotted line.

    Args:
        curves: by measure, then by photo: (L,)
        chance: by measure; a measure that is left out has none.
    """
    _, axes = plt.subplots(1, len(curves), figsize=(9.6, 2.9), layout="constrained", facecolor="white")
    for ax, (measure, by_photo) in zip(axes, curves.items(), strict=True):
        for photo, line in by_photo.items():
            colour, marker = PHOTO_LINES[photo]
            ax.plot(line.cpu().numpy(), color=colour, marker=marker, markersize=4, label=photo)
        if measure in chance:
            ax.axhline(chance[measure], color="0.4", linestyle=":", label="chance")
        ax.set_title(measure, fontsize=10)
        ax.set_xlabel("layer")
        ax.set_xticks(range(0, len(line), 2))
        ax.set_ylim(bottom=0)
        ax.grid(color="0.9")
    axes[0].legend(fontsize=8)
    plt.show()


def show_each_head(numbers: Mapping[str, Tensor], label: str, most: float, middle: float | None = None) -> None:
    """Draw a panel for each picture, layers to the right, heads downwards, a coloured field for each.

    Args:
        numbers: by picture: (L, H)
        most: where the colours end; they begin at 0.
        middle: chance, if the colours are to change there from blue to red; half of `most`.
    """
    figure, axes = plt.subplots(
        1, len(numbers), figsize=(9.6, 2.4), layout="constrained", facecolor="white", squeeze=False
    )
    for ax, (picture, one) in zip(axes[0], numbers.items(), strict=True):
        colours = "viridis" if middle is None else "coolwarm"
        shown = ax.imshow(one.T.cpu().numpy(), vmin=0, vmax=most, cmap=colours)
        ax.set(xlabel="layer", xticks=range(len(one)), yticks=range(one.shape[1]))
        ax.set_title(picture, fontsize=10)
    axes[0, 0].set_ylabel("head")
    beyond = "max" if max(one.max() for one in numbers.values()) > most else "neither"
    bar = figure.colorbar(shown, ax=axes, label=label, extend=beyond, shrink=0.8)
    if middle is not None:
        bar.set_ticks([0, middle, most], labels=["0", "chance", f"{most / middle:g} times\nchance"])
    plt.show()


def show_word_maps(maps: Mapping[str, Tensor], pieces: Sequence[str]) -> None:
    """Draw maps (T, T) by title, side by side on one scale.

    The tokens that ask stand at the left, those that answer below.
    """
    figure, axes = plt.subplots(1, len(maps), figsize=(9.6, 2.9), sharey=True, layout="constrained", facecolor="white")
    for ax, (title, weights) in zip(axes, maps.items(), strict=True):
        image = ax.imshow(weights.numpy(), vmin=0, vmax=1, cmap="viridis")
        ax.set_title(title, fontsize=9)
        ax.set_xticks(range(len(pieces)), pieces, fontsize=7, rotation=90)
    axes[0].set_yticks(range(len(pieces)), pieces, fontsize=7)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    plt.show()


def show_deleted(curves: Mapping[str, Mapping[str, Tensor]], by_chance: Mapping[str, Tensor]) -> None:
    """Draw a panel for each picture.

    It shows how alike the picture stays while squares are blanked: a line for each order, thin grey
    ones for chance.

    Args:
        curves: by picture, then by order: (n + 1,)
        by_chance: by picture: (orders, n + 1)
    """
    figure, axes = plt.subplots(
        1, len(curves), figsize=(9.6, 3.4), sharey=True, layout="constrained", facecolor="white"
    )
    for ax, (picture, orders) in zip(axes, curves.items(), strict=True):
        ax.plot(by_chance[picture].T.cpu().numpy(), color="0.75", linewidth=0.7, label="random orders")
        for (name, line), (colour, style) in zip(orders.items(), _ORDERS, strict=False):
            ax.plot(line.cpu().numpy(), style, color=colour, markersize=3.5, label=name)
        ax.set_title(picture, fontsize=10)
        ax.set_xlabel("squares blanked")
        ax.set_xticks(range(0, len(line), 4))
        ax.grid(color="0.93")
    axes[0].set_ylabel("how alike [CLS] stays")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles[-len(orders) - 1 :], labels[-len(orders) - 1 :], loc="outside lower center", ncols=3, fontsize=8
    )
    plt.show()


def show_matches(
    pictures: Mapping[str, Tensor], nearer: Mapping[tuple[str, str], Tensor], boxes: Mapping[str, Tensor]
) -> None:
    """Draw each picture with its box, and for each kind of token which of two words its patches are nearer to.

    Args:
        nearer: by picture and kind: cosines to the word for the box less those to the other word, (rows, columns)
        boxes: (rows, columns) bool, a rectangle.
    """
    kinds = list(dict.fromkeys(kind for _, kind in nearer))
    size = (2.6 * (1 + len(kinds)), 2.4 * len(pictures))
    _, axes = plt.subplots(
        len(pictures), 1 + len(kinds), figsize=size, layout="constrained", facecolor="white", squeeze=False
    )
    for line, (name, picture) in zip(axes, pictures.items(), strict=True):
        line[0].imshow(picture.permute(1, 2, 0).numpy())
        _frame_box(line[0], boxes[name], picture.shape[-1] // boxes[name].shape[-1])
        for ax, kind in zip(line[1:], kinds, strict=True):
            difference = nearer[name, kind].cpu()
            most = difference.abs().max()
            ax.imshow(difference.numpy(), vmin=-most, vmax=most, cmap="coolwarm")
            _frame_box(ax, boxes[name], 1)
            ax.set_title(f"{((difference > 0) == boxes[name]).float().mean():.2f} right", fontsize=9)
        for ax in line:
            ax.set(xticks=[], yticks=[])
    for ax, kind in zip(axes[-1][1:], kinds, strict=True):
        ax.set_xlabel(kind, fontsize=9)
    plt.show()


def _frame_box(ax, box: Tensor, size: int) -> None:
    """Draw a box of patches as a frame; a patch is `size` wide."""
    rows, columns = (torch.nonzero(box.any(axis)).flatten() for axis in (1, 0))
    corner = (int(columns[0]) * size - 0.5, int(rows[0]) * size - 0.5)
    sides = len(columns) * size, len(rows) * size
    ax.add_patch(Rectangle(corner, *sides, fill=False, edgecolor="#e69f00", linewidth=1.8))
