"""Colour scales for maps, readable with any colour vision: from dark to light, and with a white middle."""

# Nine colours each. Viridis (van der Walt and Smith, 2015) is sampled at equal steps; the blue–white–red is
# ColorBrewer's RdBu of eleven classes without its two palest colours. People with any form of
# colour-blindness can read both scales.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
DIVERGING = ("#053061", "#2166ac", "#4393c3", "#92c5de", "#f7f7f7", "#f4a582", "#d6604d", "#b2182b", "#67001f")


def shade(stops: tuple[str, ...], position: float) -> str:
    """Return the colour, as #rrggbb, at a position from 0 to 1 of a scale with `stops` at equal steps."""
    scaled = min(max(position, 0.0), 1.0) * (len(stops) - 1)
    index = min(int(scaled), len(stops) - 2)
    low, high = (_channels(stops[index + offset]) for offset in (0, 1))
    mixed = (round(a + (b - a) * (scaled - index)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ink(background: str) -> str:
    """Return black or white, whichever WCAG gives the higher contrast on this background."""
    red, green, blue = (_linear(channel / 255) for channel in _channels(background))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#fff"


def _channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #rrggbb, each from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _linear(channel: float) -> float:
    """Convert an sRGB channel from 0 to 1 to linear light, as WCAG defines it."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
