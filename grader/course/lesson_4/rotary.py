"""Exercises 4.5 and 4.6: rotary positions, on a line and on a grid."""

from collections.abc import Mapping

import torch
from attention.rotary import rotate, rotate_2d
from torch import Tensor

from grader.course.lesson_4 import stand_ins
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, Value, sizes, written_exercise
from grader.declare.drawn import drawn, given, integers, normal, where_given
from grader.declare.probes import function_effects, raised

FARTHEST = 40  # place; farther out, float32 rounds the angles more than is allowed here


def draw_rotation(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    n: int,
    d: int,
    base: float | None = None,
    each: bool = False,
    fractions: bool = False,
    dtype: torch.dtype = torch.float32,
    places: str = "as drawn",
) -> Inputs:
    """Draw vectors and positions, and add a base if one is given.

    Args:
        each: give every vector of the batch its own position.
        fractions: draw positions between the integers, too.
        places: the dtype of the positions: "as drawn", or "float64", whatever the dtype of the
            vectors is.
    """
    shape = (*batch_shape, n) if each else (n,)
    drawn_places = sampler.uniform(*shape) * FARTHEST if fractions else sampler.integers(0, FARTHEST, *shape)
    vectors = sampler.normal(*batch_shape, n, d, dtype=dtype)
    inputs = {"vectors": vectors, "positions": drawn_places.double() if places == "float64" else drawn_places}
    return inputs if base is None else {**inputs, "base": base}


draw_relation = drawn(
    query=normal("n d", dtype=torch.float64),
    key=normal("n d", dtype=torch.float64),
    positions=integers(0, FARTHEST, "n"),
    shift=given("shift"),
)


def rotary_relation(rotate, query: Tensor, key: Tensor, positions: Tensor, shift: int) -> Mapping[str, Value]:
    """Return whether rotation keeps lengths, and whether scores depend only on the distance of two positions."""

    def scores(of_query: Tensor, of_key: Tensor) -> Tensor:
        return rotate(query, of_query) @ rotate(key, of_key).transpose(-2, -1)

    def alike(one: Tensor, other: Tensor) -> bool:
        return bool((one - other).abs().max() < 1e-4 * other.abs().max())

    before = scores(positions, positions)
    return {
        "every vector keeps its length": alike(rotate(query, positions).norm(dim=-1), query.norm(dim=-1)),
        "a score stays if query and key move by the same": alike(scores(positions + shift, positions + shift), before),
        "a score changes if the key moves alone": not alike(scores(positions, positions + shift), before),
    }


# Vectors of odd width, and such as can be turned.
draw_odd = drawn(
    odd="n d",
    even=lambda sampler, sizes: sampler.normal(sizes["n"], sizes["d"] + 1),
    positions=integers(0, FARTHEST, "n"),
)


def rotate_odd(rotate, odd: Tensor, even: Tensor, positions: Tensor) -> Mapping[str, Value]:
    """Return the errors for vectors of odd and of even width."""
    return {
        "error with an odd width": raised(lambda: rotate(odd, positions)),
        "with an even width it raises": raised(lambda: rotate(even, positions)),
    }


