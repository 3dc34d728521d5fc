"""Figures of lesson 1: drawn for real, and compared panels share one scale."""

from collections.abc import Iterator

import matplotlib
import pytest
import torch

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from attention.plots import show_bars, show_curve, show_map, show_maps, show_over_image


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
    return {
        image.get_clim() for ax in figure.axes for image in ax.images if image.get_cmap().name == "viridis"
    }


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
    show_over_image(
        torch.rand(2, 24, 24), {"chance": uniform, "sharp": sharp}, torch.tensor([4, 7]), ["four", "seven"]
    )
    assert limits(shown[0]) == {(0.0, 1.0)}
    frames = [ax.patches[0].get_xy() for ax in shown[0].axes[:6]]
    assert frames == [(7.5, 7.5)] * 3 + [(7.5, 15.5)] * 3


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
