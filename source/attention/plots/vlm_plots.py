"""Figures of lesson 3: scenes and answers, maps over scenes, the next word, curves.

Digits are dark ink on white paper. Maps that are compared share one colour scale. Viridis reads the same with any
colour vision.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import torch
from matplotlib.patches import ConnectionPatch
from torch import Tensor
from torch.nn import functional as F

_PAPER, _INK = -0.79, 1.85  # an empty pixel and a full one, as `digits` scales them
_BLUE, _ORANGE, _GREY, _GREEN = "#0072b2", "#e69f00", "#999999", "#009e73"


def show_scene(ax, patches: Tensor, title: str = "", cell: int | None = None) -> None:
    """Draw one scene (9, 64) as an image, with a frame around the cell in question; patches stand a pixel apart."""
    pixels = F.pad(patches.detach().cpu().reshape(3, 3, 8, 8), (1, 1, 1, 1), value=_PAPER)
    image = pixels.permute(0, 2, 1, 3).reshape(30, 30)
    ax.imshow(image.numpy(), cmap="gray_r", vmin=_PAPER, vmax=_INK)
    for line in (9.5, 19.5):
        ax.axhline(line, color="0.6", linewidth=0.8)
        ax.axvline(line, color="0.6", linewidth=0.8)
    if cell is not None and cell >= 0:
        _frame(ax, cell, 10)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=9)


def show_answers(
    scenes: Sequence[Tensor], questions: Sequence[str], said: Sequence[str], cells: Sequence[int | None] = ()
) -> None:
    """Draw scenes (9, 64) side by side, above each the question, below it what was said.

    Cells in question are framed.
    """
    _, axes = plt.subplots(1, len(scenes), figsize=(2.4 * len(scenes), 3.0), layout="constrained", squeeze=False)
    cells = cells or [None] * len(scenes)
    for ax, patches, question, text, cell in zip(axes[0], scenes, questions, said, cells, strict=True):
        show_scene(ax, patches, question, cell)
        ax.set_xlabel(text, fontsize=9)
    plt.show()


def show_scene_maps(
    patches: Tensor,
    maps: Mapping[str, Tensor],
    cell: int | None = None,
    largest: float = 1.0,
    scene: str = "scene",
    values: str = "weight",
) -> None:
    """Draw a scene (9, 64) beside maps (9,) of it, by title, on one scale from 0 to `largest`.

    `values` names what they show.
    """
    figure, axes = plt.subplots(1, 1 + len(maps), figsize=(1.7 * (1 + len(maps)), 2.3), layout="constrained")
    show_scene(axes[0], patches, scene, cell)
    for ax, (title, weights) in zip(axes[1:], maps.items(), strict=True):
        grid = weights.detach().cpu().reshape(3, 3)
        drawn = ax.imshow(grid.numpy(), cmap="viridis", vmin=0.0, vmax=largest)
        for place, weight in enumerate(grid.flatten().tolist()):
            colour = "black" if weight > 0.6 * largest else "white"
            ax.text(place % 3, place // 3, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=8)
        if cell is not None and cell >= 0:
            _frame(ax, cell, 1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize=9)
    figure.colorbar(drawn, ax=axes[1:], shrink=0.7, label=values)
    plt.show()


def show_word_maps(words: Sequence[str], maps: Mapping[str, Tensor]) -> None:
    """Draw maps (T,) over the words of a question, by title, one row each on one scale from 0 to 1."""
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
    ax.add_patch(plt.Rectangle(corner, size, size, fill=False, edgecolor=_ORANGE, linewidth=2.5))


def show_losses(record: Mapping[str, Tensor]) -> None:
    """Draw the two stages' losses, step by step."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.7), layout="constrained")
    for ax, name, title in zip(axes, ("align losses", "losses"), ("stage 1: align", "stage 2: answer"), strict=True):
        losses = record[name].tolist()
        ax.plot(losses, color="0.6", linewidth=0.8, label="each step")
        width = min(20, len(losses))
        if width:
            smooth = torch.tensor(losses).unfold(0, width, 1).mean(1).tolist()
            steps = range(width - 1, len(losses))
            ax.plot(steps, smooth, color=_BLUE, linewidth=1.8, label=f"mean of the last {width} steps")
        ax.set(title=title, xlabel="step", ylabel="loss", ylim=(0, None))
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    plt.show()


def show_right_by_step(curves: Mapping[str, Mapping[int, float]], chance: float) -> None:
    """Draw right answers by step of a training, a line for each name."""
    _, ax = plt.subplots(figsize=(6.2, 2.8), layout="constrained")
    for (name, right), colour, mark in zip(curves.items(), (_BLUE, _ORANGE, _GREEN), "os^", strict=False):
        ax.plot(list(right), list(right.values()), marker=mark, markersize=5, color=colour, label=name)
    ax.axhline(chance, color="black", linestyle=":", linewidth=1.4, label="chance")
    ax.set(xlabel="step", ylabel="right answers", ylim=(0, 1.03))
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    plt.show()


