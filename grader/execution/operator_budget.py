"""Limit the memory and the time of a computation: each operator's result is sized before the operator runs.

The common operators have a rule that gives the size from the shapes. Other operators run once on the meta device, which
computes shapes without numbers; the size is then remembered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from grader.execution.guest.library_internals import NotCompiled

MAX_BYTES = 64 << 20  # of all tensors that one computation makes, intermediate results included
MAX_SECONDS = 5.0  # of CPU time of one computation, checked before each operator
MAX_SIZES = 10_000  # remembered: training calls the same operators with the same shapes again and again
WIDEST = 8  # bytes of a number; an operator may return wider numbers than it is given
MATRIX_PRODUCTS = (torch.ops.aten.mm, torch.ops.aten.bmm)
LIKE_FIRST_ARGUMENT = (torch.ops.aten._unsafe_view, torch.ops.aten.clone, torch.ops.aten._softmax)

_sizes: dict[tuple, int] = {}
_meta_device_imported: list[bool] = []  # not empty once the meta device was used


class BudgetExceeded(Exception):
    """The computation would take more memory or time than it may."""


class MetaDeviceNeeded(BaseException):
    """This process has not used the meta device yet.

    Not an Exception, so that the computed function cannot catch it.
    """


class OperatorBudget(NotCompiled, TorchDispatchMode):
    """A mode in which an operator raises BudgetExceeded if its result needs too much memory or time is up."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._deadline = MAX_BYTES, time.thread_time() + MAX_SECONDS

    @property
    def made(self) -> int:
        """Bytes of all results so far, without views and in-place changes."""
        return MAX_BYTES - self._left

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if time.thread_time() > self._deadline:
            raise BudgetExceeded(f"it takes more than {MAX_SECONDS:g} s")
        if not (func.is_view or func._schema.is_mutable):
            self._left -= result_size(func, args, kwargs)
            if self._left < 0:
                raise BudgetExceeded(f"it takes more than {MAX_BYTES >> 20} MiB")
        return func(*args, **kwargs)


def import_meta_device() -> None:
    """Use the meta device once, so that torch imports what it needs for it.

    The import takes seconds and 60 MB, so callers postpone it until an operator needs it.
    """
    if not _meta_device_imported:
        number = torch.zeros(1, device="meta")
        torch.ops.aten.add.Tensor(number, number)
        _meta_device_imported.append(True)


def result_size(func: Any, args: tuple, kwargs: Mapping[str, Any]) -> int:
    """Return an upper bound of the bytes that an operator's result takes.

    Return 0 if the numbers in the inputs determine the size, as for `nonzero`: such a result is not counted.

    Raises:
        MetaDeviceNeeded: no rule gives the size; call `import_meta_device` and repeat the computation.
    """
    if torch.Tag.pointwise in func.tags:
        tensors = list(tensors_in((args, kwargs)))
        return _broadcast_elements(tensors) * max((WIDEST, *(tensor.element_size() for tensor in tensors)))
    if func.overloadpacket in LIKE_FIRST_ARGUMENT:
        return args[0].numel() * args[0].element_size()
    if func.overloadpacket in MATRIX_PRODUCTS:
        return args[0].shape[:-1].numel() * args[1].shape[-1] * args[0].element_size()
    args, kwargs = tree_map_only(Tensor, _Shape.of, (args, dict(kwargs)))
    key = func, repr(args), repr(kwargs)
    if key not in _sizes:
        if not _meta_device_imported:
            raise MetaDeviceNeeded
        if len(_sizes) >= MAX_SIZES:
            _sizes.clear()
        _sizes[key] = _size_on_meta(func, args, kwargs)
    return _sizes[key]


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield all tensors of nested values, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def _broadcast_elements(tensors: list[Tensor]) -> int:
    """Count the elements of the shape to which the tensors broadcast; an upper bound if they do not."""
    return prod(map(max, zip_longest(*(reversed(tensor.shape) for tensor in tensors), fillvalue=1)))


def _size_on_meta(func: Any, args: tuple, kwargs: Mapping[str, Any]) -> int:
    """Run an operator on the meta device and return the bytes of its result; 0 if it fails there."""
    args, options = tree_map_only(_Shape, _Shape.on_meta, (args, dict(kwargs)))
    if any(argument.name == "device" for argument in func._schema.arguments):
        options["device"] = torch.device("meta")
    try:
        result = func(*args, **options)
    except Exception:  # the shape depends on numbers; or the operator will raise an error anyway
        return 0
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(result))


@dataclass(frozen=True, slots=True)
class _Shape:
    """The properties of an argument tensor that determine the size of an operator's result."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: Tensor) -> _Shape:
        """Take the properties from a tensor."""
        return cls(tuple(tensor.shape), tensor.stride(), tensor.dtype)

    def on_meta(self) -> Tensor:
        """Make a tensor with these properties on the meta device."""
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype, device="meta")