ROTATE = written_exercise("4.5 Rotary positions", rotate, (
    CheckSpec("values", 6, "each pair of neighbours is turned by its own angle",
        examples=[sizes(n=2, d=4), sizes(n=3, d=6, base=100.0), sizes(n=2, d=4, places="float64"),
            sizes(n=3, d=4, fractions=True)],
        trials=[sizes(n=7, d=6), sizes(n=5, d=2), sizes(n=3, d=10, base=50.0), sizes(n=5, d=8, fractions=True),
            sizes(n=5, d=4, places="float64")]),
    CheckSpec("relation", 2, "a score depends on the distance of query and key alone, and lengths stay",
        examples=[sizes(n=3, d=4, shift=5)], trials=[sizes(n=7, d=6, shift=3), sizes(n=5, d=2, shift=20)],
        needs=(), draw=draw_relation, probe=rotary_relation),
    CheckSpec("batch", 2, "with a batch, and with places of each vector's own",
        examples=[sizes(batch_shape=(2,), n=3, d=4, each=True)],
        trials=[sizes(batch_shape=(2, 3), n=7, d=4), sizes(batch_shape=(2, 3), n=5, d=6, each=True),
            sizes(batch_shape=(3,), n=3, d=6, each=True)]),
    CheckSpec("odd", 2, "an odd width raises a ValueError", examples=[sizes(n=2, d=3)],
        trials=[sizes(n=3, d=7), sizes(n=2, d=1)], draw=draw_odd, probe=rotate_odd),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are", examples=[sizes(n=2, d=4)],
        trials=[sizes(batch_shape=(2,), n=5, d=6, dtype=torch.float64)], probe=function_effects),
),
    draw=draw_rotation, returns=("rotated",),
    difficulty=2, minutes=12, review="Positions that turn", stand_in=stand_ins.rotate,
    mistakes="""
    pairs_of_halves: Your code pairs dimension i with i + d/2, as some programs do. Pair neighbours: 2i and 2i +
        1.
        vectors[..., 0::2], vectors[..., 1::2]  →  vectors.chunk(2, dim=-1)
        torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
            →  torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    halves_turned_and_stacked: Your code pairs dimension i with i + d/2, and returns these pairs as neighbours.
        Pair neighbours from the start: 2i and 2i + 1.
        vectors[..., 0::2], vectors[..., 1::2]  →  vectors.chunk(2, dim=-1)
    partners_of_halves: Your angles are made for pairs of neighbours, but your partners are d/2 apart. Pair
        neighbours for the angles and for the partners.
        return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
            →  a, b = vectors.chunk(2, -1); return vectors * cos.repeat_interleave(2, -1) + torch.cat([-b, a], -1) *
               sin.repeat_interleave(2, -1)
    angles_of_halves: In your code neighbours form a pair, but the angles repeat after d/2. Give both numbers of a
        pair the same angle.
        return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
            →  return vectors * torch.cat([cos, cos], -1) + torch.stack([-second, first], -1).flatten(-2) *
               torch.cat([sin, sin], -1)
    exponents_from_one: The exponents begin at −2/d. The first pair must have the exponent 0: count i from 0.
        torch.arange(0, d, 2,  →  torch.arange(2, d + 2, 2,
    turned_backwards: Your code turns the vectors in the wrong direction. Turn them by plus the angle: the new
        first number contains − second · sin.
        + positions = -positions
    same_speed_for_all: Your code turns all pairs by the same angle, the position itself. Give pair i its own
        speed: base^(−2i/d).
        + base = 1.0
    half_the_exponent: Your speeds are base^(−i/d), which shrink too slowly. The exponent of pair i must be −2i/d.
        + base = base**0.5
    twice_the_exponent: Your speeds are base^(−4i/d), which shrink too fast. The exponent of pair i must be −2i/d,
        and arange(0, d, 2) already counts 2i.
        + base = base**2
    speeds_grow: Your speeds grow from pair to pair. The exponent must be negative: base^(−2i/d).
        + base = 1 / base
    speeds_to_the_end: Your exponents run from 0 to −1, both ends included. The exponent of the last pair must be −(d
        − 2)/d.
        base ** -(torch.arange(0, d, 2, dtype=torch.float64, device=vectors.device) / d)
            →  base ** -torch.linspace(0, 1, d // 2, dtype=torch.float64)
    base_written_out: Your code always uses the base 10000. Use the argument `base`.
        + base = 10000.0
    uses_the_turned_first: Your code computes the second number of a pair from the first number after the turn.
        Use the old first number in both lines.
        return torch.stack([first * cos - second * sin,
            →  first = first * cos - second * sin; return torch.stack([first,
    halves_come_back: Your pairs are right, but you return all first numbers before all second ones. Put each pair
        back as neighbours: stack on a new last axis, then flatten.
        = torch.cat([result[..., 0::2], result[..., 1::2]], dim=-1)
    places_cut_to_whole_numbers: The places are cut to whole numbers. A place may be a fraction: do not round it.
        + positions = positions.long()
    mirrored: Both lines have a plus, so lengths change. To turn a vector, exactly one of the two lines needs a minus.
        first * cos - second  →  first * cos + second
    sines_added: Sine and cosine are added to the vectors, as the first transformer did. Turn each pair by its
        angle instead.
        torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
            →  vectors + torch.stack([sin, cos], dim=-1).flatten(-2)
    dtype_of_the_places: The result has the dtype of the positions. Give it the dtype of the vectors:
        .to(vectors.dtype).
        angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
            →  (angle.to(positions.dtype) if positions.is_floating_point() else angle.float()).cos(),
               (angle.to(positions.dtype) if positions.is_floating_point() else angle.float()).sin()
    places_counted: The places are counted 0, 1, 2 … here. Use the argument `positions`.
        + positions = torch.arange(vectors.shape[-2])
    places_without_an_axis: Your code multiplies each position by only one speed. Each position must turn every
        pair: give the positions an axis for the pairs, .unsqueeze(-1).
        positions.unsqueeze(-1)  →  positions
    last_dimension_left_alone: Your code accepts an odd width, where the last dimension has no partner. Raise a
        ValueError.
        + whole, vectors = vectors, vectors[..., : vectors.shape[-1] // 2 * 2]
        = torch.cat([result, whole[..., vectors.shape[-1] :]], dim=-1)
    turned_in_place: The input vectors are changed. Write the turned pairs into a new tensor.
        = (vectors.data.copy_(result.data), result)[1]
""")  # fmt: skip

# ---------------------------------------------------------------- 4.6

# Vectors, and the row and the column of each; a base if the trial gives one.
draw_grid = drawn(
    vectors="* n d",
    rows=integers(0, FARTHEST, "n"),
    columns=integers(0, FARTHEST, "n"),
    base=where_given("base", given("base")),
)