def show_bars(
    groups: Mapping[str, Mapping[str, float]], ylabel: str, chance: Mapping[str, float] | None = None
) -> None:
    """Draw bars from 0 to 1, side by side, and the chance of each name: {"trained": {"where": 0.99, …}, …}."""
    _, ax = plt.subplots(figsize=(6.8, 2.7), layout="constrained")
    names = list(next(iter(groups.values())))
    width = 0.8 / len(groups)
    for index, (group, values) in enumerate(groups.items()):
        places = [place + (index - (len(groups) - 1) / 2) * width for place in range(len(names))]
        colour = (_BLUE, _ORANGE, _GREY, _GREEN)[index % 4]
        bars = ax.bar(places, [values[name] for name in names], width, label=group, color=colour)
        ax.bar_label(bars, fmt="%.3f", fontsize=8, padding=3)  # above a line of chance at the bar's top
    labels = list(names)
    for place, name in enumerate(names if chance else ()):
        line = [place - 0.45, place + 0.45]
        ax.plot(
            line,
            [chance[name]] * 2,
            color="black",
            linestyle=":",
            linewidth=1.4,
            label="chance" if place == 0 else None,
        )
        labels[place] = f"{name}\nchance {chance[name]:.4f}".rstrip("0")
    ax.set(ylim=(0, 1.15))
    ax.set_ylabel(ylabel, fontsize=9)
    ax.set_xticks(range(len(names)), labels)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    plt.show()


def show_next_words(probabilities: Mapping[str, Tensor], words: Sequence[str], most: int = 5) -> None:
    """Draw for each title the `most` likeliest next words and their probabilities (V,), side by side."""
    _, axes = plt.subplots(
        1, len(probabilities), figsize=(2.6 * len(probabilities), 2.2), layout="constrained", squeeze=False
    )
    for ax, (title, shares) in zip(axes[0], probabilities.items(), strict=True):
        top, which = shares.detach().cpu().topk(most)
        bars = ax.barh(range(most), top.tolist(), color=_BLUE, height=0.65)
        ax.bar_label(bars, fmt=" %.3f", fontsize=8)
        ax.set_yticks(range(most), [words[index] for index in which.tolist()], fontsize=9)
        ax.set(xlim=(0, 1.35), xticks=[0, 0.5, 1])
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(title, fontsize=9)
    plt.show()


def show_spread(values: Mapping[str, Tensor], xlabel: str) -> None:
    """Draw histograms of shares (N,) from 0 to 1, by name, over each other."""
    _, ax = plt.subplots(figsize=(6.2, 2.4), layout="constrained")
    for (name, shares), colour in zip(values.items(), (_BLUE, _ORANGE, _GREEN), strict=False):
        ax.hist(shares.tolist(), bins=40, range=(0, 1), label=name, color=colour, alpha=0.65)
    ax.set(xlabel=xlabel, ylabel="scenes", xlim=(0, 1))
    ax.legend(fontsize=8, frameon=False)
    plt.show()


def show_map_grid(maps: Mapping[str, Tensor], words: Mapping[str, Sequence[str]], across: str, down: str) -> None:
    """Rows of square maps (H, n, n) by title, a column for each head, on one scale; above each its word."""
    heads = len(next(iter(maps.values())))
    figure, axes = plt.subplots(
        len(maps), heads, figsize=(1.55 * heads + 1.2, 1.55 * len(maps) + 0.5), layout="constrained", squeeze=False
    )
    for place, (title, grids) in enumerate(maps.items()):
        row = axes[place]
        for head, (ax, grid, word) in enumerate(zip(row, grids.detach().cpu(), words[title], strict=True)):
            drawn = ax.imshow(grid.numpy(), cmap="viridis", vmin=0.0, vmax=1.0)
            ax.set(xticks=[], yticks=[])
            ax.set_title(f"head {head}: {word}" if place == 0 else word, fontsize=9)
        row[0].set_ylabel(title, fontsize=9)
    figure.supxlabel(across, fontsize=9)
    figure.supylabel(down, fontsize=9)
    figure.colorbar(drawn, ax=axes, shrink=0.5, label="weight")
    plt.show()


