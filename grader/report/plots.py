"""The class page's plots, as inline SVG: a histogram, and bars of how each exercise ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from grader.report.text import SYMBOLS, clean

# From Okabe and Ito's palette, which colour-blind readers tell apart; light enough for dark text.
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
    """Bars from left to right, the count on top of each, the edges between them below.

    Args:
        counts: n of them.
        edges: n + 1 of them.
        label: what is shown, for those who cannot see it.
    """
    height, base, top = 180, 150, 20
    step = WIDTH / len(counts)
    tallest = max([*counts, 1])
    parts = []
    for index, count in enumerate(counts):
        tall = (base - top) * count / tallest
        left = index * step
        parts.append(
            f'<rect x="{left + 2:.1f}" y="{base - tall:.1f}" width="{step - 4:.1f}" height="{tall:.1f}" rx="2" '
            'class="column"/>'
        )
        if count:
            middle = left + step / 2
            parts.append(
                f'<text x="{middle:.1f}" y="{base - tall - 6:.1f}" text-anchor="middle">{count}</text>'
            )
    parts.append(f'<line x1="0" x2="{WIDTH}" y1="{base}" y2="{base}" class="axis"/>')
    for index, edge in enumerate(edges):
        parts.append(
            f'<text x="{index * step:.1f}" y="{base + 18}" text-anchor="middle" class="tick">{escape(edge)}</text>'
        )
    return _svg(parts, WIDTH, height, label)


def outcome_bars(rows: Sequence[tuple[str, Mapping[str, int]]], label: str) -> Markup:
    """One bar for each exercise, divided by how it ended; the share of full points stands at its end.

    Args:
        rows: the exercise's name, and how many ended how.
    """
    left, right, tall = 210, 56, 26
    parts = []
    for index, (name, counts) in enumerate(rows):
        top, total = index * tall, max(sum(counts.values()), 1)
        middle = top + tall / 2
        parts.append(f'<text x="0" y="{middle}" dominant-baseline="central">{escape(_short(name))}</text>')
        place = float(left)
        for kind, (symbol, meaning) in SYMBOLS.items():
            count = counts.get(kind, 0)
            wide = (WIDTH - left - right) * count / total
            if not count:
                continue
            parts.append(
                f'<rect x="{place:.1f}" y="{top + 3}" width="{wide:.1f}" height="{tall - 6}" fill="{FILLS[kind]}">'
                f"<title>{count} of {total}: {meaning}</title></rect>"
            )
            if wide > 16:
                parts.append(
                    f'<text x="{place + wide / 2:.1f}" y="{middle}" text-anchor="middle" '
                    f'dominant-baseline="central" fill="#000" class="mark">{symbol}</text>'
                )
            place += wide
        share = round(100 * counts.get("full", 0) / total)
        parts.append(
            f'<text x="{WIDTH}" y="{middle}" text-anchor="end" dominant-baseline="central">{share} %</text>'
        )
    return _svg(parts, WIDTH, max(len(rows), 1) * tall, label)


def _short(name: str) -> str:
    name = clean(name)
    return name if len(name) <= 28 else f"{name[:27]}…"


def _svg(parts: Sequence[str], width: int, height: int, label: str) -> Markup:
    # A margin at both sides, so that a tick's number under the first and last edge is not cut off.
    return Markup(
        f'<svg class="plot" viewBox="-14 0 {width + 28} {height}" role="img" aria-label="{escape(label)}" '
        f'font-size="13">{"".join(parts)}</svg>'
    )
