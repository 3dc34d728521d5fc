"""Fingerprints: a few numbers that distinguish an answer's results in a trial from those of other answers.

A notebook contains fingerprints of wrong answers, instead of their code and their values.
"""

import zlib
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.judge.compare import flatten

MOST = 2**18  # numbers of a tensor that are looked at; no right answer has more, and its shape tells a larger one apart
CLOSE = 2e-4  # how far two numbers may be apart, relative to the size of the values


class Fingerprint(NamedTuple):
    """A short summary of an answer's results in one trial. Two answers with the same results have the same summary."""

    form: int  # digest of names, shapes, dtypes, and of all that is no finite float; below 0: of an exception
    numbers: tuple[float, ...] = ()  # three for each tensor or float: its size, and two projections

    @property
    def raised(self) -> bool:
        """True if the answer raised an exception."""
        return self.form < 0


def fingerprint(values: Mapping[str, Any]) -> Fingerprint:
    """Return the fingerprint of the values that a probe returned."""
    forms: list[str] = []
    numbers: list[float] = []
    for name, value in sorted(flatten(values), key=lambda leaf: leaf[0]):
        if isinstance(value, Tensor) and value.is_floating_point():
            flat = value.detach().flatten()[:MOST].double().cpu()
            kind = (~flat.isfinite()).long() + flat.isnan().long() + (flat == torch.inf).long() * 2
            odd = kind.tolist() if bool(kind.any()) else ""
            forms.append(f"{name} {value.dtype} {tuple(value.shape)} {odd}")
            numbers += _numbers(torch.where(kind == 0, flat, 0.0))
        elif isinstance(value, Tensor):
            forms.append(f"{name} {value.dtype} {tuple(value.shape)} {value.flatten()[:MOST].tolist()}")
        elif isinstance(value, float):
            is_finite = isfinite(value)
            forms.append(f"{name} float" if is_finite else f"{name} float {value}")
            numbers += _numbers(torch.tensor([value if is_finite else 0.0], dtype=torch.float64))
        else:
            forms.append(f"{name} {value!r}")
    return Fingerprint(_digest("\n".join(forms)), tuple(numbers))


def fingerprint_of_error(error: str, message: str) -> Fingerprint:
    """Return the fingerprint of an exception.

    It includes the first line of the message, because messages with the same
    shapes usually have the same cause. PyTorch 2.15 puts the name of the operator
    in front, "mm: mat1 and …". Older versions do not, so the name is removed.
    """
    first = (message.strip().splitlines() or [""])[0]
    return Fingerprint(-1 - _digest(f"{error}: {first.removeprefix('mm: ').removeprefix('addmm: ')}"))


def alike(one: Fingerprint, other: Fingerprint) -> bool:
    """Return True if two answers have the same results: the same form, and the same numbers except for rounding."""
    if one.form != other.form or len(one.numbers) != len(other.numbers):
        return False
    for start in range(0, len(one.numbers), 3):
        allowed = CLOSE * max(one.numbers[start], other.numbers[start]) + 1e-12
        pairs = zip(one.numbers[start : start + 3], other.numbers[start : start + 3], strict=True)
        if any(abs(a - b) > allowed for a, b in pairs):
            return False
    return True


def _numbers(flat: Tensor) -> list[float]:
    """Return the root mean square of a vector, and its projections on two fixed directions.

    The directions are computed without random numbers, so they are the same on every machine.
    """
    if not len(flat):
        return [0.0, 0.0, 0.0]
    places = torch.arange(1, len(flat) + 1, dtype=torch.float64)
    directions = torch.stack([torch.cos(places * 1.7 + 0.3), torch.cos(places * places * 2.3 + 1.1)])
    size = float(flat.square().mean().sqrt())
    return [size, *(directions @ flat / len(flat) ** 0.5).tolist()]


def _digest(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
