"""Figures of lesson 1: drawn for real, and compared panels share one scale."""

from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
import torch

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from attention.plots.map_plots import (
    CELL_HEIGHT,
    CELL_WIDTH,
    PAPER,
    show_bars,
    show_curve,
    show_map,
    show_maps,
    show_over_image,
    show_spread,
)


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list]:
    """The figures that were shown, drawn to the last pixel."""
    figures: list = []

    def show() -> None:
        figures.append(plt.gcf())
        plt.gcf().canvas.draw()

    monkeypatch.setattr(plt, "show", show)
    yield figures
    plt.close("all")


def limits(figure) -> set:
    return {image.get_clim() for ax in figure.axes for image in ax.images if image.get_cmap().name == "viridis"}


def test_maps_side_by_side_share_one_scale(shown: list) -> None:
    show_maps({"small": torch.full((5, 7), 0.01), "large": torch.full((5, 7), 0.9)})
    assert limits(shown[0]) == {(0.0, 1.0)}
    assert shown[0].get_size_inches()[0] <= 7


def test_a_map_shows_its_numbers_and_names(shown: list) -> None:
    show_map(torch.tensor([[0.25, 0.75]]), ["asks"], ["one", "two"], "a map")
    texts = [text.get_text() for text in shown[0].axes[0].texts]
    assert texts == ["0.25", "0.75"]
    assert [label.get_text() for label in shown[0].axes[0].get_xticklabels()] == ["one", "two"]


def test_a_mask_shows_ones_and_zeros(shown: list) -> None:
    show_map(torch.tensor([[True, False]]))
    assert [text.get_text() for text in shown[0].axes[0].texts] == ["1", "0"]


def test_maps_that_need_a_gradient_can_be_shown(shown: list) -> None:
    show_map(torch.rand(3, 5, requires_grad=True))
    assert len(shown) == 1


def test_maps_over_scenes_share_one_scale_and_frame_the_target(shown: list) -> None:
    uniform, sharp = torch.full((2, 9), 1 / 9), torch.eye(9)[[4, 7]]
    show_over_image(torch.rand(2, 24, 24), {"chance": uniform, "sharp": sharp}, torch.tensor([4, 7]), ["four", "seven"])
    frames = [ax.patches[0].get_xy() for ax in shown[0].axes[:6]]
    assert frames == [(CELL_WIDTH, CELL_HEIGHT)] * 3 + [(CELL_WIDTH, 2 * CELL_HEIGHT)] * 3
    assert [text.get_text() for text in shown[0].axes[5].texts] == ["0.00"] * 7 + ["1.00", "0.00"]
    # The colour bar is the one scale, and a weight's paper has its colour: corners of patch 4 hold no ink.
    assert shown[0].axes[-1].get_ylim() == (0.0, 1.0)
    for panel, weight in ((1, 1 / 9), (2, 1.0)):
        corner = shown[0].axes[panel].images[0].get_array()[CELL_HEIGHT, CELL_WIDTH]
        assert tuple(corner) == pytest.approx(PAPER(weight)[:3])


def test_a_digit_can_be_read_whatever_its_weight(shown: list) -> None:
    stroke = torch.zeros(1, 24, 24)
    stroke[0, 10:14, 12] = 1.0  # a one in the centre
    maps = {"none": torch.zeros(1, 9), "all": torch.ones(1, 9)}
    show_over_image(stroke, maps, torch.tensor([4]), ["one"])
    for ax in shown[0].axes[:3]:
        picture = ax.images[0].get_array()
        ink, paper = picture[CELL_HEIGHT + 4, CELL_WIDTH + 5], picture[CELL_HEIGHT + 4, CELL_WIDTH + 2]
        assert contrast(ink, paper) > 7  # WCAG 2.1, success criterion 1.4.6
        lines = ax.get_xgridlines()
        assert len(lines) == 4  # a line on either side of each of the three columns
        assert all(line.get_visible() for line in lines)


def contrast(first: np.ndarray, second: np.ndarray) -> float:
    """The contrast ratio of two sRGB colours, from 1 to 21: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio"""
    linear = [np.where(one <= 0.04045, one / 12.92, ((one + 0.055) / 1.055) ** 2.4) for one in (first, second)]
    light, dark = sorted((one @ [0.2126, 0.7152, 0.0722] for one in linear), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_a_spread_shows_mean_and_median_on_one_logarithmic_axis(shown: list) -> None:
    samples = {"wide": torch.tensor([1e-20, 1e-3, 10.0]), "narrow": torch.tensor([0.2, 0.3, 0.7])}
    show_spread(samples, "length", smallest=1e-6)
    wide, narrow = shown[0].axes
    assert wide.get_xscale() == "log"
    assert wide.get_xlim() == narrow.get_xlim()
    assert [text.get_text() for text in wide.get_legend().get_texts()] == ["median 0.001", "mean 3.3"]
    assert [text.get_text() for text in narrow.get_legend().get_texts()] == ["median 0.3", "mean 0.4"]
    assert wide.patches[0].get_height() == pytest.approx(1 / 3)  # 1e-20 is in the first bar, not lost


def test_every_figure_is_white_on_a_page_of_any_colour(shown: list) -> None:
    with plt.rc_context({"figure.facecolor": (1, 1, 1, 0)}):
        show_map(torch.eye(3))
        show_curve([1, 2], {"one": [0.4, 0.5]}, "x", "y")
        show_bars({"trained": 0.96}, "right", chance=1 / 9)
        show_over_image(torch.rand(1, 24, 24), {"map": torch.eye(9)[:1]}, torch.tensor([0]), ["zero"])
        show_spread({"one": torch.tensor([0.1, 1.0])}, "length", smallest=1e-3)
    assert len(shown) == 5
    assert {figure.get_facecolor() for figure in shown} == {(1.0, 1.0, 1.0, 1.0)}


def test_curves_begin_at_zero_and_name_the_level(shown: list) -> None:
    show_curve([2, 8], {"one": [0.4, 0.5]}, "x", "y", level=1 / 9, logarithmic=True)
    ax = shown[0].axes[0]
    assert ax.get_ylim()[0] == 0
    assert "chance 0.111" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_bars_run_from_zero_to_one_with_the_chance_level(shown: list) -> None:
    show_bars({"untrained": 0.1, "trained": 0.96}, "right", chance=1 / 9)
    ax = shown[0].axes[0]
    assert ax.get_xlim()[0] == 0
    assert {text.get_text().strip() for text in ax.texts} == {"0.100", "0.960"}
