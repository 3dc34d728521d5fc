"""Draws three maps as inline SVG: a student's attention map, the reference's map, and their difference.

The student's map and the reference's map have the same scale.
"""

from dataclasses import dataclass
from functools import cache
from math import isfinite, isnan

from markupsafe import Markup

from grader.records import Heatmap

Matrix = tuple[tuple[float, ...], ...]

CELL = 44  # side of a cell in drawing units; the page scales the drawing
# Most rows or columns of a drawn map: it may be as narrow as 9.5rem, which is 3 pixels for each of 48 cells.
LARGEST = 48
MOST_COLUMNS_WITH_NUMBERS = 8  # a wider map has no values in its cells
# Nine colours each. Viridis (van der Walt and Smith, 2015) is sampled at equal steps; the blue–white–red is
# ColorBrewer's RdBu of eleven classes without its two palest colours. People with any form of
# colour-blindness can read both scales.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
DIVERGING = ("#053061", "#2166ac", "#4393c3", "#92c5de", "#f7f7f7", "#f4a582", "#d6604d", "#b2182b", "#67001f")
SAME = "Your map and the reference are the same."  # then one is shown


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One picture of a figure, with its title and its legend."""

    title: str
    svg: Markup
    legend: Markup


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Three pictures, or one if the maps are equal, with a caption that names the largest difference."""

    title: str
    caption: str
    panels: tuple[Panel, ...]


def figure(heatmap: Heatmap) -> Figure | None:
    """Return the figure with the answer's map, the reference's map and their difference.

    If the maps are equal, the figure has only one picture. Return None if the sizes of the maps
    differ, or if a map is empty or larger than LARGEST.
    """
    got, expected = heatmap.got, heatmap.expected
    widths = {len(row) for row in (*got, *expected)}
    if len(got) != len(expected) or len(widths) != 1 or not all(0 < side <= LARGEST for side in (len(got), *widths)):
        return None
    values = [0.0, *(value for row in (*got, *expected) for value in row if isfinite(value))]
    low, high = min(values), max(values)
    high = high if high > low else low + 1.0
    difference = tuple(
        tuple(a - b for a, b in zip(got_row, expected_row, strict=True))
        for got_row, expected_row in zip(got, expected, strict=True)
    )
    span = high - low
    panels = (
        _panel("yours", got, VIRIDIS, low, high),
        _panel("reference", expected, VIRIDIS, low, high),
        _panel("yours − reference", difference, DIVERGING, -span, span),
    )
    caption = _caption(difference)
    return Figure(title=heatmap.title, caption=caption, panels=panels[:1] if caption == SAME else panels)


def _caption(difference: Matrix) -> str:
    """Return a sentence that names the place with the largest difference between two maps.

    Args:
        difference: the answer's map minus the reference's map, (queries, keys).
    """
    places = [(row, column) for row in range(len(difference)) for column in range(len(difference[0]))]
    broken = [place for place in places if not isfinite(difference[place[0]][place[1]])]
    if broken:
        row, column = broken[0]
        return f"Your map contains NaN or infinite numbers, first at query {row + 1}, key {column + 1}."
    row, column = max(places, key=lambda place: abs(difference[place[0]][place[1]]))
    if abs(difference[row][column]) < 5e-6:
        return SAME
    word = "more" if difference[row][column] > 0 else "less"
    return (
        f"They differ most at query {row + 1}, key {column + 1}: "
        f"yours gives it {abs(difference[row][column]):.2g} {word} than the reference."
    )


def _panel(title: str, matrix: Matrix, stops: tuple[str, ...], low: float, high: float) -> Panel:
    """Return the picture of one map. `low` and `high` are the values at the ends of the colour scale."""
    rows, columns = len(matrix), len(matrix[0])
    width, height = columns * CELL, rows * CELL
    cells = []
    for row, line in enumerate(matrix):
        for column, value in enumerate(line):
            colour = shade(stops, (value - low) / (high - low)) if isfinite(value) else "#888888"
            left, top = column * CELL, row * CELL
            cells.append(f'<rect x="{left}" y="{top}" width="{CELL}" height="{CELL}" fill="{colour}"/>')
            if columns <= MOST_COLUMNS_WITH_NUMBERS or not isfinite(value):
                cells.append(
                    f'<text x="{left + CELL / 2}" y="{top + CELL / 2}" fill="{ink(colour)}">{_cell_text(value)}</text>'
                )
    label = f"Map {title}: {rows} queries by {columns} keys"
    svg = (
        f'<svg class="map" viewBox="-1 -1 {width + 2} {height + 2}" style="max-width:{min(width, 260) + 2}px" '
        f'role="img" aria-label="{label}" font-size="13" text-anchor="middle" dominant-baseline="central">'
        f"{''.join(cells)}</svg>"
    )
    legend = f"<span>{_scale_end(low)}</span>{_colour_bar(stops)}<span>{_scale_end(high)}</span>"
    return Panel(title=title, svg=Markup(svg), legend=Markup(legend))


@cache
def _colour_bar(stops: tuple[str, ...]) -> str:
    # Rectangles and not a gradient: a gradient needs an id, and two figures of a page would have the same.
    steps = 24
    bar = "".join(
        f'<rect x="{step * 4}" width="4.5" height="6" fill="{shade(stops, step / (steps - 1))}"/>'
        for step in range(steps)
    )
    return f'<svg class="bar" viewBox="0 0 {steps * 4} 6" aria-hidden="true">{bar}</svg>'


def _scale_end(value: float) -> str:
    """Return the text for a value at an end of the colour scale."""
    return f"{value:.2g}".replace("-", "−")


def _cell_text(value: float) -> str:
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


# ---------------------------------------------------------------- colours


def shade(stops: tuple[str, ...], position: float) -> str:
    """Return a colour of a scale, as #rrggbb.

    Args:
        stops: the colours of the scale, at equal steps.
        position: the place on the scale, from 0 to 1.
    """
    scaled = min(max(position, 0.0), 1.0) * (len(stops) - 1)
    index = min(int(scaled), len(stops) - 2)
    low, high = (_channels(stops[index + offset]) for offset in (0, 1))
    mixed = (round(a + (b - a) * (scaled - index)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ink(background: str) -> str:
    """Return the colour, black or white, that has the higher contrast on this background according to WCAG."""
    red, green, blue = (_linear(channel / 255) for channel in _channels(background))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#fff"


def _channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #rrggbb, each from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _linear(channel: float) -> float:
    """Convert an sRGB channel from 0 to 1 to linear light, as WCAG defines it."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
