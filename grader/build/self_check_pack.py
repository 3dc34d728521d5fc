"""Packs the data of the self-checks into JSON and bytes; `self_check_data` reads them in the notebook."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.build.self_check_data import FEW, ODD, RIGHT, STEP, STORED, SUM, TENSOR, UNKNOWN, brief_form, brief_numbers
from grader.declare.sampler import Recipe
from grader.explain.fingerprint import Fingerprint, alike
from grader.records import Value

# Bytes of an expected number that is rounded: with 2 it is off by at most 1.5e-5 of the largest, with 4 by 2e-10.
WIDTHS = {torch.float64: 4}  # where they are not 2
MOST_EXACT = 128  # numbers of a tensor of inputs that is kept as it is
REPEATED = 4  # so often a number occurs on average where exact ones compress well
BITS = {torch.float64: torch.int64, torch.float32: torch.int32}


class Packed(NamedTuple):
    """What the notebook holds of an exercise, or of the inputs of a trial."""

    told: Any  # as JSON
    data: bytes  # that belong to it


class Writer:
    """Writes one value after the other to bytes."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.number = -1  # of the last drawn tensor

    def whole_numbers(self, numbers: Tensor, width: int) -> None:
        """Write signed integers of `width` bytes each: first the lowest bytes of all, then the next, which compresses better."""
        flat = numbers.flatten().to(torch.int64)
        for index in range(width):
            self.data += bytes(((flat >> (8 * index)) & 255).tolist())

    def inputs(self, value: Value, drawn: Sequence[tuple[Tensor, Recipe]]) -> Any:
        """Pack inputs: each tensor by the recipe that draws it, or else by its bits; large ones rounded to 2 bytes a number."""

        self.number = -1

        def tensor(leaf: Tensor) -> Any:
            for same, recipe in drawn:
                if same.dtype == leaf.dtype and same.shape == leaf.shape:
                    if torch.equal(same, leaf):
                        return self._drawn(recipe)
                    if leaf.is_floating_point() and (packed := self._from_drawn(leaf, same, recipe)):
                        return packed
            if leaf.is_floating_point() and MOST_EXACT < leaf.numel() < REPEATED * len(leaf.unique()):
                return self._hundredths(leaf) or self._rounded(leaf, 2)
            if leaf.is_floating_point():
                bits = leaf.detach().contiguous().view(BITS[leaf.dtype])
                return self._store(leaf, bits, bits.element_size())
            return self._integers(leaf)

        return _packed(value, tensor)

    def _from_drawn(self, leaf: Tensor, drawn: Tensor, recipe: Recipe) -> Any:
        """Pack a tensor that is a drawn one times a number, or plus whole numbers; None if it is neither."""
        kind, key, shape, first, second, dtype = recipe
        factor = float((leaf * drawn).sum() / drawn.square().sum())
        if kind == "normal" and torch.allclose(leaf, factor * drawn, 1e-5, 0):
            return self._drawn((kind, key, shape, first * round(factor, 4), second, dtype))
        rest = leaf - drawn
        if bool(rest.isfinite().all()) and torch.allclose(rest, rest.round(), 0, 1e-6):
            return [SUM, self._drawn(recipe), self._integers(rest.round().long())]
        return None

    def expected(self, value: Value) -> Any:
        """Pack what the reference returns: a few numbers as they are, many rounded to steps far smaller than the tolerance."""

        def tensor(leaf: Tensor) -> Any:
            if not leaf.is_floating_point():
                return self._integers(leaf)
            if leaf.dtype == torch.float32 and leaf.numel() <= FEW:
                return self._bits(leaf)
            return self._rounded(leaf, WIDTHS.get(leaf.dtype, 2))

        return _packed(value, tensor)

    def _bits(self, leaf: Tensor) -> Any:
        """Pack numbers as they are; as 0 what is nearly 0, the rest of a sum that differs between processors."""
        largest = leaf.abs().nan_to_num(posinf=0.0).max().item() if leaf.numel() else 0.0
        exact = torch.where(leaf.abs() < 1e-15 * largest, 0.0, leaf).detach().contiguous()
        return self._store(leaf, exact.view(BITS[leaf.dtype]), exact.element_size())

    def _integers(self, leaf: Tensor) -> Any:
        largest = int(leaf.to(torch.int64).abs().max()) if leaf.numel() else 0
        return self._store(leaf, leaf, next(width for width in (1, 2, 4, 8) if largest < 1 << (8 * width - 1)))

    def _hundredths(self, leaf: Tensor) -> Any:
        """Pack a tensor of numbers with two decimals, so that equal ones stay equal; None if it has more."""
        numbers = leaf.double() * 100
        if not bool(numbers.isfinite().all()) or not torch.allclose(numbers, numbers.round(), 0, 1e-3):
            return None
        return self._store(leaf, numbers.round(), 2, 0.01)

    def _rounded(self, leaf: Tensor, width: int) -> Any:
        flat = leaf.detach().double().flatten()
        finite = flat.isfinite()
        odd = [
            (place, next(index for index, number in enumerate(ODD) if repr(number) == repr(flat[place].item())))
            for place in (~finite).nonzero().flatten().tolist()
        ]
        flat = torch.where(finite, flat, 0.0)
        flat = torch.where(flat.abs() < 1e-9, 0.0, flat)  # the rest of a sum that cancels differs between processors
        largest = flat.abs().max().item() if flat.numel() else 0.0
        step = float(f"{largest * 1.00001 / ((1 << (8 * width - 1)) - 1):.7g}") or 1.0
        return self._store(leaf, (flat / step).round(), width, step, odd)

    def _store(self, leaf: Tensor, numbers: Tensor, width: int, step: float = 0, odd: Sequence = ()) -> Any:
        self.whole_numbers(numbers, width)
        places = json.dumps(list(odd), separators=(",", ":")) if odd else ""
        return _text(STORED, leaf.shape, f"{width}", f"{step:.7g}" if step else "", leaf.dtype, places)

    def _drawn(self, recipe: Recipe) -> str:
        """Write how a tensor is drawn; its number is left out where it follows the one before it."""
        kind, key, shape, first, second, dtype = recipe
        number = int(key.rpartition("/")[2])
        follows, self.number = number == self.number + 1, number
        one, other = ("" if value == usual else f"{value:.17g}" for value, usual in ((first, 1), (second, 0)))
        return _text(kind, shape, one, other, getattr(torch, dtype), "" if follows else str(number))

    def briefs(self, answers: Sequence[Sequence[Fingerprint | None]], right: Sequence[Fingerprint]) -> int:
        """Pack what each wrong answer gives on each trial; return the number of forms."""
        forms: dict[int, int] = {}
        codes: list[int] = []
        numbers: list[int] = []
        for prints in answers:
            known = False
            for own, expected in zip(prints, right, strict=True):
                if own is None or alike(own, expected):
                    codes.append(UNKNOWN if own is None else RIGHT)
                    continue
                codes.append(forms.setdefault(brief_form(own), len(forms) + 1))
                told = brief_numbers(own, expected)[: 1 if known else 2]
                numbers += [round(number / STEP) for number in told]
                known = True
        self.whole_numbers(torch.tensor(list(forms)), 2)
        self.whole_numbers(torch.tensor(codes), 2)
        self.whole_numbers(torch.tensor(numbers), 2)
        return len(forms)


def _text(kind: str, shape: Sequence[int], first: str, second: str, dtype: torch.dtype, last: str) -> str:
    """Write a tensor as a line of fields; what is usual is left out."""
    name = "" if dtype == torch.float32 else str(dtype).removeprefix("torch.")
    return (TENSOR + ";".join([" ".join([kind, *map(str, shape)]), first, second, name, last])).rstrip(";")


def _packed(value: Value, tensor: Callable[[Tensor], Any]) -> Any:
    """Pack a nested value; `tensor` packs its tensors. Raise ValueError for a text that begins like a packed tensor."""
    if isinstance(value, Tensor):
        return tensor(value)
    if isinstance(value, Mapping):
        return {name: _packed(inner, tensor) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_packed(inner, tensor) for inner in value]
    if isinstance(value, str) and value.startswith(TENSOR):
        raise ValueError(f"a text must not begin with {TENSOR}: {value!r}")
    return float(f"{value:.9g}") if isinstance(value, float) else value
