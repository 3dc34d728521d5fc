"""Figures of the lab's part on explanations: curves of deletion and insertion, and what single heads do.

The background is white, whatever the theme of the notebook. The colours can be told apart with any colour vision.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from torch import Tensor

_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")
_MARKERS = "os^Dv"
_WIDTHS = (4.0, 3.0, 2.0, 1.2, 1.2)  # thin lines lie on thick ones: equal curves are all seen


def show_curves(deletion: Mapping[str, Tensor], insertion: Mapping[str, Tensor], by_chance: str) -> None:
    """Draw two panels of curves (n + 1,) by name on one scale from 0 to 1.

    The one called `by_chance` is dotted and black.
    """
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 2.9), sharey=True, layout="constrained")
    panels = ("deletion: low is good", "patches taken away"), ("insertion: high is good", "patches put in")
    for ax, curves, (title, below) in zip(axes, (deletion, insertion), panels, strict=True):
        named = [name for name in curves if name != by_chance]
        for name, colour, marker, width in zip(named, _COLOURS, _MARKERS, _WIDTHS, strict=False):
            points = curves[name].tolist()
            ax.plot(points, color=colour, marker=marker, markersize=3 + width, linewidth=width, label=name)
        ax.plot(curves[by_chance].tolist(), ":", color="black", linewidth=1.6, label=by_chance)
        ax.set(xlabel=below, ylim=(0, 1.02))
        ax.set_title(title, fontsize=9)
    axes[0].set_ylabel("probability of the\nword that it said", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    plt.show()


def show_quality(ours: Mapping[str, Mapping[str, Sequence[float]]], yours: Mapping[str, Mapping[str, float]]) -> None:
    """Draw a panel for each task.

    Each explanation has a bar from the lowest to the highest of our runs, and yours as a mark.

    Args:
        ours: by task, then by explanation: the lowest and the highest.
        yours: by task, then by explanation; one that is left out has no mark.
    """
    figure, axes = plt.subplots(1, len(ours), figsize=(9.6, 2.9), sharey=True, layout="constrained", facecolor="white")
    for ax, (task, ranges) in zip(axes, ours.items(), strict=True):
        for row, (low, high) in enumerate(ranges.values()):
            ax.plot((low, high), (row, row), color="#56b4e9", linewidth=9, solid_capstyle="butt", label="our runs")
            ax.text(low - 0.04, row, f"{low:.3f}", fontsize=7, ha="right", va="center")
            ax.text(high + 0.04, row, f"{high:.3f}", fontsize=7, va="center")
        marks = {row: yours[task][name] for row, name in enumerate(ranges) if name in yours[task]}
        ax.plot(marks.values(), marks.keys(), "D", color="#d55e00", markersize=5, label="yours")
        ax.set_yticks(range(len(ranges)), list(ranges), fontsize=8)
        ax.set(xlim=(-0.4, 1.3), xticks=(0, 0.5, 1), ylim=(len(ranges) - 0.4, -0.7))
        ax.set_title(task, fontsize=9)
        ax.grid(axis="x", color="0.9")
    axes[len(axes) // 2].set_xlabel("insertion minus deletion")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles[-2:], labels[-2:], loc="outside lower center", ncols=2, fontsize=8)
    plt.show()


def show_heads_by_task(
    shares: Mapping[str, Mapping[str, Sequence[float]]],
    ylabel: str,
    chance: float | None = None,
    names: Sequence[str] = (),
) -> None:
    """Draw a panel for each task.

    Each thing that was measured has a group of bars from 0 to 1, one for each head.

    Args:
        shares: by task, then by name: a share for each head.
        chance: drawn as a dotted line.
        names: what stands below the bars; by default the numbers of the heads, from 0.
    """
    figure, axes = plt.subplots(1, len(shares), figsize=(7.4, 3.0), sharey=True, layout="constrained", squeeze=False)
    for ax, (task, measured) in zip(axes[0], shares.items(), strict=True):
        width = 0.8 / len(measured)
        for index, (name, values) in enumerate(measured.items()):
            places = [head + (index - (len(measured) - 1) / 2) * width for head in range(len(values))]
            bars = ax.bar(places, values, width, color=_COLOURS[index], label=name)
            above = {"padding": 3, "zorder": 4, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.5}}
            ax.bar_label(bars, fmt="%.2f", fontsize=7, rotation=90 if len(measured) > 1 else 0, **above)
        if chance is not None:  # below the numbers: it runs through those of low bars
            ax.axhline(chance, color="black", linestyle=":", linewidth=1.2, label="chance", zorder=3)
        ax.set_xticks(range(len(values)), names or [str(head) for head in range(len(values))], fontsize=8)
        ax.set_title(task, fontsize=9)
        ax.set(ylim=(0, 1.2), yticks=(0, 0.25, 0.5, 0.75, 1), xlabel="" if names else "head")
    axes[0][0].set_ylabel(ylabel, fontsize=9)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    plt.show()