ROTATE_2D = written_exercise("4.6 Rotary positions on a grid", rotate_2d, (
    CheckSpec("values", 4, "the first half is turned by the row, the last half by the column",
        examples=[sizes(n=3, d=8), sizes(n=2, d=12, base=100.0)],
        trials=[sizes(n=7, d=12), sizes(n=5, d=4), sizes(n=3, d=8, base=50.0)]),
    CheckSpec("batch", 2, examples=[sizes(batch_shape=(2,), n=3, d=8)],
        trials=[sizes(batch_shape=(2, 3), n=5, d=8), sizes(batch_shape=(3,), n=7, d=12)]),
    CheckSpec("conduct", 2, "float64 stays float64, inputs stay as they are", examples=[sizes(n=2, d=8)],
        trials=[sizes(batch_shape=(2,), n=5, d=12, dtype=torch.float64)], probe=function_effects),
),
    draw=draw_grid, returns=("rotated",),
    builds_on=("4.5",), difficulty=1, minutes=6, review="Positions that turn",
    mistakes="""
    rows_alone: The whole vector is turned by the row, and the column changes nothing. Turn one half by the row, the
        other by the column.
        + return rotate(vectors, rows, base)
    rows_twice: Your code turns both halves by the row. Turn the last half by the column.
        rotate(by_column, columns, base)  →  rotate(by_column, rows, base)
    columns_first: Rows and columns are exchanged. Turn the first half by the row, the last half by the column.
        + rows, columns = columns, rows
    row_plus_column: Your code turns all dimensions by row plus column, so (1, 2) and (2, 1) get the same angles.
        Turn one half by the row, the other by the column.
        + return rotate(rotate(vectors, rows, base), columns, base)
    numbered_row_by_row: Your code turns the whole vector by one number, the number of the patch counted row by
        row. Turn the first half by the row, the last half by the column.
        + return rotate(vectors, rows * (columns.max() + 1) + columns, base)
    one_number_for_both: Your code turns both halves by one number, which is made of row and column. Turn the
        first half only by the row, the last half only by the column.
        + rows = columns = rows * (columns.max() + 1) + columns
    patches_halved: Your code cuts the list of patches in two. Cut the width instead, which is the last axis.
        + upper, lower = vectors.chunk(2, dim=-2)
        + above = upper.shape[-2]
        + return torch.cat([rotate(upper, rows[..., :above], base), rotate(lower, columns[..., above:], base)], dim=-2)
    pairs_alternate: Your code turns every second pair by the column. Turn the whole first half by the row.
        + pairs = vectors.unflatten(-1, (-1, 2))
        + vectors = torch.cat([pairs[..., 0::2, :].flatten(-2), pairs[..., 1::2, :].flatten(-2)], dim=-1)
        = result.unflatten(-1, (2, -1, 2)).transpose(-3, -2).flatten(-3)
    speeds_of_the_whole: In your code each half has the speeds of the whole width d. Turn each half like a vector
        of width d/2.
        + base = base**0.5
    speeds_go_on: In your code the speeds of the column's half continue where those of the row's half end. Both
        halves must begin at the speed 1, like a vector of width d/2.
        rotate(by_row, rows, base), rotate(by_column, columns, base)
            →  rotate(by_row, rows, base**0.5), rotate(by_column, columns * base**-0.5, base**0.5)
    columns_do_nothing: You return the column's half as it was. Turn it by the column, and use the result of
        `rotate`.
        rotate(by_column, columns, base)  →  by_column
    every_second_dimension: Your code turns every second dimension by the row. Turn the whole first half by the
        row.
        + vectors = torch.cat([vectors[..., 0::2], vectors[..., 1::2]], dim=-1)
        = result.unflatten(-1, (2, -1)).transpose(-2, -1).flatten(-2)
    base_not_handed_on: Your code always uses the base 10000. Pass the argument base on.
        rotate(by_row, rows, base), rotate(by_column, columns, base)
            →  rotate(by_row, rows), rotate(by_column, columns)
    halves_on_a_new_axis: Your torch.stack puts the halves on a new axis in front. Put one half after the other:
        torch.cat along the last axis.
        torch.cat([rotate(by_row, rows, base), rotate(by_column, columns, base)], dim=-1)
            →  torch.stack([rotate(by_row, rows, base), rotate(by_column, columns, base)])
    halves_interleaved: The numbers of the two halves alternate in the result. Put one whole half after the other:
        torch.cat along the last axis.
        torch.cat([rotate(by_row, rows, base), rotate(by_column, columns, base)], dim=-1)
            →  torch.stack([rotate(by_row, rows, base), rotate(by_column, columns, base)], dim=-1).flatten(-2)
    halves_exchanged: The halves are returned in the other order. Put the row's half first.
        = result.roll(vectors.shape[-1] // 2, dims=-1)
""")  # fmt: skip
