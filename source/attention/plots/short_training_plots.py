"""Figures of short trainings: the loss beside the maps, and what a healthy run looks like.

Figures have a white background of their own, so that they can be read on a dark page too.
"""

from collections.abc import Mapping, Sequence
from math import log

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn

from attention.data.digits import to_images
from attention.data.tokens import WORDS
from attention.experiments.short_trainings import FIRST_PLACE, Examples, ShortTraining, answers_and_maps
from attention.measures.healthy_runs import HEALTHY

SHOWN = 3  # questions in a figure
SMOOTHED = 10  # steps that are averaged for a point of a curve


def shown_examples(training: ShortTraining) -> Examples:
    """Draw the questions of a figure: full scenes of unseen images, the same ones each time."""
    return training.draw(SHOWN, torch.Generator().manual_seed(5), "test", 9, 9)


def smooth(losses: Sequence[float]) -> list[float]:
    """Average each 10 losses to one; what is left over at the end, too."""
    return [part.mean().item() for part in torch.tensor(losses).split(SMOOTHED)]


def show_run(training: ShortTraining, losses: Mapping[str, Sequence[float]], model: nn.Module, name: str) -> None:
    """Draw the losses of trainings by name beside three unseen scenes, a model's maps, and those of a healthy run.

    Args:
        model: whose maps are drawn.
        name: how the row of its maps is called.
    """
    figure = plt.figure(figsize=(9.6, 5.2), layout="constrained", facecolor="white")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.35))
    _draw_losses(left.subplots(), training, losses)
    axes = right.subplots(3, SHOWN)
    examples = shown_examples(training)
    device = next(model.parameters()).device
    logits, maps = answers_and_maps(model, *(one.to(device) for one in examples.asked))
    answers = answer_names(logits)
    healthy = torch.tensor(HEALTHY[training.name]["maps"])
    padding = examples.asked[2] if len(examples.asked) > 2 else torch.zeros(SHOWN, 9, dtype=torch.bool)
    for index, cell in enumerate(examples.cells.tolist()):
        axes[0, index].set_title(_question(examples.asked[0][index]), fontsize=10)
        _draw_scene(axes[0, index], examples.asked[1][index], padding[index])
        drawn = _draw_map(axes[1, index], maps[index].cpu(), cell)
        axes[1, index].set_xlabel(f"→ {answers[index]}", fontsize=9)
        _draw_map(axes[2, index], healthy[index], cell)
        axes[2, index].set_xlabel(f"→ {HEALTHY[training.name]['answers'][index]}", fontsize=9)
    for row, label in enumerate(("scene", name, "healthy")):
        axes[row, 0].set_ylabel(label, fontsize=10)
    right.colorbar(drawn, ax=axes, shrink=0.7, label="weight")
    plt.show()


def _question(word: Tensor) -> str:
    asked = WORDS[int(word)]
    return f"where is the {asked}?" if asked.isdigit() else f"what is at\n{asked}?"


def answer_names(logits: Tensor) -> list[str]:
    """Name the answers of logits (B, V): words, or of a pointer with nine logits, places."""
    first = FIRST_PLACE if logits.shape[-1] == 9 else 0
    return [WORDS[first + answer] for answer in logits.argmax(-1).tolist()]


def _draw_losses(ax, training: ShortTraining, losses: Mapping[str, Sequence[float]]) -> None:
    runs = {**{name: smooth(values) for name, values in losses.items()}}
    colours = dict(zip(runs, ("#d55e00", "#0072b2"), strict=False))
    runs["healthy"] = HEALTHY[training.name]["losses"]
    for name, values in runs.items():
        steps = [SMOOTHED * (index + 1) for index in range(len(values))]
        style = {"color": "#555555", "linestyle": "--"} if name == "healthy" else {"color": colours[name]}
        ax.plot(steps, values, linewidth=1.8, label=name, **style)
    label = f"guessing one of {training.choices}"
    ax.axhline(log(training.choices), color="black", linestyle=":", linewidth=1.2, label=label)
    ax.set(xlabel="step", ylabel="loss")
    ax.legend(fontsize=8, loc="upper right", framealpha=1)  # the dotted line would run through the words


def _draw_scene(ax, patches: Tensor, padding: Tensor) -> None:
    image = to_images(patches.unsqueeze(0))[0]
    ax.imshow(image.numpy(), cmap="gray_r", extent=(-0.5, 2.5, 2.5, -0.5))
    for edge in (0.5, 1.5):
        ax.axhline(edge, color="#56b4e9", linewidth=0.8)
        ax.axvline(edge, color="#56b4e9", linewidth=0.8)
    for cell in padding.nonzero().flatten().tolist():
        row, column = divmod(cell, 3)
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(plt.Rectangle(corner, 1, 1, facecolor="#999999", alpha=0.35, hatch="///", edgecolor="#555555"))
    ax.set(xticks=[], yticks=[])


def _draw_map(ax, weights: Tensor, target: int):
    grid = weights.reshape(3, 3)
    drawn = ax.imshow(grid.numpy(), cmap="viridis", vmin=0.0, vmax=1.0)
    for cell, weight in enumerate(weights.tolist()):
        colour = "black" if weight > 0.6 else "white"
        ax.text(cell % 3, cell // 3, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=8)
    row, column = divmod(target, 3)
    corner = (column - 0.5, row - 0.5)
    ax.add_patch(plt.Rectangle(corner, 1, 1, fill=False, edgecolor="#e69f00", linewidth=2.5))
    ax.set(xticks=[], yticks=[])
    return drawn
