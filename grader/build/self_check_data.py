"""Reads the data of the self-checks: the notebook carries a copy of this module, and `self_check_pack` writes what it reads.

Inputs are drawn again by their recipes. Expected values are whole numbers times a step, so that they take few bytes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from math import asinh, cos
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.declare.public_numbers import draw_numbers
from grader.explain.fingerprint import Fingerprint, alike
from grader.judge.compare import flatten

TENSOR, SUM, STORED = "~", "~+", "stored"  # marks in packed values
FORMS = 2**15 - 1  # so many forms of values are told apart, and so many exceptions
STEP = 2.0**-11  # of the numbers of a brief
CLOSE = STEP  # how far they may be apart: half a step is lost
FARTHEST = 15.0  # what 2 bytes of steps hold; a larger number is told by this one
RIGHT, UNKNOWN = 0, -1  # codes of a brief
FEW = 40  # numbers of a tensor of expected values that is kept nearly exactly
ODD = (float("nan"), float("inf"), float("-inf"))  # what a place holds that no step reaches; by index


class Brief(NamedTuple):
    """What a wrong answer gives on a trial: what is expected, something unknown, or what has this form and these numbers."""

    code: int
    form: int = 0
    first: float = 0.0
    second: float | None = None  # known of the first trial alone that is wrong: more would tell nothing more


class Reader:
    """Reads one value after the other from bytes."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data, self.place = data, place
        self.key, self.number = "", -1

    def whole_numbers(self, count: int, width: int) -> Tensor:
        """Read signed integers of `width` bytes each: first the lowest bytes of all, then the next."""
        taken = self.data[self.place : self.place + count * width]
        self.place += len(taken)
        planes = torch.tensor(list(taken), dtype=torch.int64).reshape(width, count)
        number = sum((planes[index] << (8 * index) for index in range(width)), torch.zeros(count, dtype=torch.int64))
        return torch.where(number >= 1 << (8 * width - 1), number - (1 << (8 * width)), number) if width < 8 else number

    def value(self, packed: Any, key: str = "") -> Any:
        """Read a value that `self_check_pack` packed, such as the inputs of a trial with this key."""
        self.key, self.number = key, -1
        return self._value(packed)

    def _value(self, packed: Any) -> Any:
        if isinstance(packed, str) and packed.startswith(TENSOR):
            return self._tensor(*packed[1:].split(";"))
        if isinstance(packed, list) and packed[:1] == [SUM]:
            drawn, whole = map(self._value, packed[1:])
            return drawn + whole.to(drawn.dtype)
        if isinstance(packed, Mapping):
            return {name: self._value(inner) for name, inner in packed.items()}
        return [self._value(inner) for inner in packed] if isinstance(packed, list) else packed

    def _tensor(self, form: str, first: str = "", second: str = "", dtype: str = "", number: str = "") -> Tensor:
        """Draw a tensor ("normal 5 7"), or read one ("stored 5 7": `first` bytes a number, in steps of `second`)."""
        kind, *sizes = form.split(" ")
        shape, dtype = tuple(map(int, sizes)), dtype or "float32"
        if kind != STORED:
            self.number = int(number) if number else self.number + 1
            numbers = float(first or 1), float(second or 0)
            return draw_numbers(kind, f"{self.key}/{self.number}", shape, *numbers, dtype)
        width, step = int(first), float(second or 0)
        numbers_read = self.whole_numbers(torch.Size(shape).numel(), width)
        if step:
            numbers_read = numbers_read.double() * step
            for place, index in json.loads(number or "[]"):
                numbers_read[place] = ODD[index]
        elif getattr(torch, dtype).is_floating_point:  # the bits of each number
            bits, exact = {4: (torch.int32, torch.float32), 8: (torch.int64, torch.float64)}[width]
            numbers_read = numbers_read.to(bits).view(exact)
        return numbers_read.reshape(shape).to(getattr(torch, dtype))

    def briefs(self, known: int, candidates: int, trials: int) -> list[list[Brief]]:
        """Read `known` forms, and then for each of `candidates` wrong answers a brief on each of `trials` trials."""
        forms = self.whole_numbers(known, 2).tolist()
        codes = self.whole_numbers(candidates * trials, 2).tolist()
        rows = [codes[start : start + trials] for start in range(0, len(codes), trials)]
        wrong = [sum(code > 0 for code in row) for row in rows]
        numbers = iter((self.whole_numbers(sum(wrong) + sum(map(bool, wrong)), 2) * STEP).tolist())
        return [self._briefs_of(row, forms, numbers) for row in rows]

    def _briefs_of(self, codes: Sequence[int], forms: Sequence[int], numbers: Iterator[float]) -> list[Brief]:
        """Return what one wrong answer gives on each trial, from its code for each; `numbers` yields the next."""
        found: list[Brief] = []
        for code in codes:
            if code <= 0:
                found.append(Brief(code))
                continue
            known = any(brief.code > 0 for brief in found)
            found.append(Brief(code, forms[code - 1], next(numbers), None if known else next(numbers)))
        return found


def is_rounded(expected: Mapping[str, Any]) -> bool:
    """Tell whether any expected tensor is float32 with more than FEW numbers: the notebook has these rounded."""
    tensors = (leaf for _, leaf in flatten(expected) if isinstance(leaf, Tensor) and leaf.is_floating_point())
    return any(leaf.dtype == torch.float32 and leaf.numel() > FEW for leaf in tensors)


def brief_form(own: Fingerprint) -> int:
    """Shorten the form of a fingerprint to 2 bytes; that of an exception stays below 0."""
    return (abs(own.form) % FORMS + 1) * (-1 if own.form < 0 else 1)


def brief_numbers(own: Fingerprint, right: Fingerprint) -> tuple[float, float]:
    """Return two numbers that tell what an answer gave from what others gave.

    They are sums over all tensors, each relative to the size of the expected one; asinh makes large ones small, and from
    FARTHEST on all are alike.
    """
    sizes = right.numbers[::3] if len(right.numbers) == len(own.numbers) else (1.0,) * (len(own.numbers) // 3)
    first, second = (
        asinh(sum((cos(leaf) + 1.5) * own.numbers[3 * leaf + kind] / (size or 1.0) for leaf, size in enumerate(sizes)))
        for kind in (1, 2)
    )
    return max(-FARTHEST, min(first, FARTHEST)), max(-FARTHEST, min(second, FARTHEST))


def gives(brief: Brief, right: Fingerprint, own: Fingerprint) -> bool:
    """Tell whether a wrong answer gives on a trial what has the fingerprint `own`, where `right` is that of what is expected."""
    if brief.code <= 0:
        return brief.code == RIGHT and alike(own, right)
    first, second = brief_numbers(own, right)
    return (
        brief_form(own) == brief.form
        and abs(first - brief.first) < CLOSE
        and (brief.second is None or abs(second - brief.second) < CLOSE)
    )
