"""The course's diagrams: `python assets/draw.py` writes assets/*.svg, the same bytes every time.

Colours: blue for text, orange for the image, grey for what is computed without parameters (Okabe and Ito's palette,
safe with any colour vision); what a colour says is also written in the box.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import torch
from attention.data.digits import draw_scenes, to_images
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

HERE = Path(__file__).parent
TEXT, IMAGE, PLAIN, LEARNED = "#cfe3f2", "#fbe0b0", "#eeeeee", "#d5ecdf"
EDGE = "#444444"


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure whose units are about a tenth of an inch."""
    figure = plt.figure(figsize=(width / 10, height / 10))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return figure, ax


def box(ax: Axes, x: float, y: float, text: str, colour: str = PLAIN, width: float = 12, height: float = 4) -> None:
    """A box with its centre at (x, y)."""
    corner = (x - width / 2, y - height / 2)
    ax.add_patch(
        FancyBboxPatch(
            corner, width, height, boxstyle="round,pad=0,rounding_size=0.7", facecolor=colour, edgecolor=EDGE
        )
    )
    ax.text(x, y, text, ha="center", va="center", fontsize=9, linespacing=1.25)


def arrow(ax: Axes, *points: tuple[float, float], head: bool = True) -> None:
    """A line through points, with a head at the last one."""
    for start, end in pairwise(points[:-1]):
        ax.plot(*zip(start, end, strict=True), color=EDGE, linewidth=1.1, solid_capstyle="round")
    style = "-|>" if head else "-"
    ax.add_patch(
        FancyArrowPatch(
            points[-2], points[-1], arrowstyle=style, mutation_scale=9, color=EDGE, linewidth=1.1, shrinkA=0, shrinkB=0
        )
    )


def note(ax: Axes, x: float, y: float, text: str, **more) -> None:
    ax.text(x, y, text, fontsize=8, color="#333333", **{"ha": "center", "va": "center", **more})


def attention() -> Figure:
    """Scaled dot-product attention, from bottom to top."""
    figure, ax = canvas(50, 47)
    for x, text in ((9, "query\n(Q, d_k)"), (25, "key\n(K, d_k)"), (41, "value\n(K, d_v)")):
        box(ax, x, 3.5, text, TEXT if x == 9 else IMAGE, width=11, height=5)
    steps = ("scores  Q Kᵀ", "divide by √d_k", "mask (optional)", "softmax over the keys")
    for level, text in enumerate(steps):
        box(ax, 17, 12 + 6.5 * level, text, width=18)
        if level:
            arrow(ax, (17, 7.5 + 6.5 * level), (17, 10 + 6.5 * level))
    arrow(ax, (9, 6), (9, 8), (12, 8), (12, 10))
    arrow(ax, (25, 6), (25, 8), (22, 8), (22, 10))
    note(ax, 27, 12, "(Q, K)", ha="left")
    note(ax, 27, 31.5, "weights (Q, K):\neach row sums to 1", ha="left")
    box(ax, 29, 39, "weights · value", width=30)
    arrow(ax, (17, 33.5), (17, 37))
    arrow(ax, (41, 6), (41, 37))
    arrow(ax, (29, 41), (29, 43.5))
    note(ax, 29, 45, "output (Q, d_v)")
    return figure


def multi_head() -> Figure:
    """Several heads: project, split, attend in each, merge, project."""
    figure, ax = canvas(78, 50)
    for x, source, name, colour in (
        (13, "tokens", "W_Q", TEXT),
        (33, "context", "W_K", IMAGE),
        (53, "context", "W_V", IMAGE),
    ):
        box(ax, x, 3, f"{source} (T, d_model)" if x == 13 else f"{source} (S, d_context)", colour, width=18)
        box(ax, x, 10, name, LEARNED, width=12)
        box(ax, x, 17, "split into H heads", width=16)
        arrow(ax, (x, 5), (x, 8))
        arrow(ax, (x, 12), (x, 15))
        arrow(ax, (x, 19), (x, 23.6))
    for shift in (2, 1, 0):
        box(
            ax,
            33 + 1.2 * shift,
            26 + 1.0 * shift,
            "" if shift else "attention in each head, side by side",
            width=50,
            height=5,
        )
    note(ax, 61.5, 26, "H heads", ha="left")
    box(ax, 33, 36, "merge the heads  (T, d_model)", width=26)
    box(ax, 33, 42.5, "W_O", LEARNED, width=12)
    arrow(ax, (33, 30.6), (33, 34))
    arrow(ax, (33, 38), (33, 40.5))
    arrow(ax, (33, 44.5), (33, 46.7))
    note(ax, 33, 48.2, "output (T, d_model)")
    note(ax, 60.5, 10, "the numbers of each\nhead are made of\nall of the input", ha="left")
    return figure


