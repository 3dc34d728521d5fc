"""Figures of the repairs: the loss of a training beside the maps that it leads to.

Figures have a white background of their own, so that they can be read on a dark page too.
"""

from collections.abc import Mapping, Sequence
from math import log

import matplotlib.pyplot as plt
import torch

from attention.data.digits import POSITIONS
from attention.data.tokens import WORDS
from attention.experiments.pocket_vlm import PocketVLM, pocket_questions
from attention.plots.vlm_plots import show_scene


def show_training(
    losses: Mapping[str, Sequence[float]],
    model: PocketVLM,
    places: Sequence[str] = ("top-left", "center", "bottom-right"),
    scene: int = 0,
) -> None:
    """Draw the losses of trainings by name.

    Beside them, draw where a model looks on one unseen scene when asked about some places.
    """
    figure, axes = plt.subplots(
        1,
        2 + len(places),
        figsize=(9.6, 2.5),
        layout="constrained",
        facecolor="white",
        gridspec_kw={"width_ratios": [1.9, *[1] * (1 + len(places))]},
    )
    _draw_losses(axes[0], losses)
    patches = pocket_questions(scene + 1, torch.Generator().manual_seed(7), "test").image_patches[scene]
    show_scene(axes[1], patches, "scene")
    device = model.head.weight.device
    for ax, place in zip(axes[2:], places, strict=True):
        word = torch.tensor([[WORDS.index(place)]], device=device)
        with torch.no_grad():
            logits, maps = model(word, patches.unsqueeze(0).to(device))
        grid = maps[-1].mean(1)[0, 0].reshape(3, 3).cpu()
        drawn = ax.imshow(grid.numpy(), cmap="viridis", vmin=0.0, vmax=1.0)
        for cell, weight in enumerate(grid.flatten().tolist()):
            colour = "black" if weight > 0.6 else "white"
            ax.text(cell % 3, cell // 3, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=9)
        row, column = divmod(POSITIONS.index(place), 3)
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(plt.Rectangle(corner, 1, 1, fill=False, edgecolor="#e69f00", linewidth=2.5))
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{place}\n→ {WORDS[int(logits[0, 0].argmax())]}", fontsize=10)
    figure.colorbar(drawn, ax=axes[2:], shrink=0.8, label="weight")
    plt.show()


def _draw_losses(ax, losses: Mapping[str, Sequence[float]]) -> None:
    for (name, values), colour in zip(losses.items(), ("#d55e00", "#0072b2", "#009e73"), strict=False):
        smooth = torch.tensor(values).unfold(0, 10, 1).mean(1).tolist()
        ax.plot(range(9, len(values)), smooth, color=colour, linewidth=1.8, label=name)
    ax.axhline(log(10), color="black", linestyle=":", linewidth=1.2, label="guessing a digit")
    ax.set(xlabel="step", ylabel="loss", ylim=(0, 5.2))
    ax.legend(fontsize=8, loc="upper right")
