"""Wrong answers to 4.10 and 4.11."""

from __future__ import annotations

import torch
from attention.rotary import rotate, rotate_2d
from torch import Tensor

from grader.declaration.exercise import mistake, mistakes_in


def _angles(positions: Tensor, d: int, base: float) -> Tensor:
    """The right angles (..., n, d/2), in float64."""
    return positions.unsqueeze(-1) * base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)


def _turned(first: Tensor, second: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    """Turn pairs (first, second) by their angles."""
    cos, sin = angle.cos().to(first.dtype), angle.sin().to(first.dtype)
    return first * cos - second * sin, first * sin + second * cos


def _turned_neighbours(vectors: Tensor, angle: Tensor) -> Tensor:
    """Turn pairs of neighbours by angles (..., n, d/2)."""
    if vectors.shape[-1] % 2:
        raise ValueError("an odd width")
    pairs = _turned(vectors[..., 0::2], vectors[..., 1::2], angle)
    return torch.stack(pairs, dim=-1).flatten(-2)


@mistake(
    "rotate", "Dimension i is paired with i + d/2, as some programs do. Here the pairs are neighbours: 2i and 2i + 1."
)
def pairs_of_halves(vectors, positions, base=10000.0):
    if vectors.shape[-1] % 2:
        raise ValueError("an odd width")
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat(_turned(first, second, _angles(positions, vectors.shape[-1], base)), dim=-1)


@mistake("rotate", "The vectors are turned backwards. Turn by plus the angle: the first gets − second · sin.")
def turned_backwards(vectors, positions, base=10000.0):
    return rotate(vectors, -positions, base)


@mistake("rotate", "All pairs are turned by the same angle, the place itself. Pair i has its own speed: base^(−2i/d).")
def same_speed_for_all(vectors, positions, base=10000.0):
    return rotate(vectors, positions, 1.0)


@mistake("rotate", "The speeds are base^(−i/d): the angles shrink too slowly. The exponent of pair i is −2i/d.")
def half_the_exponent(vectors, positions, base=10000.0):
    return rotate(vectors, positions, base**0.5)


@mistake("rotate", "The speeds are base^(−2i/(d/2)): they shrink too fast. Divide 2i by d, the whole width.")
def twice_the_exponent(vectors, positions, base=10000.0):
    return rotate(vectors, positions, base**2)


@mistake("rotate", "The speeds grow from pair to pair. The exponent is negative: base^(−2i/d).")
def speeds_grow(vectors, positions, base=10000.0):
    return rotate(vectors, positions, 1 / base)


@mistake("rotate", "The argument base is not used: 10000 is written out.")
def base_written_out(vectors, positions, base=10000.0):
    return rotate(vectors, positions)


@mistake(
    "rotate", "The second of a pair is computed from the first that is already turned. Keep the old one for both lines."
)
def uses_the_turned_first(vectors, positions, base=10000.0):
    if vectors.shape[-1] % 2:
        raise ValueError("an odd width")
    angle = _angles(positions, vectors.shape[-1], base)
    cos, sin = angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    first = first * cos - second * sin
    second = first * sin + second * cos
    return torch.stack([first, second], dim=-1).flatten(-2)


@mistake(
    "rotate",
    "The pairs are right, but come back as two halves. Put each pair back as neighbours: stack on a new last axis, then flatten.",
)
def halves_come_back(vectors, positions, base=10000.0):
    turned = rotate(vectors, positions, base)
    return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)


@mistake("rotate", "Both lines have a plus, and so lengths change. In a turn exactly one of the two has a minus.")
def mirrored(vectors, positions, base=10000.0):
    if vectors.shape[-1] % 2:
        raise ValueError("an odd width")
    angle = _angles(positions, vectors.shape[-1], base)
    cos, sin = angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([first * cos + second * sin, first * sin + second * cos], dim=-1).flatten(-2)


@mistake("rotate", "Sine and cosine are added to the vectors, as the first transformer did. Turn each pair by them.")
def sines_added(vectors, positions, base=10000.0):
    if vectors.shape[-1] % 2:
        raise ValueError("an odd width")
    angle = _angles(positions, vectors.shape[-1], base)
    return vectors + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).to(vectors.dtype)