def block() -> Figure:
    """The vision-language block: three steps, each added to what flows past it."""
    figure, ax = canvas(58, 62)
    x, line = 24, 8
    arrow(ax, (line, 4), (line, 57.5))
    note(ax, line, 2.5, "text tokens")
    note(ax, line, 59.2, "text tokens")
    steps = (
        ("norm1", "self-attention", "mask: causal"),
        ("norm2", "cross-attention", ""),
        ("norm3", "feed-forward", ""),
    )
    for level, (norm, name, remark) in enumerate(steps):
        bottom = 8 + 17 * level
        box(ax, x, bottom, norm, LEARNED, width=12, height=3.6)
        box(ax, x, bottom + 6.5, name, LEARNED, width=17)
        arrow(ax, (line, bottom), (x - 6, bottom))
        arrow(ax, (x, bottom + 1.8), (x, bottom + 4.5))
        arrow(ax, (x, bottom + 8.5), (x, bottom + 11.5), (line + 1.3, bottom + 11.5))
        ax.add_patch(plt.Circle((line, bottom + 11.5), 1.3, facecolor="white", edgecolor=EDGE, zorder=3))
        ax.text(line, bottom + 11.45, "+", ha="center", va="center", fontsize=10, zorder=4)
        note(ax, x + 10, bottom + 6.5, remark, ha="left")
    box(ax, 48, 31.5, "image tokens", IMAGE, width=14)
    arrow(ax, (41, 31.5), (32.5, 31.5))
    note(ax, 36.8, 33.2, "keys, values")
    note(ax, 14, 26.3, "queries")
    return figure


def pipeline() -> Figure:
    """The small vision-language model: encode, align, cross-attend, generate."""
    figure, ax = canvas(74, 27)
    for index, (text, colour) in enumerate(
        (("image\n24 × 24", IMAGE), ("encode:\n9 patches × 64", IMAGE), ("align:\n9 × d_model", LEARNED),
         ("+ positions,\nnorm", LEARNED))
    ):  # fmt: skip
        box(ax, 7.5 + 15 * index, 21, text, colour, width=12, height=6)
        if index:
            arrow(ax, (-1.5 + 15 * index, 21), (1.5 + 15 * index, 21))
    for index, (text, colour) in enumerate(
        (("where is\nthe 7 ?", TEXT), ("embed\n+ positions", LEARNED), ("block:\ntext only", LEARNED),
         ("block: text\nasks the image", LEARNED), ("next word:\ntop-left", TEXT))
    ):  # fmt: skip
        box(ax, 7.5 + 15 * index, 6, text, colour, width=12, height=6)
        if index:
            arrow(ax, (-1.5 + 15 * index, 6), (1.5 + 15 * index, 6))
    arrow(ax, (52.5, 18), (52.5, 9))
    note(ax, 53.5, 13.5, "keys, values", ha="left")
    arrow(ax, (67.5, 3), (67.5, 1), (7.5, 1), (7.5, 3))
    note(ax, 37.5, 2.1, "generate: append the word, and ask again")
    return figure


def zone(ax: Axes, bottom: float, top: float, level: float, text: str, colour: str) -> None:
    """A band across the figure, with a title at its left, at this level."""
    corner, width = (0.5, bottom), ax.get_xlim()[1] - 1
    style = "round,pad=0,rounding_size=0.7"
    ax.add_patch(
        FancyBboxPatch(corner, width, top - bottom, boxstyle=style, facecolor=colour, edgecolor="none", zorder=0)
    )
    note(ax, 2, level, text, ha="left", weight="bold")


