"""Maps as SVG: the right colour at the right place, and nothing breaks them."""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf, nan

import pytest

from grader.records import Heatmap
from grader.report.heatmap import DIVERGING, LARGEST, SAME, VIRIDIS, figure, ink, shade


def fills(svg: str) -> list[str]:
    """The cells' colours, row by row from the top."""
    cells = re.findall(r'<rect x="(\d+)" y="(\d+)" width="44" height="44" fill="(#\w+)"', svg)
    return [colour for top, left, colour in sorted((int(y), int(x), colour) for x, y, colour in cells)]


def grey(colour: str) -> float:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_one_scale_and_rows_from_above():
    drawn = figure(Heatmap(title="t", got=((0.0, 0.5, 1.0), (1.0, 0.0, 0.0)), expected=((0.5,) * 3, (0.0,) * 3)))
    yours, reference, difference = (fills(panel.svg) for panel in drawn.panels)
    low, middle, high = VIRIDIS[0], VIRIDIS[4], VIRIDIS[-1]
    assert yours == [low, middle, high, high, low, low]
    assert reference == [middle, middle, middle, low, low, low]
    assert difference == [DIVERGING[2], DIVERGING[4], DIVERGING[6], DIVERGING[8], DIVERGING[4], DIVERGING[4]]
    assert drawn.caption == "They differ most at query 2, key 1: yours gives it 1 more than the reference."


def test_the_same_map_is_said_to_be_the_same():
    same = ((0.25, 0.75),)
    alike = figure(Heatmap(title="t", got=same, expected=same))
    assert (alike.caption, [panel.title for panel in alike.panels]) == (SAME, ["yours"])


def test_less_is_less():
    drawn = figure(Heatmap(title="t", got=((0.1, 0.9),), expected=((0.7, 0.9),)))
    assert drawn.caption == "They differ most at query 1, key 1: yours gives it 0.6 less than the reference."


def test_negative_values_stretch_the_scale():
    drawn = figure(Heatmap(title="t", got=((-2.0, 2.0),), expected=((0.0, 1.0),)))
    assert fills(drawn.panels[0].svg) == [VIRIDIS[0], VIRIDIS[-1]]
    assert fills(drawn.panels[1].svg)[0] == VIRIDIS[4]


def test_nan_and_infinity_are_grey_and_named():
    drawn = figure(Heatmap(title="t", got=((0.5, nan), (inf, -inf)), expected=((0.5, 0.5), (0.5, 0.5))))
    assert fills(drawn.panels[0].svg) == [VIRIDIS[-1], "#888888", "#888888", "#888888"]
    assert re.findall(r">([^<>]+)</text>", drawn.panels[0].svg) == ["0.50", "NaN", "∞", "−∞"]
    assert drawn.caption == "Your map contains NaN or infinite numbers, first at query 1, key 2."


def test_a_map_of_zeros_and_one_of_only_nan():
    assert figure(Heatmap(title="t", got=((0.0,),), expected=((0.0,),))).caption == SAME
    assert "NaN" in figure(Heatmap(title="t", got=((nan,),), expected=((nan,),))).caption


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ((), ()),
        (((),), ((),)),
        (((1.0,),), ((1.0, 0.0),)),
        (((1.0,), (1.0,)), ((1.0,),)),
        (((1.0, 0.0), (1.0,)), ((1.0, 0.0), (1.0, 0.0))),
        (((1.0,) * (LARGEST + 1),), ((1.0,) * (LARGEST + 1),)),
    ],
)
def test_what_is_no_map_is_not_drawn(got, expected):
    assert figure(Heatmap(title="t", got=got, expected=expected)) is None


def test_wide_maps_have_no_numbers():
    row = tuple(index / 20 for index in range(20))
    assert "<text" not in figure(Heatmap(title="t", got=(row,), expected=(row,))).panels[0].svg


def test_colours_read_in_grey_too():
    steps = [grey(shade(VIRIDIS, index / 40)) for index in range(41)]
    assert all(darker < lighter for darker, lighter in pairwise(steps))
    assert shade(DIVERGING, 0.5) == "#f7f7f7"
    assert shade(VIRIDIS, -3.0) == VIRIDIS[0]
    assert shade(VIRIDIS, 3.0) == VIRIDIS[-1]
    assert shade(("#000000", "#ffffff"), 0.5) == "#808080"


@pytest.mark.parametrize(("background", "expected"), [("#000000", "#fff"), ("#ffffff", "#000"), (VIRIDIS[1], "#fff")])
def test_numbers_can_be_read_on_their_cell(background: str, expected: str):
    assert ink(background) == expected


def test_a_difference_that_rounds_to_zero_has_no_sign():
    drawn = figure(Heatmap(title="t", got=((0.5, 0.5),), expected=((0.501, 0.499),)))
    assert "−0.00" not in "".join(panel.svg for panel in drawn.panels)