@mistake("rotate", "The places are counted 0, 1, 2 … here. Use the argument positions.")
def places_counted(vectors, positions, base=10000.0):
    return rotate(vectors, torch.arange(vectors.shape[-2]), base)


@mistake("rotate", "With an odd width the last dimension has no partner: raise a ValueError.")
def last_dimension_left_alone(vectors, positions, base=10000.0):
    d = vectors.shape[-1] // 2 * 2
    return torch.cat([rotate(vectors[..., :d], positions, base), vectors[..., d:]], dim=-1)


@mistake("rotate", "The vectors that were handed in are changed. Write the turned pairs into a new tensor.")
def turned_in_place(vectors, positions, base=10000.0):
    turned = rotate(vectors, positions, base)
    with torch.no_grad():
        vectors.copy_(turned)
    return turned


ROTATE_MISTAKES = mistakes_in(globals(), "rotate")


@mistake("rotate_2d", "The row turns the whole vector, and the column nothing. Each of them gets one half.")
def rows_alone(vectors, rows, columns, base=10000.0):
    return rotate(vectors, rows, base)


@mistake("rotate_2d", "Both halves are turned by the row. The last half belongs to the column.")
def rows_twice(vectors, rows, columns, base=10000.0):
    return rotate_2d(vectors, rows, rows, base)


@mistake("rotate_2d", "Rows and columns are exchanged: the first half is turned by the row, the last by the column.")
def columns_first(vectors, rows, columns, base=10000.0):
    return rotate_2d(vectors, columns, rows, base)


@mistake(
    "rotate_2d",
    "All dimensions are turned by row plus column, so (1, 2) and (2, 1) are the same place. Give each one half.",
)
def row_plus_column(vectors, rows, columns, base=10000.0):
    return rotate(rotate(vectors, rows, base), columns, base)


@mistake("rotate_2d", "The patches are numbered row by row, as on a line. Give `rotate` the row, then the column.")
def numbered_row_by_row(vectors, rows, columns, base=10000.0):
    return rotate(vectors, rows * (columns.max() + 1) + columns, base)


@mistake("rotate_2d", "Rows and columns have every second pair. Here the whole first half belongs to the row.")
def pairs_alternate(vectors, rows, columns, base=10000.0):
    pairs = vectors.unflatten(-1, (-1, 2))
    halves = torch.cat([pairs[..., 0::2, :].flatten(-2), pairs[..., 1::2, :].flatten(-2)], dim=-1)
    turned = rotate_2d(halves, rows, columns, base).unflatten(-1, (2, -1, 2))
    return turned.transpose(-3, -2).flatten(-3)


@mistake(
    "rotate_2d",
    "The speeds of a half are those of the whole width d. `rotate` gets a half, of width d/2, and goes by that.",
)
def speeds_of_the_whole(vectors, rows, columns, base=10000.0):
    return rotate_2d(vectors, rows, columns, base**0.5)


@mistake("rotate_2d", "The column's half goes on where the row's speeds end. Both halves begin at the speed 1.")
def speeds_go_on(vectors, rows, columns, base=10000.0):
    count = vectors.shape[-1] // 4
    angle = torch.cat(
        [
            _angles(place, vectors.shape[-1], base)[..., part]
            for place, part in ((rows, slice(0, count)), (columns, slice(count, None)))
        ],
        dim=-1,
    )
    return _turned_neighbours(vectors, angle)


@mistake("rotate_2d", "The base is not handed on to `rotate`.")
def base_not_handed_on(vectors, rows, columns, base=10000.0):
    return rotate_2d(vectors, rows, columns)


@mistake("rotate_2d", "The halves come back in the other order: the row's half first.")
def halves_exchanged(vectors, rows, columns, base=10000.0):
    return rotate_2d(vectors, rows, columns, base).roll(vectors.shape[-1] // 2, dims=-1)


ROTATE_2D_MISTAKES = mistakes_in(globals(), "rotate_2d")