def processes() -> Figure:
    """The processes of a grading run, in three zones of trust, and the channels between them."""
    figure, ax = canvas(78, 62)
    zone(ax, 46.5, 61.5, 59.9, "trusted: runs as you, knows the reference, runs no student code", "#eef4f9")
    zone(ax, 23.5, 38.5, 25.1, "in the sandbox: unprivileged, knows no secret, runs no student code", "#f4f4f4")
    zone(ax, 0.5, 15.5, 2.1, "in the sandbox: student code runs here; nothing that it says is trusted", "#fdf3e0")

    box(ax, 15, 52.7, "coordinator\nreads, looks up, records", TEXT, width=24, height=8)
    box(ax, 61, 52.7, "worker, --jobs of them\nplans, runs, judges", TEXT, width=24, height=8)
    box(ax, 15, 32.2, "fork server\neverything imported", PLAIN, width=24, height=8)
    box(ax, 61, 32.2, "init, one per submission\nwatches, measures, kills", PLAIN, width=24, height=8)
    box(ax, 13, 9.2, "checkpoint\nthe state before the cell", IMAGE, width=21, height=8)
    box(ax, 40, 9.2, "interpreter\nruns the cells", IMAGE, width=19, height=8)
    box(ax, 66, 9.2, "prober\nruns hidden inputs", IMAGE, width=19, height=8)

    arrow(ax, (27, 54.2), (49, 54.2))
    arrow(ax, (49, 51.2), (27, 51.2))
    note(ax, 38, 55.5, "Job")
    note(ax, 38, 52.7, "pipes of a process pool")
    note(ax, 38, 49.9, "Graded")

    both(ax, (8, 48.7), (8, 36.2))
    note(ax, 9, 42.5, "control socket:\nwhat to build ↓\nready ↑", ha="left")
    arrow(ax, (53, 48.7), (53, 44.5), (24, 44.5), (24, 36.2))
    note(ax, 25, 42, "control socket: one descriptor\nfor each submission", ha="left")
    both(ax, (65, 48.7), (65, 36.2))
    note(ax, 64, 42.2, "connection:\norders, inputs ↓\nreplies, tensors ↑", ha="right")
    arrow(ax, (27, 32.2), (49, 32.2))
    note(ax, 38, 33.5, "forks")

    both(ax, (51, 28.2), (51, 21.5), (8, 21.5), (8, 13.2))
    note(ax, 9, 18.7, 'channel: "cell"\nwith a descriptor ↓', ha="left")
    both(ax, (54, 28.2), (54, 18.2), (42, 18.2), (42, 13.2))
    note(ax, 41, 18.7, "frames: source ↓\noutputs ↑", ha="right")
    both(ax, (69, 28.2), (69, 13.2))
    note(ax, 68, 18.7, "frames: inputs ↓\ntensors ↑", ha="right")
    arrow(ax, (23.5, 9.2), (30.5, 9.2))
    note(ax, 27, 10.5, "forks")
    arrow(ax, (49.5, 9.2), (56.5, 9.2))
    note(ax, 53, 10.5, "forks")
    return figure


def both(ax: Axes, *points: tuple[float, float]) -> None:
    """A line through points with a head at either end."""
    arrow(ax, *points)
    arrow(ax, *reversed(points))


def scene() -> Figure:
    """A scene, and its nine patches in a row."""
    patches, _ = draw_scenes(1, torch.Generator().manual_seed(4), "test")
    figure = plt.figure(figsize=(7, 1.75))
    picture = figure.add_axes((0.01, 0.06, 0.22, 0.88))
    picture.imshow(to_images(patches)[0].numpy(), cmap="gray_r", interpolation="nearest")
    for at in (7.5, 15.5):
        picture.axhline(at, color="#e69f00", linewidth=1)
        picture.axvline(at, color="#e69f00", linewidth=1)
    picture.set(xticks=[], yticks=[])
    figure.text(0.262, 0.5, "→", fontsize=16, ha="center", va="center")
    for place, patch in enumerate(patches[0]):
        ax = figure.add_axes((0.295 + 0.078 * place, 0.3, 0.07, 0.4))
        ax.imshow(patch.reshape(8, 8).numpy(), cmap="gray_r", interpolation="nearest")
        ax.set_title(str(place), fontsize=8, pad=3)
        ax.set(xticks=[], yticks=[])
    return figure


DIAGRAMS = {
    "attention": attention,
    "multi-head": multi_head,
    "block": block,
    "pipeline": pipeline,
    "processes": processes,
    "scene": scene,
}


def main() -> None:
    plt.rcParams.update({"svg.hashsalt": "attention", "font.family": "DejaVu Sans"})
    for name, draw in DIAGRAMS.items():
        # In a notebook letters are paths, the same for all who read it. The processes stand in a page, and have many letters.
        plt.rcParams["svg.fonttype"] = "none" if name == "processes" else "path"
        figure = draw()
        figure.savefig(HERE / f"{name}.svg", metadata={"Date": None, "Creator": None}, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    main()
