"""Exercises 4.10 and 4.11: rotary positions, on a line and on a grid."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.rotary import rotate, rotate_2d
from torch import Tensor

from grader.course.lesson_4.modern_writings import rotate_2d_in_one, rotate_as_complex, rotate_in_loop
from grader.course.lesson_4.rotary_mistakes import ROTATE_2D_MISTAKES, ROTATE_MISTAKES
from grader.declaration.exercise import Check, Exercise
from grader.declaration.probes import raised
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value

FARTHEST = 40  # place; farther out, float32 rounds the angles more than is allowed here
# Whoever computes the angles in float32 is right. So in float64 the results may be off by what float32 rounds.
ANGLES_IN_FLOAT32 = 100.0


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
) -> Inputs:
    """Draw vectors and places; a base if one is given.

    Args:
        each: whether every vector of the batch has a place of its own.
        fractions: whether places may lie between the integers.
    """
    shape = (*batch_shape, n) if each else (n,)
    places = sampler.uniform(*shape) * FARTHEST if fractions else sampler.integers(0, FARTHEST, *shape)
    inputs = {"vectors": sampler.normal(*batch_shape, n, d, dtype=dtype), "positions": places}
    return inputs if base is None else {**inputs, "base": base}


def draw_relation(sampler: InputSampler, *, n: int, d: int, shift: int) -> Inputs:
    """Draw queries, keys, and their places, by which `shift` they move."""
    return {
        "query": sampler.normal(n, d, dtype=torch.float64),
        "key": sampler.normal(n, d, dtype=torch.float64),
        "positions": sampler.integers(0, FARTHEST, n),
        "shift": shift,
    }


def rotary_relation(rotate, query: Tensor, key: Tensor, positions: Tensor, shift: int) -> Mapping[str, Value]:
    """Report what turning by the place is for: scores that know the distance, and nothing else of the places."""

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


def draw_odd(sampler: InputSampler, *, n: int, d: int) -> Inputs:
    """Draw vectors of odd width, and such as can be turned."""
    return {
        "odd": sampler.normal(n, d),
        "even": sampler.normal(n, d + 1),
        "positions": sampler.integers(0, FARTHEST, n),
    }


def rotate_odd(rotate, odd: Tensor, even: Tensor, positions: Tensor) -> Mapping[str, Value]:
    return {
        "with an odd width it raises": raised(lambda: rotate(odd, positions)),
        "with an even width it raises": raised(lambda: rotate(even, positions)),
    }


ROTATE_CHECKS = StandardChecks(reference=rotate, returns=("rotated",), draw=draw_rotation)
ROTATE_VALUES = ROTATE_CHECKS.values(
    "each pair of neighbours is turned by its own angle",
    3,
    examples=[dict(n=2, d=4), dict(n=3, d=6, base=100.0)],
    trials=[dict(n=7, d=6), dict(n=5, d=2), dict(n=3, d=10, base=50.0), dict(n=5, d=8, fractions=True)],
)
RELATION = Check(
    name="relation",
    title="a score depends on the distance of query and key alone, and lengths stay",
    points=2,
    probe=rotary_relation,
    examples=trials(draw_relation, dict(n=3, d=4, shift=5)),
    trials=trials(draw_relation, dict(n=7, d=6, shift=3), dict(n=5, d=2, shift=1)),
)
ROTATE_BATCH = ROTATE_CHECKS.batch(
    1,
    title="with a batch, and with places of each vector's own",
    examples=[dict(batch_shape=(2,), n=3, d=4, each=True)],
    trials=[
        dict(batch_shape=(2, 3), n=7, d=4),
        dict(batch_shape=(2, 3), n=5, d=6, each=True),
        dict(batch_shape=(3,), n=3, d=6, each=True),
    ],
)
ODD = Check(
    name="odd",
    title="an odd width raises a ValueError",
    points=1,
    needs=("values",),
    probe=rotate_odd,
    examples=trials(draw_odd, dict(n=2, d=3)),
    trials=trials(draw_odd, dict(n=3, d=7), dict(n=2, d=1)),
)
ROTATE_CONDUCT = ROTATE_CHECKS.conduct(
    1, examples=[dict(n=2, d=4)], trials=[dict(batch_shape=(2,), n=5, d=6, dtype=torch.float64)], rtol=ANGLES_IN_FLOAT32
)
ROTATE = Exercise(
    id="4.10",
    title="Rotary positions",
    reference=(rotate,),
    points=8,
    difficulty=2,
    minutes=12,
    checks=(ROTATE_VALUES, RELATION, ROTATE_BATCH, ODD, ROTATE_CONDUCT),
    mistakes=ROTATE_MISTAKES,
    writings=(rotate_as_complex, rotate_in_loop),
    review="Positions that turn",
)


# ---------------------------------------------------------------- 4.11


def draw_grid(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    n: int,
    d: int,
    base: float | None = None,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw vectors, and the row and the column of each; a base if one is given."""
    inputs = {
        "vectors": sampler.normal(*batch_shape, n, d, dtype=dtype),
        "rows": sampler.integers(0, FARTHEST, n),
        "columns": sampler.integers(0, FARTHEST, n),
    }
    return inputs if base is None else {**inputs, "base": base}


ROTATE_2D_CHECKS = StandardChecks(reference=rotate_2d, returns=("rotated",), draw=draw_grid)
ROTATE_2D = Exercise(
    id="4.11",
    title="Rotary positions on a grid",
    reference=(rotate_2d,),
    points=5,
    difficulty=1,
    minutes=6,
    checks=(
        ROTATE_2D_CHECKS.values(
            "the first half is turned by the row, the last half by the column",
            3,
            examples=[dict(n=3, d=8), dict(n=2, d=12, base=100.0)],
            trials=[dict(n=7, d=12), dict(n=5, d=4), dict(n=3, d=8, base=50.0)],
        ),
        ROTATE_2D_CHECKS.batch(
            1,
            examples=[dict(batch_shape=(2,), n=3, d=8)],
            trials=[dict(batch_shape=(2, 3), n=5, d=8), dict(batch_shape=(3,), n=7, d=12)],
        ),
        ROTATE_2D_CHECKS.conduct(
            1,
            examples=[dict(n=2, d=8)],
            trials=[dict(batch_shape=(2,), n=5, d=12, dtype=torch.float64)],
            rtol=ANGLES_IN_FLOAT32,
        ),
    ),
    mistakes=ROTATE_2D_MISTAKES,
    writings=(rotate_2d_in_one,),
    builds_on=("4.10",),
    review="Positions that turn",
)