def show_head_effects(effects: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Show what each head adds, and what the answers lose without it: a row of panels for each kind of question.

    Args:
        effects: (on_target, length, logit, without) for each head, by kind of question. Each column has one scale.
    """
    titles = (
        "weight on the\nright patch",
        "length of the\nvector it adds",
        "what it adds to the\nright word's logit",
        "right first words\nwithout it",
    )
    size = (8, 0.7 + 1.45 * len(effects))  # inches
    _, axes = plt.subplots(len(effects), 4, figsize=size, layout="constrained", squeeze=False, sharey="col")
    for index, (line, (task, heads)) in enumerate(zip(axes, effects.items(), strict=True)):
        for ax, values in zip(line, zip(*heads, strict=True), strict=True):
            bars = ax.bar([str(head) for head in range(len(values))], values, color=(_BLUE, _ORANGE, _GREEN)[index % 3])
            ax.bar_label(bars, fmt="%.2f", fontsize=8, padding=3)
            ax.axhline(0, color="0.3", linewidth=0.8)
            ax.margins(y=0.25)
            ax.tick_params(labelsize=8)
        line[0].set_ylabel(task, fontsize=10, fontweight="bold")
    for top, bottom, title in zip(axes[0], axes[-1], titles, strict=True):
        top.set_title(title, fontsize=9)
        bottom.set_xlabel("head", fontsize=8)
    plt.show()


def show_journey(question: str, patches: Tensor, met: Mapping[str, Tensor], words: Sequence[str]) -> None:
    """Draw one question through the model, with the tensors that it became on the way.

    Args:
        patches: (9, 64), the scene.
        met: what `follow` found, by name, in the order of the model.
        words: the vocabulary.
    """
    figure = plt.figure(figsize=(8.6, 4.8))
    scene = figure.add_axes((0.02, 0.60, 0.15, 0.29))
    show_scene(scene, patches, "image (24, 24)")
    asked = figure.add_axes((0.02, 0.13, 0.15, 0.21))
    asked.text(0.5, 0.5, question, ha="center", va="center", fontsize=9, wrap=True)
    asked.set(xticks=[], yticks=[])
    asked.set_title("question", fontsize=8)
    boxes = {"image": scene, "question": asked}
    lanes = (
        ("image", "patches", "aligned", "image tokens"),
        ("question", "text tokens", "block 1", "block 2", "answer"),
    )
    for lane, y in zip(lanes, (0.64, 0.13), strict=True):
        for name, x in zip(lane[1:4], (0.24, 0.45, 0.66), strict=True):
            boxes[name] = ax = figure.add_axes((x, y, 0.15, 0.21))
            numbers = ax.imshow(met[name].numpy(), cmap="PuOr", vmin=-3, vmax=3, aspect="auto")
            ax.set(xticks=[], yticks=[])
            ax.set_title(f"{name} {tuple(met[name].shape)}", fontsize=8)
    boxes["answer"] = figure.add_axes((0.87, 0.13, 0.12, 0.21))
    _draw_next_words(boxes["answer"], met["logits"], words)
    look = figure.add_axes((0.87, 0.64, 0.12, 0.21))
    weights = _draw_last_looks(look, met["map"])
    for lane in lanes:
        for start, end in pairwise(lane):
            _arrow(figure, boxes[start], (1, 0.5), boxes[end], (0, 0.5))
    _arrow(figure, boxes["image tokens"], (0.5, 0), boxes["block 2"], (0.5, 1.18))
    figure.text(0.73, 0.48, "keys, values", fontsize=8, ha="right")
    _arrow(figure, boxes["block 2"], (0.85, 1.18), look, (0.5, -0.06))
    figure.text(0.88, 0.48, "weights", fontsize=8)
    for x, drawn, label in ((0.24, numbers, "numbers of a tensor"), (0.66, weights, "weight of a patch")):
        key = figure.colorbar(drawn, cax=figure.add_axes((x, 0.055, 0.2, 0.018)), orientation="horizontal")
        key.ax.tick_params(labelsize=7)
        key.ax.set_title(label, fontsize=7, pad=2)
    plt.show()


def _draw_next_words(ax, logits: Tensor, words: Sequence[str]) -> None:
    """Draw the three likeliest next words as bars; the logits are (V,)."""
    top, which = logits.softmax(-1).topk(3)
    ax.barh(range(3), top.tolist(), color=_BLUE, height=0.4)
    for place, index in enumerate(which.tolist()):
        ax.text(0.03, place - 0.28, words[index], fontsize=7, va="bottom")
    ax.set(xlim=(0, 1), ylim=(2.4, -0.9), xticks=[0, 1], yticks=[])
    ax.tick_params(labelsize=7)
    ax.set_title(f"next word {tuple(logits.shape)}", fontsize=8)


def _draw_last_looks(ax, weights: Tensor):
    """Draw where the last word looks, a 3×3 map for each head, and return the image; the weights are (H, T, 9)."""
    drawn = ax.imshow(_side_by_side(weights[:, -1]), cmap="viridis", vmin=0, vmax=1)
    for head in range(len(weights)):
        ax.text(4 * (head % 2) - 0.35, 4 * (head // 2) - 0.4, str(head), color="white", fontsize=7, va="top")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_title(f"map {tuple(weights.shape)}\nlast word, each head", fontsize=8)
    return drawn


def _side_by_side(weights: Tensor) -> Tensor:
    """Return the 3×3 maps of some heads, (H, 9), two in a row, with gaps (NaN) between them."""
    tiles = F.pad(weights.unflatten(-1, (3, 3)), (0, 1, 0, 1), value=torch.nan)
    tiles = torch.cat([tiles, tiles.new_full((len(tiles) % 2, 4, 4), torch.nan)])
    return tiles.unflatten(0, (-1, 2)).transpose(1, 2).flatten(2).flatten(0, 1)[:-1, :-1]


def _arrow(figure, start, at: tuple[float, float], end, to: tuple[float, float]) -> None:
    """Draw an arrow from a point of one panel to a point of another; points in shares of the panels."""
    arrow = ConnectionPatch(
        at, to, start.transAxes, end.transAxes, arrowstyle="->", color="0.25", shrinkA=2, shrinkB=2, mutation_scale=12
    )
    figure.add_artist(arrow)
