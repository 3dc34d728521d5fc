"""Figures of two joined towers: drawn for real, on one scale, with every title whole."""

import matplotlib.pyplot as plt
import pytest
import torch
from attention.plots.joined_plots import show_emoji, show_recalls, show_scene_maps


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch):
    """Draw without a window, and close every figure."""
    monkeypatch.setattr(plt, "show", lambda: plt.gcf().canvas.draw())
    yield
    plt.close("all")


def test_long_titles_stay_within_the_figure() -> None:
    title = "grinning cat face with smiling eyes:\n" + "\n".join(
        f"{place}. smiling cat face with eyes" for place in (1, 2, 3)
    )
    show_emoji(torch.rand(8, 3, 84, 84), [title] * 8, ["green"] * 8)
    figure = plt.gcf()
    for ax in figure.axes:
        box = ax.title.get_window_extent()
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_recalls_have_a_dot_for_each_split() -> None:
    show_recalls({"linear": [0.4] * 5, "untrained": [0.03] * 5}, {70: [0.2] * 5, 139: [0.3] * 5}, 0.036)
    left, right = plt.gcf().axes
    assert [len(line.get_xdata()) for line in left.lines[:2]] == [5, 5]
    assert list(right.lines[0].get_ydata()) == pytest.approx([0.2, 0.3])


def test_maps_of_a_scene_share_one_scale_around_zero() -> None:
    maps = torch.stack([torch.full((12, 12), -0.5), torch.rand(12, 12)])
    show_scene_maps(torch.rand(3, 168, 168), maps, ["mirror", "a name of many words that has to be wrapped"])
    scales = {ax.images[0].get_clim() for ax in plt.gcf().axes[1:3]}
    most = maps.abs().max().item()
    assert scales == {(-most, most)}
