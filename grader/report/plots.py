"""Draws the plots of the class page as inline SVG: a histogram, and bars of how each exercise ended."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from grader.report.text import SYMBOLS, clean

# From Okabe and Ito's palette, whose colours colour-blind readers can tell apart; light enough for dark text.
FILLS = {
    "full": "#009e73",
    "part": "#f0e442",
    "wrong": "#d55e00",
    "missing": "#bbbbbb",
    "timeout": "#cc79a7",
    "fault": "#56b4e9",
}
WIDTH = 640


def histogram(counts: Sequence[int], edges: Sequence[str], label: str) -> Markup:
    """Draw bars from left to right, each with its count on top, and the edges of the bins below.

    Args:
        counts: the height of each of n bars.
        edges: the n + 1 texts below the bars' edges.
        label: a description of the plot, for screen readers.
    """
    height, base, top = 180, 150, 20
    step = WIDTH / len(counts)
    highest = max([*counts, 1])
    parts = []
    for index, count in enumerate(counts):
        height_of_bar = (base - top) * count / highest
        left = index * step
        parts.append(
            f'<rect x="{left + 2:.1f}" y="{base - height_of_bar:.1f}" width="{step - 4:.1f}" height="{height_of_bar:.1f}" rx="2" '
            'class="column"/>'
        )
        if count:
            middle = left + step / 2
            parts.append(
                f'<text x="{middle:.1f}" y="{base - height_of_bar - 6:.1f}" text-anchor="middle">{count}</text>'
            )
    parts.append(f'<line x1="0" x2="{WIDTH}" y1="{base}" y2="{base}" class="axis"/>')
    for index, edge in enumerate(edges):
        parts.append(
            f'<text x="{index * step:.1f}" y="{base + 18}" text-anchor="middle" class="tick">{escape(edge)}</text>'
        )
    return _svg(parts, WIDTH, height, label)


def outcome_bars(rows: Sequence[tuple[str, Mapping[str, int]]], label: str) -> Markup:
    """Draw one bar for each exercise, divided by how the exercise ended in the submissions.

    The text at the right of a bar is the percentage of submissions with full points.

    Args:
        rows: for each exercise its name, and the number of submissions for each key of SYMBOLS.
        label: a description of the plot, for screen readers.
    """
    left, right, row_height = 210, 56, 26
    parts = []
    for index, (name, counts) in enumerate(rows):
        top, total = index * row_height, max(sum(counts.values()), 1)
        middle = top + row_height / 2
        parts.append(f'<text x="0" y="{middle}" dominant-baseline="central">{escape(_short(name))}</text>')
        position = float(left)
        for kind, (symbol, meaning) in SYMBOLS.items():
            count = counts.get(kind, 0)
            width = (WIDTH - left - right) * count / total
            if not count:
                continue
            parts.append(
                f'<rect x="{position:.1f}" y="{top + 3}" width="{width:.1f}" height="{row_height - 6}" fill="{FILLS[kind]}">'
                f"<title>{count} of {total}: {meaning}</title></rect>"
            )
            if width > 16:
                parts.append(
                    f'<text x="{position + width / 2:.1f}" y="{middle}" text-anchor="middle" '
                    f'dominant-baseline="central" fill="#000" class="mark">{symbol}</text>'
                )
            position += width
        share = round(100 * counts.get("full", 0) / total)
        parts.append(f'<text x="{WIDTH}" y="{middle}" text-anchor="end" dominant-baseline="central">{share} %</text>')
    return _svg(parts, WIDTH, max(len(rows), 1) * row_height, label)


def _short(name: str) -> str:
    name = clean(name)
    return name if len(name) <= 28 else f"{name[:27]}…"


def _svg(parts: Sequence[str], width: int, height: int, label: str) -> Markup:
    # Without the margins at both sides the numbers under the first and the last edge would be cut off.
    return Markup(
        f'<svg class="plot" viewBox="-14 0 {width + 28} {height}" role="img" aria-label="{escape(label)}" '
        f'font-size="13">{"".join(parts)}</svg>'
    )
