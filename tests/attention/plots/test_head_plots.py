"""Figures of lesson 2: white behind, on one scale, frames inside their panels, panels large enough to see."""

from collections.abc import Iterator

import matplotlib
import pytest
import torch

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from attention.data.digits import POSITIONS
from attention.plots.head_plots import (
    show_aligners,
    show_growth,
    show_heads,
    show_own_and_other,
    show_readers,
    show_seeds,
    show_similarities,
    show_words,
)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list]:
    """The figures that were shown, drawn to the last pixel."""
    figures: list = []

    def show() -> None:
        figures.append(plt.gcf())
        plt.gcf().canvas.draw()

    monkeypatch.setattr(plt, "show", show)
    yield figures
    plt.close("all")


def maps(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0)).softmax(-1)


def draw_all() -> None:
    show_heads(maps(4, 5, 7), "four heads")
    show_readers(
        torch.rand(2, 24, 24), torch.tensor([[0, 8], [3, 2]]), {"untrained": maps(2, 4, 9), "trained": maps(2, 4, 9)}
    )
    show_words({"first": maps(9, 2, 9), "second": maps(9, 2, 9)}, POSITIONS)
    show_similarities({"one": maps(10, 10), "two": maps(10, 10)})
    show_own_and_other({"one": maps(50, 10)}, torch.arange(50) % 10)
    show_aligners({"linear": [3, 1]}, {"random": (0.9, 0.1), "linear": (0.88, 0.96)})
    show_seeds({"1 head": [0.1, 0.11], "2 heads": [0.1, 0.9, 0.95]}, {"1 head": 0.1, "2 heads": 0.9}, chance=1 / 9)
    show_growth({"twice": [1, 2, 4], "once": [1, 1, 1]})


def test_every_figure_is_white_whatever_the_theme(shown: list):
    with plt.style.context("dark_background"):
        draw_all()
    assert len(shown) == 8
    for figure in shown:
        for surface in (figure, *figure.axes):
            if surface.get_label() != "<colorbar>":
                assert matplotlib.colors.to_hex(surface.get_facecolor()) == "#ffffff"


def test_readers_have_large_panels_on_one_scale_and_frames_inside_them(shown: list):
    cells = torch.tensor([[0, 8], [3, 2], [4, 6]])
    show_readers(torch.rand(3, 24, 24), cells, {"untrained": maps(3, 4, 9), "trained": maps(3, 4, 9)})
    (figure,) = shown
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert len(panels) == 3 * 2 * 5
    for ax in panels:
        assert min(ax.get_window_extent().size) >= 100  # pixels
        for frame in ax.patches:
            inside, panel = frame.get_window_extent(), ax.get_window_extent()
            assert panel.x0 < inside.x0 < inside.x1 < panel.x1
            assert panel.y0 < inside.y0 < inside.y1 < panel.y1
    scales = {image.get_clim() for ax in panels for image in ax.images if image.get_cmap().name == "viridis"}
    assert scales == {(0, 1)}


def test_every_word_has_a_map_of_every_head_with_its_place_framed(shown: list):
    show_words({"first": maps(9, 4, 9), "second": maps(9, 4, 9)}, POSITIONS)
    panels = [ax for ax in shown[0].axes if ax.get_label() != "<colorbar>"]
    assert len(panels) == 9 * 8
    for index, ax in enumerate(panels):
        (frame,) = ax.patches
        row, column = divmod(index % 9, 3)
        assert (round(frame.get_x()), round(frame.get_y())) == (column, row)
